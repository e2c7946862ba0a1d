"""The faults that a rider would find in a plan_trip answer, computed from the answer and the trips as they run.

It reads what was printed, the trips of the oracle (``tests.raptor.trouble``), and the timetable's links between
stops, and calls nothing of what it judges.
"""

import math
from datetime import datetime
from itertools import pairwise

# What a note says of what cannot be travelled; "leaves 6 min late" is none of these.
BREAKS = ("is cancelled", "is missed by", " s, but takes ")


def instant(text):
    return int(datetime.fromisoformat(text).timestamp())


def span(leg):
    return instant(leg["departureTime"]), instant(leg["arrivalTime"])


def is_called_unusable(itinerary):
    return any(words in itinerary.get("DisruptionNote", "") for words in BREAKS)


class RiderOracle:
    def __init__(self, timetable, running):
        self.timetable = timetable
        self.rows = {printed: row for row, printed in enumerate(timetable.stop_printed_id)}
        self.boardings, self.alightings = {}, {}
        for number, trip in enumerate(running):
            for at, call in enumerate(trip.stop_times):
                if not call.flags & 1:
                    self.boardings.setdefault((call.stop, call.departure), []).append((number, at))
                if not call.flags & 2:
                    self.alightings.setdefault((call.stop, call.arrival), []).append((number, at))

    def complaints(self, answer, wanted=None):
        """Return what is wrong with an answer's itineraries, in words; empty where nothing is.

        What arrives after the ``wanted`` arrival stands behind what is in time, and is as little use.
        """
        found = []
        seats = {each["fingerprint"]: each["legs"] for each in answer["meta"].get("staySeated", ())}
        verdicts = [self.can_be_travelled(each, seats.get(each["fingerprint"], ())) for each in answer["itineraries"]]
        for number, (itinerary, can) in enumerate(zip(answer["itineraries"], verdicts, strict=True)):
            spans = [span(leg) for leg in itinerary["legs"]]
            if any(begin > end for begin, end in spans) or itinerary["totalDuration"] < 0:
                found.append(f"{number}: a duration is negative")
            if any(before[1] > after[0] for before, after in pairwise(spans)):
                found.append(f"{number}: legs overlap")
            if itinerary["totalDuration"] != spans[-1][1] - spans[0][0]:
                found.append(f"{number}: the total is not from start to end")
            if can == is_called_unusable(itinerary):
                found.append(f"{number}: {'can' if can else 'cannot'} be travelled, and the note says otherwise")
        in_time = [wanted is None or span(each["legs"][-1])[1] <= wanted for each in answer["itineraries"]]
        uses = [can + (can and soon) for can, soon in zip(verdicts, in_time, strict=True)]
        if uses != sorted(uses, reverse=True):
            found.append(f"what cannot be travelled, or is too late, stands before what can: {uses}")
        warned = "no-usable-itinerary" in [each["code"] for each in answer.get("warnings", ())]
        if warned == (2 in uses):
            found.append(f"no-usable-itinerary is {'' if warned else 'not '}told: {uses}")
        return found

    def can_be_travelled(self, itinerary, seated=()):
        """Whether vehicles make every ride at the times shown, and every change can be made.

        Into the legs ``seated`` nobody changes: the vehicle must only be there before it goes on.
        """
        rides = [(at, leg) for at, leg in enumerate(itinerary["legs"]) if leg["mode"] != "WALK"]
        return all(self._is_made(leg) for _, leg in rides) and all(
            span(before)[1] + (0 if at in seated else self._change_s(before["to"]["id"], after["from"]["id"]))
            <= span(after)[0]
            for (_, before), (at, after) in pairwise(rides)
        )

    def _is_made(self, leg):
        begin, end = span(leg)
        boarded = self.boardings.get((self.rows[leg["from"]["id"]], begin), ())
        left = self.alightings.get((self.rows[leg["to"]["id"]], end), ())
        return any(one == other and at < then for one, at in boarded for other, then in left)

    def _change_s(self, begin, end):
        table, begin, end = self.timetable, self.rows[begin], self.rows[end]
        if begin == end:
            return int(table.change_s[begin])
        paths = range(int(table.footpaths.first[begin]), int(table.footpaths.first[begin + 1]))
        linked = [int(table.footpaths.seconds[path]) for path in paths if int(table.footpaths.to[path]) == end]
        # Real time may move a ride to a stop that nobody was to change to: then one walks straight there.
        return linked[0] if linked else math.ceil(math.ceil(1.3 * self._straight_m(begin, end)) / 1.25) + 120 + 135

    def _straight_m(self, begin, end):
        lats, lons = self.timetable.stop_lat, self.timetable.stop_lon
        north = math.radians(float(lats[end]) - float(lats[begin]))
        east = math.radians(float(lons[end]) - float(lons[begin])) * math.cos(math.radians(float(lats[begin])))
        return math.hypot(north, east) * 6_371_000
