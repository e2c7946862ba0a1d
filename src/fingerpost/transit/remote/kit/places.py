"""Base classes for the stop ids, stop look-up and geocoding of a transit server."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from fingerpost.errors import ToolError
from fingerpost.transit.model.itinerary import Access, Mode, NearbyStop, StopPoint
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch, distance_m
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.rules.geocoder_matches import NearName, find_position_name, match_places, score_spellings
from fingerpost.transit.rules.language import spoken
from fingerpost.transit.rules.name_matching import list_plain, plain
from fingerpost.transit.rules.place_groups import ONE_PLACE_M, build_place
from fingerpost.transit.rules.place_index import NamedStop, PlaceIndex

UNNAMED = "unnamed place"
_MAX_STORED_IDS = 200_000


class StopIdCodec(ABC):
    """Converts one server's ids to printed ids and back.

    Upper-casing is lossy, so each printed id is stored.
    """

    def __init__(self) -> None:
        self._own_by_printed: dict[str, str] = {}
        self._printed_by_own: dict[str, str] = {}

    @abstractmethod
    def encode_trip(self, own_id: str) -> str:
        """Return a trip's printed id: its FEED in the printed form, and the feed's own id."""

    @abstractmethod
    def _encode(self, own_id: str, *, exact: bool) -> str:
        """Return the printed form of an id; ``exact`` escapes small letters."""

    @abstractmethod
    def _list_candidates(self, printed: str) -> Iterable[str]:
        """Return the server's possible ids for an upper-case printed id, the likeliest first."""

    def encode(self, own_id: str) -> str:
        """Return the printed form of a server's id; if two differ only in case, the later one is escaped."""
        printed = self._printed_by_own.get(own_id)
        if printed is None:
            if len(self._printed_by_own) > _MAX_STORED_IDS:
                self._printed_by_own.clear()
                self._own_by_printed.clear()
            printed = self._encode(own_id, exact=False)
            if self._own_by_printed.get(printed, own_id) != own_id:
                printed = self._encode(own_id, exact=True)
            while self._own_by_printed.setdefault(printed, own_id) != own_id:
                printed += "-"
            self._printed_by_own[own_id] = printed
        return printed

    def decode(self, printed: str) -> list[str]:
        """Return the server's possible ids for a printed id, case ignored, the likeliest first; empty if foreign."""
        wanted = printed.strip().upper()
        known = self._own_by_printed.get(wanted)
        return list(dict.fromkeys(self._list_candidates(wanted))) if known is None else [known]

    def decode_all(self, printed: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(own_id for stop_id in printed for own_id in self.decode(stop_id)))


# Stops of one place lie within this distance of each other, perhaps linked by stops between them.
AROUND_M = 2 * ONE_PLACE_M
# The places of this many matching stops are looked up.
MAX_GROUPED = 3

MAX_MATCHES, MAX_NEARBY = 20, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStop:
    own_id: str
    name: str
    coordinate: Coordinate
    parent_id: str | None = None
    modes: frozenset[Mode] = frozenset()
    platform: str | None = None
    wheelchair: Access = Access.UNKNOWN
    is_station: bool = False


class StopLookup(ABC):
    def __init__(self, ids: StopIdCodec) -> None:
        self._ids = ids

    @abstractmethod
    async def find_stop(self, printed_id: str, language: str | None) -> Place | None:
        """Return exactly this stop or station."""

    @abstractmethod
    async def find_stop_place(self, printed_id: str, language: str | None) -> Place | None:
        """Return the whole place of an id as a token (rule D2)."""

    @abstractmethod
    async def _list_around(self, centre: Coordinate, radius_m: float, language: str | None) -> Answer[list[ServerStop]]:
        """Return the boardable stops within a radius, and perhaps some beyond it."""

    async def list_known(self, printed_ids: Sequence[str]) -> Sequence[ServerStop]:  # noqa: ARG002
        """Return the stops of one end's ids; empty to send the end as a position."""
        return ()

    async def list_near(self, centre: Coordinate, radius_m: float, language: str | None) -> Answer[list[NearbyStop]]:
        """Return boardable stops within a straight-line radius, nearest first, then by id."""
        around = await self._list_around(centre, radius_m, language)
        near = [self._new_near(centre, stop) for stop in around.data]
        within = (stop for stop in near if stop.distance_m <= radius_m)
        return around.with_data(sorted(within, key=lambda stop: (stop.distance_m, stop.stop.id or "")))

    def _new_near(self, centre: Coordinate, stop: ServerStop) -> NearbyStop:
        point = StopPoint(
            name=stop.name or UNNAMED,
            coordinate=stop.coordinate,
            id=self._ids.encode(stop.own_id),
            platform=stop.platform or None,
            wheelchair=stop.wheelchair,
        )
        return NearbyStop(stop=point, distance_m=distance_m(centre, stop.coordinate), modes=tuple(sorted(stop.modes)))


