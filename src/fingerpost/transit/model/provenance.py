"""The provenance of an answer: source, age, attribution, and the service days of its feeds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Any

_DAY = timedelta(days=1)


class ServiceState(StrEnum):
    IN_SERVICE = "in service"
    ENDED = "ended"
    NOT_BEGUN = "not begun"
    PAUSED = "no service"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceDays:
    """The first and last day of service, or None if unbounded; ``gaps`` are (first, last) days without service."""

    first_day: date | None = None
    last_day: date | None = None
    gaps: tuple[tuple[date, date], ...] = ()

    def state_on(self, day: date) -> ServiceState:
        if self.last_day is not None and day > self.last_day:
            return ServiceState.ENDED
        if self.first_day is not None and day < self.first_day:
            return ServiceState.NOT_BEGUN
        is_paused = any(first <= day <= last for first, last in self.gaps)
        return ServiceState.PAUSED if is_paused else ServiceState.IN_SERVICE

    def find_next_day(self, day: date) -> date | None:
        state = self.state_on(day)
        if state is ServiceState.ENDED:
            return None
        if state is ServiceState.NOT_BEGUN:
            return self.first_day
        return next((last + _DAY for first, last in self.gaps if first <= day <= last), day)

    def format_service_state(self, day: date) -> str:
        """Format a day's service state, such as ``ended on 2026-01-02`` or ``no service, resumes on 2026-01-05``."""
        state, change = self.state_on(day), self.format_service_change(day)
        return f"{state.value}, {change}" if state is ServiceState.PAUSED else change or state.value

    def format_service_change(self, day: date) -> str:
        state = self.state_on(day)
        if state is ServiceState.ENDED:
            return f"ended on {self.last_day}"
        if state is ServiceState.NOT_BEGUN:
            return f"begins on {self.first_day}"
        return f"resumes on {self.find_next_day(day)}" if state is ServiceState.PAUSED else ""


def find_service_days(days: Iterable[date]) -> ServiceDays:
    """Return the service days and the gaps between them; without ``days``, the result has no bounds."""
    ordered = sorted(set(days))
    if not ordered:
        return ServiceDays()
    gaps = tuple((before + _DAY, after - _DAY) for before, after in pairwise(ordered) if after - before > _DAY)
    return ServiceDays(first_day=ordered[0], last_day=ordered[-1], gaps=gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedVersion:
    """One feed; ``name`` is the FEED part of its ids, and ``label`` distinguishes feeds with the same name."""

    name: str
    version: str | None = None
    service: ServiceDays = ServiceDays()
    label: str | None = None

    @property
    def title(self) -> str:
        return self.name if self.label is None else f"{self.name} ({self.label})"


@dataclass(frozen=True, slots=True)
class OutOfService:
    feed: FeedVersion
    day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The source and age of one answer (rule A10).

    Instants are Unix seconds. ``attribution`` and ``notes`` are sentences that must be shown; ``walking`` names the
    source of walks. ``realtime_updated`` is the time of the oldest realtime data. ``realtime_problems`` reports
    failures of realtime sources. ``realtime_unmatched`` lists sources whose data mostly does not match the timetable.
    ``out_of_service`` lists the feeds without service on the day of the query. ``lost`` holds notices about a
    fallback's answer, such as which features or stops it lacks.
    """

    network: str
    source: str
    zone: str
    retrieved_at: int
    feeds: tuple[FeedVersion, ...] = ()
    attribution: Sequence[str] = ()
    language: str = "default"
    demo: bool = False
    notes: Sequence[str] = ()
    walking: str = "unknown"
    first_day: date | None = None
    last_day: date | None = None
    realtime_updated: int | None = None
    realtime_problems: Sequence[str] = ()
    realtime_unmatched: Sequence[str] = ()
    out_of_service: tuple[OutOfService, ...] = ()
    lost: tuple[str, ...] = ()

    def covers(self, day: date) -> bool:
        """Whether the timetable covers a day; True if its first or last day is unknown."""
        return self.first_day is None or self.last_day is None or self.first_day <= day <= self.last_day


def merge_provenance(first: Provenance, second: Provenance) -> Provenance:
    """Merge the provenance of two answers: use the earlier instants, and join the lists."""
    updated = [answer.realtime_updated for answer in (first, second) if answer.realtime_updated is not None]
    names = ("feeds", "attribution", "notes", "realtime_problems", "realtime_unmatched", "out_of_service", "lost")
    merged: dict[str, Any] = {
        name: tuple(dict.fromkeys((*getattr(first, name), *getattr(second, name)))) for name in names
    }
    return replace(
        first,
        retrieved_at=min(first.retrieved_at, second.retrieved_at),
        realtime_updated=min(updated, default=None),
        **merged,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHealth:
    """The health of one realtime source.

    ``age_s`` is the age of the message in use; ``problem`` describes the failure of the latest attempt. ``matched``
    and ``unmatched`` count the entities that are in the timetable and those that are not.
    """

    location: str
    feed_name: str | None
    age_s: int | None
    problem: str | None
    matched: int | None = None
    unmatched: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RealtimeHealth:
    sources: tuple[SourceHealth, ...]
    matched: Mapping[str, int]
    unmatched: Mapping[str, int]
