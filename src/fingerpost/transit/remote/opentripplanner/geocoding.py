"""Names in Digitransit's regions: its Pelias geocoder, whose stops are looked up on the routing server."""

import logging
import re
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from fingerpost.errors import SourceChanged, ToolError
from fingerpost.net.fetch import Fetch
from fingerpost.net.request import Request, RequestLimits
from fingerpost.net.response import Response
from fingerpost.net.scrubbing import scrub
from fingerpost.runtime.concurrency import gather_all
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.model.place import Bounds, Coordinate, Place, PlaceKind, PlaceMatch
from fingerpost.transit.model.profile import NAMES_DEADLINE_S
from fingerpost.transit.remote.kit.partial_answers import read_in_part
from fingerpost.transit.remote.kit.wire_shapes import Latitude, Longitude, Several, Words
from fingerpost.transit.remote.opentripplanner.regions import GEOCODING_URL, KEY_HEADER
from fingerpost.transit.remote.opentripplanner.server import find_limit, is_whole
from fingerpost.transit.remote.opentripplanner.shapes import StopsById
from fingerpost.transit.remote.opentripplanner.stop_ids import StopIdBook
from fingerpost.transit.remote.opentripplanner.stop_lookup import StopLookup
from fingerpost.transit.rules.geocoder_matches import (
    NAMED_WITHIN_M,
    NearName,
    find_position_name,
    match_places,
    score_spellings,
)
from fingerpost.transit.rules.language import spoken
from fingerpost.transit.rules.name_matching import plain

_log = logging.getLogger(__name__)

GEOCODING_FRESH_S = 600.0
SIZE = 20
MOST_NEAR = 5
# What names a position: not the districts and towns that hold it, whose middles may lie anywhere.
_NAMING_LAYERS = "address,venue,street,stop,station"
# Stops outside stations whose neighbours are looked up; what stands behind them in the list is offered by itself.
_MOST_GROUPED = 3
_STOP_ID = re.compile(r"GTFS:(?P<id>[^:#]+:[^#]+)(#.*)?")
_READABLE = re.compile(r"[0-9a-zåäö]", re.IGNORECASE)


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Geometry(_Shape):
    """A point: longitude, then latitude."""

    coordinates: tuple[Longitude, Latitude]


class Properties(_Shape):
    """What the geocoder says of a place."""

    id: str = ""
    name: Words
    label: str | None = None
    confidence: float | None = None
    housenumber: str | None = None
    localadmin: str | None = None
    locality: str | None = None


class Feature(_Shape):
    """One place."""

    geometry: Geometry
    properties: Properties

    @property
    def coordinate(self) -> Coordinate:
        """Where it is."""
        lon, lat = self.geometry.coordinates
        return Coordinate(lat, lon)

    @property
    def own_stop_id(self) -> str | None:
        """The routing server's id of a stop or a station, None for any other place."""
        match = _STOP_ID.fullmatch(self.properties.id)
        return match["id"] if match else None


class Features(_Shape):
    """A FeatureCollection."""

    features: Several[Feature]


_FEATURES = TypeAdapter(Features)