class GroupingLookup(StopLookup):
    """Finds stops on a server that has stations, but does not group stops of one name (rule D2)."""

    @abstractmethod
    async def _list_neighbours(self, centre: Coordinate, language: str | None) -> Iterable[ServerStop]:
        """Return the stops and stations within ``AROUND_M``, each once."""

    def place_of(self, stop: ServerStop, children: Sequence[ServerStop] = ()) -> Place:
        return build_place(new_named(self._ids, stop), [new_named(self._ids, child) for child in children])

    async def find_stop_place(self, printed_id: str, language: str | None) -> Place | None:
        exact = await self.find_stop(printed_id, language)
        if exact is None or exact.member_ids != (exact.id,):
            return exact
        return await self.get_group(exact, language)

    async def get_group(self, alone: Place, language: str | None) -> Place:
        """Return the place that a stop belongs to: its station, or the stops of its name around it."""
        neighbours = await self._list_neighbours(alone.coordinate, language)
        index = PlaceIndex(new_named(self._ids, stop) for stop in neighbours)
        place = None if alone.id is None else index.find_place_of(alone.id)
        return spoken(place or alone, language)


def new_named(ids: StopIdCodec, stop: ServerStop) -> NamedStop:
    return NamedStop(
        id=ids.encode(stop.own_id),
        name=stop.name or UNNAMED,
        lat=stop.coordinate.lat,
        lon=stop.coordinate.lon,
        parent_id=None if stop.parent_id is None else ids.encode(stop.parent_id),
        is_station=stop.is_station,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(NearName):
    """A geocoder's match.

    ``title`` names a position there, by default ``name``. ``stop_id`` is the routing server's id of a stop.
    ``confidence`` is the geocoder's own, 0 to 1, and counts only if no spelling resembles the text.
    """

    label: str | None = None
    title: str | None = None
    stop_id: str | None = None
    confidence: float = 0.0

    def list_spellings(self) -> list[str]:
        names = (self.name, self.label or "", f"{self.name} {self.locality or ''}")
        return [spelling for name in names for spelling in list_plain(name)]

    def to_place(self) -> Place:
        return Place(name=self.name, coordinate=self.coordinate, kind=PlaceKind.ADDRESS, locality=self.locality)


class PlaceNames(ABC):
    """Finds places by name."""

    @abstractmethod
    async def find_places(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]: ...


class Geocoder(PlaceNames):
    """Finds places with a server's geocoder; its failures have ``details["service"]`` ``geocoding``.

    Names are scored here, because scores of different geocoders are not comparable.
    """

    def _is_readable(self, text: str) -> bool:
        return bool(plain(text))

    @abstractmethod
    async def _search(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[Candidate]: ...

    @abstractmethod
    async def _list_near(self, position: Coordinate, language: str | None) -> Sequence[Candidate]: ...

    @abstractmethod
    async def _find_places(
        self, candidates: Sequence[Candidate], scores: Sequence[float], language: str | None
    ) -> Sequence[Place]:
        """Return the place of each candidate; for a stop, the whole place (rule D2)."""

    async def find_places(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[PlaceMatch]:
        if not self._is_readable(text):
            return []
        with _naming_failures():
            candidates = await self._search(text, language, focus)
            spellings = [candidate.list_spellings() for candidate in candidates]
            scores = score_spellings(text, spellings, [candidate.confidence for candidate in candidates])
            places = await self._find_places(candidates, scores, language)
        return match_places(places, scores, focus)

    async def find_address(
        self, position: Coordinate, language: str | None, attribution: Sequence[str]
    ) -> Place | None:
        """Name a position after a nearby feature; None if there is none."""
        with _naming_failures():
            candidates = await self._list_near(position, language)
        named = [replace(candidate, name=candidate.title or candidate.name) for candidate in candidates]
        return find_position_name(position, named, attribution)


@contextmanager
def _naming_failures() -> Iterator[None]:
    try:
        yield
    except ToolError as error:
        raise error.with_details(service="geocoding") from error
