"""Stop ids, stop lookup and name search on an OpenTripPlanner server, and Digitransit's geocoder."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import lru_cache, partial

from fingerpost import clock
from fingerpost.net.request import Fetch
from fingerpost.runtime.concurrency import compute, gather_all
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.engine.timetable.stop_ids import clean_feed_name, escape, unescape
from fingerpost.transit.model.place import Bounds, Coordinate, Place, PlaceMatch, box_around, set_language
from fingerpost.transit.remote.kit import places as kit
from fingerpost.transit.remote.kit.answers import Answer, Entries, Latitude, Longitude, NonBlank, Shape, read_answer
from fingerpost.transit.remote.kit.server import STOPS_FRESH_S, Connection
from fingerpost.transit.remote.opentripplanner import shapes
from fingerpost.transit.remote.opentripplanner.digitransit import GEOCODING_URL, KEY_HEADER
from fingerpost.transit.remote.opentripplanner.server import Server, find_quota_error
from fingerpost.transit.remote.opentripplanner.shapes import read_access, read_mode
from fingerpost.transit.rules.place_index import PlaceIndex


class OtpStopIds(kit.StopIdCodec):
    """Stop ids of the form ``feed:local``; ``feed_ids`` are the ids of the server's feeds."""

    def __init__(self, feed_ids: Iterable[str]) -> None:
        super().__init__()
        self._feed_by_public = {clean_feed_name(feed_id): feed_id for feed_id in feed_ids}

    def encode_trip(self, server_id: str) -> str:
        feed_id, _, local = server_id.partition(":")
        return f"{_clean_feed_id(feed_id)}:{local}"

    def _encode(self, server_id: str, *, exact: bool) -> str:
        feed_id, _, local = server_id.partition(":")
        return f"{_clean_feed_id(feed_id)}:{escape(local if exact else kit.to_upper_case(local))}"

    def _list_candidates(self, public_id: str) -> Iterable[str]:
        feed, colon, escaped = public_id.partition(":")
        if colon and escaped:
            feed_id = self._feed_by_public.get(feed, feed)
            yield from (f"{feed_id}:{local}" for local in kit.list_spellings(unescape(escaped)))


_clean_feed_id = lru_cache(maxsize=1024)(clean_feed_name)


# The server's search only matches prefixes, so all names are fetched, and are refreshed after this time.
MAX_NAMES_AGE = timedelta(hours=6)


