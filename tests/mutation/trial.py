"""A pytest plugin: run the tests once, then run each mutant against the tests that reach its function."""

import os
import resource
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from tests.mutation.operators import Mutant, forget_caches, put_in_force

# Of the tests that reach a function, as many run as take so many seconds of a processor without a mutant.
BUDGET_S = 10.0
# A mutant whose tests take so much longer than they did does not end: that is found too.
SLOWER = 5
SLACK_S = 10
# A process that waits for so long without using the processor waits for something that does not come.
STILL_S = 20
MEMORY_BYTES = 8 << 30


class MutantTrial:
    """``tried`` and ``found`` are the mutants that were put in force, and those of them that made a test fail."""

    def __init__(self, mutants: Mapping[int, Mutant]) -> None:
        self.tried: list[Mutant] = []
        self.found: list[Mutant] = []
        self._mutants = mutants
        self._files = {str(mutant.path) for mutant in mutants.values()}
        self._reached: set[CodeType] = set()
        self._has_failed = False
        self._taken_s: dict[pytest.Item, float] = {}
        self._reaching: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._has_failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        sys.settrace(self._trace)
        threading.settrace(self._trace)  # type: ignore[arg-type]
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            self._run_unchanged(item, following)
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        forget_caches()
        session.testsfailed = 0
        print(f"\n{len(self._taken_s)} tests, {sum(self._taken_s.values()):.0f} s", flush=True)
        for number, mutant in self._mutants.items():
            self.tried.append(mutant)
            tests = self._choose_tests(mutant)
            if tests and self._is_found(mutant, tests):
                self.found.append(mutant)
            else:
                print(f"{number} survived {len(tests)} tests: {mutant.describe()}", flush=True)
        return True

    def _trace(self, frame: FrameType, _event: str, _argument: Any) -> None:
        if frame.f_code.co_filename in self._files:
            self._reached.add(frame.f_code)

    def _run_unchanged(self, item: pytest.Item, following: pytest.Item | None) -> None:
        self._reached.clear()
        self._has_failed = False
        began = time.process_time()
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        if self._has_failed:
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
        longest_s = SLACK_S + SLOWER * sum(self._taken_s[item] for item in tests)
        child = os.fork()
        if child == 0:
            self._run_changed(mutant, tests, int(longest_s))
        began = moved = time.monotonic()
        used = ""
        while time.monotonic() - began < 10 * longest_s and time.monotonic() - moved < STILL_S:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return status != 0
            if (now := _processor_time(child)) != used:
                used, moved = now, time.monotonic()
            time.sleep(0.005)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
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
            put_in_force(mutant)
            self._has_failed = False
            for place, item in enumerate(tests):
                following = tests[place + 1] if place + 1 < len(tests) else None
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._has_failed:
                    break
            status = int(self._has_failed)
        finally:
            os._exit(status)


def _processor_time(process: int) -> str:
    """Return what a process has used so far, and what it would use if it were let: a busy machine is no standstill."""
    state, *fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return str(time.monotonic()) if state == "R" else " ".join(fields[10:12])
