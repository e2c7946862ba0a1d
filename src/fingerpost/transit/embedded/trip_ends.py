"""The ends of a trip, with the stops that are walked to and from."""

from fingerpost.transit.embedded.stops import TimetableStops
from fingerpost.transit.engine.raptor.endpoints import Endpoint, find_endpoint
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.engine.timetable.walks import Walks
from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.place import Location, LocationSource
from fingerpost.transit.port import JourneyQuery

# A saved position is that of the stop or place saved with it within this distance; further away, the walk counts.
SAME_POINT_M = 25.0


def find_ends(
    timetable: Timetable, stops: TimetableStops, query: JourneyQuery, walks: Walks
) -> tuple[Endpoint, Endpoint]:
    """Return both ends of a query; who walks to one end's stops can still walk from one of the other's."""
    here, goal, limit_m = query.origin, query.destination, query.max_walk_m
    least_m = 0.0 if goal.stop_ids else walks.find_least_m(goal.coordinate.lat, goal.coordinate.lon)
    own, own_goal = _list_own(stops, here), _list_own(stops, goal)
    origin = find_endpoint(
        timetable, here.coordinate.lat, here.coordinate.lon, own, limit_m - least_m, walks=walks, is_goal=False
    )
    destination = find_endpoint(
        timetable, goal.coordinate.lat, goal.coordinate.lon, own_goal, limit_m - origin.least_m,
        walks=walks, is_goal=True,
    )  # fmt: skip
    return origin.within(limit_m - destination.least_m), destination


def _list_own(stops: TimetableStops, location: Location) -> list[int]:
    """Return the stops (rows) that a location is, to which nobody walks."""
    ids = location.stop_ids
    if location.source is LocationSource.USER_VARIABLE:
        places = [place for stop_id in ids if (place := stops.find_stop_place(stop_id, None)) is not None]
        ids = tuple(
            stop_id
            for place in places
            if distance_m(location.coordinate, place.coordinate) <= SAME_POINT_M
            for stop_id in place.zero_walk_ids or place.member_ids
        )
    return [row for stop_id in ids if (row := stops.find_row(stop_id)) is not None]
