"""Networks behind a server that answers in a simple JSON of its own."""

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fingerpost.errors import OutsideCalendar, SourceChanged
from fingerpost.net.request import Request, RequestLimits
from fingerpost.transit.learned_profile import LearnedProfile, new_remote_profile
from fingerpost.transit.model.itinerary import Departure, Itinerary, Mode, NearbyStop, ServiceAlert
from fingerpost.transit.model.place import Bounds, Place, PlaceMatch
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import FeedVersion, Provenance
from fingerpost.transit.port import DepartureBoard, DepartureQuery, JourneyAnswer, JourneyQuery, NearbyStops

ABILITIES = frozenset(Ability) - {Ability.FARES, Ability.GEOMETRY}
LIMITS = RequestLimits(read_s=5.0, total_s=8.0, attempts=1)

_ITINERARIES = TypeAdapter(tuple[Itinerary, ...])
_ALERTS = TypeAdapter(tuple[ServiceAlert, ...])
_DEPARTURES = TypeAdapter(list[Departure])
_MATCHES = TypeAdapter(list[PlaceMatch])
_PLACE = TypeAdapter(Place | None)
_STOPS = TypeAdapter(list[NearbyStop])
_PLAN = TypeAdapter(JourneyQuery)
_BOARD = TypeAdapter(DepartureQuery)
_BOX = TypeAdapter(tuple[float, float, float, float])
_MODES = TypeAdapter(frozenset[Mode])
_TEXTS = TypeAdapter(tuple[str, ...])


class ThrowawaySource:
    """Opens networks whose records say ``source = "throwaway"``; their servers are asked with ``fetch``."""

    kind = "throwaway"

    def __init__(self, fetch, limits=LIMITS):
        self._fetch = fetch
        self._limits = limits

    async def learn(self, record):
        """Ask the server for its box, its zone, what runs there and whom to name."""
        told, response = await _ask(self._fetch, record, self._limits, "about", {})
        south, west, north, east = _read(_BOX, told.get("bounds"))
        return LearnedProfile(
            bounds=Bounds(south=south, west=west, north=north, east=east),
            zone=_read(TypeAdapter(str), told.get("zone")),
            feeds=(FeedVersion(name=record.name),),
            modes=_read(_MODES, told.get("modes")),
            attribution=_read(_TEXTS, told.get("attribution")),
            learned_at=response.retrieved_at,
        )

    def stamp(self):
        return None

    def open(self, record, learned=None):
        return ThrowawayNetwork(record, new_remote_profile(record, learned, ABILITIES), self._fetch, self._limits)

    def retire(self, name):
        """Nothing goes on behind a network."""

    async def close(self):
        """Nothing goes on behind any; what asks the servers is another's to close."""


class ThrowawayNetwork:
    def __init__(self, record, profile, fetch, limits):
        self._record = record
        self.profile = profile
        self._fetch = fetch
        self._limits = limits

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
            departures=rows,
            found_count=_read(TypeAdapter(int), told.get("count")),
            provenance=provenance,
            alerts=_read(_ALERTS, told.get("alerts")),
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

    async def find_address(self, coordinate, *, language=None, may_ask=False):
        return None

    async def find_realtime_health(self):
        """The server follows real time, we do not."""
        return

    async def _ask(self, what, arguments):
        told, response = await _ask(self._fetch, self._record, self._limits, what, arguments)
        provenance = Provenance(
            network=self.profile.name,
            source=self.profile.source,
            zone=self.profile.zone,
            retrieved_at=int(response.retrieved_at.timestamp()),
            feeds=tuple(FeedVersion(name=name) for name in sorted(self.profile.feed_names)),
            attribution=self.profile.attribution,
            realtime_updated=told.get("realtime"),
        )
        return told, provenance


async def _ask(fetch, record, limits, what, arguments):
    request = Request(
        url=f"{record.url}/{what}",
        method="POST",
        repeatable=True,
        headers={"content-type": "application/json"},
        secret_headers={} if record.key is None else {"x-api-key": record.key},
        content=json.dumps(arguments, sort_keys=True).encode(),
        limits=limits,
    )
    response = await fetch(request)
    told: Any = response.json()
    if not isinstance(told, dict):
        raise SourceChanged(f"{response.redacted_url} answered something that is no object")
    return told, response


def _read(shape, value):
    try:
        return shape.validate_python(value)
    except ValidationError as error:
        raise SourceChanged(
            f"The server answered in a shape that we do not know ({error.errors()[0]['msg']})"
        ) from error
