"""State of rate limits in the shared database: all machines together keep to the pace of a source."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pyrate_limiter import Rate, StateStore
from pyrate_limiter.abstracts.algorithm import Decision, State, StateAlgorithm
from pyrate_limiter.clocks import AbstractClock, WallClock

from fingerpost.store.limits import LONGEST_PAUSE_MS, believable_state, decode_state, encode_state
from fingerpost.store.postgres.database import Database

if TYPE_CHECKING:
    import psycopg

_LIST = """
    SELECT name, paused_until_ms, paused_until_ms - floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
    FROM rate_limit ORDER BY name
"""
_LOCK = """
    SELECT state, paused_until_ms, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
    FROM rate_limit WHERE name = %s FOR NO KEY UPDATE
"""


class SharedLimits:
    """The rate limits of all machines; ``clock_ms`` is this machine's clock, in milliseconds since 1970.

    Instants are the database's: a machine whose clock is wrong waits as long as the others.
    """

    def __init__(self, database: Database, *, clock_ms: Callable[[], int] | None = None) -> None:
        self._database = database
        self._clock_ms = clock_ms or WallClock().now

    def limit(self, name: str) -> "SharedLimit":
        """Return one limit's store."""
        return SharedLimit(self._database, name, self._clock_ms)

    def list_pauses(self) -> dict[str, datetime]:
        """Return by the limit's name until when (UTC) its source wants nobody to ask; only what is to come."""
        rows = self._database.read(lambda connection: connection.execute(_LIST).fetchall())
        return {
            name: datetime.fromtimestamp(until_ms / 1000, UTC)
            for name, until_ms, left_ms in rows
            if 0 < left_ms <= LONGEST_PAUSE_MS
        }


class SharedLimit(StateStore):
    """One rate limit: pyrate-limiter's state, and a pause that the source has asked for."""

    is_async = False
    default_clock: AbstractClock = WallClock()

    def __init__(self, database: Database, name: str, clock_ms: Callable[[], int]) -> None:
        self._database = database
        self._name = name
        self._clock_ms = clock_ms

    def try_check(self, algorithm: StateAlgorithm, rates: list[Rate], now: int, weight: int) -> None:
        """Nothing: a database is a wait."""

    def check(self, algorithm: StateAlgorithm, rates: list[Rate], now: int, weight: int) -> Decision:
        """Take ``weight`` tokens at ``now`` (milliseconds since 1970), or say how long they are not to be had."""

        def take(connection: "psycopg.Connection") -> Decision:
            text, paused_until_ms, ahead_ms = self._lock_row(connection)
            now_ms = now + ahead_ms
            paused_ms = paused_until_ms - now_ms
            if 0 < paused_ms <= LONGEST_PAUSE_MS:
                return Decision(failing_rate=rates[0], retry_after_ms=paused_ms)
            before = believable_state(decode_state(algorithm, rates, text), rates, now_ms)
            state, decision = algorithm.step(rates, before, now_ms, weight)
            if decision.allowed:
                connection.execute(
                    "UPDATE rate_limit SET state = %s WHERE name = %s", (encode_state(state), self._name)
                )
            return decision

        return self._database.change(take)

    def pause(self, until_ms: int) -> None:
        """Let nobody pass before an instant; a longer pause that is set already stays."""

        def write(connection: "psycopg.Connection") -> None:
            _text, _paused_until_ms, ahead_ms = self._lock_row(connection)
            connection.execute(
                "UPDATE rate_limit SET paused_until_ms = greatest(paused_until_ms, %s) WHERE name = %s",
                (until_ms + ahead_ms, self._name),
            )

        self._database.change(write)

    def read(self, algorithm: StateAlgorithm, rates: list[Rate]) -> State:
        """Return the state, for reports."""
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT state FROM rate_limit WHERE name = %s", (self._name,)
            ).fetchone()
        )
        return decode_state(algorithm, rates, row[0] if row else "")

    def reset(self) -> None:
        """Forget the limit's state and its pause."""
        self._database.change(
            lambda connection: connection.execute("DELETE FROM rate_limit WHERE name = %s", (self._name,))
        )

    def _lock_row(self, connection: "psycopg.Connection") -> tuple[str, int, int]:
        """Lock the limit's row and return its state, its pause, and how far the database's clock is ahead of ours."""
        while True:
            asked_ms = self._clock_ms()
            row = connection.execute(_LOCK, (self._name,)).fetchone()
            answered_ms = self._clock_ms()
            if row is not None:
                break
            connection.execute("INSERT INTO rate_limit (name) VALUES (%s) ON CONFLICT DO NOTHING", (self._name,))
        text, paused_until_ms, theirs_ms = row
        # Whatever lies between question and answer may be the same instant.
        ahead_ms = theirs_ms - min(max(theirs_ms, asked_ms), answered_ms)
        return text, paused_until_ms, ahead_ms
