"""Take over the runs of processes that died: beat for this one, and carry on what silent ones have left."""

import asyncio
import logging
from typing import Final

from fingerpost.errors import ToolError
from fingerpost.plan.engines.heartbeat import Heartbeat
from fingerpost.plan.journal import AbandonedRun, Journal
from fingerpost.plan.runs import PlanRuns

_log = logging.getLogger(__name__)

BEAT_S: Final = 2.0


class Takeover:
    """Beats for this process as long as ``work`` runs, and carries on runs of workers that have stopped beating.

    Args:
        runs: what carries them on.
        heartbeat: of the journal of these runs.
        beat_s: from beat to beat; a worker is dead after many of them.
    """

    def __init__(self, runs: PlanRuns, heartbeat: Heartbeat, *, beat_s: float = BEAT_S) -> None:
        self._runs = runs
        self._heartbeat = heartbeat
        self._beat_s = beat_s
        self._steady_since_s: float | None = None
        self._is_cut_off = False
        heartbeat.is_meant_to_beat = True

    async def work(self) -> None:
        """Beat until this task is cancelled; then tell the others that they need not wait for the silence."""
        try:
            while True:
                await self._once()
                await asyncio.sleep(self._beat_s)
        finally:
            await self._leave()

    async def _once(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await self._runs.journal.launch()
            if not await asyncio.to_thread(self._heartbeat.beat):
                _log.warning("this process was silent for so long that others may have taken its plan runs")
                self._steady_since_s = None
            self._is_cut_off = False
            # Who could not reach the database knows nothing of the silence of others: they had the same trouble.
            if self._steady_since_s is None:
                self._steady_since_s = loop.time()
            if loop.time() - self._steady_since_s < self._heartbeat.dead_after_s:
                return
            for abandoned in await asyncio.to_thread(self._heartbeat.list_abandoned):
                await self._take(abandoned)
        except ToolError as error:
            self._steady_since_s = None
            if not self._is_cut_off:
                _log.warning("this process cannot say that it lives, or look after others: %s", error.message)
            self._is_cut_off = True

    async def _take(self, abandoned: AbandonedRun) -> None:
        if self._runs.is_under_way(abandoned.run_id):
            return
        _log.warning("run=%s is taken over from %s, which has stopped beating", abandoned.run_id, abandoned.worker)
        if not await self._runs.journal.revive(abandoned):
            self._runs.begin(abandoned.run_id, abandoned.user)

    async def _leave(self) -> None:
        await self._runs.stop()
        try:
            await asyncio.to_thread(self._heartbeat.leave)
        except ToolError as error:
            _log.warning("this process could not say that it ends: %s", error.message)


def find_takeover(runs: PlanRuns) -> Takeover | None:
    """Return what takes runs over, where their journal is shared by processes that beat."""
    heartbeat = _heartbeat_of(runs.journal)
    return None if heartbeat is None else Takeover(runs, heartbeat)


def _heartbeat_of(journal: Journal) -> Heartbeat | None:
    found = getattr(journal, "heartbeat", None)
    return found if isinstance(found, Heartbeat) else None
