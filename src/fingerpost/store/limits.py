"""Rate limits that processes share: in memory, in a SQLite file, or in the database of several machines.

Each limit is one instant (GCRA, the generic cell rate algorithm): the one from which it is unused. A call moves the
instant on by one interval, and passes if it was less than ``burst`` intervals ahead. A pause moves it further.
The instants may be lost without harm: a limit then starts afresh.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fingerpost import clock
from fingerpost.store.sqlite import SqliteFile

if TYPE_CHECKING:
    import sqlite3

    import psycopg

    from fingerpost.store.postgres.database import Database

LONGEST_PAUSE_MS = 86_400_000

# No rate alone keeps a call waiting for longer, so the source has asked for it.
_PAUSE_BEGINS_MS = 60_000
# A caller may have read the clock long before its turn to write, and must not take the instant for a wrong clock's.
_READ_BEFORE_MS = 2_000
_TABLE = "CREATE TABLE IF NOT EXISTS rate_limit (name TEXT PRIMARY KEY, free_ms INTEGER NOT NULL) WITHOUT ROWID"

# The same text for both databases, which differ in how they write parameters and in whose clock counts.
# An instant too far ahead is from before the clock was set back, and does not count.
_TAKE = """
    INSERT INTO rate_limit (name, free_ms) VALUES ({name}, {now_ms} + {interval_ms})
    ON CONFLICT (name) DO UPDATE SET free_ms = {interval_ms} + CASE
        WHEN rate_limit.free_ms BETWEEN {now_ms} AND {now_ms} + {longest_ms} THEN rate_limit.free_ms
        ELSE {now_ms}
    END
    WHERE rate_limit.free_ms <= {now_ms} + {slack_ms} OR rate_limit.free_ms > {now_ms} + {longest_ms}
"""
_WAIT = "SELECT free_ms - {slack_ms} - {now_ms} FROM rate_limit WHERE name = {name}"
_PAUSE = """
    INSERT INTO rate_limit (name, free_ms) VALUES ({name}, {now_ms} + {slack_ms} + {pause_ms})
    ON CONFLICT (name) DO UPDATE SET free_ms = excluded.free_ms
    WHERE rate_limit.free_ms < excluded.free_ms OR rate_limit.free_ms > {now_ms} + {longest_ms}
"""
_LIST = """
    SELECT name, free_ms FROM rate_limit
    WHERE free_ms > {now_ms} + {begins_ms} AND free_ms <= {now_ms} + {longest_ms} ORDER BY name
"""
_PARAMETERS = ("name", "now_ms", "interval_ms", "slack_ms", "longest_ms", "pause_ms", "begins_ms")
_LISTED = {"begins_ms": _PAUSE_BEGINS_MS, "longest_ms": LONGEST_PAUSE_MS + _PAUSE_BEGINS_MS}

_Values = dict[str, str | int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """``burst`` calls at once, and one more after each interval.

    ``longest_pause_ms`` is 0 for a limit that no source can pause.
    """

    interval_ms: int
    burst: int = 1
    longest_pause_ms: int = LONGEST_PAUSE_MS

    @property
    def slack_ms(self) -> int:
        """How far ahead a limit's instant may be for a call to pass."""
        return self.interval_ms * (self.burst - 1)

    @property
    def longest_ms(self) -> int:
        """How far ahead a limit's instant can be."""
        return self.interval_ms * self.burst + self.longest_pause_ms + _READ_BEFORE_MS


class Limits(Protocol):
    """The instants of all limits. The methods may block and may be called by any thread.

    ``now_ms`` counts from 1970; limits that several machines share go by the clock of their database instead.
    Every method may raise SettingsInvalid (the operator must act) or StorageUnavailable (try again).
    """

    def take(self, name: str, rate: Rate, now_ms: int) -> int:
        """Count a call and return 0; or return in how many milliseconds one may pass, and count nothing."""
        ...

    def pause(self, name: str, rate: Rate, pause_ms: int, now_ms: int) -> None:
        """Let no call pass for a while; a longer pause that is set already stays."""
        ...

    def list_pauses(self, now_ms: int) -> dict[str, datetime]:
        """Return by the limit's name until when (UTC) its source wants no calls."""
        ...


