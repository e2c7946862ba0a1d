"""Call plan_trip over many connections at once, with one process and with two workers: calls per second, waits, memory.

Each of the two is measured for ``--seconds``. The load generator runs in this process, on the same cores, so it
competes with the workers if there are few cores.
"""

import asyncio
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import cycle

from harness import HEAD, p50, percentile, read_options, report
from questions import open_questions
from serving import SERVE, Server, compile_kernels, serving, write_call

MIN_SPEEDUP = 1.7
MAX_TIMES_MEDIAN = 3.0
# How much more memory a process may use at the end than after the first tenth of the time.
MAX_GROWTH = 1.1
_WARM_SHARE = 0.1
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(slots=True)
class Load:
    """The measurements: milliseconds of answered calls, failures by code, memory in bytes."""

    seconds: float
    times_ms: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    bytes_before: int = 0
    bytes_after: int = 0


async def measure(server: Server, connections: int, seconds: float, bodies: list[bytes]) -> Load:
    """Call over the given number of connections for the given time; the first tenth is not counted."""
    load = Load(seconds * (1 - _WARM_SHARE))
    begins = time.perf_counter() + seconds * _WARM_SHARE
    asking = asyncio.gather(
        *(_ask(server, bodies[at:] + bodies[:at], load, begins, begins + load.seconds) for at in range(connections))
    )
    await asyncio.sleep(seconds * _WARM_SHARE)
    load.bytes_before = server.count_bytes()
    await asking
    load.bytes_after = server.count_bytes()
    return load


async def _ask(server: Server, bodies: list[bytes], load: Load, begins: float, ends: float) -> None:
    """Send one call after another over one persistent connection; after a failure, wait a second."""
    writer = None
    try:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        for body in cycle(bodies):
            sent = time.perf_counter()
            if sent >= ends:
                return
            writer.write(body)
            outcome = await read_outcome(reader)
            if sent < begins:
                continue
            if outcome == "ok":
                load.times_ms.append((time.perf_counter() - sent) * 1000)
            else:
                load.failures[outcome] += 1
                await asyncio.sleep(1)
    except (OSError, asyncio.IncompleteReadError) as error:
        load.failures[type(error).__name__] += 1
    finally:
        if writer is not None:
            writer.close()


async def read_outcome(reader: asyncio.StreamReader) -> str:
    head = await reader.readuntil(b"\r\n\r\n")
    found = _LENGTH.search(head)
    answer = await reader.readexactly(int(found[1])) if found else b""
    if b" 200 " not in head[:20]:
        return head[:12].decode()
    return "error" if b'"isError":true' in answer else "ok"


def report_load(name: str, load: Load) -> bool:
    """Print the bounded figures of one server; return whether every call was answered within the bounds."""
    p99_ms, failed = percentile(load.times_ms, 0.99), sum(load.failures.values())
    memory_mb = (load.bytes_after / 1e6, load.bytes_before / 1e6)
    good = report(f"{name}: p99 beside the median, in ms", p99_ms, p50(load.times_ms), bound=MAX_TIMES_MEDIAN)
    good &= report(f"{name}: memory after beside before, in MB", *memory_mb, bound=MAX_GROWTH)
    return good & report(f"{name}: failed calls", failed, bound=0, note=str(dict(load.failures)) if failed else "")


def main() -> int:
    options = read_options(__doc__, seconds=60.0, connections=50)
    compile_kernels()
    with open_questions() as (questions, _):
        bodies = [write_call("plan_trip", questions.draw_trip()) for _ in range(200)]
    print(f"plan_trip on the demo, {options.connections} connections, {options.seconds:.0f} s each:\n{HEAD}")
    good, calls_per_s = True, []
    for workers, name in ((1, "one process"), (2, "two workers")):
        command = [*SERVE, "--http", "127.0.0.1:0", "--workers", str(workers)]
        with tempfile.TemporaryDirectory() as home, serving(command, workers, FINGERPOST_HOME=home) as server:
            load = asyncio.run(measure(server, options.connections, options.seconds, bodies))
        if not load.times_ms:
            raise SystemExit(f"short: {name} answered no call: {dict(load.failures)}")
        good &= report_load(name, load)
        calls_per_s.append(len(load.times_ms) / load.seconds)
    good &= report("one process beside two workers, in calls per second", *calls_per_s, bound=1 / MIN_SPEEDUP)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
