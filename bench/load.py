"""plan_trip from many connections at once, over one process and over two workers: calls a second, waits, memory.

The generator runs in this process, on the same cores, so that with more workers than cores it takes from theirs.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

from figures import p50, percentile
from over_http import DEADLINE_S, SERVING, Caller
from questions import NOW, Questions

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build

SEED = 20260310
LEAST_SPEEDUP = 1.7
MOST_TIMES_MEDIAN = 3.0
# What a process may have more at the end than after the first tenth of the time.
MOST_GROWTH = 1.1
_WARM_SHARE = 0.1
_BEGINS = re.compile(r"worker (\d+) begins")
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(slots=True)
class Load:
    """What was measured: milliseconds of each answered call, failures by what was answered, and memory in bytes."""

    seconds: float
    times_ms: list[float] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    bytes_before: int = 0
    bytes_after: int = 0

    @property
    def calls_per_s(self) -> float:
        return len(self.times_ms) / self.seconds


async def measure(workers: int, connections: int, seconds: float, bodies: list[bytes], **environ: str) -> Load:
    """Start a server with so many workers, and ask it from so many connections for so long."""
    async with _serving(workers, environ) as (host, port, processes):
        load = Load(seconds * (1 - _WARM_SHARE))
        begins = time.perf_counter() + seconds * _WARM_SHARE
        ends = begins + load.seconds
        asking = [
            _ask(host, port, bodies[number:] + bodies[:number], load, begins, ends) for number in range(connections)
        ]
        running = asyncio.gather(*asking)
        await asyncio.sleep(seconds * _WARM_SHARE)
        load.bytes_before = _count_bytes(processes)
        await running
        load.bytes_after = _count_bytes(processes)
        return load


async def _ask(host: str, port: int, bodies: list[bytes], load: Load, begins: float, ends: float) -> None:
    """Ask one question after the other over one kept connection; what failed is counted, and asked no more."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        for body in cycle(bodies):
            sent = time.perf_counter()
            if sent >= ends:
                return
            writer.write(body)
            outcome = await _read_outcome(reader)
            if sent < begins:
                continue
            if outcome == "ok":
                load.times_ms.append((time.perf_counter() - sent) * 1000)
            else:
                load.failures[outcome] = load.failures.get(outcome, 0) + 1
                # As it was told.
                await asyncio.sleep(1)
    except (OSError, asyncio.IncompleteReadError) as error:
        load.failures[type(error).__name__] = load.failures.get(type(error).__name__, 0) + 1
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


@asynccontextmanager
async def _serving(workers: int, environ: dict[str, str]) -> AsyncIterator[tuple[str, int, list[int]]]:
    command = "from fingerpost.apps.cli import main; main()"
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(  # noqa: ASYNC220  (nothing else runs yet)
            [sys.executable, "-c", command, "serve", "--http", "127.0.0.1:0", "--workers", str(workers)],
            stderr=log,
            env={**os.environ, "FINGERPOST_HOME": home, "FINGERPOST_NOW": NOW, **environ},
        )
        try:
            give_up = time.monotonic() + DEADLINE_S
            said = ""
            while said.count("the networks are open") < workers:
                if time.monotonic() > give_up or process.poll() is not None:
                    raise RuntimeError(f"the server did not become ready: {said}")
                await asyncio.sleep(0.1)
                log.seek(0)
                said = log.read()
            found = SERVING.search(said)
            begun = [int(pid) for pid in _BEGINS.findall(said)] or [process.pid]
            yield found[1], int(found[2]), begun
        finally:
            process.terminate()
            process.wait(DEADLINE_S)


def _count_bytes(processes: list[int]) -> int:
    """Return the memory that processes hold for themselves and share, in bytes (Linux)."""
    return sum(
        1024 * int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) for pid in processes
    )


def _draw_bodies(count: int) -> list[bytes]:
    """Return whole HTTP requests; no two ask the same."""
    with tempfile.TemporaryDirectory() as home:
        questions = Questions(build(read_settings(home=home)), SEED)
        caller = Caller("127.0.0.1", 0)
        made = []
        for _ in range(count):
            body, headers = caller.prepare("plan_trip", questions.draw_trip())
            lines = "".join(f"{name}: {value}\r\n" for name, value in {**headers, "Content-Length": len(body)}.items())
            made.append(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}\r\n".encode() + body)
        return made


def _print(name: str, load: Load) -> None:
    times = load.times_ms or [0.0]
    print(
        f"  {name:<22}{load.calls_per_s:>9.0f}{p50(times):>9.1f}{percentile(times, 0.99):>9.1f}"
        f"{load.bytes_before / 1e6:>10.0f}{load.bytes_after / 1e6:>9.0f}  {load.failures or ''}"
    )


def _judge(one: Load, two: Load, crowded: Load) -> list[str]:
    """Return what misses its bound."""
    missed = []
    if two.calls_per_s < LEAST_SPEEDUP * one.calls_per_s:
        missed.append(f"two workers answer {two.calls_per_s / one.calls_per_s:.2f} times the calls of one")
    for name, load in (("one", one), ("two", two)):
        if percentile(load.times_ms, 0.99) > MOST_TIMES_MEDIAN * p50(load.times_ms):
            missed.append(f"{name}: p99 is {percentile(load.times_ms, 0.99) / p50(load.times_ms):.1f} times the median")
        if load.failures:
            missed.append(f"{name}: {load.failures}")
        if load.bytes_after > MOST_GROWTH * load.bytes_before:
            missed.append(f"{name}: memory grew by {load.bytes_after / load.bytes_before - 1:.0%}")
    if set(crowded.failures) != {"rate-limited"}:
        missed.append(f"too many callers: {crowded.failures}")
    return missed


async def main() -> int:
    """Print the figures; return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description="plan_trip under load, over one process and over two workers.")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each of the two")
    parser.add_argument("--connections", type=int, default=50)
    options = parser.parse_args()
    os.environ["FINGERPOST_NOW"] = NOW
    bodies = await asyncio.to_thread(_draw_bodies, 200)
    print(f"plan_trip on the demo, {options.connections} connections, {options.seconds:.0f} s each:")
    print(f"  {'':<22}{'calls/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'MB before':>10}{'after':>9}")
    one = await measure(1, options.connections, options.seconds, bodies)
    _print("one process", one)
    two = await measure(2, options.connections, options.seconds, bodies)
    _print("two workers", two)
    crowded = await measure(
        1,
        options.connections + 200,
        options.seconds / 6,
        bodies,
        FINGERPOST_MAX_CONCURRENT_CALLS=str(options.connections),
    )
    _print("200 more than room", crowded)
    missed = _judge(one, two, crowded)
    print("\n".join(f"  short: {each}" for each in missed) or "  ok")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
