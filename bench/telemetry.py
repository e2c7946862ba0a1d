"""What measuring costs a whole call while nobody listens: find_stops with it and without it, in turns."""

import asyncio
import sys
import tempfile
import time

from fingerpost.apps import error_boundary
from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from fingerpost.contract import published
from fingerpost.transit.networks import asking

CALL = {"coordinate": {"lat": 60.1699, "lon": 24.9384}, "radius": 500}
ROUNDS, CALLS = 30, 50
# Of the shortest call there is.
MOST_SHARE = 0.05


class Unmeasured:
    """Takes what a measurement takes, and does nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_raised):
        return None

    def fail(self, *_given):
        return None


def unmeasured(*_given, **_named):
    return Unmeasured()


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
    # The least of many: whatever else runs only adds.
    with_it, without = min(times_s[measured]), min(times_s[unmeasured])
    share = with_it / without - 1
    told = f"{with_it * 1e3:.3f} ms measured, {without * 1e3:.3f} ms unmeasured"
    print(f"find_stops: {told}, {share:+.1%} of processor time")
    return 1 if share > MOST_SHARE else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
