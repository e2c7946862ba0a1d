"""Digitransit's Pelias geocoder; its stops are looked up on the routing server."""

import re
from collections.abc import Mapping, Sequence
from functools import partial

from fingerpost.net.request import Fetch
from fingerpost.runtime.concurrency import gather_all
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.model.place import Bounds, Coordinate, Place
from fingerpost.transit.remote.kit.answers import Entries, Latitude, Longitude, Shape, Words, read_answer
from fingerpost.transit.remote.kit.places import MOST_GROUPED, MOST_MATCHES, MOST_NEAR, Candidate, Geocoder
from fingerpost.transit.remote.kit.server import STOPS_FRESH_S, Connection
from fingerpost.transit.remote.opentripplanner.digitransit import GEOCODING_URL, KEY_HEADER
from fingerpost.transit.remote.opentripplanner.server import find_limit, is_whole
from fingerpost.transit.remote.opentripplanner.stops import OtpStopIds, OtpStopLookup, new_stop
from fingerpost.transit.rules.geocoder_matches import NAMED_WITHIN_M
from fingerpost.transit.rules.language import spoken

# Layers that name a position; districts and towns do not, because their centre may lie far away.
_NAMING_LAYERS = "address,venue,street,stop,station"
_STOP_ID = re.compile(r"GTFS:(?P<id>[^:#]+:[^#]+)(#.*)?")
_READABLE = re.compile(r"[0-9a-zåäö]", re.IGNORECASE)


class Geometry(Shape):
    coordinates: tuple[Longitude, Latitude]


class Properties(Shape):
    id: str = ""
    name: Words
    label: str | None = None
    confidence: float | None = None
    housenumber: str | None = None
    localadmin: str | None = None
    locality: str | None = None


class Feature(Shape):
    geometry: Geometry
    properties: Properties

    def to_candidate(self) -> Candidate:
        lon, lat = self.geometry.coordinates
        match = _STOP_ID.fullmatch(self.properties.id)
        return Candidate(
            name=self.properties.name,
            coordinate=Coordinate(lat, lon),
            label=self.properties.label,
            locality=self.properties.localadmin or self.properties.locality,
            is_address=bool(self.properties.housenumber),
            stop_id=match["id"] if match else None,
            confidence=self.properties.confidence or 0.0,
        )


class Features(Shape):
    features: Entries[Feature]


class DigitransitGeocoder(Geocoder):
    def __init__(
        self, fetch: Fetch, record: NetworkRecord, stops: OtpStopLookup, ids: OtpStopIds, bounds: Bounds
    ) -> None:
        self._connection = Connection(
            fetch,
            GEOCODING_URL,
            key_header=KEY_HEADER,
            key=record.key,
            may_keep=is_whole,
            check_response=find_limit,
        )
        self._stops = stops
        self._ids = ids
        self._bounds = bounds

    def _is_readable(self, text: str) -> bool:
        return _READABLE.search(text) is not None

    async def _search(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[Candidate]:
        box = self._bounds
        params = {
            "text": text,
            "size": str(MOST_MATCHES),
            "boundary.rect.min_lat": f"{box.south:g}",
            "boundary.rect.max_lat": f"{box.north:g}",
            "boundary.rect.min_lon": f"{box.west:g}",
            "boundary.rect.max_lon": f"{box.east:g}",
        }
        if focus is not None:
            params |= {"focus.point.lat": f"{focus.lat:.5f}", "focus.point.lon": f"{focus.lon:.5f}"}
        return await self._ask("search", params, language)

    async def _list_near(self, position: Coordinate, language: str | None) -> Sequence[Candidate]:
        params = {
            "point.lat": f"{position.lat:.5f}",
            "point.lon": f"{position.lon:.5f}",
            "boundary.circle.radius": f"{NAMED_WITHIN_M / 1000:g}",
            "layers": _NAMING_LAYERS,
            "size": str(MOST_NEAR),
        }
        return await self._ask("reverse", params, language)

    async def _ask(self, what: str, params: Mapping[str, str], language: str | None) -> Sequence[Candidate]:
        asked = {**params, **({"lang": language} if language else {})}
        read = partial(read_answer, Features)
        answered = await self._connection.get(what, params=asked, fresh_s=STOPS_FRESH_S, read=read)
        answered.require("place", "features", found=answered.data.features)
        return [feature.to_candidate() for feature in answered.data.features]

    async def _find_places(
        self,
        candidates: Sequence[Candidate],
        scores: Sequence[float],  # noqa: ARG002  # the geocoder's own order counts
        language: str | None,
    ) -> Sequence[Place]:
        own_ids = list(dict.fromkeys(candidate.stop_id for candidate in candidates if candidate.stop_id is not None))
        known = await self._find_stops(own_ids, language)
        return [known.get(candidate.stop_id or "") or candidate.to_place() for candidate in candidates]

    async def _find_stops(self, own_ids: Sequence[str], language: str | None) -> dict[str, Place]:
        """Return the whole place of each stop or station by the routing server's id (rule D2)."""
        told = await self._stops.find([self._ids.encode(own_id) for own_id in own_ids], language)
        stations = {station.gtfs_id: station for station in told.stations}
        stations |= {stop.gtfs_id: stop.parent_station for stop in told.stops if stop.parent_station is not None}
        places = {own_id: self._stops.place_of_station(station) for own_id, station in stations.items()}
        alone = [stop for stop in told.stops if stop.gtfs_id in own_ids and stop.gtfs_id not in places]
        alone.sort(key=lambda stop: own_ids.index(stop.gtfs_id))
        places |= {stop.gtfs_id: self._stops.place_of(new_stop(stop)) for stop in alone}
        first = [stop.gtfs_id for stop in alone[:MOST_GROUPED]]
        groups = await gather_all(self._stops.get_group(places[own_id], language) for own_id in first)
        return {own_id: spoken(place, language) for own_id, place in places.items()} | dict(
            zip(first, groups, strict=True)
        )
