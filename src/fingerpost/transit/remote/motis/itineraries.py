"""Convert MOTIS responses to itineraries, departure boards, alerts and fares."""

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import (
    Access,
    Departure,
    Fare,
    Itinerary,
    Leg,
    ServiceAlert,
    StopPoint,
)
from fingerpost.transit.model.line_colors import read_line_colors
from fingerpost.transit.model.place import Coordinate, Location, distance_m
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit import itineraries as kit
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.journeys import LeftOut
from fingerpost.transit.remote.kit.places import UNNAMED, StopIdCodec
from fingerpost.transit.remote.motis import shapes
from fingerpost.transit.remote.motis.places import find_service_day
from fingerpost.transit.remote.motis.server import MotisEndpoint, MotisServer, ResponseTooLarge
from fingerpost.transit.rules.times import format_utc


def list_in_force(alerts: Iterable[shapes.MotisAlert], begin: int, end: int) -> tuple[ServiceAlert, ...]:
    """Return the alerts with a text that hold at any time from ``begin`` to ``end``, each once."""
    # An alert with a code is a remark on the service, such as its power sockets.
    return kit.unique_alerts(_alert(alert, begin, end) for alert in alerts if alert.code is None)


def _alert(alert: shapes.MotisAlert, begin: int, end: int) -> ServiceAlert | None:
    header, text = (alert.header_text or "").strip(), (alert.description_text or "").strip()
    # Feeds with one kind of period state it as the communication period.
    spans = alert.impact_period or alert.communication_period
    held = [span for span in spans if kit.is_in_force(span.start, span.end, begin, end)]
    if not (header or text) or (spans and not held):
        return None
    span = held[0] if held else shapes.TimeRange()
    effect, url = alert.effect or kit.UNKNOWN_EFFECT, alert.url or None
    # The server's alerts have no id of their own.
    name = hashlib.sha256("\x00".join((header, text, effect, url or "")).encode()).hexdigest()[:16]
    return ServiceAlert(id=name, header=header, text=text, effect=effect, since=span.start, until=span.end, url=url)


# The server's names of the positions of a query.
_POSITIONS = {"START": "Origin", "END": "Destination"}
_NOT_ALLOWED = "NOT_ALLOWED"


def new_leg(leg: shapes.MotisLeg, ids: StopIdCodec, start: Location | None, end: Location | None) -> Leg:
    """Return a leg; ``start`` and ``end`` are the trip's own ends if it begins or ends there."""
    ends = _end_point(leg.from_, ids, start), _end_point(leg.to, ids, end)
    if leg.mode == shapes.WALK:
        return kit.new_walk(*ends, (leg.start_time, leg.end_time), leg, cancelled=is_off(leg))
    scheduled = leg.start_time if leg.scheduled_start_time is None else leg.scheduled_start_time
    arrives = leg.end_time if leg.scheduled_end_time is None else leg.scheduled_end_time
    cancelled = is_off(leg)
    has_delay = bool(leg.real_time) and not cancelled
    return Leg(
        mode=kit.ride_mode(shapes.read_mode(leg.mode, leg.route_type)),
        start=ends[0],
        end=ends[1],
        departure_scheduled=scheduled,
        arrival_scheduled=arrives,
        departure_delay_s=leg.start_time - scheduled if has_delay else None,
        arrival_delay_s=leg.end_time - arrives if has_delay else None,
        cancelled=cancelled,
        distance_m=_length_m(leg),
        line=line_of(leg),
        headsign=destination_of(leg),
        trip_id=None if leg.trip_id is None else ids.encode_trip(leg.trip_id),
        service_day=None if leg.trip_id is None else find_service_day(leg.trip_id),
        # The server says NOT_ACCESSIBLE also if its feed says nothing.
        wheelchair=Access.YES if leg.wheelchair_accessible == "ACCESSIBLE" else Access.UNKNOWN,
        by_arrangement=leg.mode in shapes.BY_ARRANGEMENT,
        stays_seated=bool(leg.interline_with_previous_leg),
        colors=read_line_colors(leg.route_color, leg.route_text_color),
        alerts=list_in_force((*leg.alerts, *leg.from_.alerts, *leg.to.alerts), leg.start_time, leg.end_time),
        handle=leg,
    )


