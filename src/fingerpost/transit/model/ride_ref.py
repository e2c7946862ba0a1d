"""Refs: short texts that identify a ride, so that check_trip can find it again in any source (rule B15).

A ref is ``START|END|DAY.DEPARTURE.DURATION[.CHANGE]|TRIP``. START and END are stop ids. DAY is the service day, and
DEPARTURE the scheduled departure in seconds after midnight UTC on that day. DURATION is the scheduled duration. CHANGE
is the time needed to change to the ride, or ``s`` if riders stay seated. END and TRIP begin with a colon if they have
the FEED of START. A ``~`` and the line replace a missing trip id; a ``#`` and a hash replace one that is too long.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import NamedTuple, TypeVar

from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg

_Ride = TypeVar("_Ride", Leg, Departure)

MAX_REF_CHARS = 96
_REF = re.compile(r"(([^|:]+):[^|]+)\|([^|]+)\|(\d{8})\.(-?\d{1,8})\.(\d{1,8})(?:\.(\d{1,8}|s))?\|(.+)", re.DOTALL)
# A source without trip ids may round the times.
_SAME_TIME_S = 60
_EPOCH = date(1970, 1, 1)


class RideRef(NamedTuple):
    """A ride as it was planned, with scheduled times (Unix seconds).

    ``trip`` is an id, the hash of an id, or a line. ``change_s`` is the time needed for the change before the ride, or
    None if there was no change. ``continues_on`` is set if riders stay seated for the next ride.
    """

    start_id: str
    end_id: str
    service_day: date
    departure: int
    arrival: int
    trip: str
    change_s: int | None
    stays_seated: bool
    continues_on: bool = False

    @classmethod
    def read(cls, text: str) -> "RideRef | None":
        match = _REF.fullmatch(text.strip())
        if match is None:
            return None
        start_id, feed, end, day, departure, duration, change, trip = match.groups()
        try:
            service_day = date.fromisoformat(day)
        except ValueError:
            return None
        end_id, trip_id = (f"{feed}{name}" if name.startswith(":") else name for name in (end, trip))
        begin = _find_midnight(service_day) + int(departure)
        change_s = None if change is None else 0 if change == "s" else int(change)
        return cls(start_id, end_id, service_day, begin, begin + int(duration), trip_id, change_s, change == "s")

    @property
    def has_trip_id(self) -> bool:
        return not self.trip.startswith("~")

    def names_trip(self, trip_id: str) -> bool:
        return self.trip in (trip_id, _hash(trip_id))

    def choose(self, rides: Iterable[_Ride]) -> _Ride | None:
        """Return the ride matching the ref: by trip and service day or, without a trip id, by line and departure."""

        def find_offset_s(ride: _Ride) -> int:
            return abs((ride.departure_scheduled if isinstance(ride, Leg) else ride.scheduled) - self.departure)

        def matches(ride: _Ride) -> bool:
            if not self.has_trip_id:
                return ride.line == self.trip[1:] and find_offset_s(ride) <= _SAME_TIME_S
            return self.names_trip(ride.trip_id or "") and ride.service_day in (None, self.service_day)

        return min(filter(matches, rides), key=find_offset_s, default=None)


def list_refs(itinerary: Itinerary) -> list[str | None]:
    """Return the ref of each leg; None for walks, and for all legs if any ride cannot have a ref."""
    refs: list[str | None] = []
    walk_s, is_first = 0, True
    for leg in itinerary.legs:
        if not leg.is_transit:
            walk_s += leg.arrival_scheduled - leg.departure_scheduled
            refs.append(None)
            continue
        change_s = max(0, walk_s if leg.change_s is None else leg.change_s)
        refs.append(_write(leg, "" if is_first else ".s" if leg.stays_seated else f".{change_s}"))
        walk_s, is_first = 0, False
    is_complete = all(ref is not None or not leg.is_transit for ref, leg in zip(refs, itinerary.legs, strict=True))
    return refs if is_complete else [None] * len(refs)


def _write(leg: Leg, change: str) -> str | None:
    start, end, trip = leg.start.id, leg.end.id, leg.trip_id or (leg.line and f"~{leg.line}")
    if not (start and end and trip):
        return None
    feed = start.partition(":")[0]
    day = leg.service_day or datetime.fromtimestamp(leg.departure_scheduled, UTC).date()
    times = f"{leg.departure_scheduled - _find_midnight(day)}.{leg.arrival_scheduled - leg.departure_scheduled}{change}"
    end, trip = (name.removeprefix(feed) if name.startswith(f"{feed}:") else name for name in (end, trip))
    head = f"{start}|{end}|{day.isoformat().replace('-', '')}.{times}|"
    # Lines are not hashed, because their hashes would look like those of trip ids.
    if leg.trip_id and len(head + trip) > MAX_REF_CHARS:
        trip = _hash(leg.trip_id)
    return head + trip if len(head + trip) <= MAX_REF_CHARS else None


def _hash(text: str) -> str:
    return f"#{sha256(text.encode()).hexdigest()[:10]}"


def _find_midnight(day: date) -> int:
    return (day - _EPOCH).days * 86_400
