"""p99 of one caller while another address opens many connections in one state, or sends expensive calls.

The server listens on all addresses; the caller comes from loopback, the attacker from the machine's other address.
Each of the ``--states``, separated by commas, is measured per number of connections, and the caller alone before it:
each time ``--calls`` calls, 50 a second at most. Trips on another day are requested on New York if its feeds are there,
else on the demo.

The server has one core to itself. The caller and the attacker share another one, on which the attacker runs only while
the caller waits, because in reality both are other machines. With a single core they all share it.
"""

import asyncio
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from itertools import count
from math import inf
from pathlib import Path
from typing import NamedTuple

from harness import HEAD, p50, percentile, read_options, report
from import_feeds import FEEDS
from load import read_outcome
from serving import FINGERPOST, META, Server, compile_kernels, serving, write_call, write_request

CONNECTIONS = (1, 10, 100, 600)
MAX_RATIO = 3.0
MAX_GROWTH = 1.1
_ENDLESS = "WITH RECURSIVE t (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM t) SELECT max(a) FROM t"
_SQL = {"query_type": "custom_sql", "parameters": {"sql_query": _ENDLESS}}
# A refusal has Retry-After: 1.
_PAUSE_S = 1.0
_WAIT_S = 20.0
_CALL_EVERY_S = 0.02
# Calls before those that count, while the attacker opens its connections.
_WARM_CALLS = 100
# A p99 of fewer calls is the time of one of the worst few.
MIN_CALLS = 500
_CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


class City(NamedTuple):
    """The ends of a trip, and the days on which it is requested."""

    origin: str
    destination: str
    first_day: date
    days: int

    def write_trip(self, day: int = 0) -> bytes:
        labels = {name: {"type": "label", "value": getattr(self, name)} for name in ("origin", "destination")}
        time = f"{self.first_day + timedelta(days=day % self.days)}T08:00:00"
        return write_call("plan_trip", {**labels, "when": {"type": "depart", "time": time}})


DEMO = City("DEMO-HELSINKI:KAMPPI", "DEMO-HELSINKI:TAPIOLA", date(2026, 1, 1), 300)
NEW_YORK = City("NYC-SUBWAY:902S", "40.7074,-74.0113", date(2026, 9, 8), 110)
_CALL = DEMO.write_trip()
# The longest answer: it is larger than the buffers of the system, if the client does not read.
_LIST = write_request("tools/list", {"_meta": META})
_RECEIVE_BYTES = 4_096
_HEAD = _CALL.partition(b"\r\n\r\n")[0]
# What a connection sends, and what it then does: read, wait until it is closed, wait without reading, or reset.
STATES = {
    "idle": (lambda _: b"", "wait"),
    "half header": (lambda _: _HEAD[:60], "wait"),
    "headers": (lambda _: _HEAD + b"\r\n\r\n", "wait"),
    "half body": (lambda _: _CALL[:-20], "wait"),
    "answer not read": (lambda _: _LIST, "sleep"),
    "abandoned": (lambda _: _CALL, "reset"),
    "endless SQL": (lambda _: write_call("sec_financial_data", _SQL), "read"),
    "another day": (lambda number: (NEW_YORK if FEEDS else DEMO).write_trip(number + 1), "read"),
}


async def attack(state: str, connections: int, host: str, port: int) -> None:
    """Hold so many connections until this process is killed; a closed one is opened again."""
    write, then = STATES[state]
    numbers = count()

    async def hold() -> None:
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                connection = socket.socket()
                connection.setblocking(False)
                if then == "sleep":
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
                await asyncio.get_running_loop().sock_connect(connection, (host, port))
                # asyncio stops reading at twice the limit.
                reader, writer = await asyncio.open_connection(sock=connection, limit=_RECEIVE_BYTES)
                with suppress(OSError):
                    writer.write(write(next(numbers)))
                    await writer.drain()
                    if then == "read":
                        await reader.readuntil(b"\r\n\r\n")
                    elif then == "reset":
                        writer.transport.abort()
                    else:
                        await asyncio.wait_for(reader.read(1) if then == "wait" else asyncio.sleep(_WAIT_S), _WAIT_S)
                writer.close()
            await asyncio.sleep(_PAUSE_S)

    await asyncio.gather(*(hold() for _ in range(connections)), return_exceptions=True)


def run_attack(*arguments) -> None:
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)
    asyncio.run(attack(*arguments))


