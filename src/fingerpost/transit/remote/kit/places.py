"""Base classes for the stop ids, stop lookup and geocoding of a transit server."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from fingerpost.errors import ToolError
from fingerpost.transit.engine.timetable.stop_ids import clean_feed_name, escape, unescape
from fingerpost.transit.model.itinerary import Access, Mode, NearbyStop, StopPoint
from fingerpost.transit.model.place import (
    Coordinate,
    Place,
    PlaceKind,
    PlaceMatch,
    distance_m,
    match_place,
    set_language,
)
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.rules.name_matching import AUTO_RESOLVE, list_plain, plain, sort_matches
from fingerpost.transit.rules.name_search import NameSearch
from fingerpost.transit.rules.place_index import ONE_PLACE_M, NamedStop, PlaceIndex, build_place

UNNAMED = "unnamed place"
_MAX_STORED_IDS = 200_000


class StopIdCodec(ABC):
    """Converts one server's ids to public ids and back.

    Lower-case ids are converted to upper case, so an upper-case public id has two candidates (``list_spellings``). In
    mixed-case ids, lower-case letters are escaped. Converted ids are stored, because the conversion is lossy.
    """

    def __init__(self) -> None:
        self._server_id_by_public: dict[str, str] = {}
        self._public_id_by_server: dict[str, str] = {}

    @abstractmethod
    def encode_trip(self, server_id: str) -> str:
        """Return a trip's public id: the FEED, a colon, and the id within the feed."""

    @abstractmethod
    def _encode(self, server_id: str, *, exact: bool) -> str:
        """Return the public form of an id, with lower-case letters escaped if ``exact``."""

    @abstractmethod
    def _list_candidates(self, public_id: str) -> Iterable[str]:
        """Return the possible server ids for an upper-case public id, most likely first."""

    def encode(self, server_id: str) -> str:
        """Return the public form of a server's id; if two ids differ only in case, the second one is escaped."""
        public_id = self._public_id_by_server.get(server_id)
        if public_id is None:
            if len(self._public_id_by_server) > _MAX_STORED_IDS:
                self._public_id_by_server.clear()
                self._server_id_by_public.clear()
            public_id = self._encode(server_id, exact=False)
            if self._server_id_by_public.get(public_id, server_id) != server_id:
                public_id = self._encode(server_id, exact=True)
            while self._server_id_by_public.setdefault(public_id, server_id) != server_id:
                public_id += "-"
            self._public_id_by_server[server_id] = public_id
        return public_id

    def decode(self, public_id: str) -> list[str]:
        """Return the possible server ids for a public id (in any case), most likely first; none for another FEED."""
        upper_id = public_id.strip().upper()
        stored = self._server_id_by_public.get(upper_id)
        return list(dict.fromkeys(self._list_candidates(upper_id))) if stored is None else [stored]

    def decode_all(self, public_ids: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(server_id for public_id in public_ids for server_id in self.decode(public_id)))


def to_upper_case(text: str) -> str:
    """Convert a string to upper case, or return it unchanged if converting it back would not restore it."""
    upper = text.upper()
    return upper if upper.lower() == text else text


def list_spellings(text: str) -> Iterator[str]:
    """Yield the possible originals of a string: the string itself and, if it is upper case, its lower-case form."""
    yield text
    # Not islower(), because a letter such as º is lower case but has no capital.
    if all(letter.upper() == letter for letter in text) and text.lower() != text:
        yield text.lower()


class SingleFeedIds(StopIdCodec):
    """Ids on a server with one feed: server ids have no feed prefix, and public ids begin with the network's name."""

    def __init__(self, network: str) -> None:
        super().__init__()
        self._feed = clean_feed_name(network)

    def encode_trip(self, server_id: str) -> str:
        return self._encode(server_id, exact=False)

    def _encode(self, server_id: str, *, exact: bool) -> str:
        return f"{self._feed}:{escape(server_id if exact else server_id.upper())}"

    def _list_candidates(self, public_id: str) -> Iterable[str]:
        feed, _, local = public_id.partition(":")
        return [unescape(local)] if local and feed == self._feed else []


# The stops of a place are within this distance of each other, directly or through a chain of stops.
NEIGHBOUR_RADIUS_M = 2 * ONE_PLACE_M
# The maximum number of matching stops for which the complete place is looked up.
MAX_GROUPED = 3

MAX_MATCHES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStop:
    server_id: str
    name: str
    coordinate: Coordinate
    parent_id: str | None = None
    modes: frozenset[Mode] = frozenset()
    platform: str | None = None
    wheelchair: Access = Access.UNKNOWN
    is_station: bool = False
    has_departures: bool = False


class StopLookup(ABC):
    """Finds stops by id and by position, and places by name."""

    def __init__(self, ids: StopIdCodec) -> None:
        self._ids = ids

    @abstractmethod
    async def find_stop(self, public_id: str, language: str | None) -> Place | None:
        """Return the stop or station itself, not its group."""

    @abstractmethod
    async def find_stop_place(self, public_id: str, language: str | None) -> Place | None:
        """Return the complete place for a stop id (rule D2)."""

    @abstractmethod
    async def find_places(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]: ...

    @abstractmethod
    async def _list_around(self, centre: Coordinate, radius_m: float, language: str | None) -> Answer[list[ServerStop]]:
        """Return the boardable stops within a radius, and possibly some beyond it."""

    async def list_known(self, public_ids: Sequence[str]) -> Sequence[ServerStop]:  # noqa: ARG002
        """Return the stops with these ids, or nothing if requests should contain the position instead."""
        return ()

    async def list_near(self, centre: Coordinate, radius_m: float, language: str | None) -> Answer[list[NearbyStop]]:
        """Return boardable stops within a straight-line radius, sorted by distance and then by id."""
        answer = await self._list_around(centre, radius_m, language)
        nearby = [
            NearbyStop(
                stop=to_stop_point(self._ids, stop),
                distance_m=distance_m(centre, stop.coordinate),
                modes=tuple(sorted(stop.modes)),
            )
            for stop in answer.data
        ]
        in_radius = (stop for stop in nearby if stop.distance_m <= radius_m)
        return answer.with_data(sorted(in_radius, key=lambda stop: (stop.distance_m, stop.stop.id or "")))


