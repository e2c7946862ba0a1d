"""Insert small faults into the code, one at a time, and count those that a test finds: ``make mutants``.

mutmut makes the mutants; a random sample of them is tried, because all of them take hours. One process runs the tests
of a target once and notes which functions each reaches; then each mutant of the sample is put in force in a fork of it,
which runs the tests that reach the changed function, the quickest first, until one fails. Recordings are absent: what
only they find counts as not found. Mutants in code that only other processes run, or that runs on import, do not count.
"""

import argparse
import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.mutation.operators import find_mutants
from tests.mutation.trial import MutantTrial

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = 400
SEED = 18


class Target(NamedTuple):
    """A package, its modules that are left out, and the tests nearest to it."""

    package: str
    left_out: tuple[str, ...]
    tests: tuple[str, ...]


def without(folder: str, *names: str) -> list[str]:
    """Return what leaves out of a folder the tests of loaders and of processes."""
    return [f"--ignore={folder}/test_{name}.py" for name in names]


# The long comparison with the oracle finds late what the others find at once.
EMBEDDED = ("tests/embedded", *without("tests/embedded", "riders_against_oracle"))
TARGETS = {
    # The rules; not what loads, fetches and stores.
    "filings": Target(
        "filings",
        ("companyfacts", "edgar", "loading", "sandbox", "sandbox_process", "store", "sync"),
        ("tests/filings", *without("tests/filings", "loading", "recorded", "sandbox")),
    ),
    # What is stored is held by engines that are killed as processes, which no mutant reaches.
    "plan": Target(
        "plan",
        ("engines",),
        (
            "tests/plan", *without("tests/plan", "engines", "kill", "layouts"),
            "tests/apps/test_plans.py", "--deselect=tests/apps/test_plans.py::test_the_trip_plan_killed_half_way",
        ),
    ),
    # What is told of a trip or a board, from the rule to the tool's answer.
    "rules": Target("transit/rules", (), ("tests/rules", "tests/contracts", "tests/places", *EMBEDDED)),
    "tools": Target(
        "transit/tools",
        (),
        (
            "tests/contracts", "tests/contract", "tests/tools", "tests/fares/test_in_answers.py",
            "tests/apps/test_beside_answers.py", "tests/tfl/test_plan_journey.py",
            *EMBEDDED, *(f"tests/filings/test_{name}.py" for name in ("tools", "filing_tools")),
        ),
    ),
    "embedded": Target(
        "transit/embedded",
        (),
        (
            *EMBEDDED, "tests/conformance", "tests/contracts", "tests/fares/test_in_answers.py",
            "tests/apps/test_beside_answers.py",
            *(f"tests/realtime/test_{name}.py" for name in ("realtime_feeds", "added_trips", "simulator")),
            *(f"tests/apps/test_cli_{name}.py" for name in ("feeds_by_url", "network_records", "networks", "realtime")),
        ),
    ),
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], help="all without a name")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="how many mutants of each target")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", nargs="*", default=[], help="modules, such as periods")
    parser.add_argument("--numbers", nargs="*", type=int, help="of the sample, those with these numbers again")
    parser.add_argument("--tests", nargs="*", help="instead of all the target's: the nearest")
    asked = parser.parse_args()
    os.chdir(ROOT)
    os.environ["FINGERPOST_SHARED"] = str(ROOT / ".venv" / "absent")
    failures = 0
    for name in asked.targets or TARGETS:
        # Each target has a process of its own: what the tests of one leave behind is nothing to the next.
        child = os.fork()
        if child == 0:
            os._exit(try_target(TARGETS[name], asked))
        failures += os.waitpid(child, 0)[1] != 0
    return int(failures > 0)


def try_target(target: Target, asked: argparse.Namespace) -> int:
    mutants = [
        mutant
        for path in list_files(target)
        if not asked.only or path.stem in asked.only
        for mutant in find_mutants(path, ROOT / "src")
    ]
    sample = random.Random(asked.seed).sample(mutants, min(asked.sample, len(mutants)))
    numbered = dict(enumerate(sample))
    trial = MutantTrial({number: numbered[number] for number in asked.numbers or numbered})
    with tempfile.TemporaryDirectory(dir=ROOT / ".venv") as folder:
        # A folder that somebody else clears away would be a failure that no mutant has made.
        options = ["-q", "-s", "-p", "no:cacheprovider", "-r", "", "--basetemp", f"{folder}/tests"]
        status = int(pytest.main([*options, *(asked.tests or target.tests)], plugins=[trial]))
    tell(target, trial, len(mutants))
    return status


def list_files(target: Target) -> list[Path]:
    folder = ROOT / "src" / "fingerpost" / target.package
    names = [path.relative_to(folder) for path in sorted(folder.rglob("*.py"))]
    return [folder / name for name in names if not {name.stem, *name.parts} & {*target.left_out, "__init__"}]


def tell(target: Target, trial: MutantTrial, existing: int) -> None:
    tried: Counter[str] = Counter(mutant.path.stem for mutant in trial.tried)
    found: Counter[str] = Counter(mutant.path.stem for mutant in trial.found)
    for module, count in sorted(tried.items()):
        print(f"{module:18} {found[module]:4} of {count:4} found")
    share = found.total() / max(1, tried.total())
    print(f"{target.package}: {found.total()} of {tried.total()} found ({share:.1%}); {existing} exist", flush=True)


if __name__ == "__main__":
    sys.exit(main())
