"""A journey query in the server's own words: the parameters of its plan."""

import math
from dataclasses import dataclass

from fingerpost.transit.model.place import Location
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.rules.times import print_utc

# Itineraries to find at least: more than are shown, because some walk too far.
PAGE_SIZE = 6
# No rider walks slower than this, so that no walk within the limit takes longer than the server is asked to allow.
_SLOWEST_M_PER_S, _SLOWEST_WHEELCHAIR_M_PER_S = 1.0, 0.75
_MINUTE_S = 60
# The server refuses a window of four days or more.
_LONGEST_WINDOW_S = 95 * 3600
PROMISED = "REALTIME_ANNOTATION_ONLY"
"""The search on the timetable whose answer tells what real time did to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MotisJourneyEnd:
    """One end of a trip: a stop by the server's id, else a position."""

    location: Location
    stop_id: str | None = None

    def to_wire(self) -> str:
        """Return the place as the server reads it."""
        if self.stop_id is not None:
            return self.stop_id
        here = self.location.coordinate
        return f"{here.lat:.7f},{here.lon:.7f}"


def new_params(
    query: JourneyQuery, origin: MotisJourneyEnd, destination: MotisJourneyEnd, api: int, *, shorter_walks: bool = False
) -> dict[str, str]:
    """Return the parameters of a plan.

    ``shorter_walks`` halves what may be walked at either end, and leaves out the way that only walks.
    """
    # The server counts minutes: it must not offer what leaves within the minute before, or arrives after.
    minute = query.instant // _MINUTE_S if query.arrive_by else -(-query.instant // _MINUTE_S)
    pace = _SLOWEST_WHEELCHAIR_M_PER_S if query.step_free else _SLOWEST_M_PER_S
    walk_s = math.ceil(query.max_walk_m / pace / (2 if shorter_walks else 1))
    params = {
        "fromPlace": origin.to_wire(),
        "toPlace": destination.to_wire(),
        "time": print_utc(minute * _MINUTE_S),
        "arriveBy": "true" if query.arrive_by else "false",
        "numItineraries": str(max(PAGE_SIZE, query.wanted + 1)),
        # Until version 3 of the API this counted rides.
        "maxTransfers": str(query.max_transfers + (1 if api < 3 else 0)),
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
        params["searchWindow"] = str(min(-(-query.window_s // _MINUTE_S) * _MINUTE_S, _LONGEST_WINDOW_S))
    if query.step_free:
        params |= {"pedestrianProfile": "WHEELCHAIR", "useRoutedTransfers": "true"}
    return params
