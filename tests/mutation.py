"""Insert small faults into the code, one at a time, and count those that a test finds: ``make mutants``.

mutmut makes the mutants; a random sample of them is tried, because all of them take hours. One process runs the tests
of a package once and notes which functions each test reaches. Each mutant is then activated in a fork of this process,
which runs the tests that reach the changed function, the quickest first, until one fails. Recordings are absent, so
mutants that only they find count as not found. Mutants in code that runs only in other processes or on import do not
count.
"""

import argparse
import difflib
import functools
import gc
import importlib
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import types
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import libcst
import pytest
from mutmut.mutation.file_mutation import create_mutations

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
# The tests chosen for a mutant take at most this many seconds of a processor without it.
BUDGET_S = 10.0
# A mutant that makes its tests take longer than this does not end, which counts as found.
SLOWER, SLACK_S = 5, 10
MEMORY_BYTES = 8 << 30


class Target(NamedTuple):
    """The tests nearest to a package, and its modules that are not changed."""

    tests: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def without(folder: str, *names: str) -> tuple[str, ...]:
    return (folder, *(f"--ignore={folder}/test_{name}.py" for name in names))


# The comparison with the oracle finds late what the other tests find at once.
EMBEDDED = without("tests/embedded", "riders_against_oracle")
# Loading, fetching and storing, and the engines of plans, are tested in other processes.
TARGETS = {
    "filings": Target(
        without("tests/filings", "loading", "recorded", "sandbox"),
        ("companyfacts", "edgar", "loading", "sandbox", "sandbox_process", "store", "sync"),
    ),
    "plan": Target(
        (
            *without("tests/plan", "engines", "kill", "layouts"), "tests/apps/test_plans.py",
            "--deselect=tests/apps/test_plans.py::test_the_trip_plan_killed_half_way",
        ),
        ("engines",),
    ),
    "transit/rules": Target((
        "tests/rules", "tests/contracts", "tests/places", "tests/addresses/test_reading_texts.py", *EMBEDDED,
    )),
    "transit/tools": Target((
        "tests/contracts", "tests/contract", "tests/tools",
        "tests/apps/test_beside_answers.py", "tests/tfl/test_plan_journey.py",
        *EMBEDDED, "tests/filings/test_tools.py", "tests/filings/test_filing_tools.py",
    )),
    "transit/embedded": Target((
        *EMBEDDED, "tests/conformance", "tests/contracts",
        "tests/apps/test_beside_answers.py",
        *(f"tests/realtime/test_{name}.py" for name in ("realtime_feeds", "added_trips", "simulator")),
        *(f"tests/apps/test_cli_{name}.py" for name in ("feeds_by_url", "network_records", "networks", "realtime")),
    )),
    "transit/remote": Target((
        "tests/remote", "tests/motis", "tests/opentripplanner", "tests/tfl", "tests/conformance",
        "tests/resilience/test_source_faults.py",
    )),
}  # fmt: skip


class Mutant(NamedTuple):
    path: Path
    function: str
    make: Any

    def describe(self) -> str:
        changes = difflib.unified_diff(self.path.read_text().splitlines(), self.make().splitlines(), lineterm="", n=0)
        return "\n    ".join([f"{self.path.name} {self.function}", *list(changes)[2:]])


def find_mutants(path: Path) -> Iterator[Mutant]:
    tree, mutations, _, _ = create_mutations(str(path), path.read_text())
    names = dict(_name_functions(tree.body, ""))
    for each in mutations:
        function = names.get(id(each.contained_by_top_level_function))
        if function is not None:
            make = functools.partial(_change, tree, each.original_node, each.mutated_node)
            yield Mutant(path, function, make)


def _change(tree: libcst.Module, before: libcst.CSTNode, after: libcst.CSTNode) -> str:
    changed = tree.deep_replace(before, after)
    assert isinstance(changed, libcst.Module)
    return changed.code


def _name_functions(body: Any, prefix: str) -> Iterator[tuple[int, str]]:
    for node in body:
        if isinstance(node, libcst.FunctionDef):
            yield id(node), prefix + node.name.value
        elif isinstance(node, libcst.ClassDef) and isinstance(node.body, libcst.IndentedBlock):
            yield from _name_functions(node.body.body, f"{prefix}{node.name.value}.")


def activate(mutant: Mutant) -> None:
    """Give the live function the code of the changed one, so that modules that have imported it run that."""
    name = ".".join(mutant.path.relative_to(SOURCE).with_suffix("").parts)
    live, changed = importlib.import_module(name), types.ModuleType(name)
    changed.__dict__.update(__file__=live.__file__, __package__=live.__package__)
    exec(compile(mutant.make(), str(mutant.path), "exec", dont_inherit=True), changed.__dict__)
    target, source = (_get_function(module, mutant.function) for module in (live, changed))
    for attribute in ("__code__", "__defaults__", "__kwdefaults__"):
        setattr(target, attribute, getattr(source, attribute))


def _get_function(module: types.ModuleType, name: str) -> types.FunctionType:
    found: Any = module
    for part in name.split("."):
        found = found.__dict__[part]
    while not isinstance(found, types.FunctionType) or hasattr(found, "__wrapped__"):
        wrappers = ("__wrapped__", "__func__", "fget", "func")
        found = next(getattr(found, each) for each in wrappers if hasattr(found, each))
    return found


