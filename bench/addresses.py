"""Addresses and places as people type them, found in the first three, and how long a look-up takes.

Prints a line a city and a rule; ends with 1 where a goal of the issue is missed.
"""

import asyncio
import platform
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from figures import p50, percentile, verdict  # noqa: E402
from tests.addresses.asked import RULES, draw_questions  # noqa: E402

from fingerpost.store.network_record import NetworkRecord  # noqa: E402
from fingerpost.transit.embedded.network import EmbeddedNetwork  # noqa: E402
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds  # noqa: E402
from fingerpost.transit.engine.timetable.timetable import STOP  # noqa: E402
from fingerpost.transit.osm.addresses.extract import read_addresses  # noqa: E402
from fingerpost.transit.osm.addresses.gathering import gather  # noqa: E402
from fingerpost.transit.osm.addresses.index import AddressIndex  # noqa: E402
from fingerpost.transit.osm.addresses.index_file import write_index  # noqa: E402
from fingerpost.transit.osm.streets.riders_area import RidersArea  # noqa: E402

DATA = ROOT.parent / "shared" / "data" / "gtfs"
CITIES = {
    "Tampere": ("tampere/tampere_nysse_2021-22.gtfs.zip", "tampere/tampere.osm.pbf"),
    "Helsinki's centre": ("helsinki/hsl_centre_2022-02-22.gtfs.zip", "helsinki/helsinki_centre_2020.osm.pbf"),
}
FOUND_GOAL, MEDIAN_GOAL_MS = 0.95, 1.0


def main() -> int:
    """Measure each city."""
    print(f"Addresses and places, Python {platform.python_version()}, {platform.machine()}")
    return max([_measure(city, *paths) for city, paths in CITIES.items()])


def _measure(city: str, feed: str, extract: str) -> int:
    if not (DATA / extract).exists():
        print(f"{city}: skipped, the recordings are not here")
        return 0
    timetable = import_feeds("CITY", [FeedSource(DATA / feed, None)]).timetable
    boardable = timetable.stop_kind == STOP
    area = RidersArea(timetable.stop_lat[boardable], timetable.stop_lon[boardable])
    with TemporaryDirectory() as scratch:
        began = time.process_time()
        things = gather(read_addresses(DATA / extract, area.holds, Path(scratch)))
        path = Path(scratch) / "addresses.sqlite"
        write_index(things, path)
        print(
            f"\n{city}: prepared in {time.process_time() - began:.2f} s of CPU, {path.stat().st_size / 1e6:.1f} MB, "
            f"{len(things):,} names, {sum(len(each.houses) for each in things):,} addresses"
        )
        index = AddressIndex(path)
        network = EmbeddedNetwork(NetworkRecord(name="CITY"), timetable, addresses=index)
        status = _ask(things, network, index)
        index.close()
    return status


def _ask(things: list, network: EmbeddedNetwork, index: AddressIndex) -> int:
    asked = draw_questions(things, addresses=300, places=100)
    alone_ms, found, all_of = [], Counter(), Counter()
    for each in asked:
        began = time.process_time()
        index.search(each.text, focus=each.focus)
        alone_ms.append(1000 * (time.process_time() - began))
    answers, together_ms = asyncio.run(_find_together(asked, network))
    for each, matches in zip(asked, answers, strict=True):
        all_of[each.rule] += 1
        found[each.rule] += each.is_found(matches)
        if not each.is_found(matches) and "--missed" in sys.argv:
            print("  missed", each.rule, repr(each.text), [(m.place.name, m.score) for m in matches[:3]])
    for rule in RULES:
        print(f"  {rule:18} {found[rule]:3} of {all_of[rule]:3}")
    share = found.total() / all_of.total()
    goal = f"at least {FOUND_GOAL:.0%} {verdict(FOUND_GOAL, share)}"
    print(f"  found in the first three: {found.total()} of {all_of.total()}, {share:.1%}, {goal}")
    print(
        f"  look-up, index alone: median {p50(alone_ms):.2f} ms, p95 {percentile(alone_ms, 95):.2f} ms, "
        f"at most {MEDIAN_GOAL_MS:g} ms {verdict(p50(alone_ms), MEDIAN_GOAL_MS)}"
    )
    print(
        f"  with the stops of the network: median {p50(together_ms):.2f} ms, p95 {percentile(together_ms, 95):.2f} ms, "
        f"at most {MEDIAN_GOAL_MS:g} ms {verdict(p50(together_ms), MEDIAN_GOAL_MS)}"
    )
    return int(share < FOUND_GOAL or max(p50(alone_ms), p50(together_ms)) >= MEDIAN_GOAL_MS)


async def _find_together(asked: list, network: EmbeddedNetwork) -> tuple[list, list[float]]:
    answers, times_ms = [], []
    await network.find_places("warm")
    for each in asked:
        began = time.process_time()
        answers.append(await network.find_places(each.text, focus=each.focus))
        times_ms.append(1000 * (time.process_time() - began))
    return answers, times_ms


if __name__ == "__main__":
    sys.exit(main())
