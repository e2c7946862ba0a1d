"""Colours of lines beside an answer, for those who draw it: from the feed through the timetable to ``_meta``."""

import json

import pytest
from mcp import Client

from fingerpost.apps.mcp.server import new_server
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.testing.feeds import feed_from_drawing, write_feed
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.homes import keep_network

KEY = "fingerpost/lineColors"
ASKED = {KEY: True}
DRAWING = "line A | Alpha 08:30 | Beta 08:40\nline B | Beta 08:50 | Gamma 09:00"
# White on orange cannot be read; line B states nothing.
ROUTES = "route_id,agency_id,route_short_name,route_type,route_color,route_text_color\nA,,A,3,FF6319,FFFFFF\nB,,B,3,,\n"
ORANGE = {"color": "FF6319", "textColor": "000000"}
TRIP = {
    "origin": {"type": "label", "value": "Alpha"},
    "destination": {"type": "label", "value": "Gamma"},
    "when": {"type": "depart", "time": "2026-03-10T08:00:00+02:00"},
    "limit": 1,
}
ROUTE = {
    "origin": {"rawText": "Alpha"},
    "destination": {"rawText": "Gamma"},
    "departureTime": "2026-03-10T06:00:00Z",
}
QUESTIONS = {
    "plan_trip": (TRIP, ["itineraries/0/legs/0"]),
    "planRoute": (ROUTE, ["itineraries/0/legs/0"]),
    "get_departures": ({"stop": {"type": "id", "value": "T:Alpha"}, "windowMinutes": 60}, ["departures/0"]),
    "getStopTimetable": ({"stopId": "T:ALPHA", "horizonMinutes": 60}, ["departures/0"]),
}


@pytest.fixture
def painted(home, tmp_path):
    """An application over a feed of an orange line and one without a colour."""
    feed = write_feed(tmp_path / "painted.zip", feed_from_drawing(DRAWING) | {"routes.txt": ROUTES})
    imported = import_feeds("T", [FeedSource(feed)])
    settings = read_settings()
    keep_network(settings.home, "T", imported.timetable, report=imported.report.to_json())
    return build(settings)


@pytest.mark.parametrize("tool", QUESTIONS)
async def test_who_asks_gets_the_colours_of_lines_with_a_text_that_can_be_read(painted, tool):
    """Orange with black; what touches the line without a colour is not named. The body is the same to the byte."""
    question, touched = QUESTIONS[tool]
    async with Client(new_server(painted, find_user=lambda _: "eva")) as client:
        asked = await client.call_tool(tool, question, meta=ASKED)
        bare = await client.call_tool(tool, question)

    [line] = asked.meta[KEY]["lines"]
    assert (line["touches"], {"color": line["color"], "textColor": line["textColor"]}) == (touched, ORANGE)
    assert KEY not in bare.meta
    assert json.dumps(asked.structured_content) == json.dumps(bare.structured_content)


async def test_the_demo_has_the_colours_that_riders_know(application):
    """Helsinki's metro is orange, and each line of London's tube has its own."""
    board = {"stop": {"type": "id", "value": "DEMO-LONDON:BANK"}, "limit": 50, "windowMinutes": 30}
    metro = {"stop": {"type": "id", "value": "DEMO-HELSINKI:KAMPPI"}}
    async with Client(new_server(application, find_user=lambda _: "eva")) as client:
        tube = await client.call_tool("get_departures", board, meta=ASKED)
        orange = await client.call_tool("get_departures", metro, meta=ASKED)

    rows = tube.structured_content["departures"]
    painted = {
        rows[int(path.partition("/")[2])]["line"]: each["color"]
        for each in tube.meta[KEY]["lines"]
        for path in each["touches"]
    }
    assert {"Central": "DC241F", "Northern": "000000"}.items() <= painted.items()
    assert {each["color"] for each in orange.meta[KEY]["lines"]} == {"FF6319"}
