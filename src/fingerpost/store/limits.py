"""State of rate limits, shared by all processes of a home folder: one SQLite file, one row per limit.

The numbers may be lost without harm: a limit then starts afresh.
"""

import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pyrate_limiter import Rate, StateStore
from pyrate_limiter.abstracts.algorithm import Decision, State, StateAlgorithm
from pyrate_limiter.clocks import AbstractClock, WallClock

from fingerpost.store.sqlite import SqliteFile, primary_code, use_write_ahead_log

LONGEST_PAUSE_MS = 86_400_000

_TABLE = """
    CREATE TABLE IF NOT EXISTS limits (
        name TEXT PRIMARY KEY,
        state TEXT NOT NULL DEFAULT '',
        paused_until_ms INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID
"""

_PAUSES = "SELECT name, paused_until_ms FROM limits ORDER BY name"


class _Row(NamedTuple):
    state: str = ""
    paused_until_ms: int = 0


class LimitsHeld(Exception):
    """Another thread or process holds the file of limits just now."""


class LimitFile:
    """The SQLite file of all rate limits' states.

    Every method may raise SettingsInvalid (the file cannot be used) or StorageUnavailable (it is busy or full).
    """

    def __init__(self, path: Path) -> None:
        # A lost commit costs a few tokens; waiting for the disk would cost every request.
        self._file = SqliteFile(
            path=path, holds="limits", synchronous="OFF", any_thread=True, remedy="remove it and try again"
        )
        self._lock = threading.Lock()
        self._kept = _OpenFile()
        weakref.finalize(self, self._kept.close)

    def limit(self, name: str) -> "SqliteLimit":
        """Return one limit's store."""
        return SqliteLimit(self, name)

    def list_pauses(self) -> dict[str, datetime]:
        """Return by the limit's name until when (UTC) its source wants nobody to ask; only what is to come."""
        if not self._file.path.exists():
            return {}
        now_ms = WallClock().now()
        with self._file.reading() as connection:
            # Who made the file may not have got further yet.
            has_table = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'limits'").fetchone()[0]
            found = connection.execute(_PAUSES).fetchall() if has_table else []
        return {
            name: datetime.fromtimestamp(until_ms / 1000, UTC)
            for name, until_ms in found
            if 0 < until_ms - now_ms <= LONGEST_PAUSE_MS
        }

    @contextmanager
    def changing(self, name: str, *, may_wait: bool = True) -> Iterator[tuple[sqlite3.Connection, _Row]]:
        """Lock the file, give one limit's row, and commit when the block ends.

        Raises:
            LimitsHeld: another holds the file, and this caller may not wait.
        """
        with self._locked(may_wait=may_wait), self._file.translating_sqlite_errors():
            connection = self._connect()
            try:
                _begin(connection, self._file.busy_timeout_s if may_wait else 0.0)
                if not self._kept.has_table:
                    connection.execute(_TABLE)
                    self._kept.has_table = True
                asked = connection.execute("SELECT state, paused_until_ms FROM limits WHERE name = ?", (name,))
                found = asked.fetchone()
                yield connection, _Row(*found) if found else _Row()
                connection.execute("COMMIT")
            except LimitsHeld:
                raise
            except BaseException:
                self._kept.close()
                raise

    @contextmanager
    def _locked(self, *, may_wait: bool) -> Iterator[None]:
        if not self._lock.acquire(blocking=may_wait):
            raise LimitsHeld
        try:
            yield
        finally:
            self._lock.release()

    def _connect(self) -> sqlite3.Connection:
        """Return the connection that is kept, as long as the file is the one that it opened."""
        # Opening the file anew was measured to cost each request eight times as much.
        stamp = _stamp_of(self._file.path)
        if self._kept.connection is None or stamp is None or stamp != self._kept.stamp:
            self._kept.close()
            self._file.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._kept.connection = self._file.connect()
            # A rollback journal is made and removed for each request, which takes ten times as long.
            use_write_ahead_log(connection)
            self._kept.stamp = _stamp_of(self._file.path)
        return self._kept.connection


