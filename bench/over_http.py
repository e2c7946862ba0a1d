"""get_departures and plan_trip beside a no-op tool: same server, same run, raw HTTP (issue 2)."""

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from figures import p50, p95, verdict
from questions import ITINERARIES, ROWS, Questions

BOUNDS = {"get_departures": 2.0, "plan_trip": 4.0}
NOOP = "noop"
VERSION = "2026-07-28"
DEADLINE_S = 300
SERVING = re.compile(r"serving at http://([^:]+):(\d+)/mcp")
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}


class Caller:
    """One kept connection on the modern wire."""

    def __init__(self, host: str, port: int) -> None:
        self.address = (host, port)
        self._connection = http.client.HTTPConnection(host, port, timeout=DEADLINE_S)
        self._count = 0

    def prepare(self, tool: str, arguments: dict) -> tuple[bytes, dict[str, str]]:
        """Return body and headers of a call, so that writing them is not measured."""
        self._count += 1
        params = {"name": tool, "arguments": arguments, "_meta": META}
        body = {"jsonrpc": "2.0", "id": self._count, "method": "tools/call", "params": params}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        return json.dumps(body).encode(), headers

    def call(self, tool: str, arguments: dict) -> tuple[float, bytes]:
        """Return the milliseconds from the first byte sent to the last received, and what was received."""
        body, headers = self.prepare(tool, arguments)
        begin = time.perf_counter()
        self._connection.request("POST", "/mcp", body, headers)
        received = self._connection.getresponse().read()
        return (time.perf_counter() - begin) * 1000, received

    def get_status(self, path: str) -> int:
        """Return the status of a plain GET."""
        self._connection.request("GET", path)
        response = self._connection.getresponse()
        response.read()
        return response.status


@contextmanager
def serving(home: str, script: str = "server.py", environ: Mapping[str, str] | None = None) -> Iterator[Caller]:
    """Start a server script, wait until it is ready, and end it with the block; ``environ`` is added to ours."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / script)],
            stderr=log,
            env={**os.environ, "FINGERPOST_HOME": home, **(environ or {})},
        )
        try:
            yield _connect(process, log)
        finally:
            process.terminate()
            process.wait(DEADLINE_S)


def _connect(process: subprocess.Popen, log) -> Caller:
    give_up = time.monotonic() + DEADLINE_S
    caller = None
    while time.monotonic() < give_up and process.poll() is None:
        log.seek(0)
        found = SERVING.search(log.read())
        if found and caller is None:
            caller = Caller(found[1], int(found[2]))
        try:
            if caller is not None and caller.get_status("/ready") == 200:
                return caller
        except (OSError, http.client.HTTPException):
            # A server on a busy machine closes a connection that it was slow to answer on.
            caller = None
        time.sleep(0.1)
    log.seek(0)
    raise RuntimeError(f"the server did not become ready: {log.read()}")


def measure(questions: Questions, home: str, *, rounds: int, calls: int) -> bool:
    """Measure in interleaved rounds, print the figures, and return whether the bounds hold."""
    count = (rounds + 1) * calls
    asked = {
        NOOP: [{"x": number} for number in range(count)],
        "get_departures": [questions.draw_board() for _ in range(count)],
        "plan_trip": [questions.draw_trip() for _ in range(count)],
    }
    times: dict[str, list[list[float]]] = {tool: [] for tool in asked}
    received: dict[str, list[bytes]] = {tool: [] for tool in asked}
    with serving(home) as caller:
        for number in range(rounds + 1):
            for tool in asked:
                part = asked[tool][number * calls : (number + 1) * calls]
                answers = [caller.call(tool, arguments) for arguments in part]
                times[tool].append([spent for spent, _ in answers])
                received[tool] += [answer for _, answer in answers]
    for tool in BOUNDS:
        _check(questions, tool, asked[tool], received[tool])
    print(f"\nOver HTTP, {rounds} interleaved rounds of {calls} calls each, every question asked once:")
    print(f"  answers checked first: {count} boards of {ROWS} rows, {count} plans of {ITINERARIES} itineraries,")
    print("  each equal to the answer in this process, without the protocol")
    print(f"  {'tool':<16}{'p50 ms':>8}{'p95 ms':>8}{'times no-op':>13}{'bound':>8}")
    verdicts = [_report(tool, times) for tool in asked]
    return all(verdicts)


def _report(tool: str, times: dict[str, list[list[float]]]) -> bool:
    # The first round warms the connection, the slices and the allocator; it is not counted.
    counted = times[tool][1:]
    flat = [spent for part in counted for spent in part]
    line = f"  {tool:<16}{p50(flat):>8.2f}{p95(flat):>8.2f}"
    if tool not in BOUNDS:
        print(line)
        return True
    ratio = p50([p50(mine) / p50(noop) for mine, noop in zip(counted, times[NOOP][1:], strict=True)])
    outcome = verdict(ratio, BOUNDS[tool])
    print(f"{line}{ratio:>13.2f}{BOUNDS[tool]:>8.1f}  {outcome}")
    return outcome == "ok"


def _check(questions: Questions, tool: str, asked: list[dict], received: list[bytes]) -> None:
    for arguments, raw in zip(asked, received, strict=True):
        body = json.loads(raw)["result"]["structuredContent"]
        if body != questions.find_answer(tool, arguments):
            raise RuntimeError(f"{tool} answered otherwise over HTTP: {arguments}")
