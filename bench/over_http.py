"""Compare get_departures and plan_trip with a no-op tool: same server, same run, raw HTTP."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import HEAD, p50, p95, report_pairs
from questions import ITINERARIES, ROWS, Questions
from serving import Caller, Server, serving

BOUNDS = {"get_departures": 2.0, "plan_trip": 4.0}
NOOP = "noop"
SCRIPT = Path(__file__).with_name("server.py")

Answers = dict[str, list[list[tuple[float, bytes]]]]


def draw(questions: Questions, count: int) -> dict[str, list[dict]]:
    return {
        NOOP: [{"x": number} for number in range(count)],
        "get_departures": [questions.draw_board() for _ in range(count)],
        "plan_trip": [questions.draw_trip() for _ in range(count)],
    }


def ask(servers: Sequence[Server], asked: dict[str, list[dict]], calls: int) -> list[Answers]:
    """Call each tool in rounds of the given size; return each server's milliseconds and answers by tool and round."""
    found: list[Answers] = [{tool: [] for tool in asked} for _ in servers]
    for first in range(0, len(asked[NOOP]), calls):
        for tool, arguments in asked.items():
            # The first server runs with the caches that earlier work has left.
            for at in sorted(range(len(servers)), reverse=first // calls % 2 == 1):
                caller = Caller(servers[at].host, servers[at].port)
                caller.call(NOOP, {"x": 0})
                found[at][tool].append([caller.call(tool, given) for given in arguments[first : first + calls]])
    return found


def median_ms(rounds: list[list[tuple[float, bytes]]]) -> list[float]:
    """Return the median of each round, except the first, which warms connections, timetables and memory."""
    return [p50([spent for spent, _ in answers]) for answers in rounds[1:]]


def measure(questions: Questions, home: str, *, rounds: int, calls: int) -> bool:
    count = (rounds + 1) * calls
    asked = draw(questions, count)
    with serving([sys.executable, str(SCRIPT)], FINGERPOST_HOME=home) as server:
        (found,) = ask([server], asked, calls)
    for tool in BOUNDS:
        received = [raw for answers in found[tool] for _, raw in answers]
        for arguments, raw in zip(asked[tool], received, strict=True):
            if json.loads(raw)["result"]["structuredContent"] != questions.find_answer(tool, arguments):
                raise RuntimeError(f"{tool} answered otherwise over HTTP: {arguments}")
    print(f"\nOver HTTP, in ms beside a no-op tool: {rounds} interleaved rounds of {calls} calls, each asked once;")
    print(f"answers checked: {count} boards of {ROWS} rows, {count} plans of {ITINERARIES} itineraries")
    print(HEAD)
    noop = median_ms(found[NOOP])
    good = True
    for tool, bound in BOUNDS.items():
        slow = p95([spent for answers in found[tool][1:] for spent, _ in answers])
        good &= report_pairs(tool, median_ms(found[tool]), noop, bound=bound, note=f"p95 {slow:.2f}")
    return good
