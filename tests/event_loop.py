"""The command ``fingerpost`` in a debug mode: ``python -m tests.event_loop 50 serve --http 127.0.0.1:0``.

It writes a line to stderr for each callback that occupies the event loop for more than so many milliseconds.
"""

import asyncio
import gc
import sys
import threading
import time
from contextlib import contextmanager

# While one callback runs, no other call is answered, and no probe.
MAX_BLOCKED_MS = 50
BLOCKED = "the event loop was blocked for"


@contextmanager
def reporting_blocking_callbacks(max_ms):
    """Measure the processor time of the loop's thread, to which other processes and threads do not add.

    Garbage collection does not count, because it depends on all calls so far.
    """
    run = asyncio.events.Handle._run
    spent = threading.local()

    def count_collection(phase, _info):
        sign = -1 if phase == "start" else 1
        spent.collecting_s = getattr(spent, "collecting_s", 0.0) + sign * time.thread_time()

    def measure_s():
        return time.thread_time() - getattr(spent, "collecting_s", 0.0)

    def run_measured(handle):
        began_s = measure_s()
        run(handle)
        took_ms = (measure_s() - began_s) * 1000
        # Loops of other threads may compute, such as the one that opens the networks at the start.
        if took_ms > max_ms and threading.current_thread() is threading.main_thread():
            sys.stderr.write(f"{BLOCKED} {took_ms:.0f} ms by {handle}\n")
            sys.stderr.flush()

    asyncio.events.Handle._run = run_measured
    gc.callbacks.append(count_collection)
    try:
        yield
    finally:
        asyncio.events.Handle._run = run
        gc.callbacks.remove(count_collection)


if __name__ == "__main__":
    from fingerpost.apps.cli import main

    limit_ms = float(sys.argv.pop(1))
    with reporting_blocking_callbacks(limit_ms):
        main()