class MemoryLimits:
    """Limits of this process."""

    def __init__(self) -> None:
        self._free_ms: dict[str, int] = {}
        self._lock = threading.Lock()

    def take(self, name: str, rate: Rate, now_ms: int) -> int:
        with self._lock:
            free_ms = self._free_ms.get(name, 0)
            if free_ms > now_ms + rate.longest_ms:
                free_ms = now_ms
            if free_ms > now_ms + rate.slack_ms:
                return free_ms - rate.slack_ms - now_ms
            self._free_ms[name] = max(free_ms, now_ms) + rate.interval_ms
            return 0

    def pause(self, name: str, rate: Rate, pause_ms: int, now_ms: int) -> None:
        with self._lock:
            self._free_ms[name] = max(self._free_ms.get(name, 0), now_ms + rate.slack_ms + pause_ms)

    def list_pauses(self, now_ms: int) -> dict[str, datetime]:
        with self._lock:
            found = sorted(self._free_ms.items())
        return {name: _instant(free_ms) for name, free_ms in found if free_ms > now_ms + _PAUSE_BEGINS_MS}


class LimitFile:
    """Limits of all processes of a home folder: one SQLite table."""

    def __init__(self, path: Path) -> None:
        # A lost commit costs a call; waiting for the disk would cost every request.
        self._file = SqliteFile(path=path, holds="limits", synchronous="OFF", remedy="remove it and try again")

    def take(self, name: str, rate: Rate, now_ms: int) -> int:
        values = _values(name, rate, now_ms=now_ms)
        with self._writing() as connection:
            if connection.execute(_for_sqlite(_TAKE), values).rowcount:
                return 0
            return int(connection.execute(_for_sqlite(_WAIT), values).fetchone()[0])

    def pause(self, name: str, rate: Rate, pause_ms: int, now_ms: int) -> None:
        with self._writing() as connection:
            connection.execute(_for_sqlite(_PAUSE), _values(name, rate, now_ms=now_ms, pause_ms=pause_ms))

    def list_pauses(self, now_ms: int) -> dict[str, datetime]:
        if not self._file.path.exists():
            return {}
        with self._file.reading() as connection:
            # Whoever made the file may not have got further yet.
            if not connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'rate_limit'").fetchone()[0]:
                return {}
            rows = connection.execute(_for_sqlite(_LIST), {"now_ms": now_ms, **_LISTED}).fetchall()
        return {name: _instant(free_ms) for name, free_ms in rows}

    @contextmanager
    def _writing(self) -> "Iterator[sqlite3.Connection]":
        with self._file.translating_sqlite_errors():
            self._file.path.parent.mkdir(parents=True, exist_ok=True)
        with self._file.opened() as connection:
            connection.execute(_TABLE)
            yield connection


class SharedLimits:
    """Limits of all machines of a database.

    Args:
        database: holds the table.
        now_ms: the clock in SQL, by default the database's: a machine whose clock is wrong waits as long as the others.
    """

    def __init__(
        self,
        database: "Database",
        *,
        now_ms: str = "floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint",
    ) -> None:
        self._database = database
        self._names = {name: f"%({name})s" for name in _PARAMETERS} | {"now_ms": now_ms}

    def take(self, name: str, rate: Rate, now_ms: int) -> int:
        values = _values(name, rate, now_ms=now_ms)

        def write(connection: "psycopg.Connection") -> int:
            if connection.execute(self._sql(_TAKE), values).rowcount:
                return 0
            row = connection.execute(self._sql(_WAIT), values).fetchone()
            # The clock has gone on since the first statement.
            return max(1, row[0] if row else 1)

        return self._database.change(write)

    def pause(self, name: str, rate: Rate, pause_ms: int, now_ms: int) -> None:
        values = _values(name, rate, now_ms=now_ms, pause_ms=pause_ms)
        self._database.change(lambda connection: connection.execute(self._sql(_PAUSE), values))

    def list_pauses(self, now_ms: int) -> dict[str, datetime]:
        values = {"now_ms": now_ms, **_LISTED}
        rows = self._database.read(lambda connection: connection.execute(self._sql(_LIST), values).fetchall())
        return {name: _instant(free_ms) for name, free_ms in rows}

    def _sql(self, text: str) -> bytes:
        return text.format_map(self._names).encode()


def read_clock_ms() -> int:
    """Return the machine's time in milliseconds since 1970, which FINGERPOST_NOW does not change."""
    return int(clock.system_s() * 1000)


def _for_sqlite(text: str) -> str:
    return text.format_map({name: f":{name}" for name in _PARAMETERS})


def _values(name: str, rate: Rate, **more: int) -> _Values:
    given: _Values = {"name": name, "interval_ms": rate.interval_ms}
    return given | {"slack_ms": rate.slack_ms, "longest_ms": rate.longest_ms} | more


def _instant(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