def is_off(leg: shapes.MotisLeg) -> bool:
    """Whether the trip or walk is cancelled, or skips the stop where the rider boards or alights."""
    if leg.cancelled or leg.from_.cancelled or leg.to.cancelled:
        return True
    return leg.mode != shapes.WALK and _NOT_ALLOWED in (leg.from_.pickup_type, leg.to.dropoff_type)


def line_of(own: shapes.MotisLine) -> str | None:
    return (
        own.route_short_name
        or own.route_long_name
        or own.display_name
        or (own.route_id and (own.route_id.partition("_")[2] or own.route_id))
        or None
    )


def destination_of(own: shapes.MotisLine) -> str | None:
    return own.headsign or own.trip_to_name or None


def _length_m(leg: shapes.MotisLeg) -> float | None:
    if leg.distance is not None:
        return leg.distance
    points = [Coordinate(*point) for point in leg.points]
    return sum(map(distance_m, points, points[1:])) if len(points) > 1 else None


def _end_point(place: shapes.MotisPlace, ids: StopIdCodec, location: Location | None) -> StopPoint:
    if place.stop_id is None:
        name = kit.location_name(location) or _POSITIONS.get(place.name, place.name) or UNNAMED
        return StopPoint(name=name, coordinate=place.coordinate)
    return StopPoint(
        name=place.name or UNNAMED,
        coordinate=place.coordinate,
        id=ids.encode(place.stop_id),
        platform=place.track or None,
    )


def read_itineraries(
    found: Iterable[shapes.MotisItinerary], query: JourneyQuery, ids: StopIdCodec, *, walks_as_expected: bool = True
) -> tuple[list[Itinerary], frozenset[tuple[LeftOut, Hashable]]]:
    """Return itineraries, and those left out because they need the rider's own, a rented or a booked vehicle."""
    itineraries: list[Itinerary] = []
    left_out: set[tuple[LeftOut, Hashable]] = set()
    for own in found:
        if any(leg.mode in shapes.ON_STREET and leg.trip_id is None for leg in own.legs):
            left_out.add((LeftOut.OTHER_VEHICLE, own))
        elif own.legs:
            itinerary = kit.read_itinerary(own.legs, query, ids, new_leg, walks_as_expected=walks_as_expected)
            itineraries.append(replace(itinerary, fare=price(itinerary, own.fare_transfers)))
    return itineraries, frozenset(left_out)


# Riders buy only the transfer's product; or the first leg's and the transfer's; else every leg's and the transfer's.
_TRANSFER_ALONE, _FIRST_AND_TRANSFER = "AB", "A_AB"


def price(itinerary: Itinerary, transfers: Sequence[shapes.FareTransfer]) -> Fare | None:
    """Return the lowest price of all rides for an ordinary rider, or why it is unknown; None without rides."""
    if not itinerary.rides:
        return None
    for ride in itinerary.rides:
        own = ride.handle
        if (
            not isinstance(own, shapes.MotisLeg)
            or own.fare_transfer_index is None
            or own.effective_fare_leg_index is None
        ):
            return Fare(unknown=f"the server states no fare for {ride.line or 'a ride'}")
    bought: list[shapes.MotisFareProduct] = []
    for transfer in transfers:
        parts = _list_parts(transfer)
        if any(not part for part in parts):
            return Fare(unknown="the server names no ticket for a part of the trip")
        if any(product.amount is None for part in parts for product in part):
            return Fare(unknown="the server names a ticket without what it costs")
        bought += [min(part, key=lambda product: product.amount or 0.0) for part in parts]
    if not bought:
        return Fare(unknown="the server names no ticket")
    prices = [(product.amount or 0.0, product.currency) for product in bought]
    return kit.sum_fares(prices, (product.name for product in bought if product.name))


