"""The faults that a rider would find in a plan_trip answer, computed from the answer and the trips as they run.

Where rounding of a walk could decide whether a change holds (``MARGIN_S``), either word is accepted.
"""

import re
from collections import defaultdict
from datetime import datetime
from itertools import pairwise

from tests.riders.feed_tables import NO_ALIGHTING, NO_BOARDING
from tests.riders.walks import straight_m

MARGIN_S = 2
LATE_AFTER_S = 300
BREAKS = ("is cancelled", "is missed by", " s, but takes ")
MISSED = re.compile(r"is missed by (\d+) (s|min)")


def instant(text):
    return int(datetime.fromisoformat(text).timestamp())


def span(leg):
    return instant(leg["departureTime"]), instant(leg["arrivalTime"])


def place(end):
    return end["coordinate"]["lat"], end["coordinate"]["lon"]


def rides_of(itinerary):
    return [(at, leg) for at, leg in enumerate(itinerary["legs"]) if leg["mode"] != "WALK"]


class Judge:
    """Knows the trips of a moment."""

    def __init__(self, tables, running):
        self.tables = tables
        self.by_trip = defaultdict(list)
        for each in running:
            self.by_trip[f"{each.planned.feed}:{each.planned.trip_id}"].append(each)

    def complaints(self, answer, now, wanted=None):
        """Return what is wrong with an answer, in words; empty where nothing is. ``wanted`` is a wanted arrival."""
        found, verdicts = [], []
        seats = {each["fingerprint"]: each["legs"] for each in answer["meta"].get("staySeated", ())}
        for number, itinerary in enumerate(answer["itineraries"]):
            seated = seats.get(itinerary["fingerprint"], ())
            is_broken = any(words in itinerary.get("DisruptionNote", "") for words in BREAKS)
            judged = self._broken(itinerary, seated) if is_broken else self._usable(itinerary, seated)
            is_late = wanted is not None and span(itinerary["legs"][-1])[1] > wanted
            if not is_broken and is_late != ("after the requested time" in itinerary.get("DisruptionNote", "")):
                found.append(f"{number}: that it arrives too late is {'not ' if is_late else ''}told")
            verdicts.append(2 if is_broken else int(is_late))
            found += [f"{number}: {words}" for words in (*self._shape(itinerary, answer, now), *judged)]
        if verdicts != sorted(verdicts):
            found.append("what cannot be travelled, or is too late, stands before what can")
        warned = "no-usable-itinerary" in [each["code"] for each in answer.get("warnings", ())]
        if warned != all(verdicts):
            found.append(f"no-usable-itinerary is {'' if warned else 'not '}told")
        return found

    def _usable(self, itinerary, seated):
        """Say what keeps an itinerary from being travelled that is shown as if it could be."""
        rides, least_late, most_late = rides_of(itinerary), 0, 0
        for at, leg in rides:
            made = [each for each in self.by_trip[leg["tripId"]]
                    if self._where(each.calls, leg, at in seated, at + 1 in seated)]  # fmt: skip
            if not made:
                yield f"no vehicle makes the ride {leg['line']} at {leg['departureTime']}"
                continue
            # A late departure of a repeated trip may run at the very times of the next one.
            late = [self._is_late(each, leg, at in seated, at + 1 in seated) for each in made]
            least_late, most_late = least_late + min(late), most_late + max(late)
        told = itinerary.get("DisruptionNote", "").count(" late")
        if not least_late <= told <= most_late:
            yield f"{least_late} rides are more than five minutes late: {itinerary.get('DisruptionNote')!r}"
        for (_, before), (at, after) in pairwise(rides):
            there, needed = span(after)[0] - span(before)[1], self.needed_s(before, after, at in seated)
            if there < needed - MARGIN_S:
                yield f"the change at {after['from']['name']} takes {needed} s, has {there} s, and nothing is said"

    def _is_late(self, running, leg, is_seated, stays_on):
        board, alight = self._where(running.calls, leg, is_seated, stays_on)
        planned, calls = running.planned.calls, running.calls
        return max(calls[board][2] - planned[board][2], calls[alight][1] - planned[alight][1]) > LATE_AFTER_S

    def _broken(self, itinerary, seated):
        """Say what is wrong with an itinerary that is shown as one that cannot be travelled."""
        rides, note = rides_of(itinerary), itinerary["DisruptionNote"]
        fates, breaks, doubtful = [], 0, False
        for at, leg in rides:
            fate = self._fate(leg, at in seated, at + 1 in seated)
            if fate is None:
                yield f"the timetable does not promise {leg['line']} at {leg['departureTime']}"
                return
            fates.append(fate)
            if not fate:
                breaks += 1
                if f"from {leg['from']['name']} is cancelled" not in note or leg["status"] != "cancelled":
                    yield f"{leg['line']} from {leg['from']['name']} does not run, and is not named: {note}"
        for ((_, before), (at, after)), (one, other) in zip(pairwise(rides), pairwise(fates), strict=True):
            if not one or not other:
                continue
            there, needed = other[0] - one[1], self.needed_s(before, after, at in seated)
            doubtful |= abs(there - needed) <= MARGIN_S
            if there < needed - MARGIN_S:
                breaks += 1
                if f"at {after['from']['name']} " not in note or not _is_missed_by(note, needed, there):
                    yield f"the change at {after['from']['name']} has {there} of {needed} s, and the note says {note}"
        if not breaks and not doubtful:
            yield f"nothing breaks it, and the note says {note}"
        if not doubtful and breaks != sum(note.count(words) for words in BREAKS):
            yield f"{breaks} things break it, and the note says {note}"

    def _where(self, calls, leg, is_seated, stays_on):
        """Return the positions at which a trip makes a ride at the times shown, None where it does not."""
        ends = [self.tables.printed.get(leg[side]["id"]) for side in ("from", "to")]
        begin, end = span(leg)
        boards = [at for at, (stop, _, departure, flags) in enumerate(calls) if (stop, departure) == (ends[0], begin)
                  and (is_seated or not flags & NO_BOARDING)]  # fmt: skip
        leaves = [at for at, (stop, arrival, _, flags) in enumerate(calls) if (stop, arrival) == (ends[1], end)
                  and (stays_on or not flags & NO_ALIGHTING)]  # fmt: skip
        return next(((one, other) for one in boards for other in leaves if one < other), None)

    def _fate(self, leg, is_seated, stays_on):
        """Return (departure, arrival) as expected of a promised ride, () if it is off, None if none was promised."""
        for each in self.by_trip[leg["tripId"]]:
            at = self._where(each.planned.calls, leg, is_seated, stays_on)
            if at is None:
                continue
            if not each.calls:
                return ()
            (_, _, departure, out), (_, arrival, _, off) = each.calls[at[0]], each.calls[at[1]]
            is_off = (out & NO_BOARDING and not is_seated) or (off & NO_ALIGHTING and not stays_on) or 3 in (out, off)
            return () if is_off else (departure, arrival)
        return None

    def needed_s(self, before, after, is_seated):
        trips = [leg["tripId"].partition(":")[2] for leg in (before, after)]
        feed = before["tripId"].partition(":")[0]
        if is_seated or (feed, *trips) in self.tables.specific:
            return 0
        taken, _ = self.tables.link(*(self.tables.printed[end["id"]] for end in (before["to"], after["from"])))
        return taken

    def _shape(self, itinerary, answer, now):
        legs = itinerary["legs"]
        spans = [span(leg) for leg in legs]
        if any(begin > end or end - begin != leg["duration"] for (begin, end), leg in zip(spans, legs, strict=True)):
            yield f"a leg's duration is not from its start to its end: {spans}"
        if any(before[1] > after[0] for before, after in pairwise(spans)):
            yield f"legs overlap: {spans}"
        if itinerary["totalDuration"] != spans[-1][1] - spans[0][0] or itinerary["totalDuration"] < 0:
            yield f"the total is {itinerary['totalDuration']} s: {spans}"
        if spans[0][0] < now:
            yield f"it begins {now - spans[0][0]} s ago"
        ends = [answer["origin"], *(leg[side] for leg in legs for side in ("from", "to")), answer["destination"]]
        places = [place(end) for end in ends]
        if any(straight_m(places[at], places[at + 1]) > 1 for at in range(0, len(places), 2)):
            yield f"there is a gap between two legs: {places}"
        for leg in legs:
            if leg["mode"] == "WALK" and leg["duration"] < self._least_walk_s(leg):
                yield f"nobody walks from {leg['from']['name']} to {leg['to']['name']} in {leg['duration']} s"
        if itinerary["numberOfTransfers"] > len(rides_of(itinerary)) - 1 and rides_of(itinerary):
            yield "there are more transfers than changes"

    def _least_walk_s(self, leg):
        """Return the least seconds of a walking leg: what the operator states between two stops, else at 1.25 m/s."""
        ends = tuple(self.tables.printed.get(leg[side].get("id")) for side in ("from", "to"))
        stated_s, _ = self.tables.forced.get(ends, (None, 0))
        straight_s = straight_m(place(leg["from"]), place(leg["to"])) / 1.25
        return straight_s if stated_s is None else min(stated_s, straight_s)


def _is_missed_by(note, needed, there):
    if there > 0:
        return bool(re.search(rf"allows {there} s, but takes \d+ s", note))
    missing = needed - there
    said = [int(number) * (60 if unit == "min" else 1) for number, unit in MISSED.findall(note)]
    return any(abs(each - missing) <= (MARGIN_S if each < 60 else 30 + MARGIN_S) for each in said)
