"""The data model for legs, itineraries and departures, which every contract serializes in its own format.

Instants are in Unix seconds, durations in seconds, distances in metres. Fields whose names end in ``scheduled`` hold
timetable times; delays are expected minus scheduled times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import ClassVar, NamedTuple

from fingerpost.transit.model.line_colors import LineColors
from fingerpost.transit.model.place import Coordinate


class Mode(StrEnum):
    """The mode of a leg; each contract has a coarser list (rule A9)."""

    WALK = "WALK"
    BUS = "BUS"
    COACH = "COACH"
    TRAM = "TRAM"
    METRO = "METRO"
    RAIL = "RAIL"
    FERRY = "FERRY"
    BIKE = "BIKE"
    SCOOTER = "SCOOTER"
    OTHER = "OTHER"


_STREET_MODES = (Mode.WALK, Mode.BIKE, Mode.SCOOTER)


class Access(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Optimize(StrEnum):
    BALANCED = "balanced"
    FEW_TRANSFERS = "few_transfers"
    SHORTEST_TIME = "shortest_time"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopPoint:
    name: str
    coordinate: Coordinate
    id: str | None = None
    platform: str | None = None
    wheelchair: Access = Access.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAlert:
    """An operator's alert in one language; ``header`` and ``text`` may be empty. ``effect`` is a GTFS-Realtime code.

    ``since`` and ``until`` bound the active period around the rider's time (Unix seconds); None means open-ended.
    """

    id: str
    header: str
    text: str = ""
    effect: str = "UNKNOWN_EFFECT"
    since: int | None = None
    until: int | None = None
    url: str | None = None


class Leg(NamedTuple):
    """One ride or one walk.

    ``*_delay_s`` is None without realtime data, and negative if the vehicle is early. ``headway_s`` is set for
    frequency-based trips without exact times. ``by_arrangement`` is True if riders must phone the operator or ask the
    driver. ``stays_seated`` is True for an in-seat transfer from the previous ride. ``alerts`` are active during the
    leg, most specific first. ``change_s`` is the minimum transfer time from the previous ride, including the walk; None
    if unknown. ``as_scheduled`` is True in unusable itineraries, which show scheduled times (rule B5).
    ``has_unknown_kerbs`` is only set for step-free walks. ``handle`` is private to the source.
    """

    mode: Mode
    start: StopPoint
    end: StopPoint
    departure_scheduled: int
    arrival_scheduled: int
    departure_delay_s: int | None = None
    arrival_delay_s: int | None = None
    cancelled: bool = False
    distance_m: float | None = None
    line: str | None = None
    headsign: str | None = None
    trip_id: str | None = None
    service_day: date | None = None
    last_realtime_update: int | None = None
    wheelchair: Access = Access.UNKNOWN
    headway_s: int | None = None
    by_arrangement: bool = False
    is_interpolated: bool = False
    stays_seated: bool = False
    alerts: tuple[ServiceAlert, ...] = ()
    change_s: int | None = None
    as_scheduled: bool = False
    colors: LineColors | None = None
    has_unknown_kerbs: bool = False
    handle: object = None

    @property
    def is_transit(self) -> bool:
        return self.mode not in _STREET_MODES

    @property
    def departure_expected(self) -> int:
        return self.departure_scheduled + (self.departure_delay_s or 0)

    @property
    def arrival_expected(self) -> int:
        return self.arrival_scheduled + (self.arrival_delay_s or 0)

    @property
    def departure(self) -> int:
        return self.departure_scheduled if self.as_scheduled else self.departure_expected

    @property
    def arrival(self) -> int:
        return self.arrival_scheduled if self.as_scheduled else self.arrival_expected

    @property
    def duration_s(self) -> int:
        return self.arrival - self.departure


class MissedChange(NamedTuple):
    """A change that is impossible at the expected times; ``needed_s`` is ``change_s`` or, if None, the walking time."""

    before: Leg
    after: Leg
    available_s: int
    needed_s: int


LegOutline = tuple[Mode, str, str, str]
"""The mode and line of a leg, and the ids of its start and end, or their names if they have no ids."""


@dataclass(unsafe_hash=True)
class Itinerary:
    """Consecutive legs; ``is_planned`` is True if realtime data cannot change the legs.

    Subclasses may know some properties before the legs are built. No attribute changes after construction.
    """

    is_planned: ClassVar[bool] = False

    legs: tuple[Leg, ...]

    @cached_property
    def departure(self) -> int:
        return self.legs[0].departure

    @cached_property
    def departure_scheduled(self) -> int:
        return self.legs[0].departure_scheduled

    @cached_property
    def arrival(self) -> int:
        return self.legs[-1].arrival

    @property
    def duration_s(self) -> int:
        return self.arrival - self.departure

    @cached_property
    def outline(self) -> tuple[LegOutline, ...]:
        return tuple(
            (leg.mode, leg.line or "", leg.start.id or leg.start.name, leg.end.id or leg.end.name) for leg in self.legs
        )

    @cached_property
    def rides(self) -> tuple[Leg, ...]:
        return tuple(leg for leg in self.legs if leg.is_transit)

    @cached_property
    def missed_changes(self) -> tuple[MissedChange, ...]:
        missed = []
        before: Leg | None = None
        walk_s = 0
        for leg in self.legs:
            if not leg.is_transit:
                walk_s += leg.arrival_scheduled - leg.departure_scheduled
                continue
            if before is not None and not (leg.stays_seated or leg.cancelled or before.cancelled):
                needed_s = walk_s if leg.change_s is None else leg.change_s
                available_s = leg.departure_expected - before.arrival_expected
                if available_s < needed_s:
                    missed.append(MissedChange(before, leg, available_s, needed_s))
            before, walk_s = leg, 0
        return tuple(missed)

    @cached_property
    def is_unusable(self) -> bool:
        """Whether a ride is cancelled or skips the rider's stop, or a change is missed (rule B5)."""
        return bool(self.missed_changes) or any(leg.cancelled for leg in self.legs)

    @cached_property
    def transfers(self) -> int:
        """The number of changes; staying seated while the vehicle continues as another trip is not a change."""
        return max(0, sum(not leg.stays_seated for leg in self.rides) - 1)

    @cached_property
    def walk_m(self) -> float:
        return sum(leg.distance_m or 0.0 for leg in self.legs if leg.mode is Mode.WALK)

    @cached_property
    def walk_s(self) -> int:
        return sum(leg.duration_s for leg in self.legs if leg.mode is Mode.WALK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """One row of a departure board, with attributes as in ``Leg``; ``line`` is the name shown on the vehicle."""

    line: str
    mode: Mode
    destination: str
    scheduled: int
    stop_id: str
    trip_id: str
    service_day: date
    departure_delay_s: int | None = None
    cancelled: bool = False
    platform: str | None = None
    last_realtime_update: int | None = None
    headway_s: int | None = None
    by_arrangement: bool = False
    is_interpolated: bool = False
    alerts: tuple[ServiceAlert, ...] = ()
    long_name: str | None = None
    colors: LineColors | None = None

    @property
    def expected(self) -> int:
        return self.scheduled if self.cancelled else self.scheduled + (self.departure_delay_s or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyStop:
    stop: StopPoint
    distance_m: float
    modes: tuple[Mode, ...]


class LineSource(StrEnum):
    SHAPE = "shape"
    STOPS = "stops"
    STREETS = "streets"
    STRAIGHT = "straight-line"


@dataclass(frozen=True, slots=True)
class LegLine:
    """The line of a leg on a map: at least two points (latitude, longitude) in degrees, and their source."""

    points: Sequence[tuple[float, float]]
    source: LineSource
