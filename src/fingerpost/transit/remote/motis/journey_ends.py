"""The ends of a trip, as the server can be asked for them."""

from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.remote.motis.journey_question import MotisJourneyEnd
from fingerpost.transit.remote.motis.shapes import OwnPlace
from fingerpost.transit.remote.motis.stop_ids import MotisStopIds
from fingerpost.transit.remote.motis.stop_lookup import MotisStopLookup

# A saved place and the stop saved with it are one place within this distance (rule D2).
SAME_PLACE_M = 300.0
# Stops of one place that are looked up; a place that covers more is asked for by the nearest of these.
_MOST_STOPS = 8


async def find_end(location: Location, stops: MotisStopLookup, ids: MotisStopIds) -> MotisJourneyEnd:
    """Return an end: of several stops the station that they share, else the nearest one (rule D2).

    Raises:
        StorageUnavailable, SourceChanged: the server cannot be asked.
    """
    if not location.stop_ids:
        return MotisJourneyEnd(location=location)
    may_be_elsewhere = location.source is LocationSource.USER_VARIABLE
    if len(location.stop_ids) == 1 and not may_be_elsewhere:
        own = ids.list_own(location.stop_ids[0])
        if len(own) == 1:
            return MotisJourneyEnd(location=location, stop_id=own[0])
    found = await gather_all(stops.find(each) for each in location.stop_ids[:_MOST_STOPS])
    known = [(each.stop_id, each) for each in found if each is not None and each.stop_id is not None]
    here = location.coordinate
    if may_be_elsewhere:
        known = [(stop_id, each) for stop_id, each in known if _away_m(here, each) <= SAME_PLACE_M]
    if not known:
        return MotisJourneyEnd(location=location)
    stations = {each.parent_id for _, each in known}
    shared = stations.pop() if len(stations) == 1 and len(known) > 1 else None
    nearest, _ = min(known, key=lambda stop: _away_m(here, stop[1]))
    return MotisJourneyEnd(location=location, stop_id=shared or nearest)


def _away_m(here: Coordinate, place: OwnPlace) -> float:
    return distance_m(here, Coordinate(place.lat, place.lon))
