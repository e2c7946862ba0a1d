"""Compare boards and trips over a mock OpenTripPlanner with the bare exchanges: a no-op call and the mock's response.

The mock answers on the loopback address with responses that are serialized in advance, in a process of its own.
"""

import asyncio
import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from harness import HEAD, p50, report
from over_http import NOOP, SCRIPT, ask, median_ms
from serving import DEADLINE_S, serving

from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.transit.learned_profile import LearnedProfile, LearnedProfiles
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.model.provenance import FeedVersion

BOUNDS = {"get_departures": 3.0, "plan_trip": 4.0}
ROWS, ITINERARIES, LEGS = 10, 2, 5
# The query that each tool sends for each call.
QUERIES = {"get_departures": b"query Board", "plan_trip": b"query Plan"}
HOST = "127.0.0.1"
STOPS = 20
# The limiter works as usual, but its limits are out of reach.
SERVE = (
    "import runpy, fingerpost.net.limiter as limiter; limiter.OPERATOR_PER_SECOND = limiter.OPERATOR_BURST = 100_000; "
    f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
)
_ROUTE = {"gtfsId": "MOCK:14", "shortName": "14", "longName": None, "type": 3, "color": "0074BF", "textColor": None}
_SHAPE = "".join(["_{rc@_d{r@", *["????_ibE_t`B"] * 20])


def measure(*, rounds: int, calls: int) -> bool:
    count = (rounds + 1) * calls
    asked = {
        NOOP: [{"x": number} for number in range(count)],
        "get_departures": [_draw_board(number) for number in range(count)],
        "plan_trip": [_draw_trip(number) for number in range(count)],
    }
    with _serving_mock() as port, tempfile.TemporaryDirectory() as home:
        _add_network(Path(home), port)
        where = {"FINGERPOST_HOME": home, "FINGERPOST_PRIVATE_HOSTS": HOST}
        with serving([sys.executable, "-c", SERVE], **where) as server:
            (found,) = ask([server], asked, calls)
        bare_ms = {tool: _measure_exchange_ms(port, query, calls) for tool, query in QUERIES.items()}
    print(f"\nOver a mock OpenTripPlanner, in ms, compared with a no-op call and a bare exchange: {rounds} rounds of")
    print(f"{calls} calls; boards of {ROWS} rows, plans of {ITINERARIES} itineraries with {LEGS} legs\n{HEAD}")
    good = True
    for tool, bound in BOUNDS.items():
        for _, raw in (answer for answers in found[tool] for answer in answers):
            _check(tool, raw)
        theirs = [noop + bare_ms[tool] for noop in median_ms(found[NOOP])]
        ratio = p50([mine / its for mine, its in zip(median_ms(found[tool]), theirs, strict=True)])
        good &= report(tool, p50(median_ms(found[tool])), p50(theirs), ratio=ratio, bound=bound)
    return good


def _draw_board(number: int) -> dict:
    window_min = 20 + number // STOPS % 100
    return {
        "stop": {"type": "id", "value": f"MOCK:{1000 + number % STOPS}"},
        "windowMinutes": window_min,
        "limit": ROWS,
    }


def _draw_trip(number: int) -> dict:
    ends = ((60.17, 24.94), (60.21 + number / 100_000, 24.94))
    origin, destination = ({"type": "coords", "value": {"lat": lat, "lon": lon}} for lat, lon in ends)
    return {"origin": origin, "destination": destination, "limit": ITINERARIES}


def _check(tool: str, raw: bytes) -> None:
    body = json.loads(raw)["result"]["structuredContent"]
    if tool == "plan_trip":
        is_complete = [len(each["legs"]) for each in body.get("itineraries", ())] == [LEGS] * ITINERARIES
    else:
        is_complete = len(body.get("departures", ())) == ROWS
    if not is_complete:
        raise RuntimeError(f"{tool} returned an incomplete answer: {raw[:500]!r}")


def _measure_exchange_ms(port: int, query: bytes, calls: int) -> float:
    """Return the median milliseconds of requests to the mock over one persistent connection."""
    connection = http.client.HTTPConnection(HOST, port, timeout=DEADLINE_S)
    spent_ms = []
    for _ in range(calls):
        begin = time.perf_counter()
        connection.request("POST", "/otp/gtfs/v1", query, {"Content-Type": "application/json"})
        connection.getresponse().read()
        spent_ms.append((time.perf_counter() - begin) * 1000)
    connection.close()
    return p50(spent_ms)


