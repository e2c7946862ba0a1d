"""Heartbeats of the processes that carry runs on, and the runs of those that have stopped beating.

A worker that has not beaten for a while is declared dead, once and for all: it may only have been slow, but its runs
are free from then on, and what it still records of a run that another has taken is refused.
"""

import os
import platform
import threading
import uuid
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Final

from fingerpost.plan.journal import PROTOCOL, AbandonedRun
from fingerpost.store.postgres.database import Database

if TYPE_CHECKING:
    import psycopg

DEAD_AFTER_S: Final = 20.0
MOST_TAKEOVERS: Final = 3
"""A run that was taken from so many dead workers without a step between may be what kills them."""

_MOST_AT_ONCE = 20
_NUMBERS = count(1)

_BEAT = """
    INSERT INTO plan_worker (id, beat_at) VALUES (%s, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET beat_at = clock_timestamp() WHERE NOT plan_worker.is_dead
"""
_DECLARE_DEAD = """
    UPDATE plan_worker SET is_dead = true
    WHERE NOT is_dead AND beat_at < clock_timestamp() - make_interval(secs => %s) AND id <> %s
"""
_FORGET = "DELETE FROM plan_worker WHERE beat_at < clock_timestamp() - interval '1 day'"
_LIST_ABANDONED = """
    SELECT plan_run.id, user_name, plan_run.worker, protocol
    FROM plan_run LEFT JOIN plan_worker ON plan_worker.id = plan_run.worker
    WHERE plan_run.state = 'running' AND plan_run.worker IS NOT NULL AND coalesce(plan_worker.is_dead, true)
    AND takeovers < %s AND protocol <= %s ORDER BY number LIMIT %s
"""
IS_DEAD = "coalesce((SELECT is_dead FROM plan_worker WHERE id = plan_run.worker), true)"
"""A condition on a row of ``plan_run`` whose ``worker`` is not null."""


class Heartbeat:
    """The heartbeat of this process; every method waits for the database, and may be called by any thread.

    Args:
        database: where the runs are.
        dead_after_s: how long a worker may be silent.

    Attributes:
        is_meant_to_beat: whether this process takes runs of others over; else it carries on what it is asked to alone.
    """

    def __init__(self, database: Database, *, dead_after_s: float = DEAD_AFTER_S) -> None:
        self._database = database
        self.dead_after_s = dead_after_s
        self.is_meant_to_beat = False
        self._number = next(_NUMBERS)
        self._lives = 1
        self._is_beating = False
        self._lock = threading.Lock()

    @property
    def worker(self) -> str | None:
        """The id under which this process takes runs; None before its first beat."""
        return self._id if self._is_beating else None

    @property
    def _id(self) -> str:
        return f"{name_process()}.{self._number}-{self._lives}"

    def beat(self) -> bool:
        """Say that this process lives; False where it was declared dead meanwhile, and begins anew under another id.

        Raises:
            SettingsInvalid, StorageUnavailable: the database cannot be used.
        """
        with self._lock:
            is_known = self._beat_once()
            if not is_known:
                self._lives += 1
                self._beat_once()
            self._is_beating = True
            return is_known

    def leave(self) -> None:
        """Say that this process ends; runs that it has not ended are free at once.

        Raises:
            SettingsInvalid, StorageUnavailable: the database cannot be used.
        """
        with self._lock:
            self._is_beating = False
            self._database.change(
                lambda connection: connection.execute("DELETE FROM plan_worker WHERE id = %s", (self._id,))
            )

    def list_abandoned(self) -> list[AbandonedRun]:
        """Declare silent workers dead, and return runs of dead ones that this program may carry on, oldest first.

        Raises:
            SettingsInvalid, StorageUnavailable: the database cannot be used.
        """

        def look(connection: "psycopg.Connection") -> list[AbandonedRun]:
            connection.execute(_DECLARE_DEAD, (self.dead_after_s, self._id))
            connection.execute(_FORGET)
            rows = connection.execute(_LIST_ABANDONED, (MOST_TAKEOVERS, PROTOCOL, _MOST_AT_ONCE))
            return [AbandonedRun(*row) for row in rows.fetchall()]

        return self._database.change(look)

    def _beat_once(self) -> bool:
        return self._database.change(lambda connection: connection.execute(_BEAT, (self._id,)).rowcount > 0)


@cache
def name_process() -> str:
    """Return the name of this process, which no other ever has: one that comes back would speak for one that lives."""
    return f"{platform.node()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def process_of(worker: str) -> str:
    """Return the name of a worker's process."""
    return worker.rpartition(".")[0]
