"""Single-departure questions beside nigiri on the real Helsinki feed, in the same process; a ratio, no bound."""

import importlib.util
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from figures import p50

from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable

ROOT = Path(__file__).resolve().parents[1]
SEED = 20220222
# The feed holds one day; past this the horizons differ.
LAST_ARRIVAL_S = 32 * 3600


def measure(*, count: int) -> None:
    """Print the ratio, or why there is none.

    Raises:
        RuntimeError: an answer differs.
    """
    sys.path.insert(0, str(ROOT))
    from tests.raptor import levelled

    feed = Path(os.environ.get("FINGERPOST_SHARED", ROOT.parent / "shared")) / "data" / levelled.FEED
    if importlib.util.find_spec("pynigiri") is None or not feed.exists():
        print("\nBeside nigiri: not measured, it needs pynigiri and the recorded Helsinki feed.")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hsl.zip"
        timetable = levelled.level(feed, path)
        with _quiet_stderr():
            rival = levelled.load_rival(path)
    search_timetable = build_search_timetable(timetable, levelled.DAY, mirrored=False, step_free=False)
    served = np.unique(search_timetable.patterns.position_stop).tolist()
    ids = list(timetable.stop_local_id)
    locations = {stop: rival.find_location(ids[stop]) for stop in served}
    dice = random.Random(SEED)
    questions = [(*dice.sample(served, 2), dice.randrange(5 * 3600, 23 * 3600, 60)) for _ in range(count)]
    ratios = []
    for question in questions:
        our_ms, ours = _time(levelled.ask_engine, timetable, search_timetable, *question)
        their_ms, theirs = _time(levelled.ask_rival, rival, locations, *question)
        if _comparable(ours) != _comparable(theirs):
            raise RuntimeError(f"the answers differ: {question}")
        ratios.append(our_ms / their_ms)
    print(f"\nBeside nigiri, {count} single departures on the Helsinki feed, answers equal, interleaved:")
    print(f"  median of time ratios {p50(ratios):.2f} (below 1 is faster than nigiri)")


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Keep the loader's log, which it writes past Python and cannot be told to leave out, off the terminal."""
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _time(query, *given):
    begin = time.perf_counter()
    answer = query(*given)
    return (time.perf_counter() - begin) * 1000, answer


def _comparable(answer):
    return [row for row in answer if row[1] <= LAST_ARRIVAL_S]
