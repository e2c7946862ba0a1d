"""Optional parts of an answer, for clients that draw it: geometry, line colours, water and streets."""

import json
from math import cos, radians
from types import SimpleNamespace

import polyline
import pytest

from fingerpost.apps.library import Fingerpost
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.tools.map_shapes import MAX_CHARACTERS, build_map_bounds
from tests.apps.clients import connect
from tests.apps.questions import KAMPPI_TO_ESPOO
from tests.feeds import feed_from_drawing, write_feed
from tests.homes import keep_network
from tests.views import lakeside

GEOMETRY, COLORS, BASEMAP = "fingerpost/geometry", "fingerpost/lineColors", "fingerpost/basemap"
ASKED = {GEOMETRY: True}
HEAD = "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\n"
TRIPS = "route_id,service_id,trip_id,shape_id\nA,ALL,A-1,S\nB,ALL,B-1,\n"
# Alpha, Beta and Gamma lie a kilometre apart on the 60.17th parallel; line A makes a bend, line B has no shape.
DRAWING = "line A | Alpha 08:30 | Beta 08:40\nline B | Beta 08:50 | Gamma 09:00 | Delta 09:10"
BEND = [(60.17, 24.94), (60.18, 24.95), (60.17, 24.958)]
QUESTION = {
    "origin": {"type": "coords", "value": {"lat": 60.17, "lon": 24.939}},
    "destination": {"type": "label", "value": "Delta"},
    "when": {"type": "depart", "time": "2026-03-10T08:00:00+02:00"},
    "constraints": {"maxWalkingDistance": 500},
    "limit": 1,
}
STOPS = [(60.17, 24.958), (60.17, 24.976), (60.17, 24.994)]


def drawn(tmp_path, points=BEND):
    rows = "".join(f"S,{lat},{lon},{number}\n" for number, (lat, lon) in enumerate(points, 1))
    days = feed_from_drawing(DRAWING) | {"shapes.txt": HEAD + rows, "trips.txt": TRIPS}
    return over(write_feed(tmp_path / "drawn.zip", days))


def over(feed):
    settings = read_settings()
    imported = import_feeds("T", [FeedSource(feed)])
    keep_network(settings.home, "T", imported.timetable, report=imported.report.to_json())
    return build(settings)


async def ask(application, question, meta=None, tool="plan_trip"):
    async with connect(application) as client:
        return await client.call_tool(tool, question, meta=meta)


async def test_lines_are_returned_on_request(tmp_path):
    answer = await ask(drawn(tmp_path), QUESTION, ASKED)

    [itinerary] = answer.structured_content["itineraries"]
    geometry = answer.meta[GEOMETRY]
    [lines] = geometry["itineraries"]
    observed = [(polyline.decode(leg["legGeometry"]["points"]), leg["source"]) for leg in lines["legs"]]
    assert (geometry["precision"], geometry["toleranceMeters"]) == (5, 0)
    assert lines["fingerprint"] == itinerary["fingerprint"]
    assert [leg["mode"] for leg in itinerary["legs"]] == ["WALK", "BUS", "BUS"]
    assert observed == [([(60.17, 24.939), (60.17, 24.94)], "straight-line"), (BEND, "shape"), (STOPS, "stops")]


async def test_a_tool_without_lines_reports_it(application):
    answer = await ask(application, {"stop": {"type": "label", "value": "Kamppi"}}, ASKED, "get_departures")
    async with connect(application) as client:
        listed = (await client.list_tools()).tools

    assert answer.content[0].text.startswith("validation-error: get_departures has no optional part geometry")
    assert {
        tool.name: tool.meta["fingerpost/offers"] for tool in listed if "fingerpost/offers" in (tool.meta or {})
    } == {
        "plan_trip": [GEOMETRY, COLORS, BASEMAP],
        "get_departures": [COLORS],
        "planRoute": [COLORS],
        "getStopTimetable": [COLORS],
    }


async def test_an_error_has_no_extras(application):
    answer = await ask(application, {**KAMPPI_TO_ESPOO, "limit": 4}, ASKED)

    assert (answer.is_error, GEOMETRY in answer.meta) == (True, False)


async def test_a_long_line_is_simplified_within_a_stated_tolerance(tmp_path):
    zigzag = [(60.17 + (n % 2) * 0.000005, 24.94 + n * 0.018 / 19_999) for n in range(20_000)]
    answer = await ask(drawn(tmp_path, zigzag), QUESTION, ASKED)

    geometry = answer.meta[GEOMETRY]
    legs = geometry["itineraries"][0]["legs"]
    assert geometry["toleranceMeters"] == 1
    assert sum(len(leg["legGeometry"]["points"]) for leg in legs) <= MAX_CHARACTERS
    assert legs[1]["legGeometry"]["length"] == len(polyline.decode(legs[1]["legGeometry"]["points"])) < 20_000


