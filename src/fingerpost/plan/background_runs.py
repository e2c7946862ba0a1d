"""Runs that one process carries on in the background: each in a task, in its turn, and not without bound."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from fingerpost.errors import SourceLimited
from fingerpost.plan.journal import RunState
from fingerpost.plan.limits import Limits
from fingerpost.plan.run_places import RunPlace, RunPlaces
from fingerpost.runtime.fair_threads import find_machine

_log = logging.getLogger(__name__)

_FIRST_GUESS_S: Final = 5.0
_LEAST_ASKED_S: Final = 1.0
_MOST_ASKED_S: Final = 60.0
# How far what is usual follows what came last.
_SHARE_OF_LAST: Final = 0.2

CarryOnInTurn = Callable[[str, RunPlace], Coroutine[Any, Any, RunState]]
"""Carries the run of an id on, once its place is given."""


@dataclass(frozen=True, slots=True)
class _Begun:
    caller: str
    steps: int
    place: RunPlace
    task: "asyncio.Task[RunState]"


class BackgroundRuns:
    """The background tasks of a process's runs; a caller is a user on a machine.

    Args:
        carry_on: what each task does.
        limits: how many runs at once, and how many that wait.
    """

    def __init__(self, carry_on: CarryOnInTurn, limits: Limits) -> None:
        self._carry_on = carry_on
        self._limits = limits
        self._places = RunPlaces(limits.runs_at_once, limits.runs_at_once_of_caller)
        self._begun: dict[str, _Begun] = {}
        self._count: Counter[str] = Counter()
        self._steps: Counter[str] = Counter()
        self._usual_s = _FIRST_GUESS_S
        self._last_end_s = 0.0

    @contextmanager
    def starting(self, user: str | None, steps: int) -> Iterator[None]:
        """Count a run of so many steps that a caller is about to begin, until the block ends.

        Raises:
            SourceLimited: so many are under way, or wait, that no more is begun now.
        """
        caller = _caller_of(user)
        count, limits = self._count[caller], self._limits
        if count >= limits.runs_begun_of_caller:
            self._refuse(f"{count:,} of your plan runs are under way or wait for their turn")
        if count and self._steps[caller] + steps > limits.steps_begun_of_caller:
            self._refuse(f"Your plan runs that are under way or wait for their turn have {self._steps[caller]:,} steps")
        if self._count.total() >= limits.runs_begun:
            self._refuse(f"{self._count.total():,} plan runs are under way or wait for their turn")
        self._add(caller, 1, steps)
        try:
            yield
        finally:
            self._add(caller, -1, -steps)

    def begin(self, run_id: str, user: str | None, steps: int) -> None:
        """Carry a run of so many steps on in a background task, when its caller's turn has come."""
        caller = _caller_of(user)
        place = self._places.ask(caller)
        task = asyncio.create_task(self._carry_on(run_id, place), name=f"run {run_id}")
        if not self._begun:
            self._last_end_s = time.monotonic()
        begun = self._begun[run_id] = _Begun(caller, steps, place, task)
        self._add(caller, 1, steps)
        task.add_done_callback(lambda _task: self._ended(run_id, begun))

    def ask_for_nobody(self, run_id: str) -> RunPlace:
        """Return a place for a run that nobody here has asked for, as if it had a caller of its own."""
        return self._places.ask(run_id)

    def is_under_way(self, run_id: str) -> bool:
        """Whether a run has a background task, which may wait for its turn."""
        begun = self._begun.get(run_id)
        return begun is not None and not begun.task.done()

    def find_runs_before(self, run_id: str) -> int | None:
        """Return how many runs of the same caller begin before one that waits for its turn; None where it does not."""
        begun = self._begun.get(run_id)
        return None if begun is None or begun.task.done() else begun.place.runs_before

    def go_without_place(self, run_id: str) -> None:
        """Let a run that waits for its turn begin, because it is to be cancelled."""
        if (begun := self._begun.get(run_id)) is not None:
            begun.place.go_without()

    async def wait(self, run_id: str, longest_s: float) -> None:
        """Wait until the task of a run ends, or until a timeout.

        Raises:
            ToolError: it had to be given up.
        """
        begun = self._begun.get(run_id)
        if begun is not None:
            await asyncio.wait([begun.task], timeout=longest_s)
            if begun.task.done() and not begun.task.cancelled():
                begun.task.result()

    async def stop(self) -> None:
        """End every task; each run can be resumed from its record."""
        tasks = [begun.task for begun in self._begun.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _add(self, caller: str, runs: int, steps: int) -> None:
        self._count[caller] += runs
        self._steps[caller] += steps
        if self._count[caller] == 0:
            del self._count[caller], self._steps[caller]

    def _refuse(self, why: str) -> None:
        raise SourceLimited(
            f"{why}, and no more are kept waiting",
            retry_after_s=min(max(self._usual_s, _LEAST_ASKED_S), _MOST_ASKED_S),
            hint="Wait for one to end, or cancel one: run_plan with its run_id and action cancel",
        )

    def _ended(self, run_id: str, ended: _Begun) -> None:
        ended.place.leave()
        self._add(ended.caller, -1, -ended.steps)
        now_s = time.monotonic()
        self._usual_s += _SHARE_OF_LAST * (now_s - self._last_end_s - self._usual_s)
        self._last_end_s = now_s
        if self._begun.get(run_id) is ended:
            del self._begun[run_id]
        if not ended.task.cancelled() and (error := ended.task.exception()) is not None:
            _log.error("run=%s was given up: %s", run_id, error)


def _caller_of(user: str | None) -> str:
    return f"{find_machine()} {user or ''}"
