"""Names in Digitransit's regions."""

import json

import pytest

from fingerpost.errors import SourceChanged, SourceFailed, SourceKeyRefused, SourceLimited
from fingerpost.transit.model.place import Coordinate, PlaceKind
from fingerpost.transit.remote.opentripplanner.digitransit import KEY_HEADER
from fingerpost.transit.rules.name_matching import find_certain
from tests.net.local_server import answer, html
from tests.opentripplanner.answers import a_board, a_board_query, a_time, data
from tests.opentripplanner.digitransit import KEY, Digitransit, asking_hsl, features
from tests.shared_data import get_shared

pytest.importorskip("cryptography")

KAMPPI = (60.1690, 24.9312)
STATION = {"gtfsId": "HSL:1000015", "name": "Kamppi", "lat": KAMPPI[0], "lon": KAMPPI[1]}
STOPS = [{"gtfsId": f"HSL:104060{n}", "name": "Kamppi", "lat": KAMPPI[0], "lon": KAMPPI[1]} for n in (1, 2)]
NONE = data(stops=[], stations=[])


async def _find(tmp_path, text, *, geocoding, routing=(NONE,), **wishes):
    upstream = Digitransit(routing=routing, geocoding=[geocoding])
    async with asking_hsl(tmp_path, upstream) as network:
        return await network.find_places(text, **wishes), upstream


async def test_an_address_is_found_by_its_name(tmp_path):
    told = features(("Lumikintie 4", 60.2026, 25.0577, {"localadmin": "Helsinki", "label": "Lumikintie 4, Helsinki"}))
    found, _ = await _find(tmp_path, "lumikintie 4", geocoding=told)

    assert [(each.place.name, each.place.locality, each.place.kind, each.score) for each in found] == [
        ("Lumikintie 4", "Helsinki", PlaceKind.ADDRESS, 1.0)
    ]
    assert found[0].place.token == "60.202600,25.057700"


async def test_the_municipality_may_be_part_of_the_text(tmp_path):
    told = features(
        ("Keskuskatu 1", 60.16, 24.94, {"label": "Keskuskatu 1, Helsinki"}),
        ("Keskuskatu 1", 60.20, 24.66, {"label": "Keskuskatu 1, Espoo"}),
    )
    named, _ = await _find(tmp_path, "Keskuskatu 1, Espoo", geocoding=told)
    open_, _ = await _find(tmp_path, "Keskuskatu 1", geocoding=told)

    assert round(find_certain(named).place.coordinate.lat, 2) == 60.2
    assert find_certain(open_) is None


async def test_a_stop_of_a_station_is_the_station_with_all_its_stops(tmp_path):
    """And the map's station of that name within 300 m is the same place (rule D2)."""
    told = features(
        ("Kamppi", 60.1690, 24.9323, {"id": "node:1", "layer": "station"}),
        ("Kamppi", *KAMPPI, {"id": "GTFS:HSL:1040601#H1", "layer": "stop"}),
    )
    stop = {**STOPS[0], "parentStation": {**STATION, "stops": STOPS}}
    found, _ = await _find(tmp_path, "kamppi", geocoding=told, routing=[data(stops=[stop], stations=[])])

    assert [(each.place.id, each.place.member_ids) for each in found] == [
        ("HSL:1000015", ("HSL:1040601", "HSL:1040602"))
    ]


async def test_a_stop_outside_stations_brings_the_stops_of_its_name(tmp_path):
    told = features(("Kamppi", *KAMPPI, {"id": "GTFS:HSL:1040601#H1", "layer": "stop"}))
    routing = [data(stops=[STOPS[0]], stations=[]), data(stopsByBbox=STOPS)]
    found, _ = await _find(tmp_path, "kamppi", geocoding=told, routing=routing)

    assert [each.place.member_ids for each in found] == [("HSL:1040601", "HSL:1040602")]


async def test_a_stop_that_the_router_does_not_know_is_still_a_position(tmp_path):
    told = features(("Kamppi", *KAMPPI, {"id": "GTFS:HSL:9#H1", "layer": "stop"}))
    found, _ = await _find(tmp_path, "kamppi", geocoding=told)

    assert [(each.place.kind, each.place.id) for each in found] == [(PlaceKind.ADDRESS, None)]


async def test_the_question_names_text_box_language_and_focus(tmp_path):
    _, upstream = await _find(tmp_path, "kamppi", geocoding=features(), language="sv", focus=Coordinate(60.2, 24.9))
    asked, params = upstream.questions("geocoding")[0], upstream.params()

    assert (params["text"], params["lang"], params["boundary.rect.min_lat"]) == ("kamppi", "sv", "59.9")
    assert (params["focus.point.lat"], params["focus.point.lon"]) == ("60.20000", "24.90000")
    assert (asked.headers[KEY_HEADER], KEY in asked.target) == (KEY, False)


@pytest.mark.parametrize("text", ["", "  ", "???", "北京"])
async def test_a_text_that_the_geocoder_refuses_is_not_sent(tmp_path, text):
    found, upstream = await _find(tmp_path, text, geocoding=features())

    assert (found, upstream.asked) == ([], [])


@pytest.mark.parametrize(
    ("told", "branch"),
    [
        (html("200 OK"), SourceChanged),
        (answer(body=b'{"features": [{"geometry": {}}]}'), SourceChanged),
        (answer("400 Bad Request", b'{"geocoding": {"errors": ["invalid"]}}'), SourceFailed),
        (answer("401 Unauthorized", b'{"statusCode": 401}'), SourceKeyRefused),
        (answer("403 Forbidden", b"Out of call volume quota. Quota will be replenished in 01:00:00"), SourceLimited),
    ],
)
async def test_a_geocoder_failure_names_the_service(tmp_path, told, branch):
    with pytest.raises(branch) as raised:
        await _find(tmp_path, "kamppi", geocoding=told)

    assert raised.value.details["service"] == "geocoding"


@pytest.mark.parametrize("name", ["search_kamppi_1_2025-09-29", "search_lumikintie_2024-05-06"])
async def test_recorded_answers_are_read(tmp_path, name):
    recorded = get_shared(f"api/digitransit/{name}.json").read_bytes()
    wanted = json.loads(recorded)["features"]
    found, _ = await _find(tmp_path, name.split("_")[1], geocoding=answer(body=recorded))

    assert sorted(each.place.name for each in found) == sorted(each["properties"]["name"] for each in wanted)
    assert all(each.score >= 0.6 for each in found)


async def test_an_answer_states_when_it_was_retrieved(tmp_path):
    """Digitransit's terms: its name, the licence, the date and the time."""
    upstream = Digitransit(routing=[data(stops=[a_board(a_time())])])
    async with asking_hsl(tmp_path, upstream) as network:
        board = await network.list_departures(a_board_query())
    said = [line for line in board.provenance.attribution if line.startswith("© Digitransit 20")]

    assert len(said) == 1
    assert ", retrieved 20" in said[0]
    assert upstream.questions("routing")[0].target == "/routing/v2/hsl/gtfs/v1"
