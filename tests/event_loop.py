"""The command ``fingerpost`` in a debug mode: ``python -m tests.event_loop 50 serve --http 127.0.0.1:0``.

It writes a line to stderr for each callback that occupies the event loop for more than so many milliseconds.
"""

import asyncio
import sys
import threading
import time
from contextlib import contextmanager

# While one callback runs, no other call is answered, and no probe.
MAX_BLOCKED_MS = 50
BLOCKED = "the event loop was blocked for"


@contextmanager
def reporting_blocking_callbacks(max_ms):
    """Measure the processor time of the loop's thread, to which other processes and threads do not add."""
    run = asyncio.events.Handle._run

    def run_measured(handle):
        began_s = time.thread_time()
        run(handle)
        took_ms = (time.thread_time() - began_s) * 1000
        # Loops of other threads may compute, such as the one that opens the networks at the start.
        if took_ms > max_ms and threading.current_thread() is threading.main_thread():
            sys.stderr.write(f"{BLOCKED} {took_ms:.0f} ms by {handle}\n")
            sys.stderr.flush()

    asyncio.events.Handle._run = run_measured
    try:
        yield
    finally:
        asyncio.events.Handle._run = run


if __name__ == "__main__":
    from fingerpost.apps.cli import main

    limit_ms = float(sys.argv.pop(1))
    with reporting_blocking_callbacks(limit_ms):
        main()
