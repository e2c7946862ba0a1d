"""Rate limits for sources and tools: in memory, or shared in a SQLite file or a database.

The algorithm is GCRA, the generic cell rate algorithm: each limit stores the instant at which it is fully available
again. A call is allowed if that instant is at most ``burst - 1`` intervals in the future. Each allowed call advances
the instant by one interval, and a pause advances it further.
"""

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fingerpost import clock
from fingerpost.errors import SourceLimited, StorageUnavailable
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.store.sqlite import SqliteFile
from fingerpost.store.tables import LIMITS, MemoryTables, OpenSqliteTables, Tables

MAX_PAUSE_MS = 86_400_000
DEFAULT_CALLS_PER_SECOND = 5

_log = logging.getLogger(__name__)

# Allows for callers that read the clock long before their turn to write.
_CLOCK_TOLERANCE_MS = 2_000
# Ignore instants too far in the future, which were stored before the clock was set back.
_TAKE = """
    INSERT INTO rate_limit (name, free_ms) VALUES (%(name)s, {now_ms} + %(interval_ms)s)
    ON CONFLICT (name) DO UPDATE SET free_ms = %(interval_ms)s + CASE
        WHEN rate_limit.free_ms BETWEEN {now_ms} AND {now_ms} + %(max_ahead_ms)s THEN rate_limit.free_ms
        ELSE {now_ms}
    END
    WHERE rate_limit.free_ms <= {now_ms} + %(slack_ms)s OR rate_limit.free_ms > {now_ms} + %(max_ahead_ms)s
"""
_WAIT = "SELECT free_ms - %(slack_ms)s - {now_ms} FROM rate_limit WHERE name = %(name)s"
_PAUSE = """
    INSERT INTO rate_limit (name, free_ms) VALUES (%(name)s, {now_ms} + %(slack_ms)s + %(pause_ms)s)
    ON CONFLICT (name) DO UPDATE SET free_ms = excluded.free_ms
    WHERE rate_limit.free_ms < excluded.free_ms OR rate_limit.free_ms > {now_ms} + %(max_ahead_ms)s
"""
_DATABASE_MS = "floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A rate limit: at most ``burst + per_second * t`` calls in t seconds.

    ``longest_pause_ms`` is 0 if pauses are not allowed.
    """

    name: str
    per_second: float
    burst: int = 1
    longest_pause_ms: int = MAX_PAUSE_MS

    @property
    def interval_ms(self) -> int:
        return math.ceil(1000 / self.per_second)

    @property
    def slack_ms(self) -> int:
        """How far in the future a limit's stored instant may be for the next call to be allowed."""
        return self.interval_ms * (self.burst - 1)

    @property
    def max_ahead_ms(self) -> int:
        return self.interval_ms * self.burst + self.longest_pause_ms + _CLOCK_TOLERANCE_MS


class Limits:
    """Stores rate limits; methods may block, and may raise SettingsInvalid or StorageUnavailable.

    ``now_ms`` is in Unix milliseconds. A database uses its own clock, because the machines' clocks may differ.
    """

    def __init__(self, storage: Path | Tables | None = None, *, now_ms: str | None = None) -> None:
        clock_ms = now_ms or ("%(now_ms)s" if storage is None or isinstance(storage, Path) else _DATABASE_MS)
        self._take, self._wait, self._pause = [text.format(now_ms=clock_ms) for text in (_TAKE, _WAIT, _PAUSE)]
        self._tables: Tables
        if storage is None:
            self._tables = MemoryTables(LIMITS)
        elif isinstance(storage, Path):
            # Do not sync to disk, because a lost commit is harmless and waiting would slow every request.
            file = SqliteFile(path=storage, contents="limits", synchronous="OFF", advice="remove it and try again")
            self._tables = OpenSqliteTables(file, [LIMITS])
        else:
            self._tables = storage

    def take(self, pace: Pace, now_ms: int) -> int:
        """Count a call and return 0, or return the required wait in milliseconds without counting the call."""
        return self._tables.change(partial(self._count, values=_build_values(pace, now_ms=now_ms)))

    def try_take(self, pace: Pace, now_ms: int) -> int | None:
        """Like ``take``, but return None if that might block."""
        count = partial(self._count, values=_build_values(pace, now_ms=now_ms))
        if isinstance(self._tables, OpenSqliteTables):
            return self._tables.try_change(count)
        return self._tables.change(count) if isinstance(self._tables, MemoryTables) else None

    def _count(self, connection: Any, *, values: Mapping[str, str | int]) -> int:
        if connection.execute(self._take, values).rowcount:
            return 0
        row = connection.execute(self._wait, values).fetchone()
        # Return at least 1, because the database's clock has advanced since the first statement.
        return max(1, row[0] if row else 1)

    def pause(self, pace: Pace, pause_ms: int, now_ms: int) -> None:
        """Block all calls for a while; an existing longer pause is not shortened."""
        values = _build_values(pace, now_ms=now_ms, pause_ms=pause_ms)
        self._tables.change(lambda connection: connection.execute(self._pause, values))


def _build_values(pace: Pace, **extra: int) -> dict[str, str | int]:
    values: dict[str, str | int] = {"name": pace.name, "interval_ms": pace.interval_ms}
    return values | {"slack_ms": pace.slack_ms, "max_ahead_ms": pace.max_ahead_ms} | extra


class CallLimit:
    """Allows at most ``per_second`` calls to a tool within any second; further calls fail at once (rule E2).

    Each call takes one of ``per_second`` slots for a second, because a token bucket with a burst would allow nearly
    twice as many calls in its first second. ``clock_ms`` returns Unix milliseconds.
    """

    def __init__(
        self,
        tool: str,
        per_second: int,
        limits: Limits | None = None,
        clock_ms: Callable[[], int] = clock.read_system_ms,
    ) -> None:
        self._tool = tool
        self._slots = [
            Pace(name=f"{tool} {slot}", per_second=1, longest_pause_ms=0) for slot in range(1, per_second + 1)
        ]
        self._local_limits = Limits()
        self._limits = limits or self._local_limits
        self._clock_ms = clock_ms

    async def enter(self) -> None:
        """Count a call, or raise SourceLimited; if the shared store fails, count in this process."""
        now_ms = self._clock_ms()
        try:
            wait_ms = await run_in_thread(self._take_slot, self._limits, now_ms)
        except StorageUnavailable as error:
            _log.warning("tool=%s is counting its calls in this process only: %s", self._tool, error.message)
            wait_ms = self._take_slot(self._local_limits, now_ms)
        if wait_ms:
            raise SourceLimited(
                f"{self._tool} allows {len(self._slots)} calls per second", retry_after_s=wait_ms / 1000
            )

    def _take_slot(self, limits: Limits, now_ms: int) -> int:
        waits_ms = []
        for slot in self._slots:
            waits_ms.append(limits.take(slot, now_ms))
            if waits_ms[-1] == 0:
                return 0
        return min(waits_ms)
