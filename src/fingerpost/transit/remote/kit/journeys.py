"""Search journeys page by page, if needed again with shorter walks, and again with steps."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import ClassVar, TypeVar

from fingerpost.errors import OutsideCalendar
from fingerpost.transit.model.itinerary import Itinerary, Leg, Mode
from fingerpost.transit.model.place import Location, LocationSource, distance_m
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit.answers import MeasuredLeg
from fingerpost.transit.remote.kit.places import StopIdCodec, StopLookup
from fingerpost.transit.rules.trip_limits import UNMEASURED, is_possible, list_kept

_Leg = TypeVar("_Leg")

# A saved place and the stop saved with it are one place within this distance (rule D2).
_SAME_PLACE_M = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyEnd:
    """One end of a trip: a stop by the server's id, else a position."""

    location: Location
    stop_id: str | None = None

    def print(self, digits: int) -> str:
        here = self.location.coordinate
        return self.stop_id or f"{here.lat:.{digits}f},{here.lon:.{digits}f}"


async def find_end(location: Location, ids: StopIdCodec, stops: StopLookup) -> JourneyEnd:
    """Return an end; of several stops, the station that they share, else the nearest one (rule D2)."""
    if not location.stop_ids:
        return JourneyEnd(location=location)
    may_be_elsewhere = location.source is LocationSource.USER_VARIABLE
    if len(location.stop_ids) == 1 and not may_be_elsewhere:
        own = ids.decode(location.stop_ids[0])
        if len(own) == 1:
            return JourneyEnd(location=location, stop_id=own[0])
    known = await stops.list_known(location.stop_ids)
    away = [(distance_m(location.coordinate, stop.coordinate), stop) for stop in known]
    if may_be_elsewhere:
        away = [(metres, stop) for metres, stop in away if metres <= _SAME_PLACE_M]
    if not away:
        return JourneyEnd(location=location)
    stations = {stop.parent_id for _, stop in away}
    shared = stations.pop() if len(stations) == 1 and len(away) > 1 else None
    _, nearest = min(away, key=lambda pair: pair[0])
    return JourneyEnd(location=location, stop_id=shared or nearest.own_id)


# At least so many itineraries are requested: more than are shown, because some walk too far.
PAGE_SIZE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundJourneys:
    """A page of results, or several added up.

    ``promised`` are scheduled itineraries that realtime made unusable. Times of ``impossible`` ones contradict each
    other, ``unplaced`` ones lack coordinates, and ``not_asked_for`` counts those that need another vehicle.
    ``following`` requests the next page, None if that is not wanted; ``cursor`` is the server's name of that page.
    """

    retrieved_at: datetime
    live: tuple[Itinerary, ...] = ()
    promised: tuple[Itinerary, ...] = ()
    troubles: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    impossible: frozenset[Itinerary] = frozenset()
    unplaced: frozenset[Itinerary] = frozenset()
    not_asked_for: int = 0
    has_unmeasured_walk: bool = False
    walks_too_far: bool = False
    zone: str | None = None
    following: "Callable[[], Awaitable[FoundJourneys]] | None" = field(default=None, compare=False)
    cursor: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            *dict.fromkeys(self.troubles),
            *([UNMEASURED] if self.has_unmeasured_walk else []),
            *_format_dropped(
                self.not_asked_for, "{} a car, a bicycle, a rented or a booked vehicle", "it needs", "they need"
            ),
            *_format_dropped(len(self.unplaced), "the server does not say where {}", "it leads", "they lead"),
            *format_impossible(len(self.impossible)),
        )

    @property
    def why_nothing(self) -> str | None:
        return ". ".join(dict.fromkeys(self.reasons)) or None

    @property
    def has_rides(self) -> bool:
        return any(itinerary.rides for itinerary in self.live)

    def add(self, later: "FoundJourneys") -> "FoundJourneys":
        return FoundJourneys(
            retrieved_at=min(self.retrieved_at, later.retrieved_at),
            live=tuple(dict.fromkeys(self.live + later.live)),
            promised=tuple(dict.fromkeys(self.promised + later.promised)),
            troubles=self.troubles + later.troubles,
            reasons=self.reasons + later.reasons,
            impossible=self.impossible | later.impossible,
            unplaced=self.unplaced | later.unplaced,
            not_asked_for=self.not_asked_for + later.not_asked_for,
            has_unmeasured_walk=self.has_unmeasured_walk or later.has_unmeasured_walk,
            walks_too_far=self.walks_too_far or later.walks_too_far,
            zone=self.zone or later.zone,
            following=later.following,
            cursor=later.cursor,
        )

    def with_trouble(self, note: str) -> "FoundJourneys":
        return replace(self, troubles=(*self.troubles, note))


