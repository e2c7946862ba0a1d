"""Networks behind a server that answers in a simple JSON of its own."""

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fingerpost.errors import OutsideCalendar, SourceChanged
from fingerpost.net.request import Bounds as Limits
from fingerpost.net.request import Request
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.model import Bounds, Departure, Itinerary, NearbyStop, Place, PlaceMatch
from fingerpost.transit.port import DepartureBoard, DepartureQuery, JourneyAnswer, JourneyQuery, NearbyStops
from fingerpost.transit.profile import Ability, NetworkProfile
from fingerpost.transit.provenance import FeedVersion, Provenance

ABILITIES = frozenset(Ability) - {Ability.FARES, Ability.GEOMETRY}
LIMITS = Limits(read_s=5.0, total_s=8.0, attempts=1)

_ITINERARIES = TypeAdapter(tuple[Itinerary, ...])
_DEPARTURES = TypeAdapter(list[Departure])
_MATCHES = TypeAdapter(list[PlaceMatch])
_PLACE = TypeAdapter(Place | None)
_STOPS = TypeAdapter(list[NearbyStop])
_PLAN = TypeAdapter(JourneyQuery)
_BOARD = TypeAdapter(DepartureQuery)


class ThrowawaySource:
    """Opens networks whose records say ``source = "throwaway"``; ``client`` asks their servers."""

    kind = "throwaway"

    def __init__(self, client, limits=LIMITS):
        self._client = client
        self._limits = limits

    async def complete(self, record):
        """Ask the server for its box, its zone and whom to name."""
        told, _ = await _ask(self._client, record, self._limits, "about", {})
        known = {name: told.get(name) for name in ("bounds", "zone", "attribution")}
        return _read(TypeAdapter(NetworkRecord), {**record.model_dump(), **known})

    def stamp(self):
        return None

    def open(self, record):
        return ThrowawayNetwork(record, self._client, self._limits)

    def retire(self, name):
        """Nothing goes on behind a network."""

    async def close(self):
        await self._client.aclose()


class ThrowawayNetwork:
    """One network; see the port."""

    def __init__(self, record, client, limits):
        self._record = record
        self._client = client
        self._limits = limits

    @property
    def profile(self):
        south, west, north, east = self._record.bounds
        return NetworkProfile(
            name=self._record.name,
            source="throwaway",
            bounds=Bounds(south=south, west=west, north=north, east=east),
            zone=self._record.zone,
            abilities=ABILITIES,
            feed_names=frozenset({self._record.name}),
            attribution=self._record.attribution,
            priority=self._record.priority,
        )

    async def plan_journeys(self, query):
        told, provenance = await self._ask("plan", _PLAN.dump_python(query, mode="json"))
        if "outside" in told:
            raise OutsideCalendar(told["outside"])
        return JourneyAnswer(
            itineraries=_read(_ITINERARIES, told.get("itineraries")),
            timetabled=_read(_ITINERARIES, told.get("timetabled")),
            step_free_supported=bool(told.get("stepFree")),
            provenance=provenance,
        )

    async def list_departures(self, query):
        told, provenance = await self._ask("board", _BOARD.dump_python(query, mode="json"))
        rows = _read(_DEPARTURES, told.get("departures"))
        return DepartureBoard(
            departures=rows, found_count=_read(TypeAdapter(int), told.get("count")), provenance=provenance
        )

    async def find_places(self, text, *, language=None, focus=None):
        focus = None if focus is None else [focus.lat, focus.lon]
        told, _ = await self._ask("places", {"text": text, "language": language, "focus": focus})
        return _read(_MATCHES, told.get("places"))

    async def find_stop(self, stop_id, *, language=None):
        told, _ = await self._ask("stop", {"id": stop_id, "language": language})
        return _read(_PLACE, told.get("place"))

    async def find_stop_place(self, stop_id, *, language=None):
        told, _ = await self._ask("place", {"id": stop_id, "language": language})
        return _read(_PLACE, told.get("place"))

    async def list_stops_near(self, coordinate, radius_m, *, language="en"):
        told, provenance = await self._ask("near", {"at": [coordinate.lat, coordinate.lon], "metres": radius_m})
        return NearbyStops(stops=_read(_STOPS, told.get("stops")), provenance=provenance)

    async def find_realtime_health(self):
        """The server follows real time, we do not."""
        return

    async def _ask(self, what, arguments):
        told, response = await _ask(self._client, self._record, self._limits, what, arguments)
        provenance = Provenance(
            network=self._record.name,
            source="throwaway",
            zone=self._record.zone,
            retrieved_at=int(response.retrieved_at.timestamp()),
            feeds=(FeedVersion(name=self._record.name),),
            attribution=self._record.attribution,
            realtime_updated=told.get("realtime"),
        )
        return told, provenance


async def _ask(client, record, limits, what, arguments):
    request = Request(
        url=f"{record.url}/{what}",
        method="POST",
        repeatable=True,
        headers={"content-type": "application/json"},
        secret_headers={} if record.key is None else {"x-api-key": record.key},
        content=json.dumps(arguments, sort_keys=True).encode(),
        bounds=limits,
    )
    response = await client.fetch(request)
    told: Any = response.json()
    if not isinstance(told, dict):
        raise SourceChanged(f"{response.shown} answered something that is no object")
    return told, response


def _read(shape, value):
    try:
        return shape.validate_python(value)
    except ValidationError as error:
        raise SourceChanged(
            f"The server answered in a shape that we do not know ({error.errors()[0]['msg']})"
        ) from error
