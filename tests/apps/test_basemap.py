"""Water and streets behind a trip, beside its answer, for those who draw it."""

import json
from math import cos, radians
from types import SimpleNamespace

import polyline
import pytest
from mcp import Client

from fingerpost.apps.mcp.server import new_server
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.tools.map_shapes import find_box
from tests.views.lakeside import LAKE, QUESTION, STREET, add_lakeside

KEY = "fingerpost/basemap"


@pytest.fixture
def lakeside(home, tmp_path, invoke):
    """An application over the town by the lake."""
    return add_lakeside(tmp_path, invoke)


async def test_who_asks_gets_what_lies_around_the_trip(lakeside):
    """The lake as a closed ring, then the street; the body is the same to the byte, and names whose map it is."""
    async with Client(new_server(lakeside, find_user=lambda _: "eva")) as client:
        asked = await client.call_tool("plan_trip", QUESTION, meta={KEY: True})
        bare = await client.call_tool("plan_trip", QUESTION)

    basemap = asked.meta[KEY]
    drawn = {each["kind"]: [polyline.decode(line) for line in each["lines"]] for each in basemap["layers"]}
    [ring], [street] = drawn["water"], drawn["minor-road"]
    assert (ring[0], {tuple(point) for point in ring}) == (ring[-1], set(LAKE))
    assert (street[0], street[-1]) == (STREET[0], STREET[-1])
    assert (list(drawn), basemap["precision"], basemap["leftOut"]) == (["water", "minor-road"], 5, [])
    assert any("OpenStreetMap" in each for each in asked.structured_content["meta"]["attribution"])
    assert KEY not in bare.meta
    assert json.dumps(asked.structured_content) == json.dumps(bare.structured_content)


@pytest.mark.parametrize(("north", "east"), [(0.02, 0.0), (0.02, 0.04)], ids=["due north", "north-east"])
def test_the_map_fills_a_drawing_on_a_desk(north, east):
    """It is 620 pixels wide and 230 high with 22 left free around the trip: 3.3 times as wide as the trip is high."""
    ends = [SimpleNamespace(coordinate=Coordinate(60 + up, 24 + aside)) for up, aside in ((0, 0), (north, east))]
    box = find_box([SimpleNamespace(legs=[SimpleNamespace(start=ends[0], end=ends[1])])])
    high_m = north * METRES_PER_DEGREE
    wide_m = (box.east - box.west) * METRES_PER_DEGREE * cos(radians(60 + north / 2))

    assert wide_m >= 620 / (230 - 2 * 22) * high_m
    assert (box.north - box.south) * METRES_PER_DEGREE >= 1.2 * high_m


async def test_a_network_without_an_extract_has_no_map(application):
    """The demo was asked for one and says that there is nothing to draw."""
    question = {**QUESTION, "origin": {"type": "label", "value": "Kamppi"}}
    question["destination"] = {"type": "label", "value": "DEMO-HELSINKI:ESPOO"}
    async with Client(new_server(application, find_user=lambda _: "eva")) as client:
        asked = await client.call_tool("plan_trip", question, meta={KEY: True})

    assert asked.meta[KEY] == {"precision": 5, "toleranceMeters": 0.0, "layers": [], "leftOut": []}