def sort_live(
    itineraries: Sequence[Itinerary], query: JourneyQuery, retrieved_at: datetime, *, in_minutes: bool = False
) -> FoundJourneys:
    """Sort itineraries by the query's limits.

    ``in_minutes`` drops those that miss the second of the query, for servers that count whole minutes.
    """
    possible = [itinerary for itinerary in itineraries if is_possible(itinerary)]
    return FoundJourneys(
        retrieved_at=retrieved_at,
        live=tuple(each for each in list_kept(possible, query) if not in_minutes or _is_in_time(each, query)),
        impossible=frozenset(itineraries) - frozenset(possible),
        has_unmeasured_walk=any(_is_unmeasured(leg) for itinerary in itineraries for leg in itinerary.legs),
        walks_too_far=any(each.walk_m > query.max_walk_m for each in possible),
    )


def _is_unmeasured(leg: Leg) -> bool:
    return leg.mode is Mode.WALK and isinstance(leg.handle, MeasuredLeg) and leg.handle.distance is None


def list_timetabled(itineraries: Iterable[Itinerary], query: JourneyQuery) -> tuple[Itinerary, ...]:
    return tuple(dict.fromkeys(each for each in list_kept(itineraries, query) if is_possible(each)))


def new_outside_calendar(whose: str, first: date | None, last: date | None) -> OutsideCalendar:
    if first is None or last is None:
        return OutsideCalendar(f"The timetable of {whose} does not cover that day")
    days = {"first_day": str(first), "last_day": str(last)}
    return OutsideCalendar(f"The timetable of {whose} covers {first} to {last} only", days)


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyQuestion:
    """A journey query for a server; ``shorter_walks`` because what was found before walks too far."""

    query: JourneyQuery
    origin: JourneyEnd
    destination: JourneyEnd
    language: str | None = None
    shorter_walks: bool = False


class JourneySearch(ABC):
    """Searches one server.

    At most ``most_pages`` are requested for one query, because all itineraries of a page may walk too far; if there are
    more, ``note_of_rest`` is reported. With ``offers_steps`` a step-free query without a ride is repeated without that
    wish.
    """

    most_pages: ClassVar[int]
    note_of_rest: ClassVar[str | None] = None
    offers_steps: ClassVar[bool] = True

    @abstractmethod
    async def first_page(self, question: JourneyQuestion) -> FoundJourneys: ...

    async def find(self, question: JourneyQuestion) -> FoundJourneys:
        found = await self._find_within(question)
        if self.offers_steps and question.query.step_free and not found.has_rides:
            # The answer names the steps.
            return await self._find_within(replace(question, query=replace(question.query, step_free=False)))
        return found

    async def _find_within(self, question: JourneyQuestion) -> FoundJourneys:
        found = await self._page_through(question)
        if found.walks_too_far and not found.has_rides:
            return found.add(await self._page_through(replace(question, shorter_walks=True)))
        return found

    async def _page_through(self, question: JourneyQuestion) -> FoundJourneys:
        found, seen = await self.first_page(question), set[str]()
        for _ in range(self.most_pages - 1):
            # A cursor that was followed before leads nowhere.
            if found.following is None or found.cursor in seen:
                return found
            if found.cursor is not None:
                seen.add(found.cursor)
            found = found.add(await found.following())
        if found.following is not None and self.note_of_rest is not None:
            return found.with_trouble(self.note_of_rest)
        return found


def _is_in_time(itinerary: Itinerary, query: JourneyQuery) -> bool:
    return itinerary.arrival <= query.instant if query.arrive_by else itinerary.departure >= query.instant


def format_impossible(number: int) -> list[str]:
    return _format_dropped(number, "by the server's times {}", "it ends before it begins", "they end before they begin")


def _format_dropped(number: int, why: str, one: str, several: str) -> list[str]:
    """Return the note on dropped itineraries; ``why`` has a gap for what ``one`` or ``several`` do."""
    if not number:
        return []
    were, verb = ("itineraries were", several) if number > 1 else ("itinerary was", one)
    return [f"{number} {were} left out, because {why.format(verb)}."]