class GroupingLookup(StopLookup):
    """Finds stops on a server that has stations but does not group stops by name (rule D2)."""

    @abstractmethod
    async def _list_neighbours(self, centre: Coordinate, language: str | None) -> Iterable[ServerStop]:
        """Return the distinct stops and stations within ``NEIGHBOUR_RADIUS_M``."""

    def new_place(self, stop: ServerStop, children: Sequence[ServerStop] = ()) -> Place:
        return build_place(to_named_stop(self._ids, stop), [to_named_stop(self._ids, child) for child in children])

    async def find_stop_place(self, public_id: str, language: str | None) -> Place | None:
        exact = await self.find_stop(public_id, language)
        if exact is None or exact.member_ids != (exact.id,):
            return exact
        return await self.find_group(exact, language)

    async def find_group(self, stop_place: Place, language: str | None, score: float = 0.0) -> Place:
        """Return the place that a stop belongs to: its station, or the nearby stops with the same name.

        If the ``score`` indicates an exact match with the name of one pole, return only the pole (rule D2).
        """
        neighbours = await self._list_neighbours(stop_place.coordinate, language)
        index = PlaceIndex(to_named_stop(self._ids, stop) for stop in neighbours)
        place = None if stop_place.id is None else index.find_place_of(stop_place.id)
        is_pole = score >= AUTO_RESOLVE and index.find_platform_code(stop_place.id or "") is not None
        return set_language(stop_place if place is None or is_pole else place, language)


def to_stop_point(ids: StopIdCodec, stop: ServerStop) -> StopPoint:
    return StopPoint(
        name=stop.name or UNNAMED,
        coordinate=stop.coordinate,
        id=ids.encode(stop.server_id),
        platform=stop.platform or None,
        wheelchair=stop.wheelchair,
    )


def to_named_stop(ids: StopIdCodec, stop: ServerStop) -> NamedStop:
    return NamedStop(
        id=ids.encode(stop.server_id),
        name=stop.name or UNNAMED,
        lat=stop.coordinate.lat,
        lon=stop.coordinate.lon,
        parent_id=None if stop.parent_id is None else ids.encode(stop.parent_id),
        is_station=stop.is_station,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A geocoder's match; ``stop_id`` is its id on the routing server if it is a stop."""

    name: str
    coordinate: Coordinate
    locality: str | None = None
    label: str | None = None
    stop_id: str | None = None

    def list_spellings(self) -> list[str]:
        names = (self.name, self.label or "", f"{self.name} {self.locality or ''}")
        return [spelling for name in names for spelling in list_plain(name)]

    def to_place(self) -> Place:
        return Place(name=self.name, coordinate=self.coordinate, kind=PlaceKind.ADDRESS, locality=self.locality)


class Geocoder(ABC):
    """Finds places using a server's geocoder; its errors have ``details["service"] == "geocoding"``.

    Names are scored here, because the scores of different geocoders cannot be compared.
    """

    @abstractmethod
    async def _search(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[Candidate]: ...

    @abstractmethod
    async def _find_places(
        self, candidates: Sequence[Candidate], scores: Sequence[float], language: str | None
    ) -> Sequence[Place]:
        """Return the place for each candidate; for a stop, its complete place (rule D2)."""

    async def find_places(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        if not plain(text):
            return []
        try:
            candidates = await self._search(text, language, focus)
            spellings = [candidate.list_spellings() for candidate in candidates]
            scores = score_spellings(text, spellings)
            places = await self._find_places(candidates, scores, language)
        except ToolError as error:
            raise error.with_message(error.message, details={"service": "geocoding", **error.details}) from error
        return match_places(places, scores, focus)


def score_spellings(text: str, spellings: Sequence[Sequence[str]]) -> list[float]:
    """Return each candidate's best score across its normalized spellings, or 0 if none resembles the text."""
    names = list(dict.fromkeys(chain.from_iterable(spellings)))
    score_by_name = {names[row]: score for row, score in NameSearch(names).score(text).items()}
    return [max((score_by_name.get(spelling, 0.0) for spelling in candidate), default=0.0) for candidate in spellings]


def match_places(places: Sequence[Place], scores: Sequence[float], focus: Coordinate | None) -> list[PlaceMatch]:
    stops = [place for place in places if place.kind is PlaceKind.STOP]
    matches: dict[str, PlaceMatch] = {}
    for place, score in zip(places, scores, strict=True):
        if place.kind is PlaceKind.ADDRESS and any(
            plain(stop.name) == plain(place.name) and distance_m(stop.coordinate, place.coordinate) <= ONE_PLACE_M
            for stop in stops
        ):
            continue
        best = matches.get(place.token)
        if best is None or best.score < score:
            matches[place.token] = match_place(place, score, focus)
    return sort_matches(matches.values())
