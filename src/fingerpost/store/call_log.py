"""The calls of a tool within the last span of time, of all processes of a home folder: one SQLite table.

The rows may be lost without harm: the count then starts afresh.
"""

from pathlib import Path

from fingerpost.store.sqlite import SqliteFile

_TABLE = "CREATE TABLE IF NOT EXISTS calls (tool TEXT NOT NULL, passed_ms INTEGER NOT NULL)"


class SqliteCallLog:
    """Counts the calls of one tool.

    Args:
        path: the file; others may keep tables of their own in it.
        tool: whose calls are counted.
    """

    def __init__(self, path: Path, tool: str) -> None:
        # A lost commit costs a call more; waiting for the disk would cost every call.
        self._file = SqliteFile(path=path, holds="limits", synchronous="OFF", remedy="remove it and try again")
        self._tool = tool

    def pass_at(self, now_ms: int, most: int, span_ms: int) -> int | None:
        """Count a call; return None, or in how many milliseconds one may pass where ``most`` have within the span.

        One that may not pass does not count, nor do calls of the future, where the clock was set back.

        Raises:
            SettingsInvalid: the file cannot be used.
            StorageUnavailable: it is busy or full.
        """
        with self._file.translating_sqlite_errors():
            self._file.path.parent.mkdir(parents=True, exist_ok=True)
        with self._file.opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TABLE)
            connection.execute(
                "DELETE FROM calls WHERE tool = ? AND NOT (passed_ms > ? AND passed_ms <= ?)",
                (self._tool, now_ms - span_ms, now_ms),
            )
            count, first_ms = connection.execute(
                "SELECT count(*), min(passed_ms) FROM calls WHERE tool = ?", (self._tool,)
            ).fetchone()
            may_pass = count < most
            if may_pass:
                connection.execute("INSERT INTO calls (tool, passed_ms) VALUES (?, ?)", (self._tool, now_ms))
            connection.execute("COMMIT")
        return None if may_pass else int(first_ms) + span_ms - now_ms
