"""From zip to a network that can be asked, beside nigiri's load of the same files: ``make bench-import``.

Every measurement is a process of its own, ours and nigiri's by turns, both warm (files in the page cache, machine
code compiled). Ours is: tables, footpaths, report, and the slice of one service day. What is compared is the median
of the ratios of neighbouring runs. Before that, both must have read the same number of stops, and we the number of
calls that the zip holds.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
import zipfile
from datetime import date
from pathlib import Path

from figures import verdict

BOUND, GOAL = 0.7, 0.4
NEW_YORK = Path(__file__).resolve().parents[2] / "shared" / "data" / "gtfs" / "nyc"


def ours(paths: list[str], first: str) -> dict[str, float]:
    """Import feeds and build one day; return seconds, counts and the peak of memory in MB."""
    from resource import RUSAGE_SELF, getrusage

    from fingerpost.testing.feeds import timetable_from_drawing
    from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
    from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable

    build_search_timetable(
        timetable_from_drawing("line A | B 08:00 | C 08:10"), date(2026, 3, 2), mirrored=False, step_free=False
    )
    begin = time.perf_counter()
    timetable = import_feeds("bench", [FeedSource(Path(path)) for path in paths]).timetable
    imported = time.perf_counter()
    search_timetable = build_search_timetable(timetable, date.fromisoformat(first), mirrored=False, step_free=False)
    end = time.perf_counter()
    return {
        "seconds": end - begin,
        "search_s": end - imported,
        "stops": timetable.stop_count,
        "calls": len(timetable.stop_time_stop),
        "vehicles": search_timetable.instance_count,
        "peak_mb": getrusage(RUSAGE_SELF).ru_maxrss // 1024,
    }


def theirs(paths: list[str], first: str, last: str) -> dict[str, float]:
    """Load feeds with nigiri for the same days; return the same."""
    from resource import RUSAGE_SELF, getrusage

    import pynigiri

    config = pynigiri.LoaderConfig()
    config.link_stop_distance = 0
    config.default_tz = "UTC"
    finalize = pynigiri.FinalizeOptions()
    finalize.adjust_footpaths = False
    finalize.merge_dupes_inter_src = False
    finalize.merge_dupes_intra_src = False
    begin = time.perf_counter()
    sources = [pynigiri.TimetableSource(f"f{n}", path, config) for n, path in enumerate(paths)]
    timetable = pynigiri.load_timetable(sources, first, last, finalize)
    seconds = time.perf_counter() - begin
    return {
        "seconds": seconds,
        # Nine places that are no stops come first: nigiri's own.
        "stops": timetable.n_locations() - 9,
        "peak_mb": getrusage(RUSAGE_SELF).ru_maxrss // 1024,
    }


def _run(who: str, *arguments: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--as", who, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _calls_in(paths: list[Path]) -> int:
    calls = 0
    for path in paths:
        with zipfile.ZipFile(path) as packed, packed.open("stop_times.txt") as table:
            calls += sum(1 for _ in table) - 1
    return calls


def compare(name: str, paths: list[Path], day: date, first: date, last: date, rounds: int) -> bool:
    """Print one city's lines; return whether the bound is kept."""
    files = [str(path) for path in paths]
    pairs = [
        (_run("ours", day.isoformat(), *files), _run("theirs", first.isoformat(), last.isoformat(), *files))
        for _ in range(rounds)
    ]
    own, other = pairs[-1]
    calls = _calls_in(paths)
    same = own["calls"] == calls and own["stops"] == other["stops"]
    print(f"{name} read alike: {own['stops']:.0f} and {other['stops']:.0f} stops, {own['calls']:.0f} of {calls} calls "
          f"{'ok' if same else 'short'}")  # fmt: skip
    ratio = statistics.median(ours["seconds"] / theirs["seconds"] for ours, theirs in pairs)
    day_share = statistics.median(ours["search_s"] / ours["seconds"] for ours, _ in pairs)
    print(f"{name} zip to ready network, of nigiri's load: {ratio:.2f} (at most {BOUND}, goal {GOAL}; "
          f"one service day is {day_share:.0%} of it) {verdict(ratio, BOUND)}")  # fmt: skip
    peaks = [max(pair[side]["peak_mb"] for pair in pairs) for side in (0, 1)]
    print(f"{name} peak of memory: {peaks[0]:.0f} MB, nigiri {peaks[1]:.0f} MB")
    return same and ratio <= BOUND


def main() -> int:
    """Measure New York; return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--as", dest="who", choices=["ours", "theirs"], help="measure once, in this process")
    parser.add_argument("given", nargs="*")
    options = parser.parse_args()
    if options.who == "ours":
        print(json.dumps(ours(options.given[1:], options.given[0])))
        return 0
    if options.who == "theirs":
        print(json.dumps(theirs(options.given[2:], *options.given[:2])))
        return 0
    if not NEW_YORK.is_dir():
        print("New York: its nine feeds are not here, skipped")
        return 0
    days = (date(2026, 9, 30), date(2026, 9, 5), date(2027, 1, 2))
    return 0 if compare("New York", sorted(NEW_YORK.glob("*.zip")), *days, options.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
