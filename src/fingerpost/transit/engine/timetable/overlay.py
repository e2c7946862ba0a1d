"""Realtime data for a network: updated and added rides, and alerts.

A ride is one trip departure on one service day (a trip instance). Delays are in seconds relative to the timetable;
negative means early. An overlay is immutable, so a search sees a consistent state.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

from fingerpost.transit.engine.timetable.timetable import Bool, Int32, Int64, Timetable, UInt8

# Alert effects that close a stop to all riders, or to riders who need step-free access.
NO_SERVICE, INACCESSIBLE = "NO_SERVICE", "ACCESSIBILITY_ISSUE"
ALWAYS = (0, 1 << 62)
"""The period of an alert that specifies none."""
RideKey = tuple[int, int]
"""Row of the trip departure, and the service day as an ordinal (date.toordinal).

An added ride has -1 minus its position in ``Overlay.added`` instead of the row.
"""
Selector = tuple[Any, ...]
"""What an alert affects: ``("route", row)``, ``("direction", (route, direction))``, ``("trip", row)`` on every day,
``("ride", key)`` on one day, or ``("stop", row)``. A third element limits any of these but a stop to one stop.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RideUpdate:
    """Realtime data for a ride in the timetable. Each array has one element per stop time of the trip.

    ``is_known`` is False where there is no data for a stop time (NO_DATA, or before the first update). Expected times
    never decrease along a ride. ``is_deleted`` is True if the ride is cancelled and hidden. ``stop`` and ``flags``
    replace the timetable's values, or are None if unchanged. ``updated`` is the timestamp of the update (Unix seconds).
    """

    is_cancelled: bool
    arrival_delay_s: Int32
    departure_delay_s: Int32
    is_known: Bool
    is_skipped: Bool
    updated: int
    stop: Int32 | None = None
    flags: UInt8 | None = None
    is_deleted: bool = False

    def is_usable(self, position: int, excluded_flags: int) -> bool:
        """Whether the stop is served, and none of ``excluded_flags`` (NO_BOARDING, NO_ALIGHTING or 0) is set."""
        if self.is_cancelled or self.is_skipped[position]:
            return False
        return self.flags is None or not self.flags[position] & excluded_flags


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedRide:
    """A ride that is not in the timetable: an added ride, or a replacement for a cancelled one.

    ``stop`` holds rows; ``arrival`` and ``departure`` are the expected times in Unix seconds. ``trip`` is the row of
    the trip that the ride copies or replaces, and ``route`` is the row of its route; both are -1 if unknown.
    ``replaces`` is the key of the replaced ride.
    """

    trip_id: str
    service_day: date
    route: int
    trip: int
    headsign: str
    stop: Int32
    arrival: Int64
    departure: Int64
    flags: UInt8
    is_skipped: Bool
    updated: int
    replaces: RideKey | None = None


class RideSelector(NamedTuple):
    """The rows, direction (-1 if unknown) and key by which alerts select a ride.

    A replacement has the replaced ride's key.
    """

    route: int
    direction: int
    trip: int
    key: RideKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """A service alert, which applies if any selector matches; each platform of a station has its own selector.

    ``periods`` are (first, last) Unix seconds, with 0 and 2**62 for open ends; an alert without periods always applies.
    Texts are keyed by language, or by ``default``.
    """

    id: str
    effect: str
    periods: tuple[tuple[int, int], ...]
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    descriptions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    urls: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    selectors: frozenset[Selector] = frozenset()

    def is_in_force(self, instant: int) -> bool:
        return self.find_period(instant, instant) is not None

    def find_period(self, begin: int, end: int) -> tuple[int, int] | None:
        """Return the span of the alert's periods that overlap a given time span, or None if no period does."""
        if not self.periods:
            return ALWAYS
        overlapping = [period for period in self.periods if period[0] <= end and period[1] >= begin]
        return (min(first for first, _ in overlapping), max(last for _, last in overlapping)) if overlapping else None

    def closes(self, *, step_free: bool) -> bool:
        if self.effect != NO_SERVICE and not (step_free and self.effect == INACCESSIBLE):
            return False
        return bool(self.list_stops())

    def list_stops(self) -> set[int]:
        """Return the stops (rows) that the alert affects, for all rides or only for some."""
        return {selector[-1] for selector in self.selectors if selector[0] == "stop" or len(selector) > 2}

    def closes_stop(self, stop: int, ride: RideSelector) -> bool:
        """Whether this alert closes a stop (row) to a ride; call it only if ``closes`` is true."""
        kinds = (("route", ride.route), ("direction", ride[:2]), ("trip", ride.trip), ("ride", ride.key))
        return not self.selectors.isdisjoint([("stop", stop), *((*kind, stop) for kind in kinds)])


class MatchCount(NamedTuple):
    """Counts of a source's matched and unmatched realtime entities; ``shared_ids`` are ids used by several feeds."""

    matched: int
    unmatched: int
    shared_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """All realtime data of a network at one moment.

    ``timestamp`` is the timestamp of the oldest message (its time of receipt if it has no timestamp), in Unix seconds;
    None without messages. ``as_of`` is the instant that the data describes. ``counts`` are keyed by outcome, and
    ``matches`` by source. Messages with a timestamp in the future are ignored.
    """

    rides: Mapping[RideKey, RideUpdate] = field(default_factory=lambda: MappingProxyType({}))
    added: tuple[AddedRide, ...] = ()
    alerts: tuple[Alert, ...] = ()
    timestamp: int | None = None
    as_of: int = 0
    counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    has_future_messages: bool = False
    matches: Mapping[str, MatchCount] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_empty(self) -> bool:
        """Whether there are no changed or added rides, no closed stops and no broken lifts."""
        return not (self.rides or self.added or self.list_closing(step_free=True))

    def get_added(self, trip_departure: int) -> AddedRide:
        return self.added[-1 - trip_departure]

    def list_closing(self, *, step_free: bool) -> tuple[Alert, ...]:
        """Return the alerts that close stops and, if ``step_free``, those that report broken lifts."""
        return tuple(alert for alert in self.alerts if alert.closes(step_free=step_free))

    def get_selector(self, timetable: Timetable, key: RideKey) -> RideSelector:
        trip_departure, _ = key
        if trip_departure < 0:
            added = self.added[-1 - trip_departure]
            direction = int(timetable.trip_direction[added.trip]) if added.trip >= 0 else -1
            return RideSelector(added.route, direction, added.trip, added.replaces or key)
        trip = int(timetable.trip_departure_trip[trip_departure])
        return RideSelector(int(timetable.trip_route[trip]), int(timetable.trip_direction[trip]), trip, key)


NO_OVERLAY = Overlay()
