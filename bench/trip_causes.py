"""Why OpenTripPlanner arrives earlier, or is the only one to answer: its itinerary is lived through by our rules."""

from datetime import datetime

import numpy as np
from bench.streets_beside_otp import StreetMeasure

from fingerpost.transit.engine.timetable.walking import CHANGE_SLACK_S
from fingerpost.transit.osm.streets.search import StreetSearch
from fingerpost.transit.osm.streets.walking_profile import RIDER, weigh

TOO_FAR = "it walks further than our limit in sum"
TOO_OFTEN = "it changes more often than we do"
OUR_PACE = "at our pace, from the pin to its street too, the first of its rides is missed"
OUR_SLACK = "one of its changes leaves less than our slack"
SLOW_CHANGE = "at our pace a change of its is missed"
AT_THE_END = "at our pace, from the street to the pin too, its last walk ends no earlier than ours"
UNKNOWN = "unknown"
# Arrivals nearer than this are the same (``compare_arrivals``).
_SAME_S = 60


class TheirsByOurRules:
    """Lives through its itineraries with the pace, the slack and the limits that ours have."""

    def __init__(self, streets, place_of):
        search = StreetSearch(streets.graph, weigh(streets.graph, RIDER))
        self._measure = StreetMeasure(graph=streets.graph, grid=streets.grid, search=search)
        self._place_of = place_of

    def find_cause(self, question, itinerary, our_arrival):
        """Return why an itinerary of its is not ours, whose arrival is Unix seconds, None where we have none."""
        legs = itinerary["legs"]
        walked = [self._walk(leg) if leg["mode"] == "WALK" else (0.0, 0.0) for leg in legs]
        if sum(metres for metres, _ in walked) > question.max_walk_m:
            return TOO_FAR
        if sum(leg["trip"] is not None for leg in legs) > question.max_transfers + 1:
            return TOO_OFTEN
        at, is_first, walk_s = question.instant, True, 0.0
        for leg, (_, seconds) in zip(legs, walked, strict=True):
            if leg["mode"] == "WALK":
                walk_s += seconds
                continue
            begins, ends = (_seconds(leg[side]["scheduledTime"]) for side in ("start", "end"))
            if is_first and at + walk_s > begins:
                return OUR_PACE
            if not is_first and at + walk_s > begins:
                return SLOW_CHANGE
            if not is_first and at + walk_s + CHANGE_SLACK_S > begins:
                return OUR_SLACK
            at, is_first, walk_s = ends, False, 0.0
        late = our_arrival is not None and at + walk_s > our_arrival - _SAME_S
        return AT_THE_END if late else UNKNOWN

    def _walk(self, leg):
        """Return the metres and seconds of a walk of its on our streets, the ways from pins to streets included."""
        places = [self._place_of(leg[side]) for side in ("from", "to")]
        snapped = [self._measure.snap(place) for place in places]
        found = self._measure.walk(*snapped)
        if found is None:
            return np.inf, np.inf
        away_m = sum(float(each.away_m[0]) for each in snapped)
        return found[0] + away_m, found[1] + away_m / RIDER.pace_m_per_s


def _seconds(text):
    return datetime.fromisoformat(text).timestamp()
