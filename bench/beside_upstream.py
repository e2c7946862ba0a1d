"""plan_trip and get_departures over OpenTripPlanner, whole MCP calls over HTTP with a mock upstream on loopback.

Each call is held to a no-op tool on the same server plus the bare round trip to the same upstream, in the same run.
"""

import asyncio
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import upstream
from figures import p50, p95, verdict
from over_http import DEADLINE_S, NOOP, serving

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile, LearnedProfiles
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.model.provenance import FeedVersion

BOUNDS = {"get_departures": 2.0, "plan_trip": 3.0}
# What is asked of the upstream for each tool, as far as the mock tells questions apart.
ASKED = {"get_departures": b"query Board", "plan_trip": b"query Plan"}
_HOST = "127.0.0.1"


def measure(*, rounds: int, calls: int) -> bool:
    """Measure in interleaved rounds, print the figures, and return whether the bounds hold."""
    count = (rounds + 1) * calls
    asked = {
        NOOP: [{"x": number} for number in range(count)],
        "get_departures": [_draw_board(number) for number in range(count)],
        "plan_trip": [_draw_trip(number) for number in range(count)],
    }
    bare: dict[str, list[list[float]]] = {tool: [] for tool in ASKED}
    library: dict[str, list[list[float]]] = {tool: [] for tool in ASKED}
    times: dict[str, list[list[float]]] = {tool: [] for tool in asked}
    with _serving_upstream() as port, tempfile.TemporaryDirectory() as home:
        _add_network(Path(home), port)
        connection = http.client.HTTPConnection(_HOST, port, timeout=DEADLINE_S)
        with serving(home, "upstream_server.py", {"FINGERPOST_PRIVATE_HOSTS": _HOST}) as caller:
            for number in range(rounds + 1):
                part = slice(number * calls, (number + 1) * calls)
                for tool, questions in asked.items():
                    answers = [caller.call(tool, arguments) for arguments in questions[part]]
                    times[tool].append([spent for spent, _ in answers])
                    for _, answer in answers:
                        _check(tool, answer)
                for tool, word in ASKED.items():
                    bare[tool].append([_ask_bare(connection, word) for _ in range(calls)])
                    library[tool].append(asyncio.run(_ask_by_library(port, word, calls)))
    print(f"\nOver OpenTripPlanner's GraphQL, a mock upstream on loopback, {rounds} rounds of {calls} calls each:")
    print("  2 itineraries of 5 legs, a board of 10; beside a no-op tool plus the bare round trip to the upstream")
    print("  least: the same with the HTTP library's request in place of the bare one, and nothing else")
    print(f"  {'tool':<16}{'p50 ms':>8}{'p95 ms':>8}{'bare ms':>9}{'times both':>12}{'least':>8}{'bound':>8}")
    print(f"  {NOOP:<16}{p50(_flat(times[NOOP])):>8.2f}{p95(_flat(times[NOOP])):>8.2f}")
    verdicts = [_report(tool, times, bare[tool], library[tool]) for tool in BOUNDS]
    return all(verdicts)


def _report(
    tool: str, times: dict[str, list[list[float]]], bare: list[list[float]], library: list[list[float]]
) -> bool:
    # The first round warms connections and memory; it is not counted.
    rounds = zip(times[tool][1:], times[NOOP][1:], bare[1:], strict=True)
    ratio = p50([p50(mine) / (p50(noop) + p50(alone)) for mine, noop, alone in rounds])
    alike = zip(library[1:], times[NOOP][1:], bare[1:], strict=True)
    least = p50([(p50(noop) + p50(asked)) / (p50(noop) + p50(alone)) for asked, noop, alone in alike])
    flat = _flat(times[tool])
    outcome = verdict(ratio, BOUNDS[tool])
    line = f"  {tool:<16}{p50(flat):>8.2f}{p95(flat):>8.2f}{p50(_flat(bare)):>9.2f}{ratio:>12.2f}{least:>8.2f}"
    print(f"{line}{BOUNDS[tool]:>8.1f}  {outcome}")
    return outcome == "ok"


def _flat(rounds: list[list[float]]) -> list[float]:
    return [spent for part in rounds[1:] for spent in part]


def _draw_board(number: int) -> dict:
    """Return a board that nobody has asked for, so that no memory can help; its stop may be known already."""
    stop, window = number % upstream.STOPS, 20 + number // upstream.STOPS % 100
    return {"stop": {"type": "id", "value": f"MOCK:{1000 + stop}"}, "windowMinutes": window, "limit": 10}


def _draw_trip(number: int) -> dict:
    ends = ((60.17, 24.94), (60.21 + number / 100_000, 24.94))
    origin, destination = ({"type": "coords", "value": {"lat": lat, "lon": lon}} for lat, lon in ends)
    return {"origin": origin, "destination": destination, "limit": 2}


def _check(tool: str, raw: bytes) -> None:
    if tool == NOOP:
        return
    body = json.loads(raw)["result"]["structuredContent"]
    rows = body.get("departures") if tool == "get_departures" else body.get("itineraries")
    wanted = 10 if tool == "get_departures" else 2
    if rows is None or len(rows) != wanted or any(len(row["legs"]) != 5 for row in rows if "legs" in row):
        raise RuntimeError(f"{tool} answered otherwise: {raw[:500]!r}")


def _ask_bare(connection: http.client.HTTPConnection, word: bytes) -> float:
    begin = time.perf_counter()
    connection.request("POST", "/otp/gtfs/v1", word, {"Content-Type": "application/json"})
    connection.getresponse().read()
    return (time.perf_counter() - begin) * 1000


async def _ask_by_library(port: int, word: bytes, calls: int) -> list[float]:
    """Return the milliseconds of requests by the HTTP library alone, over one kept connection."""
    spent = []
    async with httpx2.AsyncClient() as client:
        for _ in range(calls + 1):
            begin = time.perf_counter()
            await client.post(
                f"http://{_HOST}:{port}/otp/gtfs/v1", content=word, headers={"Content-Type": "application/json"}
            )
            spent.append((time.perf_counter() - begin) * 1000)
    # The first one connects.
    return spent[1:]


@contextmanager
def _serving_upstream() -> Iterator[int]:
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("upstream.py"))], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(DEADLINE_S)
        process.stdout.close()


def _add_network(home: Path, port: int) -> None:
    """Write what ``network add MOCK --otp`` would, without asking a mock what it covers."""
    url = f"http://{_HOST}:{port}/otp/gtfs/v1"
    record = f'source = "opentripplanner"\nurl = "{url}"\n'
    (home / "networks").mkdir(exist_ok=True)
    (home / "networks" / "MOCK.toml").write_text(record, encoding="utf-8")
    learned = LearnedProfile(
        bounds=Bounds(south=60.0, west=24.0, north=61.0, east=25.0),
        zone="Europe/Helsinki",
        languages=("fi",),
        feeds=(FeedVersion(name="MOCK"),),
        modes=frozenset({Mode.BUS}),
        attribution=("Mock",),
        learned_at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    LearnedProfiles(home).put(NetworkRecord(name="MOCK", source="opentripplanner", url=url), learned)


if __name__ == "__main__":
    os.environ["FINGERPOST_NOW"] = "2026-03-10T08:00:00+02:00"
    sys.exit(0 if measure(rounds=int(sys.argv[1]), calls=int(sys.argv[2])) else 1)
