"""Networks are added, answer and are removed, even while a server runs."""

import httpx2
import numpy as np
import pytest

from fingerpost.transit.engine.timetable.array_file import ARRAYS
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from tests.apps.clients import post
from tests.apps.conftest import write_town
from tests.apps.processes import serving
from tests.feeds import feed_from_drawing, write_feed

DRAWING = """
    line 1 | Alpha 08:00 | Beta 08:10 | Gamma 08:20
    line 1 | Alpha 09:00 | Beta 09:10 | Gamma 09:20
"""
TRIP = {"origin": {"type": "label", "value": "TOWN:ALPHA"}, "destination": {"type": "label", "value": "TOWN:GAMMA"}}

DEEP = ("doctor", "--deep")


@pytest.fixture
def feed(tmp_path):
    return write_town(tmp_path, DRAWING)


def test_an_added_network_reports_its_import_and_answers(feed, invoke):
    added = invoke("network", "add", "Town", str(feed))
    planned = invoke("plan", "Alpha", "Gamma", "--at", "2026-03-10T07:30", "--limit", "1")

    assert (added.returncode, planned.returncode) == (0, 0)
    assert added.stdout == (
        "TOWN is usable, 2026-01-01 to 2026-12-31.\n"
        "TOWN: 2026-01-01 to 2026-12-31, in service; 3 stops, 1 route, 2 trips, 6 stop times; nothing left out\n"
    )
    assert "BUS 1 towards Gamma 08:00 Alpha to Gamma 08:20" in planned.stdout


def test_several_feeds_may_be_named(tmp_path, feed, invoke):
    other = feed_from_drawing("line 2 | Delta 08:00 | Epsilon 08:10", coordinates={"Delta": (41.1, -8.0)})
    second = write_feed(tmp_path / "a=b.zip", other)
    added = invoke("network", "add", "Town", f"NORTH={feed}", str(second))

    assert (added.returncode, added.stderr) == (0, "Importing TOWN ...\n")
    assert [line.split(":")[0] for line in added.stdout.splitlines()[1:]] == ["NORTH", "TOWN-A=B"]


@pytest.mark.parametrize("kept", [0, 10, -40])
def test_a_broken_zip_is_reported_in_one_sentence(feed, kept, invoke):
    feed.write_bytes(feed.read_bytes()[:kept])
    added = invoke("network", "add", "Town", str(feed))

    assert (added.returncode, added.stdout) == (1, "")
    assert "town.zip" in added.stderr
    assert "Traceback" not in added.stderr


def test_networks_added_and_removed_while_serving_take_effect(feed, invoke):
    def outcome(client):
        body = post(client, "plan_trip", {**TRIP, "when": {"time": "2026-03-10T07:30:00"}}).json()["result"]
        return body["structuredContent"].get("error", {}).get("code", body["structuredContent"].get("meta"))

    with serving() as server, httpx2.Client(base_url=server.url, timeout=600) as client:
        before = outcome(client)
        invoke("network", "add", "Town", str(feed))
        added = outcome(client)
        invoke("network", "remove", "Town")
        removed = outcome(client)

    assert (before, added["network"], removed) == ("validation-error", "TOWN", "validation-error")


def test_the_doctor_names_every_network_and_its_days(feed, invoke):
    invoke("network", "add", "Spare", str(feed))
    invoke("network", "add", "Town", str(feed), "--fallback", "spare")
    observed = invoke("doctor").stdout.splitlines()

    for name in ("TOWN", "SPARE"):
        assert f"network    {name}  2026-01-01 to 2026-12-31  Europe/Helsinki  BUS" in observed
    assert "           a fallback: it answers when another network cannot" in observed
    assert "clock      fixed at 2026-03-10T06:00:00+00:00 by FINGERPOST_NOW" in observed


def test_a_time_with_a_flipped_bit_is_never_answered_and_refresh_repairs_it(feed, invoke, home):
    """The file has its old size and every row is within bounds; other networks would go on."""
    invoke("network", "add", "Town", str(feed))
    arrays = TimetableStore(home).get("TOWN").folder / ARRAYS
    eight = np.array([8 * 3600], np.int32).tobytes()
    arrays.write_bytes(arrays.read_bytes().replace(eight, np.array([9 * 3600 + 540], np.int32).tobytes()))
    command = ("plan", "Alpha", "Gamma", "--at", "2026-03-10T07:30")

    broken, deep, _, repaired = (invoke(*each) for each in (command, DEEP, ("network", "refresh", "Town"), command))
    damage = f"prepared/{arrays.parent.name}/{ARRAYS} is damaged"

    assert (broken.returncode, repaired.returncode, invoke(*DEEP).returncode) == (1, 0, 0)
    assert damage in " ".join(broken.stderr.split())
    assert (deep.returncode, damage in " ".join(deep.stdout.split())) == (1, True)
    assert "08:00 Alpha to Gamma 08:20" in repaired.stdout


def test_the_state_of_demos_is_reported(feed, invoke):
    before = (invoke("network", "list").stdout, invoke("doctor").stdout)
    invoke("network", "add", "Town", str(feed))
    after = (invoke("network", "list").stdout, invoke("doctor").stdout)

    assert before[0].count("any day  in service  demo") == 2
    assert "a demo: it answers only for its own stop ids" not in before[1]
    assert after[0].count("used for its own stop ids only  demo") == 2
    assert after[1].count("a demo: it answers only for its own stop ids") == 2


FAULTY = feed_from_drawing("line A | Alpha 08:00 | Beta 08:10") | {
    "transfers.txt": "from_stop_id,to_stop_id,transfer_type\nALPHA,NOWHERE,0\n"
}


def test_show_prints_the_report_of_add(tmp_path, invoke):
    added = invoke("network", "add", "Town", str(write_feed(tmp_path / "town.zip", FAULTY)))
    shown = invoke("network", "show", "town")

    assert (added.returncode, shown.returncode) == (0, 0)
    record, first, rest = shown.stdout.partition("Added ")
    assert (first, rest.partition("\n")[2]) == ("Added ", added.stdout)
    assert "transfers.txt, line 2, to_stop_id" in rest
    assert f'feeds = ["{tmp_path / "town.zip"}"]' in record
