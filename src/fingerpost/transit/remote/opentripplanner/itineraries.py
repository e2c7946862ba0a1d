"""Convert OpenTripPlanner responses to itineraries, departure boards, alerts and fares."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import Departure, Fare, Itinerary, Leg, ServiceAlert, StopPoint
from fingerpost.transit.model.line_colors import read_line_colors
from fingerpost.transit.model.place import Location
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit import itineraries as kit
from fingerpost.transit.remote.kit.places import UNNAMED, StopIdCodec
from fingerpost.transit.remote.opentripplanner import shapes
from fingerpost.transit.remote.opentripplanner.shapes import find_service_day, read_access, read_mode


def list_in_force(alerts: Iterable[shapes.OtpAlert], begin: int, end: int) -> tuple[ServiceAlert, ...]:
    """Return the distinct alerts with a text that are active at any time from ``begin`` to ``end``."""
    return kit.unique_alerts(
        ServiceAlert(
            id=alert.id,
            header=(alert.alert_header_text or "").strip(),
            text=(alert.alert_description_text or "").strip(),
            effect=alert.alert_effect or kit.UNKNOWN_EFFECT,
            since=alert.effective_start_date,
            until=alert.effective_end_date,
            url=alert.alert_url or None,
        )
        for alert in alerts
        if kit.is_in_force(alert.effective_start_date, alert.effective_end_date, begin, end)
    )


CANCELLED = "CANCELED"
BY_ARRANGEMENT = frozenset({"CALL_AGENCY", "COORDINATE_WITH_DRIVER"})


def new_leg(leg: shapes.OtpLeg, ids: StopIdCodec, start: Location | None, end: Location | None) -> Leg:
    """Return a leg; ``start`` and ``end`` are the trip's own ends if it begins or ends there."""
    ends = _end_point(leg.from_, ids, start), _end_point(leg.to, ids, end)
    if not leg.transit_leg:
        return kit.new_walk(*ends, (leg.start.scheduled_time, leg.end.scheduled_time), leg, mode=read_mode(leg.mode))
    # The trip is cancelled, or skips a stop of the rider, which then has no pickup or drop-off type.
    is_skipped = bool(leg.real_time) and None in (leg.pickup_type, leg.dropoff_type)
    cancelled = leg.realtime_state == CANCELLED or is_skipped
    return Leg(
        mode=kit.ride_mode(read_mode(leg.mode, None if leg.route is None else leg.route.type)),
        start=ends[0],
        end=ends[1],
        departure_scheduled=leg.start.scheduled_time,
        arrival_scheduled=leg.end.scheduled_time,
        departure_delay_s=None if cancelled else leg.start.delay_s,
        arrival_delay_s=None if cancelled else leg.end.delay_s,
        cancelled=cancelled,
        distance_m=leg.distance,
        line=None if leg.route is None else line_of(leg.route),
        headsign=leg.headsign or (None if leg.trip is None else destination_of(leg.trip)),
        trip_id=None if leg.trip is None else ids.encode_trip(leg.trip.gtfs_id),
        service_day=leg.service_date,
        wheelchair=read_access(None if leg.trip is None else leg.trip.wheelchair_accessible),
        by_arrangement=bool(BY_ARRANGEMENT & {leg.pickup_type, leg.dropoff_type}),
        stays_seated=bool(leg.interline_with_previous_leg),
        colors=None if leg.route is None else read_line_colors(leg.route.color, leg.route.text_color),
        alerts=list_in_force(leg.alerts, leg.start.expected_time, leg.end.expected_time),
        handle=leg,
    )


def line_of(route: shapes.Route) -> str:
    return route.short_name or route.long_name or route.gtfs_id.partition(":")[2] or route.gtfs_id


def destination_of(trip: shapes.Trip | shapes.BoardTrip) -> str | None:
    return trip.trip_headsign or trip.last_stop_name


def _end_point(end: shapes.End, ids: StopIdCodec, location: Location | None) -> StopPoint:
    here = end.coordinate
    if end.stop is None:
        return StopPoint(name=kit.location_name(location) or end.name or UNNAMED, coordinate=here)
    return StopPoint(
        name=end.stop.name or end.name or UNNAMED,
        coordinate=here,
        id=ids.encode(end.stop.gtfs_id),
        platform=end.stop.platform_code or None,
        wheelchair=read_access(end.stop.wheelchair_boarding),
    )


# A server skips rides that arrive in exactly the second of the query (observed with 2.9).
ARRIVAL_MARGIN_S = 1


