"""Build legs, lines on the map, alerts and fares from what a server reports."""

from collections.abc import Iterable, Sequence

from fingerpost.transit.model.itinerary import Leg, LegLine, LineSource, Mode, ServiceAlert, StopPoint
from fingerpost.transit.model.place import Location, distance_m

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
