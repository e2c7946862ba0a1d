"""Runs that one process carries on in the background: each in a task, at most so many of one user."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from fingerpost.errors import SourceLimited
from fingerpost.plan.journal import RunState
from fingerpost.plan.limits import Limits

_log = logging.getLogger(__name__)

_RETRY_AFTER_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Begun:
    user: str | None
    task: "asyncio.Task[RunState]"


class BackgroundRuns:
    """The background tasks of a process's runs."""

    def __init__(self, carry_on: Callable[[str], Coroutine[Any, Any, RunState]], limits: Limits) -> None:
        self._carry_on = carry_on
        self._limits = limits
        self._begun: dict[str, _Begun] = {}

    def check_room(self, user: str | None) -> None:
        """Check that a user may begin one more run.

        Raises:
            SourceLimited: too many are under way.
        """
        count = sum(begun.user == user for begun in self._begun.values())
        if count >= self._limits.runs_of_user:
            raise SourceLimited(
                f"{count:,} of your plan runs are under way, which is the limit",
                retry_after_s=_RETRY_AFTER_S,
                hint="Wait for one to end, or cancel one: run_plan with its run_id and action cancel",
            )

    def begin(self, run_id: str, user: str | None) -> None:
        task = asyncio.create_task(self._carry_on(run_id), name=f"run {run_id}")
        begun = self._begun[run_id] = _Begun(user, task)
        task.add_done_callback(lambda _task: self._ended(run_id, begun))

    def is_under_way(self, run_id: str) -> bool:
        begun = self._begun.get(run_id)
        return begun is not None and not begun.task.done()

    async def wait(self, run_id: str, longest_s: float) -> None:
        """Wait until the task of a run ends, or until a timeout.

        Raises:
            ToolError: the task failed.
        """
        begun = self._begun.get(run_id)
        if begun is not None:
            await asyncio.wait([begun.task], timeout=longest_s)
            if begun.task.done() and not begun.task.cancelled():
                begun.task.result()

    async def stop(self) -> None:
        """Cancel every task; each run can be resumed from its record."""
        tasks = [begun.task for begun in self._begun.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ended(self, run_id: str, ended: _Begun) -> None:
        if self._begun.get(run_id) is ended:
            del self._begun[run_id]
        if not ended.task.cancelled() and (error := ended.task.exception()) is not None:
            _log.error("run=%s stopped: %s", run_id, error)
