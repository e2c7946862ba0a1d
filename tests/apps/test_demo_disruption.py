"""``fingerpost demo``: a trip that works, and with ``--disrupt`` a disruption that all processes of the home play."""

import json

import pytest

from fingerpost import clock
from fingerpost.apps.demo_disruption import DemoDisruption, begin_disruption
from fingerpost.apps.error_boundary import answer
from tests.apps.conftest import NOW
from tests.apps.test_cli_follow import KAMPPI, follow


async def count_cancelled(application):
    board = await answer(application.tools, "get_departures", KAMPPI, user="eva")
    return sum(each["status"] == "cancelled" for each in board.body["departures"])


@pytest.fixture
def began(invoke):
    assert invoke("demo", "--disrupt").returncode == 0


@pytest.mark.usefixtures("began")
async def test_another_process_plays_it_for_ten_minutes(application, monkeypatch):
    disruption = DemoDisruption(application)
    counts = []
    for now in (NOW, "2026-03-10T08:09:59+02:00", "2026-03-10T08:10:00+02:00"):
        monkeypatch.setenv(clock.VARIABLE, now)
        await disruption.catch_up()
        counts.append(await count_cancelled(application) > 0)
    await application.networks.close()

    assert counts == [True, True, False]


async def test_nothing_is_played_where_nobody_began(application, home):
    disruption = DemoDisruption(application)
    await disruption.catch_up()
    home.mkdir(parents=True, exist_ok=True)
    (home / "demo-disrupted-until").write_text("soon")
    await disruption.catch_up()

    assert await count_cancelled(application) == 0
    await application.networks.close()


def test_a_board_that_is_followed_shows_it(application, capsys):
    async def begin():
        application.settings.prepare_home()
        begin_disruption(application.settings.home)

    follow(application, KAMPPI, begin)
    boards = capsys.readouterr().out.split("Kamppi (DEMO-HELSINKI:KAMPPI)")[1:]

    assert ["CANCELLED" in board for board in boards] == [False, True]


def lines_of(body):
    return [[leg["line"] for leg in each["legs"] if "line" in leg] for each in body["itineraries"]]


def test_the_demo_plans_a_trip(invoke):
    body = json.loads(invoke("demo", "--json").stdout)
    assert {line for lines in lines_of(body) for line in lines} == {"M1", "M2"}
    assert "differences" not in body["meta"]


def test_the_disrupted_demo_shows_what_works_and_why(invoke):
    body = json.loads(invoke("demo", "--disrupt", "--json").stdout)
    assert lines_of(body) == [["M2"]] * 3
    assert {each["cause"]["text"] for each in body["meta"]["differences"]} == {
        "Line M1 from Kamppi is cancelled (08:03)."
    }
    assert [alert["header"] for alert in body["meta"]["alerts"]] == ["Line M1 is closed", "Lift out of order: Kamppi"]
    assert body["realtimeUsed"] == "realtime"
    assert "[instead of a disrupted trip" in invoke("demo", "--disrupt").stdout
