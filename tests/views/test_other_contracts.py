"""The views of planRoute, planJourney and getStopTimetable, in a real browser, inside a host."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.views.questions import JOURNEY, ROUTE, TIMETABLE
from tests.views.test_in_browser import EN_DASH, ENGLISH

pytestmark = pytest.mark.asyncio(loop_scope="session")


def in_helsinki(instant):
    return datetime.fromisoformat(instant).astimezone(ZoneInfo("Europe/Helsinki")).strftime("%H:%M")


async def test_routes_are_shown_in_the_networks_time(draw):
    async with draw("planRoute", ROUTE, context=ENGLISH) as shown:
        times = await shown.frame.locator("[role=radio] b").all_inner_texts()
        lines = await shown.frame.locator(".map path[data-stroke]").count()
        text = await shown.text()

    ways = shown.body["itineraries"]
    assert times == [EN_DASH.join((in_helsinki(way["startTime"]), in_helsinki(way["endTime"]))) for way in ways]
    assert lines == len(ways[0]["legs"])
    assert text.startswith("Kamppi to Espoo")
    assert "Times in Europe/Helsinki" in text


@pytest.mark.parametrize(
    ("key", "kept", "gone"), [("later", "departureTime", "arrivalTime"), ("earlier", "arrivalTime", "departureTime")]
)
async def test_later_and_earlier_request_routes_by_one_time(draw, key, kept, gone):
    """The tool takes exactly one of its two times."""
    async with draw("planRoute", {**ROUTE, "departureTime": "2026-03-10T09:00:00Z"}) as shown:
        await shown.press(key)
        [call] = await shown.hear("tools/call")
        told = await shown.frame.locator(".banner.danger").all_inner_texts()

    assert call["name"] == "planRoute"
    assert (kept in call["arguments"], gone in call["arguments"]) == (True, False)
    assert told == []


async def test_without_an_earlier_trip_the_shown_ones_stay(draw):
    """Before now nothing can be taken: the tool answers with an empty list and why, and Later is still there."""
    async with draw("planRoute", ROUTE) as shown:
        before = await shown.frame.locator("[role=radio] b").all_inner_texts()
        await shown.frame.click("[data-key=earlier]")
        await shown.frame.wait_for_selector(".banner.danger")
        after = await shown.frame.locator("[role=radio] b").all_inner_texts()
        buttons = await shown.frame.locator("[data-key=later]").count()

    assert (after, buttons) == (before, 1)


async def test_a_timetable_is_a_board(draw):
    async with draw("getStopTimetable", TIMETABLE, context=ENGLISH) as shown:
        times = await shown.frame.locator("tbody strong").all_inner_texts()
        text = await shown.text()
        await shown.press("refresh")
        [call] = await shown.hear("tools/call")

    assert times == [in_helsinki(row["scheduledTime"]) for row in shown.body["departures"]]
    assert text.startswith("Kamppi")
    assert "Live" not in text
    assert (call["name"], call["arguments"]) == ("getStopTimetable", TIMETABLE)


async def test_journeys_are_a_table_and_their_message(draw):
    async with draw("planJourney", JOURNEY, context=ENGLISH) as shown:
        rows = await shown.evaluate_all("tbody tr", "row => [...row.cells].map(cell => cell.textContent)")
        text = await shown.text()

    assert rows == [
        [each["startDateTime"][11:16], each["arrivalDateTime"][11:16], f"{each['durationMinutes']} min",
         f"{each['legCount']} legs"]
        for each in shown.body["topJourneys"]
    ]  # fmt: skip
    assert shown.body["message"] in text