def _list_parts(transfer: shapes.FareTransfer) -> list[list[shapes.MotisFareProduct]]:
    """Return the parts to buy for a transfer: of each, the products for an ordinary rider."""
    legs = [
        [product for rule in leg for product in rule if product.is_default is not False]
        for leg in transfer.effective_fare_leg_products
    ]
    own = [product for product in transfer.transfer_products if product.is_default is not False]
    if transfer.rule == _TRANSFER_ALONE:
        return [own]
    # A transfer without a product is free.
    between = [own] if transfer.rule is not None and own else []
    return [*(legs[:1] if transfer.rule == _FIRST_AND_TRANSFER else legs), *between]


# The server counts minutes.
_MARGIN_S = 60
_MAX_HALVINGS = 5


async def ask_board(
    server: MotisServer, own_id: str, first: int, last: int, language: str | None, halvings: int = 0
) -> list[Answer[shapes.MotisStopTimes]]:
    """Return the departures of exactly that stop from ``first`` to ``last``, and perhaps some around them.

    A window with more rows than the server returns is halved. Raise UnknownThere for an unknown stop.
    """
    params = {
        "stopId": own_id,
        # Else the server adds whatever is called alike.
        "exactRadius": "true",
        "radius": "0",
        "time": format_utc((first - _MARGIN_S) // 60 * 60),
        "window": str(last - first + 3 * _MARGIN_S),
    }
    try:
        answered = await server.ask(MotisEndpoint.STOP_TIMES, shapes.MotisStopTimes, params, language=language)
    except ResponseTooLarge:
        if halvings == _MAX_HALVINGS or last - first <= _MARGIN_S:
            raise
        middle = (first + last) // 2
        earlier = await ask_board(server, own_id, first, middle, language, halvings + 1)
        return [*earlier, *await ask_board(server, own_id, middle, last, language, halvings + 1)]
    answered.require("departure", "stopTimes", found=answered.data.stop_times)
    return [answered]


def list_rows(times: Iterable[tuple[str, shapes.StopTime]], ids: StopIdCodec, zone: ZoneInfo) -> Iterable[Departure]:
    """Return departures, each once, of stop times with the server's id of the stop of their board."""
    return {(row.stop_id, row.trip_id, row.scheduled): row for row in _rows(times, ids, zone)}.values()


def _rows(times: Iterable[tuple[str, shapes.StopTime]], ids: StopIdCodec, zone: ZoneInfo) -> Iterator[Departure]:
    for own_id, time in times:
        place = time.place
        cancelled = bool(time.cancelled or time.trip_cancelled)
        # The server adds stops on the same spot, and calls without boarding.
        is_off = time.pickup_dropoff_type == _NOT_ALLOWED and not cancelled
        if own_id not in (place.stop_id, place.parent_id) or place.departure is None or is_off:
            continue
        scheduled = place.departure if place.scheduled_departure is None else place.scheduled_departure
        trip_id = time.trip_id or ""
        line = line_of(time) or "?"
        yield Departure(
            line=line,
            mode=shapes.read_mode(time.mode, time.route_type),
            destination=destination_of(time) or line,
            scheduled=scheduled,
            stop_id=ids.encode(place.stop_id or own_id),
            trip_id=ids.encode_trip(trip_id),
            service_day=find_service_day(trip_id) or datetime.fromtimestamp(scheduled, zone).date(),
            departure_delay_s=place.departure - scheduled if time.real_time and not cancelled else None,
            cancelled=cancelled,
            platform=place.track or None,
            by_arrangement=time.mode in shapes.BY_ARRANGEMENT,
            long_name=time.route_long_name or None,
            colors=read_line_colors(time.route_color, time.route_text_color),
            alerts=list_in_force(place.alerts, place.departure, place.departure),
        )