def _add_network(home: Path, port: int) -> None:
    """Store what ``network add MOCK --otp`` would store."""
    record = NetworkRecord(name="MOCK", source="opentripplanner", url=f"http://{HOST}:{port}/otp/gtfs/v1")
    learned = LearnedProfile(
        bounds=Bounds(60.0, 24.0, 61.0, 25.0), zone="Europe/Helsinki", languages=("fi",),
        feeds=(FeedVersion(name="MOCK"),), modes=frozenset({Mode.BUS}), attribution=("Mock",),
        learned_at=datetime(2026, 3, 1, tzinfo=UTC),
    )  # fmt: skip
    NetworkRecordStore(home).put(record)
    LearnedProfiles(home).put(record, learned)


@contextmanager
def _serving_mock() -> Iterator[int]:
    with subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def _write_event(minute: int, delay: str | None) -> dict:
    return {
        "scheduledTime": f"2026-03-10T08:{minute:02d}:00+02:00",
        "estimated": None if delay is None else {"delay": delay},
    }


def _write_end(number: int, *, is_stop: bool) -> dict:
    name = f"Stop {number}"
    stop = {"gtfsId": f"MOCK:{1000 + number}", "name": name, "platformCode": "2", "wheelchairBoarding": "POSSIBLE"}
    return {"name": name, "lat": 60.17 + number / 100, "lon": 24.94, "stop": stop if is_stop else None}


def _write_leg(number: int, begin: int) -> dict:
    """Return one of five legs: walks and rides in turn."""
    is_ride = number % 2 == 1
    delay = "PT1M" if is_ride else None
    leg = {
        "mode": "BUS" if is_ride else "WALK",
        "transitLeg": is_ride,
        "distance": 200.0,
        "start": _write_event(begin + 4 * number, delay),
        "end": _write_event(begin + 4 * number + 4, delay),
        "from": _write_end(number, is_stop=number > 0),
        "to": _write_end(number + 1, is_stop=number < LEGS - 1),
        "legGeometry": {"points": _SHAPE},
        "alerts": [],
        "route": None,
        "trip": None,
    }
    trip = {"gtfsId": f"MOCK:14-{number}", "tripHeadsign": "Tapiola", "wheelchairAccessible": "POSSIBLE"}
    ride = {
        "realTime": True,
        "realtimeState": "UPDATED",
        "serviceDate": "2026-03-10",
        "headsign": "Tapiola",
        "interlineWithPreviousLeg": False,
        "pickupType": "SCHEDULED",
        "dropoffType": "SCHEDULED",
        "route": _ROUTE,
        "trip": {**trip, "arrivalStoptime": {"stop": {"name": "Tapiola"}}},
    }
    return leg | ride if is_ride else leg


def _write_plan() -> dict:
    edges = [{"node": {"legs": [_write_leg(number, begin) for number in range(LEGS)]}} for begin in (5, 15)]
    page = {"pageInfo": {"endCursor": "A", "hasNextPage": True}, "routingErrors": [], "edges": edges}
    return {"live": page, "scheduled": page}


def _write_board() -> dict:
    last = {"stop": {"name": "Tapiola"}, "stopPositionInPattern": 20}
    trip = {"tripHeadsign": "Tapiola", "arrivalStoptime": last, "route": _ROUTE, "alerts": []}
    stop_time = {
        "serviceDay": 1_773_093_600,  # 10 March 2026, in Helsinki
        "departureDelay": 30,
        "realtime": True,
        "realtimeState": "UPDATED",
        "pickupType": "SCHEDULED",
        "headsign": "Tapiola",
        "stopPositionInPattern": 3,
    }
    stop_times = [
        {**stop_time, "scheduledDeparture": 8 * 3600 + 60 * row, "trip": {"gtfsId": f"MOCK:14-{row}", **trip}}
        for row in range(ROWS)
    ]
    stop = {"gtfsId": "MOCK:1000", "platformCode": "2", "alerts": [], "stoptimesWithoutPatterns": stop_times}
    return {"stops": [stop]}


def _write_stops() -> dict:
    position = {"lat": 60.17, "lon": 24.94, "parentStation": None}
    return {
        "stops": [{"gtfsId": f"MOCK:{1000 + row}", "name": f"Stop {row}", **position} for row in range(STOPS)],
        "stations": [],
    }


async def serve_mock() -> None:
    """Print the port, and serve until the process is terminated."""
    responses = {}
    for query, data in ((b"query Plan", _write_plan()), (b"query Board", _write_board()), (b"query", _write_stops())):
        body = json.dumps({"data": data}, separators=(",", ":")).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        responses[query] = head.encode() + body

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                body = await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]))
                writer.write(next(response for query, response in responses.items() if query in body))

    server = await asyncio.start_server(serve, HOST, 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve_mock())
