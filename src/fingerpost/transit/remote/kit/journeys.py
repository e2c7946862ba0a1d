"""Ends of trips as a server reads them; legs, alerts and lines on the map."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fingerpost.transit.model.itinerary import Fare, Leg, LegLine, LineSource, Mode, ServiceAlert, StopPoint
from fingerpost.transit.model.place import Location, LocationSource, distance_m
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit.places import StopLookup
from fingerpost.transit.remote.kit.stop_ids import StopIdBook

_Leg = TypeVar("_Leg")

# A saved place and the stop saved with it are one place within this distance (rule D2).
_SAME_PLACE_M = 300.0
UNNAMED = "unnamed place"
UNKNOWN_EFFECT = "UNKNOWN_EFFECT"
ON_STREET = (Mode.WALK, Mode.BIKE, Mode.SCOOTER)


def ride_mode(mode: Mode) -> Mode:
    """Return the mode of a ride; a mode of the street on a ride is unknown."""
    return Mode.OTHER if mode in ON_STREET else mode


def new_walk(
    start: StopPoint,
    end: StopPoint,
    times: tuple[int, int],
    length_m: float | None,
    handle: object,
    *,
    mode: Mode = Mode.WALK,
    cancelled: bool = False,
) -> Leg:
    """Return a leg on the street; its times are the expected ones, and an unknown length is a straight line's."""
    return Leg(
        mode=mode,
        start=start,
        end=end,
        departure_scheduled=times[0],
        arrival_scheduled=times[1],
        cancelled=cancelled,
        distance_m=distance_m(start.coordinate, end.coordinate) if length_m is None else length_m,
        handle=handle,
    )


def read_legs(
    legs: Sequence[_Leg],
    query: JourneyQuery,
    ids: StopIdBook,
    new_leg: Callable[[_Leg, StopIdBook, Location | None, Location | None], Leg],
) -> list[Leg]:
    """Return legs as ``new_leg`` makes them; the first and the last are told the trip's own ends."""
    last = len(legs) - 1
    return [
        new_leg(leg, ids, query.origin if number == 0 else None, query.destination if number == last else None)
        for number, leg in enumerate(legs)
    ]


def explain_currencies(currencies: Iterable[str]) -> Fare | None:
    """Return that a fare is unknown because its parts are priced in several currencies; None where they are not."""
    codes = sorted(set(currencies))
    return Fare(unknown=f"its parts are priced in {' and '.join(codes)}") if len(codes) > 1 else None


def own_name(location: Location | None) -> str | None:
    """Return what the caller calls an end of the trip; None for any other end of a leg."""
    return None if location is None else location.name or location.label


def draw_points(leg: Leg, points: Sequence[tuple[float, float]]) -> LegLine:
    """Return a leg's line through (latitude, longitude), straight between its ends where there are too few points."""
    if len(points) > 1:
        return LegLine(tuple(points), LineSource.SHAPE)
    ends = (leg.start.coordinate, leg.end.coordinate)
    return LegLine(tuple((end.lat, end.lon) for end in ends), LineSource.STRAIGHT)


def is_in_force(since: int | None, until: int | None, begin: int, end: int) -> bool:
    """Whether a period, open where a bound is None, touches the time from ``begin`` to ``end``."""
    return (since is None or since <= end) and (until is None or begin < until)


def once(alerts: Iterable[ServiceAlert | None]) -> tuple[ServiceAlert, ...]:
    """Return the alerts with a text, each id once."""
    by_id = {alert.id: alert for alert in alerts if alert is not None}
    return tuple(alert for alert in by_id.values() if alert.header or alert.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyEnd:
    """One end of a trip: a stop by the server's id, else a position."""

    location: Location
    stop_id: str | None = None


async def find_end(location: Location, ids: StopIdBook, stops: StopLookup) -> JourneyEnd:
    """Return an end: of several stops the station that they share, else the nearest one (rule D2)."""
    if not location.stop_ids:
        return JourneyEnd(location=location)
    may_be_elsewhere = location.source is LocationSource.USER_VARIABLE
    if len(location.stop_ids) == 1 and not may_be_elsewhere:
        own = ids.list_own(location.stop_ids[0])
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
