"""Stop ids, stop lookup and geocoding on a MOTIS server."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from fingerpost.errors import OutsideCalendar
from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.engine.timetable.stop_ids import clean_feed_name, escape, unescape
from fingerpost.transit.model.place import Bounds, Coordinate, Place, box_around, distance_m, set_language
from fingerpost.transit.remote.kit import places as kit
from fingerpost.transit.remote.kit.answers import Answer, Entries
from fingerpost.transit.remote.kit.server import STOPS_FRESH_S
from fingerpost.transit.remote.motis import shapes
from fingerpost.transit.remote.motis.server import MotisEndpoint, MotisServer, UnknownToServer

_TRIP_ID = re.compile(r"(?P<day>\d{8})_(?P<time>[^_]*)_(?P<id>.+)", re.DOTALL)
# Maximum number of stations to look up around a stop; the stops of other stations are treated as independent.
_MAX_STATIONS = 5
# Maximum number of stops to look up per place.
_MAX_STOPS = 8


class MotisStopIds(kit.StopIdCodec):
    """Stop ids of the form ``tag_local``, split at the first underscore; case matters.

    The tag of a known feed becomes the FEED: ``hsl_1040601`` is ``HSL:1040601``, as in other networks with that feed.
    For other tags, such as those of a server that cannot list its feeds, the network's name precedes the complete id:
    ``nl-ovapi_x`` is ``NL:NL-OVAPI_X``. ``tags`` are the server's feed tags.
    """

    def __init__(self, network: str, tags: Iterable[str]) -> None:
        super().__init__()
        self._tag_by_feed: dict[str, str] = {}
        for tag in tags:
            self._tag_by_feed.setdefault(clean_feed_name(tag), tag)
        self._network = clean_feed_name(network)

    def _list_candidates(self, public_id: str) -> Iterable[str]:
        feed, _, escaped = public_id.partition(":")
        local = unescape(escaped)
        if local and feed in self._tag_by_feed:
            yield from (f"{self._tag_by_feed[feed]}_{spelling}" for spelling in kit.list_spellings(local))
        # If the network's name is also a feed's name, every id is expected to have a tag.
        if local and feed == self._network and ("_" in local or feed not in self._tag_by_feed):
            tag, underscore, rest = local.partition("_")
            yield from (
                f"{head}{underscore}{tail}" for head in kit.list_spellings(tag) for tail in kit.list_spellings(rest)
            )

    def encode_trip(self, server_id: str) -> str:
        match = _TRIP_ID.fullmatch(server_id)
        stable_id = match["id"] if match else server_id
        tag, _, local = stable_id.partition("_")
        feed = clean_feed_name(tag)
        return f"{feed}:{local}" if self._tag_by_feed.get(feed) == tag else f"{self._network}:{stable_id}"

    def _encode(self, server_id: str, *, exact: bool) -> str:
        tag, underscore, local = server_id.partition("_")
        feed = clean_feed_name(tag)
        upper = local if exact else kit.to_upper_case(local)
        if underscore and self._tag_by_feed.get(feed) == tag:
            return f"{feed}:{escape(upper)}"
        return f"{self._network}:{escape(f'{tag if exact else kit.to_upper_case(tag)}{underscore}{upper}')}"


def find_service_day(server_trip_id: str) -> date | None:
    match = _TRIP_ID.fullmatch(server_trip_id)
    try:
        return date.fromisoformat(match["day"]) if match else None
    except ValueError:
        return None


class MotisStopLookup(kit.Geocoder, kit.GroupingLookup):
    """Finds stops by id, position or name, and addresses by name within ``bounds``."""

    def __init__(self, server: MotisServer, ids: MotisStopIds, bounds: Bounds) -> None:
        super().__init__(ids)
        self._server = server
        self._bounds = bounds

    async def _find(self, public_id: str, language: str | None = None) -> kit.ServerStop | None:
        upper_id = public_id.strip().upper()
        for server_id in self._ids.decode(upper_id):
            found = await self._find_by_server_id(server_id, language)
            if found is not None and self._ids.encode(server_id) == upper_id:
                return found
        return None

    async def _find_by_server_id(self, server_id: str, language: str | None) -> kit.ServerStop | None:
        params = {"stopId": server_id, "n": "1", "exactRadius": "true", "radius": "0"}
        try:
            try:
                found = await self._fetch_stop(params, language)
            except OutsideCalendar as error:
                # The timetable may not cover the current day (rule A5).
                first = error.details.get("first_day")
                if first is None:
                    raise
                found = await self._fetch_stop({**params, "time": f"{first}T12:00:00Z"}, language)
        except UnknownToServer:
            return None
        if found.place.stop_id != server_id:
            return None
        has_departures = any(time.place.stop_id == server_id for time in found.stop_times)
        return replace(new_stop(found.place), has_departures=has_departures)

    async def _fetch_stop(self, params: Mapping[str, str], language: str | None) -> shapes.MotisStop:
        answer = await self._server.fetch(
            MotisEndpoint.STOP_TIMES, shapes.MotisStop, params, language=language, fresh_s=STOPS_FRESH_S
        )
        return answer.data

    async def list_known(self, public_ids: Sequence[str]) -> list[kit.ServerStop]:
        found = await gather_all(self._find(public_id) for public_id in public_ids[:_MAX_STOPS])
        return [stop for stop in found if stop is not None]

    async def find_stop(self, public_id: str, language: str | None) -> Place | None:
        found = await self._find(public_id, language)
        if found is None:
            return None
        children: list[kit.ServerStop] = []
        # Vehicles depart from the stops of a station, so a stop that has departures is not a station.
        if found.parent_id is None and not found.has_departures:
            nearby = (await self._list_around(found.coordinate, kit.NEIGHBOUR_RADIUS_M, language)).data
            children = [stop for stop in nearby if stop.parent_id == found.server_id]
        return set_language(self.new_place(replace(found, is_station=bool(children)), children), language)

    async def _list_neighbours(self, centre: Coordinate, language: str | None) -> Iterable[kit.ServerStop]:
        stops = (await self._list_around(centre, kit.NEIGHBOUR_RADIUS_M, language)).data
        nearest = sorted(stops, key=lambda stop: distance_m(centre, stop.coordinate))
        parents = list(dict.fromkeys(stop.parent_id for stop in nearest if stop.parent_id is not None))
        parent_stops = await gather_all(self._find_by_server_id(parent, language) for parent in parents[:_MAX_STATIONS])
        found = {
            stop.server_id: replace(stop, parent_id=None, is_station=True) for stop in parent_stops if stop is not None
        }
        stations = set(found)
        for stop in stops:
            found.setdefault(stop.server_id, stop if stop.parent_id in stations else replace(stop, parent_id=None))
        return found.values()

    async def _list_around(
        self, centre: Coordinate, radius_m: float, language: str | None
    ) -> Answer[list[kit.ServerStop]]:
        box = box_around(centre, radius_m)
        answer = await fetch_stops(self._server, box, language, fresh_s=STOPS_FRESH_S)
        return answer.with_data(list(map(new_stop, answer.data)))

    async def _search(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[kit.Candidate]:
        params = {"text": text, "numResults": str(kit.MAX_MATCHES)}
        if focus is not None:
            # Round to about a metre, so that requests near each other share a cached response.
            params["place"] = f"{focus.lat:.5f},{focus.lon:.5f}"
        answer = await self._server.fetch(
            MotisEndpoint.GEOCODE, Entries[shapes.Match], params, language=language, fresh_s=STOPS_FRESH_S
        )
        answer.require("place", "", found=answer.data)
        # The server may cover a larger area than this network.
        return [_new_candidate(match) for match in answer.data if self._bounds.covers(match.coordinate)]

    async def _find_places(
        self, candidates: Sequence[kit.Candidate], scores: Sequence[float], language: str | None
    ) -> list[Place]:
        places = [self._to_place(candidate) for candidate in candidates]
        stops = [index for index, candidate in enumerate(candidates) if candidate.stop_id]
        best = sorted(stops, key=lambda index: -scores[index])[: kit.MAX_GROUPED]
        groups = await gather_all(self.find_group(places[index], language, scores[index]) for index in best)
        stop_places = {index: set_language(places[index], language) for index in stops} | dict(
            zip(best, groups, strict=True)
        )
        return [stop_places.get(index, place) for index, place in enumerate(places)]

    def _to_place(self, candidate: kit.Candidate) -> Place:
        if not candidate.stop_id:
            return candidate.to_place()
        stop = kit.ServerStop(server_id=candidate.stop_id, name=candidate.name, coordinate=candidate.coordinate)
        return self.new_place(stop)


def new_stop(place: shapes.MotisPlace) -> kit.ServerStop:
    return kit.ServerStop(
        server_id=place.stop_id or "",
        name=place.name,
        coordinate=place.coordinate,
        parent_id=place.parent_id,
        modes=frozenset(map(shapes.read_mode, place.modes)),
        platform=place.track,
    )


async def fetch_stops(
    server: MotisServer, box: Bounds, language: str | None = None, *, fresh_s: float
) -> Answer[tuple[shapes.MotisPlace, ...]]:
    """Return the stops in a box; raise ResponseTooLarge if the box has more than the server returns at once."""
    params = {"min": f"{box.south:.6f},{box.west:.6f}", "max": f"{box.north:.6f},{box.east:.6f}"}
    answer = await server.fetch(
        MotisEndpoint.STOPS, Entries[shapes.MotisPlace], params, language=language, fresh_s=fresh_s
    )
    answer.require("stop", "", found=answer.data)
    return answer.with_data(tuple(stop for stop in answer.data if stop.stop_id is not None))


def _new_candidate(match: shapes.Match) -> kit.Candidate:
    return kit.Candidate(
        name=match.name,
        coordinate=match.coordinate,
        locality=next((area.name for area in match.areas if area.default and area.name), None),
        stop_id=match.id if match.type == "STOP" and match.id else None,
    )
