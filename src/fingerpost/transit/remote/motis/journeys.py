"""Request pages of journeys from a MOTIS server.

A second search, on the timetable, shows what realtime did to scheduled journeys (rule B5).
"""

import hashlib
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.model.itinerary import (
    Access,
    Fare,
    Itinerary,
    Leg,
    ServiceAlert,
    StopPoint,
)
from fingerpost.transit.model.line_colors import read_line_colors
from fingerpost.transit.model.place import Coordinate, Location, distance_m
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit import journeys as kit
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.places import UNNAMED, StopIdCodec
from fingerpost.transit.remote.motis import shapes
from fingerpost.transit.remote.motis.places import MotisStopIds, find_service_day
from fingerpost.transit.remote.motis.server import MotisEndpoint, MotisServer, UnknownThere
from fingerpost.transit.remote.motis.shapes import MotisPlan
from fingerpost.transit.rules.times import format_utc

# Slow enough that every walk within the limit fits the requested time.
_SLOWEST_M_PER_S, _SLOWEST_WHEELCHAIR_M_PER_S = 1.0, 0.75
_MINUTE_S = 60
# The server refuses a window of four days or more.
_MAX_WINDOW_S = 95 * 3600
_UNKNOWN_STOP = "The server no longer knows a stop's id, so the trip was planned between positions."
# Search by the timetable; the answer also states realtime.
_SCHEDULED = "REALTIME_ANNOTATION_ONLY"


