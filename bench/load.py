"""plan_trip from many connections at once, over one process and over two workers: calls a second, waits, memory.

The generator runs in this process, on the same cores, so that with more workers than cores it takes from theirs.
With ``--at-any-load`` only what others on the machine cannot change is measured: failures, memory, and that too many
callers are refused.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle

from figures import p50, percentile
from load_server import Served, serving
from over_http import Caller
from questions import NOW, Questions

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build

SEED = 20260310
LEAST_SPEEDUP = 1.7
MOST_TIMES_MEDIAN = 3.0
# What a process may have more at the end than after the first tenth of the time.
MOST_GROWTH = 1.1
MORE_THAN_ROOM = 200
MOST_TIMES_ANSWERED = 2.0
_WARM_SHARE = 0.1
_REFUSED = "HTTP/1.1 429"
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(slots=True)
class Load:
    """What was measured: milliseconds of calls that were answered and refused, failures by code, memory in bytes."""

    seconds: float
    times_ms: list[float] = field(default_factory=list)
    refusals_ms: list[float] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    bytes_before: int = 0
    bytes_after: int = 0

    @property
    def calls_per_s(self) -> float:
        return len(self.times_ms) / self.seconds

    @property
    def p50_ms(self) -> float:
        return p50(self.times_ms or [0.0])

    @property
    def p99_ms(self) -> float:
        return percentile(self.times_ms or [0.0], 0.99)

    def count_failure(self, what: str) -> None:
        self.failures[what] = self.failures.get(what, 0) + 1


async def measure(servers: Sequence[Served], connections: int, seconds: float, bodies: list[bytes]) -> Load:
    """Ask servers in turn, as a balancer would that counts connections, from so many of them for so long."""
    load = Load(seconds * (1 - _WARM_SHARE))
    begins = time.perf_counter() + seconds * _WARM_SHARE
    ends = begins + load.seconds
    asking = asyncio.gather(
        *[
            _ask(servers[number % len(servers)], bodies[number:] + bodies[:number], load, begins, ends)
            for number in range(connections)
        ]
    )
    await asyncio.sleep(seconds * _WARM_SHARE)
    load.bytes_before = sum(each.count_bytes() for each in servers)
    await asking
    load.bytes_after = sum(each.count_bytes() for each in servers)
    return load


async def _ask(server: Served, bodies: list[bytes], load: Load, begins: float, ends: float) -> None:
    """Ask one question after the other over one kept connection; one that fails is counted, and asked no more."""
    host = f"Host: {server.host}".encode()
    try:
        reader, writer = await asyncio.open_connection(server.host, server.port)
    except OSError as error:
        load.count_failure(type(error).__name__)
        return
    try:
        for body in cycle(bodies):
            sent = time.perf_counter()
            if sent >= ends:
                return
            writer.write(body.replace(b"Host: 127.0.0.1", host, 1))
            outcome = await _read_outcome(reader)
            took_ms = (time.perf_counter() - sent) * 1000
            if sent < begins:
                continue
            if outcome == "ok":
                load.times_ms.append(took_ms)
                continue
            load.count_failure(outcome)
            if outcome == _REFUSED:
                load.refusals_ms.append(took_ms)
            # As it was told.
            await asyncio.sleep(1)
    except (OSError, asyncio.IncompleteReadError) as error:
        load.count_failure(type(error).__name__)
    finally:
        writer.close()


async def _read_outcome(reader: asyncio.StreamReader) -> str:
    head = await reader.readuntil(b"\r\n\r\n")
    found = _LENGTH.search(head)
    answer = await reader.readexactly(int(found[1])) if found else b""
    if b" 200 " not in head[:20]:
        return head[:12].decode()
    if b'"isError":true' not in answer.replace(b" ", b""):
        return "ok"
    error = json.loads(answer)["result"]["structuredContent"]["error"]
    return error["code"]


def draw_bodies(count: int) -> list[bytes]:
    """Return whole HTTP requests; no two ask the same."""
    os.environ["FINGERPOST_NOW"] = NOW
    with tempfile.TemporaryDirectory() as home:
        questions = Questions(build(read_settings(home=home)), SEED)
        caller = Caller("127.0.0.1", 0)
        made = []
        for _ in range(count):
            body, headers = caller.prepare("plan_trip", questions.draw_trip())
            lines = "".join(f"{name}: {value}\r\n" for name, value in {**headers, "Content-Length": len(body)}.items())
            made.append(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}\r\n".encode() + body)
        return made


def judge(loads: dict[str, Load]) -> list[str]:
    """Return which server failed a call, or grew."""
    missed = []
    for name, load in loads.items():
        if load.failures or not load.times_ms:
            missed.append(f"{name}: {len(load.times_ms)} calls answered, failures: {load.failures}")
        if load.bytes_after > MOST_GROWTH * load.bytes_before:
            missed.append(f"{name}: memory grew by {load.bytes_after / load.bytes_before - 1:.0%}")
    return missed


def judge_times(one: Load, two: Load) -> list[str]:
    """Return which bound was missed that only a machine without other work can keep."""
    missed = []
    if two.calls_per_s < LEAST_SPEEDUP * one.calls_per_s:
        missed.append(f"two workers answer {two.calls_per_s / one.calls_per_s:.2f} times the calls of one")
    for name, load in (("one process", one), ("two workers", two)):
        if load.p99_ms > MOST_TIMES_MEDIAN * load.p50_ms:
            missed.append(f"{name}: p99 is {load.p99_ms / load.p50_ms:.1f} times the median")
    return missed


def judge_crowd(crowd: Load) -> list[str]:
    """Return what was wrong with how too many callers were treated: refused, and not kept waiting for it.

    One that is refused waits for the turn of the event loop, as those do that are answered, and for no search.
    """
    if set(crowd.failures) != {_REFUSED} or not crowd.times_ms:
        return [f"too many callers: {len(crowd.times_ms)} calls answered, failures: {crowd.failures}"]
    refused_ms = p50(crowd.refusals_ms)
    if refused_ms > MOST_TIMES_ANSWERED * crowd.p50_ms:
        return [f"too many callers: refused after {refused_ms:.0f} ms, and others answered after {crowd.p50_ms:.0f}"]
    return []


def _run(name: str, workers: int, connections: int, seconds: float, bodies: list[bytes], **environ: str) -> Load:
    with serving(workers, **environ) as server:
        load = asyncio.run(measure([server], connections, seconds, bodies))
    print(
        f"  {name:<22}{load.calls_per_s:>9.0f}{load.p50_ms:>9.1f}{load.p99_ms:>9.1f}"
        f"{load.bytes_before / 1e6:>10.0f}{load.bytes_after / 1e6:>9.0f}  {load.failures or ''}",
        flush=True,
    )
    return load


def main() -> int:
    """Print the figures; return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description="plan_trip under load, over one process and over two workers.")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each of the two")
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--at-any-load", action="store_true", help="two workers alone, and no bound on times")
    options = parser.parse_args()
    seconds, connections = options.seconds, options.connections
    bodies = draw_bodies(200)
    print(f"plan_trip on the demo, {connections} connections, {seconds:.0f} s each:")
    print(f"  {'':<22}{'calls/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'MB before':>10}{'after':>9}")
    loads = {}
    if not options.at_any_load:
        loads["one process"] = _run("one process", 1, connections, seconds, bodies)
    loads["two workers"] = _run("two workers", 2, connections, seconds, bodies)
    # One caller has half of the room.
    room = {"FINGERPOST_MAX_CONCURRENT_CALLS": str(2 * connections)}
    crowd = _run(
        f"{MORE_THAN_ROOM} more than room", 1, connections + MORE_THAN_ROOM, max(seconds / 6, 5.0), bodies, **room
    )
    missed = judge(loads) + judge_crowd(crowd)
    if not options.at_any_load:
        missed += judge_times(loads["one process"], loads["two workers"])
    print("\n".join(f"  short: {each}" for each in missed) or "  ok")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
