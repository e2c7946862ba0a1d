"""What measuring costs a whole call while nobody listens: find_stops with it and without it, in turns."""

import asyncio
import sys
import tempfile
import time
from contextlib import contextmanager
from statistics import median

from opentelemetry.trace import INVALID_SPAN

from fingerpost.apps import error_boundary
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.contract import published
from fingerpost.telemetry.spans import Measured
from fingerpost.transit.networks import asking

CALL = {"coordinate": {"lat": 60.1699, "lon": 24.9384}, "radius": 500}
ROUNDS, CALLS = 30, 50
# Of the shortest call there is.
MOST_SHARE = 0.02


@contextmanager
def unmeasured(*_given, **_named):
    yield Measured(INVALID_SPAN, {})


async def main() -> int:
    """Print the figures; return 1 where measuring costs more than its share."""
    with tempfile.TemporaryDirectory() as home:
        application = build(read_settings(home=home))
        measured = published.measured
        times_s = {measured: [], unmeasured: []}
        for turn in range(ROUNDS + 1):
            for way in (measured, unmeasured):
                published.measured = asking.measured = way
                began_s = time.process_time()
                for _ in range(CALLS):
                    await error_boundary.answer(application.tools, "find_stops", CALL, user=None)
                if turn:
                    times_s[way].append((time.process_time() - began_s) / CALLS)
        await application.networks.close()
    with_it, without = median(times_s[measured]), median(times_s[unmeasured])
    share = with_it / without - 1
    print(f"find_stops: {with_it * 1e3:.3f} ms measured, {without * 1e3:.3f} ms not, {share:+.1%} of processor time")
    return 1 if share > MOST_SHARE else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