def new_params(request: kit.JourneyRequest) -> dict[str, str]:
    """Return the parameters of a plan; for shorter walks, half the walking at either end and no walk-only way."""
    query, shorter_walks = request.query, request.shorter_walks
    # The server has a resolution of minutes: round so that nothing departs too early or arrives too late.
    minute = query.instant // _MINUTE_S if query.arrive_by else -(-query.instant // _MINUTE_S)
    pace = _SLOWEST_WHEELCHAIR_M_PER_S if query.step_free else _SLOWEST_M_PER_S
    walk_s = math.ceil(query.max_walk_m / pace / (2 if shorter_walks else 1))
    params = {
        "fromPlace": request.origin.print(7),
        "toPlace": request.destination.print(7),
        "time": format_utc(minute * _MINUTE_S),
        "arriveBy": "true" if query.arrive_by else "false",
        "numItineraries": str(max(kit.PAGE_SIZE, query.wanted + 1)),
        "maxTransfers": str(query.max_transfers),
        "maxPreTransitTime": str(walk_s),
        "maxPostTransitTime": str(walk_s),
        "maxDirectTime": str(walk_s),
        "preTransitModes": "WALK",
        "postTransitModes": "WALK",
        "directModes": "" if shorter_walks else "WALK",
        "joinInterlinedLegs": "false",
        "withFares": "true",
    }
    if query.window_s is not None:
        params["searchWindow"] = str(min(-(-query.window_s // _MINUTE_S) * _MINUTE_S, _MAX_WINDOW_S))
    if query.step_free:
        params |= {"pedestrianProfile": "WHEELCHAIR", "useRoutedTransfers": "true"}
    return params


class MotisJourneySearch(kit.JourneySearch):
    most_pages = 3

    def __init__(self, server: MotisServer, ids: MotisStopIds) -> None:
        self._server = server
        self._ids = ids

    async def find(self, request: kit.JourneyRequest) -> kit.FoundJourneys:
        """Search; if the server no longer knows a stop's id, search between the positions instead."""
        ends = request.origin, request.destination
        try:
            return await super().find(request)
        except UnknownThere:
            if all(end.stop_id is None for end in ends):
                raise
        origin, destination = (kit.JourneyEnd(location=end.location) for end in ends)
        found = await super().find(replace(request, origin=origin, destination=destination))
        return replace(found, notes=(*found.notes, _UNKNOWN_STOP))

    async def first_page(self, request: kit.JourneyRequest) -> kit.FoundJourneys:
        params = new_params(request)
        page, scheduled = await gather_all([self._ask_page(request, params), self._find_scheduled(request, params)])
        return replace(page.add(scheduled), following=page.following)

    async def _ask_page(self, request: kit.JourneyRequest, params: Mapping[str, str]) -> kit.FoundJourneys:
        query = request.query
        answered = await self._ask(request, params)
        page = answered.data
        answered.require("itinerary", "itineraries", found=page.itineraries)
        itineraries, left_out = read_itineraries((*page.direct, *page.itineraries), query, self._ids)
        found = kit.sort_live(itineraries, query, answered.retrieved_at, answered.notes, in_minutes=True)
        found = replace(found, left_out=found.left_out | left_out, zone=_find_zone(page))
        cursor = page.previous_page_cursor if query.arrive_by else page.next_page_cursor
        # No page follows an empty one.
        if found.has_rides or not page.itineraries or not cursor:
            return found
        following = partial(self._ask_page, request, {**params, "pageCursor": cursor})
        return replace(found, following=following)

    async def _find_scheduled(self, request: kit.JourneyRequest, params: Mapping[str, str]) -> kit.FoundJourneys:
        query = request.query
        try:
            answered = await self._ask(request, {**params, "realtimeMode": _SCHEDULED})
        except ToolError as error:
            note = f"Trips cancelled in realtime are unknown ({error.message})."
            return kit.FoundJourneys(retrieved_at=clock.now(), notes=(note,))
        itineraries, _ = read_itineraries(answered.data.itineraries, query, self._ids, walks_as_expected=False)
        return kit.FoundJourneys(
            retrieved_at=answered.retrieved_at,
            timetabled=kit.list_timetabled(itineraries, query),
            notes=answered.notes,
            zone=_find_zone(answered.data),
        )

    async def _ask(self, request: kit.JourneyRequest, params: Mapping[str, str]) -> Answer[MotisPlan]:
        return await self._server.ask(MotisEndpoint.PLAN, MotisPlan, params, language=request.language)


def _find_zone(plan: MotisPlan) -> str | None:
    legs = (leg for itinerary in plan.itineraries for leg in itinerary.legs)
    return next((leg.from_.tz for leg in legs if leg.from_.tz), None)


def list_in_force(alerts: Iterable[shapes.MotisAlert], begin: int, end: int) -> tuple[ServiceAlert, ...]:
    """Return the distinct alerts with a text that are active at any time from ``begin`` to ``end``."""
    # An alert with a code is a remark on the service, such as its power sockets.
    return kit.unique_alerts(_alert(alert, begin, end) for alert in alerts if alert.code is None)


def _alert(alert: shapes.MotisAlert, begin: int, end: int) -> ServiceAlert | None:
    header, text = (alert.header_text or "").strip(), (alert.description_text or "").strip()
    # Feeds with one kind of period state it as the communication period.
    spans = alert.impact_period or alert.communication_period
    current = [span for span in spans if kit.is_in_force(span.start, span.end, begin, end)]
    if not (header or text) or (spans and not current):
        return None
    span = current[0] if current else shapes.TimeRange()
    effect, url = alert.effect or kit.UNKNOWN_EFFECT, alert.url or None
    # The server's alerts have no id of their own.
    name = hashlib.sha256("\x00".join((header, text, effect, url or "")).encode()).hexdigest()[:16]
    return ServiceAlert(id=name, header=header, text=text, effect=effect, since=span.start, until=span.end, url=url)


# The server's names of the positions of a query.
_POSITIONS = {"START": "Origin", "END": "Destination"}
NOT_ALLOWED = "NOT_ALLOWED"


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
        line=name_line(leg),
        headsign=find_destination(leg),
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
    return leg.mode != shapes.WALK and NOT_ALLOWED in (leg.from_.pickup_type, leg.to.dropoff_type)


def name_line(own: shapes.MotisLine) -> str | None:
    return (
        own.route_short_name
        or own.route_long_name
        or own.display_name
        or (own.route_id and (own.route_id.partition("_")[2] or own.route_id))
        or None
    )


def find_destination(own: shapes.MotisLine) -> str | None:
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
) -> tuple[list[Itinerary], frozenset[tuple[kit.LeftOut, Hashable]]]:
    """Return itineraries, and those left out because they need the rider's own, a rented or a booked vehicle."""
    itineraries: list[Itinerary] = []
    left_out: set[tuple[kit.LeftOut, Hashable]] = set()
    for own in found:
        if any(leg.mode in shapes.ON_STREET and leg.trip_id is None for leg in own.legs):
            left_out.add((kit.LeftOut.OTHER_VEHICLE, own))
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