class _OpenFile:
    """An open connection, the inode of its file, and whether the table has been looked for."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection | None = None
        self.has_table = False
        self.stamp: tuple[int, int] | None = None

    def close(self) -> None:
        """Close the connection; a transaction that it did not commit is rolled back."""
        if self.connection is not None:
            self.connection.close()
            self.connection, self.has_table = None, False


def _begin(connection: sqlite3.Connection, busy_timeout_s: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {round(busy_timeout_s * 1000)}")
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if busy_timeout_s == 0 and primary_code(error) == sqlite3.SQLITE_BUSY:
            raise LimitsHeld from error
        raise


def _stamp_of(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class SqliteLimit(StateStore):
    """One rate limit: pyrate-limiter's state, and a pause that the source has asked for."""

    is_async = False
    # Instants are compared across processes, which a monotonic clock does not promise.
    default_clock: AbstractClock = WallClock()

    def __init__(self, file: LimitFile, name: str) -> None:
        self._file = file
        self._name = name

    def check(self, algorithm: StateAlgorithm, rates: list[Rate], now: int, weight: int) -> Decision:
        """Take ``weight`` tokens at ``now`` (milliseconds since 1970), or say how long they are not to be had."""
        return self._take(algorithm, rates, now, weight, may_wait=True)

    def try_check(self, algorithm: StateAlgorithm, rates: list[Rate], now: int, weight: int) -> Decision | None:
        """As ``check``; None where another holds the file just now."""
        try:
            return self._take(algorithm, rates, now, weight, may_wait=False)
        except LimitsHeld:
            return None

    def _take(self, algorithm: StateAlgorithm, rates: list[Rate], now: int, weight: int, *, may_wait: bool) -> Decision:
        with self._file.changing(self._name, may_wait=may_wait) as (connection, row):
            paused_ms = row.paused_until_ms - now
            if 0 < paused_ms <= LONGEST_PAUSE_MS:
                return Decision(failing_rate=rates[0], retry_after_ms=paused_ms)
            state, decision = algorithm.step(
                rates, believable_state(decode_state(algorithm, rates, row.state), rates, now), now, weight
            )
            if decision.allowed:
                connection.execute(
                    "INSERT INTO limits (name, state) VALUES (?, ?) ON CONFLICT (name)"
                    " DO UPDATE SET state = excluded.state",
                    (self._name, encode_state(state)),
                )
        return decision

    def pause(self, until_ms: int) -> None:
        """Let nobody pass before an instant; a longer pause that is set already stays."""
        with self._file.changing(self._name) as (connection, _):
            connection.execute(
                "INSERT INTO limits (name, paused_until_ms) VALUES (?, ?) ON CONFLICT (name)"
                " DO UPDATE SET paused_until_ms = max(paused_until_ms, excluded.paused_until_ms)",
                (self._name, until_ms),
            )

    def read(self, algorithm: StateAlgorithm, rates: list[Rate]) -> State:
        """Return the state, for reports."""
        with self._file.changing(self._name) as (_, row):
            return decode_state(algorithm, rates, row.state)

    def reset(self) -> None:
        """Forget the limit's state and its pause."""
        with self._file.changing(self._name) as (connection, _):
            connection.execute("DELETE FROM limits WHERE name = ?", (self._name,))


def encode_state(state: State) -> str:
    """Return a state as text."""
    return " ".join(str(number) for number in state)


def decode_state(algorithm: StateAlgorithm, rates: list[Rate], text: str) -> State:
    """Return the state that a text tells of; the initial one where it tells of none, or of other rates."""
    try:
        state = algorithm.decode(text.split())
    except ValueError:
        return algorithm.initial(rates)
    # The limit may have been set up with other rates.
    return state if len(state) == len(rates) else algorithm.initial(rates)


def believable_state(state: State, rates: list[Rate], now: int) -> State:
    """Return the state as it can be at most: after the clock was set back, nobody waits for the old future.

    A token bucket is empty ``burst`` intervals ahead of now, and never emptier.
    """
    furthest = (now * 1000 + rate.burst * -(-rate.interval * 1000 // rate.limit) for rate in rates)
    return tuple(min(number, most) for number, most in zip(state, furthest, strict=True))
