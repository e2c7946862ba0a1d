"""What one hostile caller costs the others: their p99 beside it, and alone, over real HTTP (issue 17).

The hostile caller sends one kind of input again and again, without a pause, on connections of its own and from a
process of its own. The others ask boards and trips at a steady pace, no question twice. They are measured before it,
beside it, and after it, when what it has started may still be under way. ``load`` is the machine's: other work on it
hides what is measured.
"""

import argparse
import http.client
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Generator
from multiprocessing.synchronize import Event

import over_http
from figures import p50, percentile, verdict
from hostile_inputs import KINDS
from questions import NOW, Questions

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build

BOUND = 3.0
SEED = 20261123
TOOLS = ("get_departures", "plan_trip")


def main() -> int:
    """Print a line for each kind of hostile input; return 1 where the others wait too long."""
    parser = argparse.ArgumentParser(description="Measure what one hostile caller costs the others.")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS), help="kinds of hostile input")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of each kind, each beside one without")
    parser.add_argument("--seconds", type=float, default=8.0, help="how long a round lasts")
    parser.add_argument("--connections", type=int, default=2, help="connections of the hostile caller")
    options = parser.parse_args()
    os.environ["FINGERPOST_NOW"] = NOW
    with tempfile.TemporaryDirectory() as home:
        questions = Questions(build(read_settings(home=home)), SEED)
        asked = [("get_departures", {**questions.draw_board(), "at": NOW}) for _ in range(60)]
        asked += [("plan_trip", questions.draw_trip()) for _ in range(60)]
        random.Random(SEED).shuffle(asked)
        # Under a fixed clock an answer's id is made of all that was asked, which nobody pays for in earnest.
        os.environ.pop("FINGERPOST_NOW")
    print(f"{'kind':<24}{'sent':>7}{'ms each':>9}   others, p99 ms: {'alone':>7}{'beside':>8}{'after':>8}{'load':>7}")
    good = [_measure(kind, asked, options) for kind in options.kinds]
    return 0 if all(good) else 1


def _measure(kind: str, asked: list, options: argparse.Namespace) -> bool:
    """Measure a kind, and print how many times longer the others wait beside it, and once it is over."""
    alone: list[float] = []
    beside: list[float] = []
    after: list[float] = []
    sent: list[float] = []
    for _ in range(options.rounds):
        # A server of its own: nothing of an earlier kind or round is still under way.
        with tempfile.TemporaryDirectory() as home, over_http.serving(home) as caller:
            address = caller.address
            _ask_for(address, asked, 3.0)
            alone += _ask_for(address, asked, options.seconds)
            with _Hostile(kind, address, options.connections) as hostile:
                beside += _ask_for(address, asked, options.seconds)
            after += _ask_for(address, asked, options.seconds)
            sent += hostile.times
    p99, *others = (percentile(each, 0.99) for each in (alone, beside, after))
    ratio = max(others) / p99
    outcome = verdict(ratio, BOUND)
    print(
        f"{kind:<24}{len(sent):>7}{p50(sent) if sent else float('nan'):>9.1f}                   "
        f"{p99:>7.1f}{others[0]:>8.1f}{others[1]:>8.1f}{os.getloadavg()[0]:>7.1f}  "
        f"{ratio:.1f} times of at most {BOUND:g}  {outcome}",
        flush=True,
    )
    return outcome == "ok"


def _ask_for(address: tuple[str, int], asked: list, seconds: float) -> list[float]:
    """Return the milliseconds of each call of the others, one after the other with a short pause."""
    caller = over_http.Caller(*address)
    times = []
    end = time.monotonic() + seconds
    at = random.Random(time.monotonic_ns()).randrange(len(asked))
    while time.monotonic() < end:
        tool, arguments = asked[at % len(asked)]
        spent, received = caller.call(tool, arguments)
        if b'"isError":false' not in received:
            raise RuntimeError(f"{tool} was refused beside the hostile caller: {received[:300]!r}")
        times.append(spent)
        at += 1
        time.sleep(0.01)
    return times


class _Hostile:
    """The hostile caller, as long as the block lasts."""

    def __init__(self, kind: str, address: tuple[str, int], connections: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._stop, self._begun, self._queue = context.Event(), context.Event(), context.Queue()
        self.times: list[float] = []
        self._processes = [
            context.Process(target=_send_again_and_again, args=(kind, address, self._stop, self._begun, self._queue))
            for _ in range(connections)
        ]

    def __enter__(self) -> "_Hostile":
        for process in self._processes:
            process.start()
        if not self._begun.wait(60):
            raise RuntimeError("the hostile caller could not begin")
        return self

    def __exit__(self, *_raised: object) -> None:
        self._stop.set()
        for process in self._processes:
            self.times += self._queue.get(timeout=120)
            process.join()


def _send_again_and_again(kind: str, address: tuple[str, int], stop: Event, begun: Event, queue) -> None:
    """Send inputs of a kind until told to stop; put the milliseconds of each into the queue."""
    requests = KINDS[kind]()
    request = next(requests)
    begun.set()
    times = []
    connection = http.client.HTTPConnection(*address, timeout=120)
    while not stop.is_set():
        begin = time.perf_counter()
        received = None
        try:
            connection.request("POST", "/mcp", *request)
            received = connection.getresponse().read()
        except OSError:
            connection.close()
        except http.client.HTTPException:
            connection.close()
        # Some kinds ask about what they have started.
        request = requests.send(received) if isinstance(requests, Generator) else next(requests)
        times.append((time.perf_counter() - begin) * 1000)
    queue.put(times)


if __name__ == "__main__":
    sys.exit(main())
