"""Names, ids and stops near a point: the server's geocoder and its list of stops."""

import pytest

from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Coordinate, PlaceKind
from tests.motis.answers import Told, a_board, a_place, asking

DAM = Coordinate(52.37, 4.90)
GONE = ("404 Not Found", {"error": "no radius: stop_found=false, center_parsed=false"})


def a_match(name="Dam", own_id="GVB_1", kind="STOP", **more):
    areas = [
        {"name": "Noord-Holland", "adminLevel": 4, "matched": False},
        {"name": "Amsterdam", "adminLevel": 8, "matched": False, "default": True},
    ]
    place = {"type": kind, "name": name, "id": own_id, "lat": 52.37, "lon": 4.90}
    return {**place, "tokens": [], "areas": areas, "score": -3.0, **more}


def stop_times_of(*stops):
    by_id = {stop["stopId"]: stop for stop in stops}
    return lambda query: a_board(place=by_id[query["stopId"]]) if query["stopId"] in by_id else GONE


async def find(text, told, **wishes):
    async with asking(told) as network:
        return await network.find_places(text, **wishes)


async def test_an_address_has_its_town_and_no_id():
    (found,) = await find("Damrak 1 Amsterdam", Told(geocode=[a_match("Damrak 1", "way/12", "ADDRESS")]))

    assert (found.place.kind, found.place.id, found.place.locality) == (PlaceKind.ADDRESS, None, "Amsterdam")


async def test_places_outside_the_network_are_dropped():
    found = await find("Dam", Told(geocode=[a_match(), a_match("Dam", "X_1", lat=10.0)]))

    assert [each.place.id for each in found] == ["GVB:1"]


async def test_the_focus_ranks_and_measures():
    told = Told(geocode=[a_match()])
    (found,) = await find("Dam", told, focus=Coordinate(52.37, 4.91))

    assert told.list_asked("geocode") == [{"text": "Dam", "numResults": "20", "place": "52.37000,4.91000"}]
    assert round(found.distance_m, -1) == 680


@pytest.mark.parametrize("text", ["", "  ", "?!", "\u0301"])
async def test_a_text_without_letters_is_not_sent(text):
    told = Told()

    assert (list(await find(text, told)), told.asked) == ([], [])


async def test_a_stop_represents_its_station_or_all_stops_of_its_name():
    poles = [a_place("Dam", "GVB_1", modes=["TRAM"]), a_place("Dam", "GVB_2", lat=52.3705, modes=["BUS"])]
    (found,) = await find("Dam", Told(geocode=[a_match()], map__stops=poles))
    platforms = [{**each, "parentId": "GVB_S"} for each in poles]
    station = a_place("Dam", "GVB_S", lat=52.3701)
    told = Told(geocode=[a_match()], map__stops=platforms, stoptimes=stop_times_of(station))
    (whole,) = await find("Dam", told)

    assert found.place.member_ids == ("GVB:1", "GVB:2")
    assert (whole.place.id, whole.place.coordinate.lat, whole.place.member_ids) == (
        "GVB:S",
        52.3701,
        ("GVB:1", "GVB:2"),
    )


@pytest.mark.parametrize(("text", "members"), [("Dam A", ("GVB:1",)), ("Dam", ("GVB:1", "GVB:2"))])
async def test_the_exact_name_of_a_pole_is_that_pole(text, members):
    poles = [a_place("Dam A", "GVB_1", modes=["TRAM"]), a_place("Dam B", "GVB_2", lat=52.3705, modes=["BUS"])]
    (found,) = await find(text, Told(geocode=[a_match("Dam A")], map__stops=poles))

    assert found.place.member_ids == members


async def test_a_stop_is_itself_and_a_station_is_its_stops():
    platforms = [a_place("Dam", name, parentId="GVB_S", modes=["TRAM"]) for name in ("GVB_1", "GVB_2")]
    told = Told(map__stops=platforms, stoptimes=stop_times_of(*platforms, a_place("Dam", "GVB_S")))
    async with asking(told) as network:
        stop, station = await network.find_stop("gvb:1"), await network.find_stop("GVB:S")
        whole = await network.find_stop("GVB:1", whole_place=True)

    assert (stop.id, stop.member_ids) == ("GVB:1", ("GVB:1",))
    assert (station.id, station.member_ids) == ("GVB:S", ("GVB:1", "GVB:2"))
    assert (whole.id, whole.member_ids) == ("GVB:S", ("GVB:1", "GVB:2"))


@pytest.mark.parametrize(
    "told",
    [
        GONE,
        ("404 Not Found", {"error": 'unknown feed id "GVB"'}),
        # Another stop than was asked for, because the server took a coordinate for it.
        a_board(place=a_place(stop_id="GVB_7")),
    ],
)
async def test_an_unknown_id_is_neither_a_stop_nor_an_error(told):
    async with asking(Told(stoptimes=told)) as network:
        assert (await network.find_stop("GVB:1"), await network.find_stop("GVB:1", whole_place=True)) == (None, None)


async def test_stops_near_a_point_are_measured_straight():
    stops = [
        a_place("Far", "GVB_3", 52.3708, modes=["BUS"]),
        a_place("Near", "GVB_2", 52.3701, modes=["TRAM", "SUBWAY", "TRAM"], track="A"),
        a_place("Corner", "GVB_4", 52.3708, 4.9013),
        # No stop, and nothing.
        a_place(stop_id=None),
        None,
    ]
    told = Told(map__stops=stops)
    async with asking(told) as network:
        near = (await network.list_stops_near(DAM, 100.0)).stops

    assert [(each.stop.name, each.modes, each.stop.platform) for each in near] == [
        ("Near", (Mode.METRO, Mode.TRAM), "A"),
        ("Far", (Mode.BUS,), None),
    ]
    assert told.asked == [("map/stops", {"min": "52.369100,4.898526", "max": "52.370900,4.901474"})]
