"""Calls of this checkout beside those of another commit: the same questions over HTTP, in turn (issue 13).

Each serves from a process of its own, with the packages of this environment; what they answer is compared in size
alone, because a commit may answer better than the one before.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import over_http
from figures import p50, verdict
from questions import NOW, Questions

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build

BOUND = 1.1
SEED = 20261123
_ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Print a line for each tool; return 1 where this checkout is slower by more than a tenth."""
    parser = argparse.ArgumentParser(description="Measure this checkout beside another commit.")
    parser.add_argument("commit", help="what to compare with, such as HEAD~1")
    parser.add_argument("--rounds", type=int, default=10, help="interleaved rounds")
    parser.add_argument("--calls", type=int, default=60, help="calls of each tool a round")
    options = parser.parse_args()
    os.environ["FINGERPOST_NOW"] = NOW
    asked = _draw((options.rounds + 1) * options.calls)
    with ExitStack() as stack:
        checkouts = [_ROOT, stack.enter_context(_checked_out(options.commit))]
        callers = [stack.enter_context(_serving(checkout)) for checkout in checkouts]
        times, sizes = _measure(callers, asked, options.calls)
    print(f"{'tool':<16}{'ms here':>9}{'there':>8}{'bytes here':>12}{'there':>8}{'times':>8}   at most {BOUND:g}")
    outcomes = []
    for tool in asked:
        # The first round warms connections and memory; it is not counted.
        here, there = (rounds[1:] for rounds in times[tool])
        ratio = p50([mine / theirs for mine, theirs in zip(here, there, strict=True)])
        outcomes.append(verdict(ratio, BOUND))
        mean_bytes = [size / len(asked[tool]) for size in sizes[tool]]
        print(
            f"{tool:<16}{p50(here):>9.2f}{p50(there):>8.2f}{mean_bytes[0]:>12.0f}{mean_bytes[1]:>8.0f}{ratio:>8.2f}"
            f"   {outcomes[-1]}"
        )
    return 0 if all(outcome == "ok" for outcome in outcomes) else 1


def _draw(count: int) -> dict[str, list[dict]]:
    """Return questions of each tool, no two alike."""
    with tempfile.TemporaryDirectory() as home:
        questions = Questions(build(read_settings(home=home)), SEED)
        return {
            over_http.NOOP: [{"x": number} for number in range(count)],
            "get_departures": [questions.draw_board() for _ in range(count)],
            "plan_trip": [questions.draw_trip() for _ in range(count)],
        }


@contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    """Check a commit out into a folder of its own, which goes with the block."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        subprocess.run(["git", "-C", _ROOT, "worktree", "add", "--quiet", "--detach", checkout, commit], check=True)
        try:
            yield checkout
        finally:
            subprocess.run(["git", "-C", _ROOT, "worktree", "remove", "--force", checkout], check=True)


@contextmanager
def _serving(checkout: Path) -> Iterator[over_http.Caller]:
    """Start a checkout's own server, with machine code of its own."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as kernels:
        where = {"PYTHONPATH": f"{checkout / 'src'}:{checkout / 'bench'}", "NUMBA_CACHE_DIR": kernels}
        if checkout == _ROOT and "NUMBA_CACHE_DIR" in os.environ:
            del where["NUMBA_CACHE_DIR"]
        with over_http.serving(home, str(checkout / "bench" / "server.py"), where) as caller:
            yield caller


def _measure(
    callers: list[over_http.Caller], asked: dict[str, list[dict]], calls: int
) -> tuple[dict[str, list[list[float]]], dict[str, list[int]]]:
    """Return for each tool, and each of the callers, the p50 of every round in milliseconds, and the bytes answered."""
    times: dict[str, list[list[float]]] = {tool: [[] for _ in callers] for tool in asked}
    sizes = {tool: [0 for _ in callers] for tool in asked}
    rounds = len(asked[over_http.NOOP]) // calls
    for number in range(rounds):
        for tool, questions in asked.items():
            part = questions[number * calls : (number + 1) * calls]
            # Who goes first has what the machine did before in its caches.
            for at in sorted(range(len(callers)), reverse=number % 2 == 1):
                caller = over_http.Caller(*callers[at].address)
                caller.call(over_http.NOOP, {"x": 0})
                answers = [caller.call(tool, arguments) for arguments in part]
                for _, received in answers:
                    if tool != over_http.NOOP and b'"isError":true' in received:
                        raise RuntimeError(f"{tool} failed: {received[:300]!r}")
                times[tool][at].append(p50([spent for spent, _ in answers]))
                sizes[tool][at] += sum(len(received) for _, received in answers)
    return times, sizes


if __name__ == "__main__":
    sys.exit(main())
