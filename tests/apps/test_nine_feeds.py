"""A network of nine feeds, two of which have ended: add, list, show and answers all report it (Riders, item 5)."""

import asyncio
from datetime import date, timedelta

import pytest

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from tests.feeds import feed_from_drawing, write_feed

PLACES = {
    "Square": (60.17, 24.90),
    "Harbour": (60.17, 25.00),
    "Airport": (60.17, 25.20),
    "Square Bus": (60.1701, 24.90),
    "Park": (60.19, 24.95),
    "Harbour Bus": (60.1701, 25.00),
    "Far": (61.5, 24.0),
    "Farther": (61.6, 24.0),
}
DRAWINGS = {
    "METRO": "metro M | Square 08:10 | Harbour 08:20",
    "RAIL": "rail L | Harbour 08:30 | Airport 08:50",
    "BUS1": "line 1 | Square Bus 08:15 | Park 08:45",
    "BUS2": "line 2 | Park 08:50 | Harbour Bus 09:30",
    **{f"BUS{number}": f"line {number} | Far 08:00 | Farther 08:{number}0" for number in (3, 4, 5)},
    "TRAM1": "tram T1 | Square Bus 09:00 | Park 09:20",
    "TRAM2": "tram T2 | Park 09:25 | Harbour Bus 09:45",
}
ENDED = {"METRO": date(2026, 3, 8), "RAIL": date(2026, 3, 9)}
OUT = "METRO (ended on 2026-03-08), RAIL (ended on 2026-03-09)"


@pytest.fixture
def added(tmp_path, invoke):
    feeds = []
    for name, drawing in DRAWINGS.items():
        last = ENDED.get(name, date(2026, 12, 31))
        days = [last - timedelta(days=ago) for ago in range((last - date(2026, 1, 1)).days + 1)]
        tables = feed_from_drawing(drawing, coordinates=PLACES, days=days)
        feeds.append(f"{name}={write_feed(tmp_path / f'{name}.zip', tables)}")
    ended = invoke("network", "add", "City", *feeds)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def ask(tool, **arguments):
    async def run():
        application = build(read_settings())
        try:
            return await application.tools[tool].answer(arguments, user="ann")
        finally:
            await application.networks.close()

    return asyncio.run(run())


def plan(origin, destination, **more):
    ends = {"origin": {"type": "label", "value": origin}, "destination": {"type": "label", "value": destination}}
    return ask("plan_trip", **ends, **more)


def warnings(answer):
    return {each["code"]: each["message"] for each in answer.body.get("warnings", ())}


def test_adding_an_ended_network_does_not_call_it_usable(added):
    lines = added.splitlines()
    assert lines[0] == "CITY is partly usable, 2026-01-01 to 2026-12-31."
    assert "`fingerpost network refresh CITY`" in lines[1]
    assert [line.partition(";")[0] for line in lines[2:]] == [
        f"{name}: 2026-01-01 to {ENDED.get(name, date(2026, 12, 31))}, "
        f"{f'ended on {ENDED[name]}' if name in ENDED else 'in service'}"
        for name in DRAWINGS
    ]


def test_list_show_and_doctor_report_the_days_and_state_of_every_feed(added, invoke):
    listed = [line.split() for line in invoke("network", "list").stdout.splitlines()]
    doctor = invoke("doctor")
    report = [line.strip() for line in doctor.stdout.splitlines()]

    assert ["CITY", "2026-01-01", "to", "2026-12-31", "7", "of", "9", "feeds"] in [line[:8] for line in listed]
    assert invoke("network", "show", "City").stdout.endswith(added)
    assert doctor.returncode == 1
    assert any(line.startswith("METRO: 2026-01-01 to 2026-03-08, ended on 2026-03-08") for line in report)
    assert "BUS1: 2026-01-01 to 2026-12-31, in service" in report


def test_a_trip_by_bus_reports_the_missing_metro(added, invoke):
    """Ten minutes by metro on Sunday; today two buses, and a word. Far away nothing ended."""
    answer = plan("METRO:SQUARE", "METRO:HARBOUR")
    message = f"No service on 2026-03-10, so trips of these feeds are missing: {OUT}."
    assert [leg["line"] for leg in answer.body["itineraries"][0]["legs"] if "line" in leg] == ["1", "2"]
    assert warnings(answer)["feed-not-in-service"] == message
    assert f"! {message}" in answer.text.splitlines()
    assert "METRO (ended on 2026-03-08)" in " ".join(invoke("plan", "METRO:SQUARE", "METRO:HARBOUR").stdout.split())
    assert "feed-not-in-service" not in warnings(plan("BUS3:FAR", "BUS3:FARTHER"))


def test_without_a_trip_the_hint_names_the_feeds_and_not_the_walk(added):
    answer = plan("METRO:HARBOUR", "RAIL:AIRPORT")
    assert answer.body["error"]["code"] == "no-itinerary-found"
    assert answer.body["error"]["hint"] == (
        f"No service on 2026-03-10: {OUT}. Ask the operator for a newer timetable, or try a day up to 2026-03-09"
    )
    assert "maxWalkingDistance" not in answer.text
