"""Search for journeys on a server page by page, and build itineraries, lines and alerts from its responses."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import TypeVar

import polyline

from fingerpost.transit.model.itinerary import Itinerary, Leg, LegLine, LineSource, Mode, ServiceAlert, StopPoint
from fingerpost.transit.model.place import Location, LocationSource, distance_m
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit.answers import MeasuredLeg
from fingerpost.transit.remote.kit.places import StopIdCodec, StopLookup
from fingerpost.transit.rules.preferences import UNMEASURED, is_possible, list_within_limits
from fingerpost.transit.rules.realtime_status import add_walk_delays

# A saved place counts as being at its saved stop if they are within this distance of each other (rule D2).
_SAME_PLACE_M = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyEndpoint:
    """The origin or destination of a trip: a stop (the server's id) or a position."""

    location: Location
    stop_id: str | None = None

    def format(self, digits: int) -> str:
        position = self.location.coordinate
        return self.stop_id or f"{position.lat:.{digits}f},{position.lon:.{digits}f}"


async def resolve_end(location: Location, ids: StopIdCodec, stops: StopLookup) -> JourneyEndpoint:
    """Resolve an origin or destination; several stops become their common station or the nearest stop (rule D2)."""
    if not location.stop_ids:
        return JourneyEndpoint(location=location)
    is_saved_place = location.source is LocationSource.USER_VARIABLE
    if len(location.stop_ids) == 1 and not is_saved_place:
        candidates = ids.decode(location.stop_ids[0])
        if len(candidates) == 1:
            return JourneyEndpoint(location=location, stop_id=candidates[0])
    server_stops = await stops.list_known(location.stop_ids)
    stops_by_distance = [(distance_m(location.coordinate, stop.coordinate), stop) for stop in server_stops]
    if is_saved_place:
        stops_by_distance = [(metres, stop) for metres, stop in stops_by_distance if metres <= _SAME_PLACE_M]
    if not stops_by_distance:
        return JourneyEndpoint(location=location)
    stations = {stop.parent_id for _, stop in stops_by_distance}
    shared = stations.pop() if len(stations) == 1 and len(stops_by_distance) > 1 else None
    _, nearest = min(stops_by_distance, key=lambda pair: pair[0])
    return JourneyEndpoint(location=location, stop_id=shared or nearest.server_id)


# The minimum number of itineraries to request: more than are shown, because some have walks that are too long.
PAGE_SIZE = 6


class LeftOut(StrEnum):
    """Reasons for leaving out itineraries; in a note, each value follows a count."""

    OTHER_VEHICLE = "by car, bicycle, or a rented or booked vehicle"
    UNPLACED = "without coordinates"
    IMPOSSIBLE = "that arrive before they depart"


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyPage:
    """One page of results, or several combined.

    ``timetabled`` holds scheduled itineraries that realtime data makes unusable; ``left_out`` holds the dropped
    itineraries, each with the reason. ``cursor`` is the token of the next page, or None if no more pages are needed.
    """

    retrieved_at: datetime
    live: tuple[Itinerary, ...] = ()
    timetabled: tuple[Itinerary, ...] = ()
    notes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    left_out: frozenset[tuple[LeftOut, Hashable]] = frozenset()
    walks_too_far: bool = False
    zone: str | None = None
    cursor: str | None = None

    def list_notes(self) -> tuple[str, ...]:
        counts = Counter(reason for reason, _ in self.left_out)
        left_out = [f"{counts[reason]} {reason}" for reason in LeftOut if counts[reason]]
        summary = [f"Itineraries left out: {'; '.join(left_out)}."] if left_out else []
        return (*dict.fromkeys(self.notes), *summary)

    @property
    def no_result_reason(self) -> str | None:
        return ". ".join(dict.fromkeys(self.reasons)) or None

    @property
    def has_rides(self) -> bool:
        return any(itinerary.rides for itinerary in self.live)

    def add(self, later: "JourneyPage") -> "JourneyPage":
        return JourneyPage(
            retrieved_at=min(self.retrieved_at, later.retrieved_at),
            live=tuple(dict.fromkeys(self.live + later.live)),
            timetabled=tuple(dict.fromkeys(self.timetabled + later.timetabled)),
            notes=self.notes + later.notes,
            reasons=self.reasons + later.reasons,
            left_out=self.left_out | later.left_out,
            walks_too_far=self.walks_too_far or later.walks_too_far,
            zone=self.zone or later.zone,
        )


def filter_live(
    itineraries: Sequence[Itinerary], query: JourneyQuery, retrieved_at: datetime, notes: tuple[str, ...]
) -> JourneyPage:
    """Drop itineraries that violate the query's limits or time, which servers that round to minutes may return."""
    possible = [itinerary for itinerary in itineraries if is_possible(itinerary)]
    matching = list_within_limits(possible, query)
    handles = [leg.handle for trip in itineraries for leg in trip.legs if leg.mode is Mode.WALK]
    is_unmeasured = any(isinstance(handle, MeasuredLeg) and handle.distance is None for handle in handles)
    return JourneyPage(
        retrieved_at=retrieved_at,
        live=tuple(itinerary for itinerary in matching if _is_in_time(itinerary, query)),
        notes=(*notes, UNMEASURED) if is_unmeasured else notes,
        left_out=frozenset((LeftOut.IMPOSSIBLE, trip) for trip in itineraries if not is_possible(trip)),
        walks_too_far=any(itinerary.walk_m > query.max_walk_m for itinerary in possible),
    )


def _is_in_time(itinerary: Itinerary, query: JourneyQuery) -> bool:
    return itinerary.arrival <= query.instant if query.arrive_by else itinerary.departure >= query.instant


def list_unusable(itineraries: Iterable[Itinerary], query: JourneyQuery) -> tuple[Itinerary, ...]:
    """Return the scheduled itineraries within the query's limits that realtime data makes unusable."""
    matching = list_within_limits(itineraries, query)
    return tuple(dict.fromkeys(itinerary for itinerary in matching if itinerary.is_unusable and is_possible(itinerary)))


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyRequest:
    """A journey query for a server; ``shorter_walks`` is set if the walks in the first results were too long."""

    query: JourneyQuery
    origin: JourneyEndpoint
    destination: JourneyEndpoint
    language: str | None = None
    shorter_walks: bool = False


_Leg = TypeVar("_Leg")

_MAX_LAT, _MAX_LON = 90, 180
UNKNOWN_EFFECT = "UNKNOWN_EFFECT"
STREET_MODES = (Mode.WALK, Mode.BIKE, Mode.SCOOTER)


def to_ride_mode(mode: Mode) -> Mode:
    return Mode.OTHER if mode in STREET_MODES else mode


def new_walk(
    start: StopPoint,
    end: StopPoint,
    times: tuple[int, int],
    handle: MeasuredLeg,
    *,
    mode: Mode = Mode.WALK,
    cancelled: bool = False,
    alerts: tuple[ServiceAlert, ...] = (),
) -> Leg:
    """Return a street leg with expected times; its length defaults to the straight-line distance."""
    length_m = distance_m(start.coordinate, end.coordinate) if handle.distance is None else handle.distance
    return Leg(
        mode=mode,
        start=start,
        end=end,
        departure_scheduled=times[0],
        arrival_scheduled=times[1],
        cancelled=cancelled,
        distance_m=length_m if isfinite(length_m) else None,
        alerts=alerts,
        handle=handle,
    )


def read_itinerary(
    legs: Sequence[_Leg],
    query: JourneyQuery,
    ids: StopIdCodec,
    new_leg: Callable[[_Leg, StopIdCodec, Location | None, Location | None], Leg],
    *,
    adds_walk_delays: bool = True,
) -> Itinerary:
    """Build an itinerary; ``new_leg`` gets the query's origin for the first leg and its destination for the last."""
    last = len(legs) - 1
    model_legs = [
        new_leg(leg, ids, query.origin if index == 0 else None, query.destination if index == last else None)
        for index, leg in enumerate(legs)
    ]
    return Itinerary(add_walk_delays(model_legs) if adds_walk_delays else tuple(model_legs))


def get_location_name(location: Location | None) -> str | None:
    return None if location is None else location.name or location.label


def decode_line(encoded: str | None, precision: int) -> tuple[tuple[float, float], ...]:
    """Decode a polyline to (latitude, longitude) in degrees; return no points if any is invalid or out of range."""
    try:
        points = tuple((float(lat), float(lon)) for lat, lon in polyline.decode(encoded or "", precision))
    except (IndexError, ValueError):
        return ()
    return points if all(abs(lat) <= _MAX_LAT and abs(lon) <= _MAX_LON for lat, lon in points) else ()


def draw_leg(leg: Leg) -> LegLine | None:
    """Return the line of a server's leg, straight if the server gives no points, or None for other sources' legs."""
    if not isinstance(leg.handle, MeasuredLeg):
        return None
    points = leg.handle.points
    if len(points) > 1:
        return LegLine(tuple(points), LineSource.SHAPE)
    ends = (leg.start.coordinate, leg.end.coordinate)
    return LegLine(tuple((position.lat, position.lon) for position in ends), LineSource.STRAIGHT)


def is_active(since: int | None, until: int | None, begin: int, end: int) -> bool:
    return (since is None or since <= end) and (until is None or begin < until)


def merge_alerts(alerts: Iterable[ServiceAlert | None]) -> tuple[ServiceAlert, ...]:
    by_id = {alert.id: alert for alert in alerts if alert is not None}
    return tuple(alert for alert in by_id.values() if alert.header or alert.text)