async def test_python_has_extras_with_the_answer(tmp_path):
    application = drawn(tmp_path)
    async with Fingerpost() as fp:
        answer = await fp.answer("plan_trip", QUESTION, include=["geometry"])

    asked = await ask(application, QUESTION, ASKED)
    assert answer.extras == {"geometry": asked.meta[GEOMETRY]}


PAINTED = "line A | Alpha 08:30 | Beta 08:40\nline B | Beta 08:50 | Gamma 09:00"
# White on orange cannot be read; line B states nothing.
ROUTES = "route_id,agency_id,route_short_name,route_type,route_color,route_text_color\nA,,A,3,FF6319,FFFFFF\nB,,B,3,,\n"
ORANGE = {"color": "FF6319", "textColor": "000000"}
PAINTED_TRIP = {
    "origin": {"type": "label", "value": "Alpha"},
    "destination": {"type": "label", "value": "Gamma"},
    "when": {"type": "depart", "time": "2026-03-10T08:00:00+02:00"},
    "limit": 1,
}
PAINTED_ROUTE = {
    "origin": {"rawText": "Alpha"},
    "destination": {"rawText": "Gamma"},
    "departureTime": "2026-03-10T06:00:00Z",
}
QUESTIONS = {
    "plan_trip": (PAINTED_TRIP, ["itineraries/0/legs/0"]),
    "planRoute": (PAINTED_ROUTE, ["itineraries/0/legs/0"]),
    "get_departures": ({"stop": {"type": "id", "value": "T:Alpha"}, "windowMinutes": 60}, ["departures/0"]),
    "getStopTimetable": ({"stopId": "T:ALPHA", "horizonMinutes": 60}, ["departures/0"]),
}


@pytest.fixture
def painted(home, tmp_path):
    return over(write_feed(tmp_path / "painted.zip", feed_from_drawing(PAINTED) | {"routes.txt": ROUTES}))


@pytest.mark.parametrize("tool", QUESTIONS)
async def test_requested_colours_of_lines_have_a_legible_text(painted, tool):
    question, touched = QUESTIONS[tool]
    asked, bare = await ask(painted, question, {COLORS: True}, tool), await ask(painted, question, tool=tool)

    [line] = asked.meta[COLORS]["lines"]
    assert (line["touches"], {"color": line["color"], "textColor": line["textColor"]}) == (touched, ORANGE)
    assert COLORS not in bare.meta
    assert json.dumps(asked.structured_content) == json.dumps(bare.structured_content)


@pytest.fixture
def town(home, tmp_path, invoke):
    return lakeside.add_lakeside(tmp_path, invoke)


async def test_a_requested_map_of_the_trips_surroundings_is_returned(town):
    asked, bare = await ask(town, lakeside.QUESTION, {BASEMAP: True}), await ask(town, lakeside.QUESTION)

    basemap = asked.meta[BASEMAP]
    drawn = {each["kind"]: [polyline.decode(line) for line in each["lines"]] for each in basemap["layers"]}
    [ring], [street] = drawn["water"], drawn["minor-road"]
    assert (ring[0], {tuple(point) for point in ring}) == (ring[-1], set(lakeside.LAKE))
    assert (street[0], street[-1]) == (lakeside.STREET[0], lakeside.STREET[-1])
    assert (list(drawn), basemap["precision"], basemap["leftOut"]) == (["water", "minor-road"], 5, [])
    assert any("OpenStreetMap" in each for each in asked.structured_content["meta"]["attribution"])
    assert BASEMAP not in bare.meta
    assert json.dumps(asked.structured_content) == json.dumps(bare.structured_content)


@pytest.mark.parametrize(("north", "east"), [(0.02, 0.0), (0.02, 0.04)], ids=["due north", "north-east"])
def test_the_map_fills_a_drawing_on_a_desk(north, east):
    """It is 620 pixels wide and 230 high with 22 left free around the trip: 3.3 times as wide as the trip is high."""
    ends = [SimpleNamespace(coordinate=Coordinate(60 + up, 24 + aside)) for up, aside in ((0, 0), (north, east))]
    box = build_map_bounds([SimpleNamespace(legs=[SimpleNamespace(start=ends[0], end=ends[1])])])
    high_m = north * METRES_PER_DEGREE
    wide_m = (box.east - box.west) * METRES_PER_DEGREE * cos(radians(60 + north / 2))

    assert wide_m >= 620 / (230 - 2 * 22) * high_m
    assert (box.north - box.south) * METRES_PER_DEGREE >= 1.2 * high_m


async def test_a_network_without_an_extract_has_no_map(application):
    asked = await ask(application, KAMPPI_TO_ESPOO, {BASEMAP: True})

    assert asked.meta[BASEMAP] == {"precision": 5, "toleranceMeters": 0.0, "layers": [], "leftOut": []}