class OtpStopLookup(kit.GroupingLookup):
    """Finds stops by id, position or name, with one index of names per language."""

    def __init__(self, server: Server, ids: OtpStopIds) -> None:
        super().__init__(ids)
        self._server = server
        self._indexes: dict[str | None, tuple[datetime, PlaceIndex]] = {}

    async def find(self, server_ids: Sequence[str], language: str | None = None) -> shapes.StopsById:
        if not server_ids:
            return shapes.StopsById(stops=(), stations=())
        answer = await self._server.fetch(
            shapes.StopsById, {"ids": server_ids}, language=language, fresh_s=STOPS_FRESH_S
        )
        answer.require("stop", "stops", found=(*answer.data.stops, *answer.data.stations))
        return answer.data

    async def list_known(self, public_ids: Sequence[str]) -> list[kit.ServerStop]:
        found = await self.find(self._ids.decode_all(public_ids))
        pairs = ((stop, stop.parent_station) for stop in found.stops)
        return [new_stop(stop, None if station is None else station.gtfs_id) for stop, station in pairs]

    async def find_stop(self, public_id: str, language: str | None) -> Place | None:
        upper_id = public_id.strip().upper()
        found = await self.find(self._ids.decode(public_id), language)
        for station in found.stations:
            if self._ids.encode(station.gtfs_id) == upper_id:
                return set_language(self.new_station_place(station), language)
        stop = next((stop for stop in found.stops if self._ids.encode(stop.gtfs_id) == upper_id), None)
        return None if stop is None else set_language(self.new_place(new_stop(stop)), language)

    def new_station_place(self, station: shapes.Station) -> Place:
        return self.new_place(new_stop(station, is_station=True), list(map(new_stop, station.stops)))

    async def _list_around(
        self, centre: Coordinate, radius_m: float, language: str | None
    ) -> Answer[list[kit.ServerStop]]:
        answer = await self._fetch_box(centre, radius_m, language)
        return answer.with_data(
            [
                replace(
                    new_stop(stop),
                    modes=frozenset(read_mode(None, route.type) for route in stop.routes),
                    platform=stop.platform_code,
                    wheelchair=read_access(stop.wheelchair_boarding),
                )
                for stop in answer.data.stops_by_bbox
            ]
        )

    async def _list_neighbours(self, centre: Coordinate, language: str | None) -> Iterable[kit.ServerStop]:
        found: dict[str, kit.ServerStop] = {}
        for stop in (await self._fetch_box(centre, kit.NEIGHBOUR_RADIUS_M, language)).data.stops_by_bbox:
            station = stop.parent_station
            if station is not None:
                for child in station.stops:
                    found.setdefault(child.gtfs_id, new_stop(child, station.gtfs_id))
                found.setdefault(station.gtfs_id, new_stop(station, is_station=True))
            found.setdefault(stop.gtfs_id, new_stop(stop, None if station is None else station.gtfs_id))
        return found.values()

    async def _fetch_box(self, centre: Coordinate, radius_m: float, language: str | None) -> Answer[shapes.StopsInBox]:
        box = asdict(box_around(centre, radius_m))
        answer = await self._server.fetch(shapes.StopsInBox, box, language=language, fresh_s=STOPS_FRESH_S)
        answer.require("stop", "stopsByBbox", found=answer.data.stops_by_bbox)
        return answer

    async def find_places(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        indexed = self._indexes.get(language)
        if indexed is None or clock.now() - indexed[0] > MAX_NAMES_AGE:
            answer = await self._server.fetch(shapes.AllStops, language=language, fresh_s=STOPS_FRESH_S)
            answer.require("stop", "stops", found=answer.data.stops)
            index = await compute(self._build_index, answer.data)
            indexed = self._indexes[language] = (answer.retrieved_at, index)
        found = indexed[1].search(text, focus=focus)
        return [match._replace(place=set_language(match.place, language)) for match in found]

    def _build_index(self, all_stops: shapes.AllStops) -> PlaceIndex:
        stops = [new_stop(stop, stop.parent_id) for stop in all_stops.stops]
        stations = [new_stop(station, is_station=True) for station in all_stops.stations]
        named_stops = (kit.to_named_stop(self._ids, stop) for stop in (*stops, *stations))
        return PlaceIndex({stop.id: stop for stop in named_stops}.values())


def new_stop(stop: shapes.OtpStop, parent_id: str | None = None, *, is_station: bool = False) -> kit.ServerStop:
    return kit.ServerStop(
        server_id=stop.gtfs_id, name=stop.name, coordinate=stop.coordinate, parent_id=parent_id, is_station=is_station
    )


_STOP_ID = re.compile(r"GTFS:(?P<id>[^:#]+:[^#]+)(#.*)?")
_READABLE = re.compile(r"[0-9a-zåäö]", re.IGNORECASE)


class Geometry(Shape):
    coordinates: tuple[Longitude, Latitude]


class Properties(Shape):
    id: str = ""
    name: NonBlank
    label: str | None = None
    localadmin: str | None = None
    locality: str | None = None


class Feature(Shape):
    geometry: Geometry
    properties: Properties

    def to_candidate(self) -> kit.Candidate:
        lon, lat = self.geometry.coordinates
        match = _STOP_ID.fullmatch(self.properties.id)
        return kit.Candidate(
            name=self.properties.name,
            coordinate=Coordinate(lat, lon),
            label=self.properties.label,
            locality=self.properties.localadmin or self.properties.locality,
            stop_id=match["id"] if match else None,
        )


class Features(Shape):
    features: Entries[Feature]


class DigitransitStopLookup(kit.Geocoder, OtpStopLookup):
    """Finds places by name with Digitransit's geocoder."""

    def __init__(self, server: Server, ids: OtpStopIds, fetch: Fetch, record: NetworkRecord, bounds: Bounds) -> None:
        super().__init__(server, ids)
        self._connection = Connection(
            fetch, GEOCODING_URL, key_header=KEY_HEADER, key=record.key, check_response=find_quota_error
        )
        self._bounds = bounds

    async def _search(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[kit.Candidate]:
        if _READABLE.search(text) is None:
            return []
        box = self._bounds
        params = {
            "text": text,
            "size": str(kit.MAX_MATCHES),
            "boundary.rect.min_lat": f"{box.south:g}",
            "boundary.rect.max_lat": f"{box.north:g}",
            "boundary.rect.min_lon": f"{box.west:g}",
            "boundary.rect.max_lon": f"{box.east:g}",
        }
        if focus is not None:
            params |= {"focus.point.lat": f"{focus.lat:.5f}", "focus.point.lon": f"{focus.lon:.5f}"}
        if language is not None:
            params["lang"] = language
        read = partial(read_answer, Features)
        answer = await self._connection.get("search", params=params, fresh_s=STOPS_FRESH_S, read=read)
        answer.require("place", "features", found=answer.data.features)
        return [feature.to_candidate() for feature in answer.data.features]

    async def _find_places(
        self, candidates: Sequence[kit.Candidate], scores: Sequence[float], language: str | None
    ) -> Sequence[Place]:
        server_ids = list(dict.fromkeys(candidate.stop_id for candidate in candidates if candidate.stop_id is not None))
        score_by_id = {candidate.stop_id: score for candidate, score in zip(candidates, scores, strict=True)}
        found = await self.find(server_ids, language)
        stations = {station.gtfs_id: station for station in found.stations}
        stations |= {stop.gtfs_id: stop.parent_station for stop in found.stops if stop.parent_station is not None}
        places = {server_id: self.new_station_place(station) for server_id, station in stations.items()}
        single_stops = [stop for stop in found.stops if stop.gtfs_id in server_ids and stop.gtfs_id not in places]
        single_stops.sort(key=lambda stop: server_ids.index(stop.gtfs_id))
        places |= {stop.gtfs_id: self.new_place(new_stop(stop)) for stop in single_stops}
        places = {server_id: set_language(place, language) for server_id, place in places.items()}
        grouped_ids = [stop.gtfs_id for stop in single_stops[: kit.MAX_GROUPED]]
        groups = await gather_all(
            self.find_group(places[server_id], language, score_by_id[server_id]) for server_id in grouped_ids
        )
        places |= dict(zip(grouped_ids, groups, strict=True))
        return [places.get(candidate.stop_id or "") or candidate.to_place() for candidate in candidates]
