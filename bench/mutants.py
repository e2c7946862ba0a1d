"""Small faults put into the rules of ``filings``, one at a time: how many does a test find? ``make mutants``.

mutmut makes the mutants; a random sample of them runs, because all of them take hours. Each runs the tests nearest to
its module in a process of its own, first the quick ones, then the long comparison. Recordings are absent: what only
they find counts as not found. Prints each survivor's name (``mutmut show NAME`` in ``.venv/mutants`` shows it).
"""

import json
import os
import random
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".venv" / "mutants"
SAMPLE = 400
SEED = 18
SLOW_S = 120.0
# The tests nearest to each module; quick ones first. A stage runs only if the one before found nothing.
CLAIMS = (["tests/filings/test_claims.py", "-k", "not two_thousand"], ["tests/filings/test_claims.py"])
FIGURES = ("test_resolver", "test_not_reported", "test_questions", "test_reasons", "test_calculation", "test_tools")
NEAREST = {
    "splits": ("test_splits", "test_resolver", "test_calculation"),
    "revisions": ("test_revisions", "test_resolver", "test_splits"),
    "periods": ("test_periods", "test_not_reported", "test_resolver"),
    "names": ("test_names",),
    "formula": ("test_calculation",),
    "calculation": ("test_calculation", "test_questions", "test_computed_tools"),
    "sections": ("test_sections", "test_filing_tools"),
}


def main() -> int:
    """Make the mutants, run a sample, and print the share that was found."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE
    only = sys.argv[2:]
    make()
    names = [name for name in list_mutants() if not only or name.split(".")[2] in only]
    chosen = random.Random(SEED).sample(names, min(size, len(names)))
    sys.path.insert(0, str(WORK / "mutants" / "src"))
    sys.path.insert(0, str(WORK / "mutants"))
    os.chdir(WORK / "mutants")
    os.environ["FINGERPOST_SHARED"] = str(WORK / "absent")
    found: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for name in chosen:
        module = name.split(".")[2]
        seen[module] += 1
        if is_found(name, module):
            found[module] += 1
        else:
            print(f"survived {name}", flush=True)
    for module in sorted(seen):
        print(f"{module:16} {found[module]:4} of {seen[module]:4} found")
    print(f"{sum(found.values())} of {len(chosen)} found ({sum(found.values()) / len(chosen):.0%}); {len(names)} exist")
    return 0


def make() -> None:
    """Write the mutants into a copy of the project."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    for part in ("src", "tests", "docs"):
        shutil.copytree(ROOT / part, WORK / part)
    for part in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / part, WORK / part)
    child = os.fork()
    if child == 0:
        os.chdir(WORK)
        from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths
        from mutmut.mutation.trampoline import set_mutant_under_test

        set_mutant_under_test("mutant_generation")
        (WORK / "mutants").mkdir()
        copy_src_dir()
        copy_also_copy_files()
        setup_source_paths()
        create_mutants(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise SystemExit("mutmut could not make the mutants")


def list_mutants() -> list[str]:
    """Return the names of all mutants, in order."""
    metas = sorted((WORK / "mutants").rglob("*.meta"))
    return [name for meta in metas for name in json.loads(meta.read_text())["exit_code_by_key"]]


def is_found(name: str, module: str) -> bool:
    """Whether a test fails, or does not end, with a mutant in force."""
    tests = [f"tests/filings/{test}.py" for test in NEAREST.get(module, FIGURES)]
    stages = CLAIMS if module.startswith("claim") else (tests,)
    return any(fails(name, stage) for stage in stages)


def fails(name: str, arguments: list[str]) -> bool:
    """Run tests in a process of their own; a failure, a crash and no end are all found."""
    child = os.fork()
    if child == 0:
        os.environ["MUTANT_UNDER_TEST"] = name
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        import pytest

        os._exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *arguments])))
    began = time.monotonic()
    while time.monotonic() - began < SLOW_S:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status != 0
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


if __name__ == "__main__":
    raise SystemExit(main())
