"""Kingston's recordings played through plan_trip: how many riders lose the earliest trip, or are sent on none.

``bench/recorded_riders.py [QUESTIONS]``; with ``PYTHONPATH=OTHER/src`` before it another commit is measured by the same
oracle (``tests/riders``), which shares no code with what it measures. A question loses the earliest trip if nothing
that is shown and can be travelled arrives as early as the earliest way that can be caught; an itinerary is impossible
if legs overlap, its duration is negative, or a change between two rides cannot be made at the times shown.
"""

import os
import random
import sys
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))

from google.transit.gtfs_realtime_pb2 import FeedMessage  # noqa: E402
from tests.riders.feed_tables import KINGSTON  # noqa: E402
from tests.riders.judging import MARGIN_S, Judge, rides_of, span  # noqa: E402
from tests.riders.real_time import apply  # noqa: E402
from tests.riders.search import NEVER, Question, Router  # noqa: E402
from tests.riders.town import Town, iso  # noqa: E402
from tests.shared_data import get_shared  # noqa: E402

AHEAD_S = 3 * 3600
SEED = 13


def main() -> int:
    """Ask every recording its share of the questions, and print what riders were told."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    recordings = sorted(get_shared("gtfs/kingston/realtime").glob("*.pb"))
    dice, told = random.Random(SEED), Counter()
    lost_min = []
    with tempfile.TemporaryDirectory() as home:
        town = Town("KINGSTON", *KINGSTON, Path(home))
        calls = Counter(stop for trip in town.tables.trips for stop, *_ in trip.calls)
        busiest = sorted(calls, key=lambda stop: (-calls[stop], stop))[:200]
        for number, path in enumerate(recordings):
            message = FeedMessage()
            message.ParseFromString(path.read_bytes())
            now = message.header.timestamp
            os.environ["FINGERPOST_NOW"] = iso(now)
            town.publish({"KINGSTON": message}, now)
            running = apply(town.tables, {"KINGSTON": message})
            soon = [each for each in running if each.calls and each.calls[-1][1] >= now
                    and each.calls[0][2] <= now + AHEAD_S]  # fmt: skip
            judge, router = Judge(town.tables, running), Router(town.tables, soon)
            for _ in range((wanted * (number + 1)) // len(recordings) - (wanted * number) // len(recordings)):
                ends = [town.tables.place[stop] for stop in dice.sample(busiest, 2)]
                question = Question(*ends, now, 5, 1500, now + AHEAD_S)
                best = router.earliest_arrival(question)
                for alternatives in (True, False):
                    body = town.ask(question, limit=3, includeDisruptionAlt=alternatives)
                    late_s = count(told, judge, body, best, alternatives)
                    if alternatives and late_s is not None:
                        lost_min.append(late_s / 60)
    show(told, lost_min)
    return 0


def count(told, judge, body, best, alternatives):
    """Count what one answer says; return how much later than the best way it arrives, None where it is as early."""
    way = "by default" if alternatives else "alternatives off"
    shown = body.get("itineraries", [])
    usable = []
    seats = {each["fingerprint"]: each["legs"] for each in body.get("meta", {}).get("staySeated", ())}
    for each in shown:
        told[way, "itineraries"] += 1
        is_impossible = bool(list(breaks(judge, each, seats.get(each["fingerprint"], ()))))
        told[way, "impossible"] += is_impossible
        if not is_impossible and not any(leg.get("status") == "cancelled" for leg in each["legs"]):
            usable.append(span(each["legs"][-1])[1])
    if best == NEVER:
        return None
    told[way, "questions"] += 1
    if usable and min(usable) <= best:
        return None
    told[way, "lost"] += 1
    return min(usable, default=NEVER) - best


def breaks(judge, itinerary, seated):
    """Yield what nobody can travel at the times that are shown; into the legs ``seated`` nobody changes."""
    spans = [span(leg) for leg in itinerary["legs"]]
    if itinerary["totalDuration"] < 0 or any(begin > end for begin, end in spans):
        yield "negative"
    if any(before[1] > after[0] for before, after in pairwise(spans)):
        yield "overlap"
    for (_, before), (at, after) in pairwise(rides_of(itinerary)):
        if span(after)[0] - span(before)[1] < judge.needed_s(before, after, at in seated) - MARGIN_S:
            yield "change"


def show(told, lost_min):
    """Print the figures."""
    for way in ("by default", "alternatives off"):
        print(f"{way}: {told[way, 'lost']} of {told[way, 'questions']} questions lose the earliest trip; "
              f"{told[way, 'impossible']} of {told[way, 'itineraries']} itineraries are impossible")  # fmt: skip
    known = [each for each in lost_min if each < NEVER]
    over = sum(each > 15 for each in lost_min)
    print(f"by default {over} by more than 15 minutes; the worst by {max(known, default=0):.0f}; "
          f"{len(lost_min) - len(known)} are shown nothing that can be travelled")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