class MutantTrial:
    """A pytest plugin: ``tried`` are the mutants that were activated, ``found`` those that made a test fail."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self.tried: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self._mutants = mutants
        self._files = {str(mutant.path) for mutant in mutants}
        self._reached: set[CodeType] = set()
        self._has_failed = False
        self._pools: list[ThreadPoolExecutor] = []
        self._taken_s: dict[pytest.Item, float] = {}
        self._reaching: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._has_failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        for settrace in (sys.settrace, threading.settrace):
            settrace(self._trace)  # type: ignore[arg-type]
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            self._run_unchanged(item, following)
        for settrace in (sys.settrace, threading.settrace):
            settrace(None)  # type: ignore[arg-type]
        # Objects of imported modules are frozen.
        gc.unfreeze()
        for each in gc.get_objects():
            # Functions of fingerpost keep results of earlier calls.
            if hasattr(type(each), "cache_clear") and str(each.__module__).startswith("fingerpost"):
                each.cache_clear()
            if isinstance(each, ThreadPoolExecutor):
                self._pools.append(each)
        gc.freeze()
        session.testsfailed = 0
        print(f"\n{len(self._taken_s)} tests, {sum(self._taken_s.values()):.0f} s", flush=True)
        for mutant in self._mutants:
            tests = self._choose_tests(mutant)
            self.tried[mutant.path.stem] += 1
            if tests and self._is_found(mutant, tests):
                self.found[mutant.path.stem] += 1
            else:
                print(f"survived {len(tests)} tests: {mutant.describe()}", flush=True)
        return True

    def _trace(self, frame: FrameType, _event: str, _argument: Any) -> None:
        if frame.f_code.co_filename in self._files:
            self._reached.add(frame.f_code)

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        self._has_failed = False
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        return not self._has_failed

    def _run_unchanged(self, item: pytest.Item, following: pytest.Item | None) -> None:
        self._reached.clear()
        began = time.process_time()
        if not self._run(item, following):
            print(f"\nleft out, because it fails without a mutant: {item.nodeid}", flush=True)
            return
        self._taken_s[item] = time.process_time() - began
        for place in {(code.co_filename, code.co_qualname.partition(".<")[0]) for code in self._reached}:
            self._reaching[place].append(item)

    def _choose_tests(self, mutant: Mutant) -> list[pytest.Item]:
        reaching = self._reaching[str(mutant.path), mutant.function]
        chosen, total_s = [], 0.0
        for item in sorted(reaching, key=self._taken_s.__getitem__):
            total_s += self._taken_s[item]
            if chosen and total_s > BUDGET_S:
                break
            chosen.append(item)
        return chosen

    def _is_found(self, mutant: Mutant, tests: Sequence[pytest.Item]) -> bool:
        longest_s = int(SLACK_S + SLOWER * sum(self._taken_s[item] for item in tests))
        child = os.fork()
        if child == 0:
            self._run_changed(mutant, tests, longest_s)
        # Processes that wait for something that does not come use no processor time.
        ends = time.monotonic() + 3 * longest_s
        while time.monotonic() < ends:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return status != 0
            time.sleep(0.005)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print(f"did not end: {mutant.describe()}", flush=True)
        return True

    def _run_changed(self, mutant: Mutant, tests: Sequence[pytest.Item], longest_s: int) -> None:
        status = 1
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (longest_s, longest_s))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            silent = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silent, stream)
            for pool in self._pools:
                # A fork has none of its parent's threads, so work for them would never begin.
                pool.__init__(pool._max_workers)  # type: ignore[misc]
            activate(mutant)
            status = int(not all(self._run(*pair) for pair in zip(tests, [*tests[1:], None], strict=True)))
        finally:
            os._exit(status)


def try_package(package: str, sample_size: int, seed: int) -> int:
    target, folder = TARGETS[package], SOURCE / "fingerpost" / package
    left_out = {*target.left_out, "__init__"}
    mutants = [
        mutant
        for path in sorted(folder.rglob("*.py"))
        if left_out.isdisjoint([path.stem, *path.relative_to(folder).parts])
        for mutant in find_mutants(path)
    ]
    trial = MutantTrial(random.Random(seed).sample(mutants, min(sample_size, len(mutants))))
    # Other runs clear the usual folder of pytest.
    with tempfile.TemporaryDirectory(dir=ROOT / ".venv") as scratch:
        options = ["-q", "-s", "-p", "no:cacheprovider", "-r", "", "--basetemp", f"{scratch}/tests"]
        status = int(pytest.main([*options, *target.tests], plugins=[trial]))
    for module, count in sorted(trial.tried.items()):
        print(f"{module:18} {trial.found[module]:4} of {count:4} found")
    found, tried = trial.found.total(), trial.tried.total()
    print(f"{package}: {found} of {tried} found ({found / max(1, tried):.1%}); {len(mutants)} exist", flush=True)
    return status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", choices=[[], *TARGETS], help="all by default")
    parser.add_argument("--sample", type=int, default=400, help="the number of mutants of each package")
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ["FINGERPOST_SHARED"] = str(ROOT / ".venv" / "absent")
    failures = 0
    for package in options.packages or TARGETS:
        # Each package has its own process, because tests leave state behind.
        child = os.fork()
        if child == 0:
            os._exit(try_package(package, options.sample, options.seed))
        failures += os.waitpid(child, 0)[1] != 0
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
