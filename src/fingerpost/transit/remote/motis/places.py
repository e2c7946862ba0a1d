"""Stop ids, stop look-up and geocoding on a MOTIS server."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from fingerpost.errors import OutsideCalendar
from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.engine.timetable.stop_ids import clean_feed_name, escape, unescape
from fingerpost.transit.model.place import Bounds, Coordinate, Place, box_around, distance_m
from fingerpost.transit.remote.kit.answers import Answer, Entries
from fingerpost.transit.remote.kit.places import (
    AROUND_M,
    MAX_GROUPED,
    MAX_MATCHES,
    MAX_NEARBY,
    Candidate,
    Geocoder,
    GroupingLookup,
    ServerStop,
    StopIdCodec,
)
from fingerpost.transit.remote.kit.server import STOPS_FRESH_S
from fingerpost.transit.remote.motis import shapes
from fingerpost.transit.remote.motis.server import MotisEndpoint, MotisServer, UnknownThere
from fingerpost.transit.rules.language import spoken

_TRIP_ID = re.compile(r"(?P<day>\d{8})_(?P<time>[^_]*)_(?P<id>.+)", re.DOTALL)
# Stations around a stop that are looked up; stops of any further station count as stops without one.
_MAX_STATIONS = 5
# Stops of one place that are looked up.
_MAX_STOPS = 8


class MotisStopIds(StopIdCodec):
    """Stop ids ``tag_local``, split at the first underscore; case matters.

    A feed whose tag was learned is a FEED of its own: ``hsl_1040601`` is ``HSL:1040601``, as any network with that feed
    prints it. A server that cannot list its feeds has one FEED, the network's name, before the whole id:
    ``NL:NL-OVAPI_X`` is ``nl-ovapi_x``.

    An id in one case only is upper-cased, and may be either of two on the server; in an id in both cases, small letters
    are escaped. ``tags`` are the server's feeds as it spells them.
    """

    def __init__(self, network: str, tags: Iterable[str] = ()) -> None:
        super().__init__()
        self._tag_by_feed: dict[str, str] = {}
        for tag in tags:
            self._tag_by_feed.setdefault(clean_feed_name(tag), tag)
        self._network = clean_feed_name(network)

    def _list_candidates(self, printed: str) -> Iterable[str]:
        feed, _, escaped = printed.partition(":")
        local = unescape(escaped)
        if local and feed in self._tag_by_feed:
            yield from (f"{self._tag_by_feed[feed]}_{spelling}" for spelling in _cases(local))
        # An id without a feed is not expected where the network's name is also a feed.
        if local and feed == self._network and ("_" in local or feed not in self._tag_by_feed):
            tag, underscore, rest = local.partition("_")
            yield from (f"{one}{underscore}{other}" for one in _cases(tag) for other in _cases(rest))

    def encode_trip(self, own_id: str) -> str:
        match = _TRIP_ID.fullmatch(own_id)
        whole = match["id"] if match else own_id
        tag, _, local = whole.partition("_")
        feed = clean_feed_name(tag)
        return f"{feed}:{local}" if self._tag_by_feed.get(feed) == tag else f"{self._network}:{whole}"

    def _encode(self, own_id: str, *, exact: bool) -> str:
        tag, underscore, local = own_id.partition("_")
        feed = clean_feed_name(tag)
        raised = local if exact else _raise(local)
        if underscore and self._tag_by_feed.get(feed) == tag:
            return f"{feed}:{escape(raised)}"
        return f"{self._network}:{escape(f'{tag if exact else _raise(tag)}{underscore}{raised}')}"


def find_service_day(own_trip_id: str) -> date | None:
    match = _TRIP_ID.fullmatch(own_trip_id)
    try:
        return date.fromisoformat(match["day"]) if match else None
    except ValueError:
        return None


def _raise(text: str) -> str:
    """Upper-case a text of small letters; leave one in both cases, or without capitals."""
    raised = text.upper()
    return raised if raised.lower() == text else text


def _cases(text: str) -> Iterator[str]:
    """Yield the possible originals of an upper-cased text; lower-case letters are exact."""
    yield text
    # Not islower(): a letter such as º is small and has no capital.
    if all(letter.upper() == letter for letter in text) and text.lower() != text:
        yield text.lower()


class MotisStopLookup(GroupingLookup):
    def __init__(self, server: MotisServer, ids: MotisStopIds) -> None:
        super().__init__(ids)
        self._server = server

    async def _find(self, printed_id: str, language: str | None = None) -> ServerStop | None:
        for own_id in self._ids.decode(printed_id):
            found = await self._find_own(own_id, language)
            if found is not None and self._ids.encode(own_id) == printed_id.strip().upper():
                return found
        return None

    async def _find_own(self, own_id: str, language: str | None = None) -> ServerStop | None:
        params = {"stopId": own_id, "n": "1", "exactRadius": "true", "radius": "0"}
        try:
            try:
                place = await self._ask_place(params, language)
            except OutsideCalendar as error:
                # Now may lie outside the timetable (rule A5).
                first = error.details.get("first_day")
                if first is None:
                    raise
                place = await self._ask_place({**params, "time": f"{first}T12:00:00Z"}, language)
        except UnknownThere:
            return None
        return _new_stop(place) if place.stop_id == own_id else None

    async def _ask_place(self, params: Mapping[str, str], language: str | None) -> shapes.MotisPlace:
        answered = await self._server.ask(
            MotisEndpoint.STOP_TIMES, shapes.MotisStop, params, language=language, fresh_s=STOPS_FRESH_S
        )
        return answered.data.place

    async def list_known(self, printed_ids: Sequence[str]) -> list[ServerStop]:
        found = await gather_all(self._find(printed_id) for printed_id in printed_ids[:_MAX_STOPS])
        return [stop for stop in found if stop is not None]

    async def find_stop(self, printed_id: str, language: str | None) -> Place | None:
        found = await self._find(printed_id, language)
        if found is None:
            return None
        children: list[ServerStop] = []
        if found.parent_id is None:
            around = (await self._list_around(found.coordinate, AROUND_M, language)).data
            children = [stop for stop in around if stop.parent_id == found.own_id]
        return spoken(self.place_of(replace(found, is_station=bool(children)), children), language)

    async def _list_neighbours(self, centre: Coordinate, language: str | None) -> Iterable[ServerStop]:
        stops = (await self._list_around(centre, AROUND_M, language)).data
        nearest = sorted(stops, key=lambda stop: distance_m(centre, stop.coordinate))
        parents = list(dict.fromkeys(stop.parent_id for stop in nearest if stop.parent_id is not None))
        known = await gather_all(self._find_own(parent, language) for parent in parents[:_MAX_STATIONS])
        found = {stop.own_id: replace(stop, parent_id=None, is_station=True) for stop in known if stop is not None}
        stations = set(found)
        for stop in stops:
            found.setdefault(stop.own_id, stop if stop.parent_id in stations else replace(stop, parent_id=None))
        return found.values()

    async def _list_around(self, centre: Coordinate, radius_m: float, language: str | None) -> Answer[list[ServerStop]]:
        box = box_around(centre, radius_m)
        answered = await ask_stops(self._server, box, language, fresh_s=STOPS_FRESH_S)
        return answered.with_data(list(map(_new_stop, answered.data)))


def _new_stop(place: shapes.MotisPlace) -> ServerStop:
    return ServerStop(
        own_id=place.stop_id or "",
        name=place.name,
        coordinate=place.coordinate,
        parent_id=place.parent_id,
        modes=frozenset(map(shapes.read_mode, place.modes)),
        platform=place.track,
    )


async def ask_stops(
    server: MotisServer, box: Bounds, language: str | None = None, *, fresh_s: float
) -> Answer[tuple[shapes.MotisPlace, ...]]:
    """Return the stops of a box; raise ResponseTooLarge if there are more than the server lists at once."""
    params = {"min": f"{box.south:.6f},{box.west:.6f}", "max": f"{box.north:.6f},{box.east:.6f}"}
    answered = await server.ask(
        MotisEndpoint.STOPS, Entries[shapes.MotisPlace], params, language=language, fresh_s=fresh_s
    )
    answered.require("stop", "", found=answered.data)
    return answered.with_data(tuple(stop for stop in answered.data if stop.stop_id is not None))


class MotisGeocoder(Geocoder):
    def __init__(self, server: MotisServer, stops: MotisStopLookup, bounds: Bounds) -> None:
        self._server = server
        self._stops = stops
        self._bounds = bounds

    async def _search(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[Candidate]:
        params = {"text": text, "numResults": str(MAX_MATCHES)}
        if focus is not None:
            params["place"] = _format_position(focus)
        found = await self._ask(MotisEndpoint.GEOCODE, params, language)
        # The server may cover more than this network.
        return [candidate for candidate in found if self._bounds.covers(candidate.coordinate)]

    async def _list_near(self, position: Coordinate, language: str | None) -> Sequence[Candidate]:  # noqa: ARG002
        params = {"place": _format_position(position), "numResults": str(MAX_NEARBY)}
        return await self._ask(MotisEndpoint.REVERSE_GEOCODE, params, None)

    async def _ask(self, endpoint: MotisEndpoint, params: Mapping[str, str], language: str | None) -> list[Candidate]:
        answered = await self._server.ask(
            endpoint, Entries[shapes.Match], params, language=language, fresh_s=STOPS_FRESH_S
        )
        answered.require("place", "", found=answered.data)
        return [_new_candidate(match) for match in answered.data]

    async def _find_places(
        self, candidates: Sequence[Candidate], scores: Sequence[float], language: str | None
    ) -> list[Place]:
        places = [self._place_of(candidate) for candidate in candidates]
        stops = [number for number, candidate in enumerate(candidates) if candidate.stop_id]
        best = sorted(stops, key=lambda number: -scores[number])[:MAX_GROUPED]
        groups = await gather_all(self._stops.get_group(places[number], language) for number in best)
        whole = {number: spoken(places[number], language) for number in stops} | dict(zip(best, groups, strict=True))
        return [whole.get(number, place) for number, place in enumerate(places)]

    def _place_of(self, candidate: Candidate) -> Place:
        if not candidate.stop_id:
            return candidate.to_place()
        stop = ServerStop(own_id=candidate.stop_id, name=candidate.name, coordinate=candidate.coordinate)
        return self._stops.place_of(stop)


def _format_position(position: Coordinate) -> str:
    # To a metre, so that nearby requests share a cached response.
    return f"{position.lat:.5f},{position.lon:.5f}"


def _new_candidate(match: shapes.Match) -> Candidate:
    # Some versions put the house number into the name, some beside it.
    number = match.house_number or ""
    title = match.name if number in match.name.split() else f"{match.name} {number}".strip()
    return Candidate(
        name=match.name,
        coordinate=match.coordinate,
        title=title,
        locality=next((area.name for area in match.areas if area.default and area.name), None),
        is_address=bool(number),
        stop_id=match.id if match.type == "STOP" and match.id else None,
    )
