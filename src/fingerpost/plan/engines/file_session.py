"""The SQLite connection of a journal's writer."""

import sqlite3
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from fingerpost.plan.engines.group_commit import Row

_R = TypeVar("_R")


class FileSession:
    """One connection to the file of runs, opened when it is first needed; see ``group_commit.JournalSession``.

    ``statements`` write a step, an event and a run's state.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], statements: tuple[str, str, str]) -> None:
        self._connect = connect
        self._statements = statements
        self._connection: sqlite3.Connection | None = None

    def ask(self, act: Callable[[sqlite3.Connection], _R]) -> _R:
        """Return what a function of the connection returns."""
        connection = self._opened()
        try:
            return act(connection)
        finally:
            _roll_back(connection)

    def commit(self, steps: Sequence[Row], events: Sequence[Row], states: Sequence[Row]) -> Collection[str]:
        """Write rows in one transaction; a run's lock ends with its process alone, so none is refused."""
        connection = self._opened()
        try:
            connection.execute("BEGIN IMMEDIATE")
            for statement, rows in zip(self._statements, (steps, events, states), strict=True):
                if rows:
                    connection.executemany(statement, rows)
            connection.execute("COMMIT")
        finally:
            _roll_back(connection)
        return ()

    def give_up(self) -> None:
        """Do nothing: SQLite waits for a busy file, and no longer than it was told to."""

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
