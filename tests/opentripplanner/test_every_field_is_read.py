"""Every field that a document selects is read by whoever makes answers of it."""

import json
from collections import defaultdict

import pytest

from fingerpost.errors import OutsideCalendar
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.remote.opentripplanner import shapes
from tests.net.local_server import answer
from tests.opentripplanner.answers import (
    HERE,
    a_board,
    a_board_query,
    a_page,
    a_query,
    a_ride,
    a_stop,
    a_time,
    a_walk,
    asking,
    at,
    body,
    data,
    learning,
)

PRODUCT = {
    "id": "HSL:single",
    "riderCategory": {"isDefault": True},
    "price": {"amount": 3.1, "currency": {"code": "EUR", "digits": 2}},
}
ALERT = {"id": "1", "alertHeaderText": None, "alertDescriptionText": "Snow", "effectiveStartDate": 0}
LATE = a_ride(
    realTime=True,
    headsign=None,
    start=at(5, "PT10M"),
    end=at(15, "PT10M"),
    alerts=[{**ALERT, "effectiveEndDate": 4_000_000_000}],
    route={"gtfsId": "HSL:1", "shortName": None, "longName": None, "type": None},
    trip={"gtfsId": "HSL:2", "tripHeadsign": None, "arrivalStoptime": {"stop": {"name": "Aalto"}}},
    fareProducts=[{"id": "x", "product": PRODUCT}],
    **{"from": {"name": "Kamppi", "lat": 1.0, "lon": 2.0, "stop": a_stop("HSL:1", None)}},
)


@pytest.fixture
def read(monkeypatch):
    """The fields that were read, by the name of their shape."""
    seen = defaultdict(set)
    plain = shapes.Shape.__getattribute__

    def note(self, name):
        if name in type(self).model_fields:
            seen[type(self).__name__].add(name)
        return plain(self, name)

    monkeypatch.setattr(shapes.Shape, "__getattribute__", note)
    return seen


async def test_every_field_that_is_selected_is_read(read):
    """Plans, boards, stops, names, and what is learned of a server, each asked once."""
    station = {"gtfsId": "HSL:9", "name": "Kamppi", "lat": HERE.lat, "lon": HERE.lon, "stops": []}
    stop = {**station, "gtfsId": "HSL:1", "platformCode": "1", "routes": [{"type": 3}], "parentStation": station}
    bare = a_time(trip={**a_time()["trip"], "tripHeadsign": None}, headsign=None, realtime=True)
    lone = {**stop, "parentStation": None}
    plan = {
        "live": a_page([a_walk(), LATE], errors=[("NO_TRANSIT_CONNECTION", "FROM")]),
        "promised": a_page([a_walk(), a_ride(realtimeState="CANCELED")]),
    }
    errors = [{"message": "a part", "path": ["live"], "extensions": {"classification": "x"}}]
    answers = [
        data(stops=[stop, {**stop, "gtfsId": "HSL:2"}], stations=[]),
        body({"data": plan, "errors": errors}),
        data(live=a_page(cursor="A")),
        data(live=a_page(errors=[("OUTSIDE_SERVICE_PERIOD", None)])),
        data(stops=[a_board(bare)]),
        data(stops=[stop], stations=[{**station, "stops": [stop]}]),
        data(stops=[lone], stations=[]),
        data(stopsByBbox=[stop]),
        data(stopsByBbox=[stop]),
        data(stops=[stop], stations=[station]),
        body({"errors": errors}),
    ]
    async with asking(*answers) as (network, _):
        station_of_two = Location(coordinate=HERE, source=LocationSource.GEOCODE, stop_ids=("HSL:1", "HSL:2"))
        answered = await network.plan_journeys(a_query(origin=station_of_two))
        answered.price(answered.itineraries[0])
        answered.draw(answered.itineraries[0].legs[1])
        with pytest.raises(OutsideCalendar):
            await network.plan_journeys(a_query(max_transfers=1))
        await network.list_departures(a_board_query())
        await network.find_stop("HSL:9")
        await network.find_stop_place("HSL:1")
        await network.list_stops_near(Coordinate(HERE.lat, HERE.lon), 300.0)
        await network.find_places("Kamppi")
        with pytest.raises(Exception, match="a part"):
            await network.find_stop("HSL:8")
    agency = {"name": "HSL", "timezone": "Europe/Helsinki", "lang": "fi"}
    feeds = [{"feedId": "HSL", "publisher": None, "agencies": [agency]}, {"feedId": "X", "publisher": {"name": "P"}}]
    network = {"feeds": feeds, "serviceTimeRange": {"start": 1, "end": 90_000}, "routes": [{"type": 3}]}
    async with learning(answer(body=json.dumps({}).encode()), data(**network), data(stops=[{"lat": 1.0, "lon": 2.0}])):
        pass
    made = {each.__name__: set(each.model_fields) for each in vars(shapes).values() if is_shape(each)}
    # Shapes that others are built on stand in no answer themselves.
    unread = {name: fields - read[name] for name, fields in made.items() if fields - read[name]}

    assert unread == {}


def is_shape(each):
    if not (isinstance(each, type) and issubclass(each, shapes.Shape)):
        return False
    return bool(each.model_fields) and not each.__pydantic_generic_metadata__["parameters"]