def pin(core: int) -> None:
    """Run this thread, and the processes that it starts, on one of two cores."""
    if len(_CORES) > 1:
        os.sched_setaffinity(0, {_CORES[core]})


class Load(NamedTuple):
    """Milliseconds of answered calls, and the number of failed ones."""

    times_ms: list[float]
    failed: int


async def measure(server: Server, calls: int, body: bytes) -> Load:
    """Call over one persistent connection, one call after another; after a failure, open another connection."""
    times_ms, failed, writer = [], 0, None
    for number in range(-_WARM_CALLS, calls):
        begin = time.perf_counter()
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection(server.host, server.port)
            writer.write(body)
            is_ok = await read_outcome(reader) == "ok"
        except (OSError, asyncio.IncompleteReadError):
            is_ok, writer = False, None
        spent_s = time.perf_counter() - begin
        if number >= 0 and is_ok:
            times_ms.append(1000 * spent_s)
        elif number >= 0:
            failed += 1
        await asyncio.sleep(max(0.0, _CALL_EVERY_S - spent_s))
    if writer is not None:
        writer.close()
    return Load(times_ms, failed)


def find_other_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Connecting a datagram socket sends nothing; it chooses the address of the route.
        probe.connect(("203.0.113.1", 9))
        return probe.getsockname()[0]


def forget_peak(server: Server) -> None:
    for pid in server.processes:
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def count_unread(port: int) -> int:
    """Return the number of a server's connections for which the system holds at least a receive buffer of answers."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and int(row[4].split(":")[0], 16) > _RECEIVE_BYTES for row in rows)


def measure_state(state: str, server: Server, call: bytes, calls: int) -> bool:
    """Print a figure for each number of connections; return whether all bounds hold."""
    alone_ms, good = percentile(asyncio.run(measure(server, calls, call)).times_ms, 0.99), True
    # The first calls load the kernels and the timetable, which belong to no budget.
    bytes_before = server.count_bytes()
    most_unread = 0
    forget_peak(server)
    for connections in [40] if state == "endless SQL" else CONNECTIONS:
        target = (state, connections, find_other_address(), server.port)
        attacker = multiprocessing.get_context("spawn").Process(target=run_attack, args=target)
        attacker.start()
        try:
            load = asyncio.run(measure(server, calls, call))
            unread = count_unread(server.port)
        finally:
            attacker.kill()
            attacker.join()
        p99_ms = percentile(load.times_ms or [inf], 0.99)
        name = f"{state}, {connections} connections"
        good &= report(name, p99_ms, alone_ms, bound=MAX_RATIO, note=f"median {p50(load.times_ms or [inf]):.1f}")
        good &= not load.failed or report(f"{name}: failed calls", load.failed, bound=0)
        most_unread = max(most_unread, unread)
    if state == "answer not read":
        good &= report(f"{state}: measured without unread answers", not most_unread, bound=0)
    most_mb = (MAX_GROWTH * bytes_before + 512e6) / 1e6
    return good & report(f"{state}: most memory, in MB", server.count_bytes("VmHWM") / 1e6, bound=most_mb)


def main() -> int:
    options = read_options(__doc__, calls=600, states=",".join(STATES))
    if options.calls < MIN_CALLS:
        raise SystemExit(f"A p99 needs at least {MIN_CALLS} calls")
    compile_kernels()
    good, states = True, options.states.split(",")
    print(f"p99 of one caller beside a hostile one (ours), and alone (theirs), in ms, of {options.calls} calls each;")
    print("the server on one core, caller and attacker on another:" if len(_CORES) > 1 else "all on one core:")
    print(HEAD)
    for city in (DEMO, NEW_YORK):
        chosen = [state for state in states if (state == "another day" and bool(FEEDS)) == (city is NEW_YORK)]
        if not chosen:
            continue
        command = [*FINGERPOST, "serve", "--http", "0.0.0.0:0", "--public", "--metrics", "127.0.0.1:0"]
        with tempfile.TemporaryDirectory() as home:
            environ = {"FINGERPOST_HOME": home, "FINGERPOST_NOW": f"{city.first_day}T12:00:00Z"}
            if city is NEW_YORK:
                add = [*FINGERPOST, "network", "add", "NYC", *map(str, FEEDS)]
                subprocess.run(add, env={**os.environ, **environ}, check=True, capture_output=True)
            pin(0)
            with serving(command, **environ) as server:
                pin(1)
                server = replace(server, host="127.0.0.1")
                for state in chosen:
                    good &= measure_state(state, server, city.write_trip(), options.calls)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
