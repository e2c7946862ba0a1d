"""The views of planRoute, planJourney and getStopTimetable, in a real browser, inside a host."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.views.hosting import HOSTILE, ask, connect, infect
from tests.views.questions import JOURNEY, OTHER_QUESTIONS, ROUTE, TIMETABLE
from tests.views.test_in_browser import HIGHEST_PX, measure
from tests.views.test_map import EN_DASH

pytestmark = pytest.mark.asyncio(loop_scope="session")

ENGLISH = {"locale": "en"}


def in_helsinki(instant):
    """Return the time of day in Helsinki, as Python computes it."""
    return datetime.fromisoformat(instant).astimezone(ZoneInfo("Europe/Helsinki")).strftime("%H:%M")


async def test_routes_are_shown_in_the_networks_time(show, application):
    """The answer is in UTC; the view shows what the clock at the stop will say, and draws straight lines."""
    async with connect(application) as client:
        answer = await ask(client, "planRoute", ROUTE)
        ways = answer["structuredContent"]["itineraries"]
        async with show(client, "trip", answer, arguments=ROUTE, context=ENGLISH) as shown:
            times = await shown.frame.locator("[role=radio] b").all_inner_texts()
            lines = await shown.frame.locator(".map path[data-stroke]").count()
            text = await shown.text()

    assert times == [EN_DASH.join((in_helsinki(way["startTime"]), in_helsinki(way["endTime"]))) for way in ways]
    assert lines == len(ways[0]["legs"])
    assert text.startswith("Kamppi to Espoo")
    assert "Times in Europe/Helsinki" in text


@pytest.mark.parametrize(
    ("key", "kept", "gone"), [("later", "departureTime", "arrivalTime"), ("earlier", "arrivalTime", "departureTime")]
)
async def test_later_and_earlier_ask_for_routes_by_one_time(show, application, key, kept, gone):
    """The tool takes exactly one of its two times."""
    question = {**ROUTE, "departureTime": "2026-03-10T09:00:00Z"}
    async with connect(application) as client:
        answer = await ask(client, "planRoute", question)
        async with show(client, "trip", answer, arguments=question) as shown:
            await shown.frame.click(f"[data-key={key}]")
            await shown.frame.wait_for_selector(f"[data-key={key}]:not([aria-disabled])")
            [call] = await shown.hear("tools/call")
            told = await shown.frame.locator(".banner.danger").all_inner_texts()

    assert call["name"] == "planRoute"
    assert (kept in call["arguments"], gone in call["arguments"]) == (True, False)
    assert told == []


async def test_where_nothing_is_earlier_what_is_shown_stays(show, application):
    """Before now nothing can be taken: the tool answers with an empty list and why, and Later is still there."""
    async with connect(application) as client:
        answer = await ask(client, "planRoute", ROUTE)
        async with show(client, "trip", answer, arguments=ROUTE) as shown:
            before = await shown.frame.locator("[role=radio] b").all_inner_texts()
            await shown.frame.click("[data-key=earlier]")
            await shown.frame.wait_for_selector(".banner.danger")
            after = await shown.frame.locator("[role=radio] b").all_inner_texts()
            buttons = await shown.frame.locator("[data-key=later]").count()

    assert after == before
    assert buttons == 1


async def test_a_timetable_is_a_board(show, application):
    """Each scheduled departure once, in the network's time, and none of them said to be live."""
    async with connect(application) as client:
        answer = await ask(client, "getStopTimetable", TIMETABLE)
        rows = answer["structuredContent"]["departures"]
        async with show(client, "board", answer, arguments=TIMETABLE, context=ENGLISH) as shown:
            times = await shown.frame.locator("tbody strong").all_inner_texts()
            text = await shown.text()
            await shown.frame.click("[data-key=refresh]")
            await shown.frame.wait_for_selector("[data-key=refresh]:not([aria-disabled])")
            [call] = await shown.hear("tools/call")

    assert times == [in_helsinki(row["scheduledTime"]) for row in rows]
    assert text.startswith("Kamppi")
    assert "Live" not in text
    assert (call["name"], call["arguments"]) == ("getStopTimetable", TIMETABLE)


async def test_journeys_are_a_table_and_their_message(show, application):
    """Begin, end, minutes and parts of each, in London's time as the answer has it; the message stands whole."""
    async with connect(application) as client:
        answer = await ask(client, "planJourney", JOURNEY)
        body = answer["structuredContent"]
        async with show(client, "trip", answer, arguments=JOURNEY, context=ENGLISH) as shown:
            rows = await shown.frame.eval_on_selector_all(
                "tbody tr", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
            )
            text = await shown.text()

    assert rows == [
        [
            each["startDateTime"][11:16],
            each["arrivalDateTime"][11:16],
            f"{each['durationMinutes']} min",
            f"{each['legCount']} parts",
        ]
        for each in body["topJourneys"]
    ]
    assert body["message"] in text


@pytest.mark.parametrize("tool", OTHER_QUESTIONS)
async def test_they_keep_what_holds_of_every_view(show, application, tool):
    """Low enough, room for fingers, markup is text, and axe finds no fault."""
    engine = pytest.importorskip("axe_playwright_python.base", reason="no axe here: make test-web installs it")
    view, arguments = OTHER_QUESTIONS[tool]
    async with connect(application) as client:
        answer = await ask(client, tool, arguments)
        answer["structuredContent"] = infect(answer["structuredContent"])
        async with show(client, view, answer, arguments=arguments, width=360) as shown:
            size = await measure(shown)
            text = await shown.frame.text_content("main")
            images = await shown.frame.locator("main img, main script").count()
            await shown.frame.evaluate(engine.AXE_SCRIPT)
            found = await shown.frame.evaluate("axe.run(document)")

    assert size["height"] <= HIGHEST_PX
    assert (size["small"], images) == ([], 0)
    assert HOSTILE in text
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]] == []