class Geocoder:
    """Finds places by name in one region."""

    def __init__(
        self,
        fetch: Fetch,
        record: NetworkRecord,
        stops: StopLookup,
        ids: StopIdBook,
        bounds: Bounds,
        limits: RequestLimits | None = None,
    ) -> None:
        self._fetch = fetch
        self._secret_headers = {} if record.key is None else {KEY_HEADER: record.key}
        self._stops = stops
        self._ids = ids
        self._bounds = bounds
        self._limits = limits or RequestLimits(read_s=NAMES_DEADLINE_S, total_s=NAMES_DEADLINE_S)

    async def find_places(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        """Return candidates, best first; see the port.

        Raises:
            StorageUnavailable, SourceChanged: a server cannot be asked; ``details["service"]`` is ``geocoding``.
        """
        if not _READABLE.search(text):
            return []
        try:
            features = await self._search(text, language, focus)
            scores = _score(text, features)
            stops = [feature for feature in features if feature.own_stop_id is not None]
            known = await self._find_stops(stops, language)
        except ToolError as error:
            error.details["service"] = "geocoding"
            raise
        places = [known.get(feature.own_stop_id or "") or _address(feature) for feature in features]
        return match_places(places, scores, focus)

    async def find_address(
        self, position: Coordinate, language: str | None, attribution: Sequence[str]
    ) -> Place | None:
        """Return a position under the name of an address or a place near it, None where the geocoder knows none.

        Raises:
            StorageUnavailable, SourceChanged: it cannot be asked; ``details["service"]`` is ``geocoding``.
        """
        params = {
            "point.lat": f"{position.lat:.5f}",
            "point.lon": f"{position.lon:.5f}",
            "boundary.circle.radius": f"{NAMED_WITHIN_M / 1000:g}",
            "layers": _NAMING_LAYERS,
            "size": str(MOST_NEAR),
        }
        try:
            features = await self._ask("reverse", params, language)
        except ToolError as error:
            error.details["service"] = "geocoding"
            raise
        near = [
            NearName(
                name=each.properties.name,
                coordinate=each.coordinate,
                is_address=bool(each.properties.housenumber),
                locality=_locality(each.properties),
            )
            for each in features
        ]
        return find_position_name(position, near, attribution)

    async def _search(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[Feature]:
        box = self._bounds
        params = {
            "text": text,
            "size": str(SIZE),
            "boundary.rect.min_lat": f"{box.south:g}",
            "boundary.rect.max_lat": f"{box.north:g}",
            "boundary.rect.min_lon": f"{box.west:g}",
            "boundary.rect.max_lon": f"{box.east:g}",
        }
        if focus is not None:
            params |= {"focus.point.lat": f"{focus.lat:.5f}", "focus.point.lon": f"{focus.lon:.5f}"}
        return await self._ask("search", params, language)

    async def _ask(self, what: str, params: Mapping[str, str], language: str | None) -> Sequence[Feature]:
        request = Request(
            url=f"{GEOCODING_URL}/{what}",
            params={**params, **({"lang": language} if language else {})},
            headers={"accept": "application/json"},
            secret_headers=self._secret_headers,
            fresh_s=GEOCODING_FRESH_S,
            may_keep=is_whole,
            check_response=find_limit,
            limits=self._limits,
        )
        response = scrub(await self._fetch(request), request)
        return _read_features(response)

    async def _find_stops(self, features: Sequence[Feature], language: str | None) -> dict[str, Place]:
        """Return the whole place of each stop or station, by the routing server's id (rule D2)."""
        if not features:
            return {}
        own_ids = list(dict.fromkeys(feature.own_stop_id or "" for feature in features))
        told = await self._stops.find([self._ids.print(own_id) for own_id in own_ids], language)
        places = self._places_of_stations(told, language)
        alone = [stop for stop in told.stops if stop.gtfs_id in own_ids and stop.gtfs_id not in places]
        alone.sort(key=lambda stop: own_ids.index(stop.gtfs_id))
        first, rest = alone[:_MOST_GROUPED], alone[_MOST_GROUPED:]
        groups = await gather_all(self._stops.get_group(stop, language) for stop in first)
        places |= {stop.gtfs_id: place for stop, place in zip(first, groups, strict=True)}
        return places | {stop.gtfs_id: spoken(self._stops.place_of(stop), language) for stop in rest}

    def _places_of_stations(self, told: StopsById, language: str | None) -> dict[str, Place]:
        stations = {station.gtfs_id: station for station in told.stations}
        stations |= {stop.gtfs_id: stop.parent_station for stop in told.stops if stop.parent_station is not None}
        return {own_id: spoken(self._stops.place_of_station(station), language) for own_id, station in stations.items()}


def _read_features(response: Response) -> Sequence[Feature]:
    try:
        return _FEATURES.validate_json(response.body).features
    except ValidationError as error:
        features = _read_some(response, error)
        if features:
            return features
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "no JSON"
        raise SourceChanged(
            f"{response.redacted_url.partition('?')[0]} answered in a shape that we do not know ({where})",
            {"status": response.status, "bytes": len(response.body)},
        ) from error


def _read_some(response: Response, failed: ValidationError) -> Sequence[Feature]:
    """Return the places that can be read, none where none can."""
    try:
        told, lost = read_in_part(_FEATURES, response.body, failed)
    except ValidationError:
        return ()
    _log.warning("%s answered what cannot be read: %s", response.redacted_url.partition("?")[0], dict(lost))
    return told.features


def _score(text: str, features: Sequence[Feature]) -> list[float]:
    """Return how well each place fits a text, 0 to 1: by its name and label, else what the geocoder thinks of it."""
    vouched = [feature.properties.confidence or 0.0 for feature in features]
    return score_spellings(text, [_spellings(feature) for feature in features], vouched)


def _spellings(feature: Feature) -> list[str]:
    told = feature.properties
    texts = [told.name, told.label or "", f"{told.name} {_locality(told) or ''}"]
    return list(dict.fromkeys(spelling for text in texts if (spelling := plain(text))))


def _locality(told: Properties) -> str | None:
    return told.localadmin or told.locality


def _address(feature: Feature) -> Place:
    told = feature.properties
    return Place(name=told.name, coordinate=feature.coordinate, kind=PlaceKind.ADDRESS, locality=_locality(told))
