"""Compare get_departures and plan_trip over HTTP with a no-op tool of the same server, or with those of another commit.

As a command, compare this checkout with the baseline, or with another ``--commit``. ``bench/baseline`` names the
baseline, so that small slowdowns add up; a commit that moves it gives the reason. Each commit runs in its own process,
with its own packages. Only the sizes of answers are compared, because a commit may answer better than the one before.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness import HEAD, p50, p95, read_options, report_pairs
from questions import ITINERARIES, ROWS, Questions, open_questions
from serving import Caller, Server, serving

BOUNDS = {"get_departures": 2.0, "plan_trip": 4.0}
COMMIT_BOUND = 1.1
NOOP = "noop"
SCRIPT = Path(__file__).with_name("server.py")
ROOT = Path(__file__).resolve().parent.parent

Answers = dict[str, list[list[tuple[float, bytes]]]]


def draw(questions: Questions, count: int) -> dict[str, list[dict]]:
    return {
        NOOP: [{"x": number} for number in range(count)],
        "get_departures": [questions.draw_board() for _ in range(count)],
        "plan_trip": [questions.draw_trip() for _ in range(count)],
    }


def draw_named(questions: Questions, count: int) -> dict[str, list[dict]]:
    """Return questions with names and local times, as agents send them; each key starts with its tool."""
    boards = [questions.draw_named_board() for _ in range(count)]
    return {
        "get_departures, by name": boards,
        "findAddressOrStop": [{"rawText": board["stop"]["value"]} for board in boards],
        "getStopTimetable": [questions.draw_timetable() for _ in range(count)],
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
                name = tool.partition(",")[0]
                found[at][tool].append([caller.call(name, given) for given in arguments[first : first + calls]])
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


def main() -> int:
    baseline = (ROOT / "bench" / "baseline").read_text().split()[0]
    options = read_options(__doc__, commit=baseline, rounds=10, calls=60)
    with open_questions() as (questions, _):
        count = (options.rounds + 1) * options.calls
        asked = draw(questions, count) | draw_named(questions, count)
    with ExitStack() as stack:
        other = stack.enter_context(check_out(options.commit))
        servers = [_serving(ROOT, Path(sys.executable)), _serving(other, install_packages(other))]
        found = ask([stack.enter_context(server) for server in servers], asked, options.calls)
    print(f"In ms, beside {options.commit}:\n{HEAD}")
    good = True
    for tool in asked:
        received = [[raw for part in answers[tool] for _, raw in part] for answers in found]
        if tool != NOOP and (failed := [raw for raw in received[0] + received[1] if b'"isError":true' in raw]):
            raise RuntimeError(f"{tool} failed: {failed[0][:300]!r}")
        sizes = [sum(map(len, answers)) / len(answers) for answers in received]
        note = f"{sizes[0]:.0f} and {sizes[1]:.0f} bytes"
        good &= report_pairs(tool, *(median_ms(answers[tool]) for answers in found), bound=COMMIT_BOUND, note=note)
    for tool in BOUNDS:
        above = [
            [spent - noop for spent, noop in zip(median_ms(answers[tool]), median_ms(answers[NOOP]), strict=True)]
            for answers in found
        ]
        report_pairs(f"{tool}, above the no-op", *above)
    return 0 if good else 1


@contextmanager
def check_out(commit: str) -> Iterator[Path]:
    """Check out a commit into its own folder, which is removed after the block."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", checkout, commit], check=True)
        try:
            yield checkout
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", checkout], check=True)


def install_packages(checkout: Path) -> Path:
    """Return the Python of an environment with the packages of a commit; the environment is created once."""
    commit = subprocess.check_output(["git", "-C", checkout, "rev-parse", "HEAD"], text=True).strip()
    folder = ROOT / ".venv" / "beside" / commit
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", checkout], check=True)
        ready.touch()
    return python


@contextmanager
def _serving(checkout: Path, python: Path) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as home:
        kernels, path = python.parent.parent / "kernels", f"{checkout / 'src'}:{checkout / 'bench'}"
        where = {"FINGERPOST_HOME": home, "NUMBA_CACHE_DIR": str(kernels), "PYTHONPATH": path}
        with serving([str(python), str(checkout / "bench" / "server.py")], **where) as server:
            yield server


if __name__ == "__main__":
    sys.exit(main())
