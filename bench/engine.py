"""Compare plan_trip on New York with the baseline, and searches with nigiri: ``make bench-engine``.

Each commit imports the feeds into its own home and answers the same questions between random positions, in its own
process, in turn. Processor time is measured, which other work on the machine affects little. The first round, which
loads kernels and builds timetables, is not counted. ``bench/baseline`` names the baseline. Its answers may be worse, so
only the number of equal ones is printed; nigiri's must be equal.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean

from harness import HEAD, p95, read_options, report

BOUNDS = {"mean": 0.6, "p95": 0.7, "no stop in reach of one end": 0.1}
NOW = datetime.fromisoformat("2026-09-30T06:00:00-04:00")
# Land on most sides, and some water, so that some questions have no stop in reach.
SOUTH, NORTH, WEST, EAST = 40.58, 40.86, -74.02, -73.76
SEED = 35
QUESTIONS = 300
FINGERPOST = ["-c", "from fingerpost.apps.cli import main; main()"]


def draw(count: int) -> list[dict]:
    dice = random.Random(SEED)

    def draw_end():
        return {"type": "coords", "value": {"lat": dice.uniform(SOUTH, NORTH), "lon": dice.uniform(WEST, EAST)}}

    times = [f"{NOW + timedelta(minutes=dice.randrange(60, 900)):%Y-%m-%dT%H:%M:00%z}" for _ in range(count)]
    return [
        {"origin": draw_end(), "destination": draw_end(), "when": {"type": "depart", "time": time[:-2] + ":00"}}
        for time in times
    ]


async def answer_questions() -> None:
    """Answer each line of the standard input with the milliseconds of processor time and the answer's body."""
    from fingerpost import Fingerpost

    async with Fingerpost() as library:
        for line in sys.stdin:
            began = time.process_time()
            body = (await library.answer("plan_trip", json.loads(line))).body
            print(json.dumps([(time.process_time() - began) * 1000, body]), flush=True)


@contextmanager
def answering(python: Path, feeds: list[Path]):
    """Yield a function that asks a commit's process a question, after it has imported the feeds."""
    with tempfile.TemporaryDirectory() as home:
        where = {"FINGERPOST_HOME": home, "FINGERPOST_NOW": NOW.isoformat(),
                 "NUMBA_CACHE_DIR": str(python.parent.parent / "kernels")}  # fmt: skip
        environ = os.environ | where
        subprocess.run(
            [python, *FINGERPOST, "network", "add", "NYC", *feeds], env=environ, check=True, stdout=subprocess.DEVNULL
        )
        pipes = {"text": True, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen([python, __file__, "--answer", "1"], env=environ, **pipes) as process:

            def ask(question: dict) -> tuple[float, dict]:
                print(json.dumps(question), file=process.stdin, flush=True)
                return tuple(json.loads(process.stdout.readline()))

            yield ask
            process.stdin.close()


def compare_with_baseline(feeds: list[Path], commit: str, count: int) -> bool:
    from over_http import check_out, install_packages

    questions = draw(count)
    with ExitStack() as stack:
        pythons = [Path(sys.executable), install_packages(stack.enter_context(check_out(commit)))]
        asks = [stack.enter_context(answering(python, feeds)) for python in pythons]
        for _ in range(2):
            answers = [[ask(question) for ask in asks] for question in questions]
    equal = sum(list_trips(mine) == list_trips(its) for (_, mine), (_, its) in answers)
    refused = [pair for pair in answers if "No stop is within" in json.dumps(pair[0][1].get("error", {}))]
    print(f"plan_trip on New York, in ms of processor time, beside {commit}; {equal} of {count} lists of rides equal, "
          f"{len(refused)} without a stop in reach\n{HEAD}")  # fmt: skip
    good = True
    rows = ("mean", fmean, answers), ("p95", p95, answers), ("no stop in reach of one end", fmean, refused)
    for name, summarize, pairs in rows:
        if pairs:
            good &= report(name, *(summarize([side[0] for side in sides]) for sides in zip(*pairs, strict=True)),
                           bound=BOUNDS[name])  # fmt: skip
    return good


def list_trips(body: dict) -> list[list[str | None]]:
    return [[leg.get("tripId") for leg in trip["legs"]] for trip in body.get("itineraries", [])]


def main() -> int:
    baseline = (Path(__file__).parent / "baseline").read_text().split()[0]
    options = read_options(__doc__, commit=baseline, questions=QUESTIONS, answer=0)
    if options.answer:
        asyncio.run(answer_questions())
        return 0
    from beside_nigiri import measure_new_york
    from import_feeds import FEEDS

    if not FEEDS:
        print("skipped: needs New York's feeds beside the project")
        return 0
    good = compare_with_baseline(FEEDS, options.commit, options.questions)
    return 0 if measure_new_york(options.questions, is_live=False) and good else 1


if __name__ == "__main__":
    sys.exit(main())
