"""Itineraries, from the server's."""

from dataclasses import replace

import polyline

from fingerpost.transit.model.itinerary import Itinerary, Leg, Mode
from fingerpost.transit.model.leg_line import LegLine, LineSource
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.opentripplanner.journey_question import ARRIVAL_MARGIN_S
from fingerpost.transit.remote.opentripplanner.legs import new_leg
from fingerpost.transit.remote.opentripplanner.modes import read_mode
from fingerpost.transit.remote.opentripplanner.plan_data import Promised
from fingerpost.transit.remote.opentripplanner.shapes import OwnItinerary, OwnLeg, PlanConnection
from fingerpost.transit.remote.opentripplanner.stop_ids import StopIdBook
from fingerpost.transit.rules.realtime_status import with_walk_delays

_PRECISION = 5
_POLE, _DATE_LINE = 90, 180


def list_itineraries(found: PlanConnection | Promised | None, query: JourneyQuery, ids: StopIdBook) -> list[Itinerary]:
    """Return the itineraries of a page; one that lacks a leg is left out."""
    nodes = (edge.node for edge in found.edges) if found is not None else ()
    made = (_new_itinerary(node, query, ids) for node in nodes if node is not None)
    return [kept for each in made if each is not None and (kept := _keep_in_time(each, query)) is not None]


def has_unmeasured_walk(found: PlanConnection) -> bool:
    """Whether the server does not say of some way on foot how long it is."""
    nodes = (edge.node for edge in found.edges)
    legs = (leg for node in nodes if node is not None for leg in node.legs if leg is not None)
    return any(leg.distance is None and not leg.transit_leg and read_mode(leg.mode) is Mode.WALK for leg in legs)


def draw_leg(leg: Leg) -> LegLine:
    """Return a leg's line: the server's own, else straight between its ends."""
    own = leg.handle
    if isinstance(own, OwnLeg) and own.leg_geometry is not None and own.leg_geometry.points:
        points = polyline.decode(own.leg_geometry.points, _PRECISION)
        if len(points) > 1 and all(abs(lat) <= _POLE and abs(lon) <= _DATE_LINE for lat, lon in points):
            return LegLine(tuple((float(lat), float(lon)) for lat, lon in points), LineSource.SHAPE)
    ends = (leg.start.coordinate, leg.end.coordinate)
    return LegLine(tuple((each.lat, each.lon) for each in ends), LineSource.STRAIGHT)


def _keep_in_time(itinerary: Itinerary, query: JourneyQuery) -> Itinerary | None:
    """Return an itinerary without the margin that the question added: a walk sets out earlier, a ride is too late."""
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


def _new_itinerary(node: OwnItinerary, query: JourneyQuery, ids: StopIdBook) -> Itinerary | None:
    legs = [leg for leg in node.legs if leg is not None]
    if not legs or len(legs) < len(node.legs):
        return None
    last = len(legs) - 1
    made = [
        new_leg(leg, ids, query.origin if number == 0 else None, query.destination if number == last else None)
        for number, leg in enumerate(legs)
    ]
    return Itinerary(with_walk_delays(made))
