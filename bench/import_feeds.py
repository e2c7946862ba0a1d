"""Compare our import of zip files into a usable network with nigiri's: ``make bench-import``.

Every measurement is a separate process, alternately ours and nigiri's, both warm (files in the page cache, machine
code compiled). Ours includes tables, footpaths, the report, and the search timetable for one service day. The figure is
the median of the ratios of neighbouring runs. Before that, both must have read the same number of stops, and we must
have read all stop times in the zips.
"""

import argparse
import json
import sys
import zipfile
from datetime import date
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from harness import HEAD, p50, report, report_pairs, run_json, timed_ms
from tests.shared_data import find_shared

BOUND = 0.7
FEEDS = sorted((find_shared() / "gtfs" / "nyc").glob("*.zip"))
DAY, FIRST, LAST = date(2026, 9, 30), date(2026, 9, 5), date(2027, 1, 2)


def ours() -> dict[str, float]:
    from tests.feeds import timetable_from_drawing

    from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
    from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable

    def build(timetable, day):
        return build_search_timetable(timetable, day, is_reverse=False, step_free=False)

    build(timetable_from_drawing("line A | B 08:00 | C 08:10"), date(2026, 3, 2))
    import_ms, imported = timed_ms(import_feeds, "bench", [FeedSource(path) for path in FEEDS])
    day_ms, _ = timed_ms(build, imported.timetable, DAY)
    timetable = imported.timetable
    return {
        "ms": import_ms + day_ms,
        "day_ms": day_ms,
        "stops": timetable.stop_count,
        "calls": len(timetable.stop_time_stop),
    }


def theirs() -> dict[str, float]:
    import pynigiri  # noqa: F401  (before the time is taken)
    from tests.raptor.rival import load_rival

    spent_ms, timetable = timed_ms(lambda: load_rival(*FEEDS, since=f"{FIRST}", until=f"{LAST}"))
    # nigiri's own nine special places come first; they are not stops.
    return {"ms": spent_ms, "stops": timetable.n_locations() - 9}


SIDES = {"ours": ours, "theirs": theirs}


def _count_calls(path: Path) -> int:
    with zipfile.ZipFile(path) as packed, packed.open("stop_times.txt") as table:
        return sum(1 for _ in table) - 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--as", dest="side", choices=SIDES, help="measure once, in this process")
    options = parser.parse_args()
    if options.side:
        print(json.dumps(SIDES[options.side]() | {"peak_mb": getrusage(RUSAGE_SELF).ru_maxrss // 1024}))
        return 0
    if not FEEDS:
        print("New York: its nine feeds are not here, skipped")
        return 0
    pairs = [[run_json(sys.executable, __file__, "--as", side) for side in SIDES] for _ in range(options.rounds)]
    own, other = pairs[-1]
    calls = sum(map(_count_calls, FEEDS))
    same = own["calls"] == calls and own["stops"] == other["stops"]
    print(f"New York read alike: {own['stops']} and {other['stops']} stops, {own['calls']} of {calls} calls "
          f"{'ok' if same else 'short'}\n{HEAD}")  # fmt: skip
    took_ms = [[side["ms"] for side in rounds] for rounds in zip(*pairs, strict=True)]
    note = f"one service day is {p50([mine['day_ms'] / mine['ms'] for mine, _ in pairs]):.0%} of it"
    good = report_pairs("zip to ready network, in ms", *took_ms, bound=BOUND, note=note)
    report("peak of memory, in MB", *(max(pair[side]["peak_mb"] for pair in pairs) for side in (0, 1)))
    return 0 if same and good else 1


if __name__ == "__main__":
    sys.exit(main())
