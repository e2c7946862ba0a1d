"""Helpers that build itineraries, leg geometries, fares and alerts from the responses of transit servers."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from math import isfinite
from typing import TypeVar

import polyline

from fingerpost.transit.fares.book import format_amount
from fingerpost.transit.model.itinerary import Fare, Itinerary, Leg, LegLine, LineSource, Mode, ServiceAlert, StopPoint
from fingerpost.transit.model.place import Location, distance_m
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit.answers import MeasuredLeg
from fingerpost.transit.remote.kit.places import StopIdCodec
from fingerpost.transit.rules.realtime_status import with_walk_delays

_Leg = TypeVar("_Leg")

_MAX_LAT, _MAX_LON = 90, 180
UNKNOWN_EFFECT = "UNKNOWN_EFFECT"
STREET_MODES = (Mode.WALK, Mode.BIKE, Mode.SCOOTER)


def ride_mode(mode: Mode) -> Mode:
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
    """Return a street leg with expected times; an unknown length becomes the straight-line distance."""
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
    walks_as_expected: bool = True,
) -> Itinerary:
    """Build an itinerary; ``new_leg`` converts each leg, and gets the trip's ends for the outer legs."""
    last = len(legs) - 1
    read = [
        new_leg(leg, ids, query.origin if number == 0 else None, query.destination if number == last else None)
        for number, leg in enumerate(legs)
    ]
    return Itinerary(with_walk_delays(read) if walks_as_expected else tuple(read))


def sum_fares(prices: Sequence[tuple[float, str]], tickets: Iterable[str]) -> Fare:
    """Return the sum of prices (amount and currency); it is unknown if there are several currencies."""
    currencies = sorted({currency for _, currency in prices})
    if len(currencies) > 1:
        return Fare(unknown=f"its parts are priced in {' and '.join(currencies)}")
    total = sum((Decimal(str(amount)) for amount, _ in prices), Decimal(0))
    return Fare(amount=format_amount(total, currencies[0]), currency=currencies[0], tickets=tuple(tickets))


def location_name(location: Location | None) -> str | None:
    return None if location is None else location.name or location.label


def decode_line(encoded: str | None, precision: int) -> tuple[tuple[float, float], ...]:
    """Decode a polyline to (latitude, longitude) in degrees; empty if it is invalid or has a point off the globe."""
    try:
        points = tuple((float(lat), float(lon)) for lat, lon in polyline.decode(encoded or "", precision))
    except (IndexError, ValueError):
        return ()
    return points if all(abs(lat) <= _MAX_LAT and abs(lon) <= _MAX_LON for lat, lon in points) else ()


def draw_leg(leg: Leg) -> LegLine | None:
    """Return the line of a server's leg along its points, or straight if there are too few; None for other sources."""
    if not isinstance(leg.handle, MeasuredLeg):
        return None
    points = leg.handle.points
    if len(points) > 1:
        return LegLine(tuple(points), LineSource.SHAPE)
    ends = (leg.start.coordinate, leg.end.coordinate)
    return LegLine(tuple((end.lat, end.lon) for end in ends), LineSource.STRAIGHT)


def is_in_force(since: int | None, until: int | None, begin: int, end: int) -> bool:
    return (since is None or since <= end) and (until is None or begin < until)


def unique_alerts(alerts: Iterable[ServiceAlert | None]) -> tuple[ServiceAlert, ...]:
    by_id = {alert.id: alert for alert in alerts if alert is not None}
    return tuple(alert for alert in by_id.values() if alert.header or alert.text)