def list_itineraries(edges: Iterable[shapes.Edge], query: JourneyQuery, ids: StopIdCodec) -> list[Itinerary]:
    read = [kit.read_itinerary(edge.legs, query, ids, new_leg) for edge in edges if edge.legs]
    in_time = [_keep_in_time(itinerary, query) for itinerary in read]
    return [replace(itinerary, fare=price(itinerary)) for itinerary in in_time if itinerary is not None]


def _keep_in_time(itinerary: Itinerary, query: JourneyQuery) -> Itinerary | None:
    """Remove the margin that was added to the query: move a walk earlier, drop a ride that arrives within it."""
    if not query.arrive_by or not 0 < itinerary.arrival - query.instant <= ARRIVAL_MARGIN_S:
        return itinerary
    if itinerary.rides:
        return None
    late_s = itinerary.arrival - query.instant
    return Itinerary(
        tuple(
            replace(
                leg,
                departure_scheduled=leg.departure_scheduled - late_s,
                arrival_scheduled=leg.arrival_scheduled - late_s,
            )
            for leg in itinerary.legs
        )
    )


def price(itinerary: Itinerary) -> Fare | None:
    """Return the price of all rides for an ordinary rider, or why it is unknown; None without rides.

    The cheapest purchase that covers every ride counts. Without one, each ride must have a single product, because the
    server does not state which are bought together.
    """
    if not itinerary.rides:
        return None
    by_ride = [_list_offers(leg) for leg in itinerary.rides]
    for leg, offers in zip(itinerary.rides, by_ride, strict=True):
        if not offers:
            return Fare(unknown=f"the server states no fare for {leg.line or 'a ride'}")
    shared = set.intersection(*(set(offers) for offers in by_ride))
    if shared:
        return _sum([min((by_ride[0][name] for name in sorted(shared)), key=lambda offer: offer[1].amount)])
    if any(len(offers) > 1 for offers in by_ride):
        return Fare(unknown="the server lists several tickets, but not which of them are bought together")
    return _sum(list({name: offer for offers in by_ride for name, offer in offers.items()}.values()))


def _list_offers(leg: Leg) -> Mapping[str, tuple[shapes.FareProduct, shapes.Money]]:
    """Return the priced products for an ordinary rider of a leg, by the id of the purchase."""
    own = leg.handle
    uses = own.fare_products if isinstance(own, shapes.OtpLeg) else ()
    return {
        use.id: (use.product, use.product.price)
        for use in uses
        if use.product is not None and use.product.price is not None and use.product.is_default is not False
    }


def _sum(offers: Sequence[tuple[shapes.FareProduct, shapes.Money]]) -> Fare:
    prices = [(money.amount, money.currency.code) for _, money in offers]
    return kit.sum_fares(prices, (product.id for product, _ in offers))


# More than depart from any stop within a day.
MAX_ROWS = 3000
# The server handles both ends of a time window differently.
MARGIN_S = 120
_NO_BOARDING = "NONE"


def list_rows(stop: shapes.BoardStop, ids: StopIdCodec, zone: ZoneInfo) -> Iterator[Departure]:
    printed = ids.encode(stop.gtfs_id)
    for time in stop.stoptimes_without_patterns:
        if time.pickup_type != _NO_BOARDING and not _is_last_call(time):
            row = _row(time, ids, printed, stop.platform_code or None, zone)
            alerts = list_in_force((*time.trip.alerts, *stop.alerts), row.expected, row.expected)
            yield replace(row, alerts=alerts) if alerts else row


def _is_last_call(time: shapes.Stoptime) -> bool:
    """Whether the trip ends here; a cancelled stop time has no pickup type to show it."""
    position = time.trip.last_position
    return position is not None and position == time.stop_position_in_pattern


def _row(time: shapes.Stoptime, ids: StopIdCodec, stop_id: str, platform: str | None, zone: ZoneInfo) -> Departure:
    trip = time.trip
    cancelled = time.realtime_state == CANCELLED or (bool(time.realtime) and time.pickup_type is None)
    line = line_of(trip.route)
    return Departure(
        line=line,
        mode=read_mode(None, trip.route.type),
        destination=time.headsign or destination_of(trip) or line,
        scheduled=time.service_day + time.scheduled_departure,
        stop_id=stop_id,
        trip_id=ids.encode_trip(trip.gtfs_id),
        service_day=find_service_day(time.service_day, zone),
        departure_delay_s=time.departure_delay if time.realtime and not cancelled else None,
        cancelled=cancelled,
        platform=platform,
        by_arrangement=time.pickup_type in BY_ARRANGEMENT,
        long_name=trip.route.long_name or None,
        colors=read_line_colors(trip.route.color, trip.route.text_color),
    )
