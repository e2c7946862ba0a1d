"""The embedded journal: all runs in one SQLite file (WAL), shared by many processes without a server."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from fingerpost.plan.engines.recording import RecordingJournal, draw_ids, run_of, write_given
from fingerpost.plan.engines.run_lock import RunLocks
from fingerpost.plan.engines.runs_file import FileSession, RunsFile
from fingerpost.plan.journal import Event, NewRun, RunLine, RunRecord, Signal, StepRecord, Verb
from fingerpost.plan.limits import encode

_R = TypeVar("_R")

_LOOK_S = 0.01

_PUT_STEP = (
    "INSERT INTO step (run_id, step_id, state, output, note, attempts, at) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (run_id, step_id) DO UPDATE SET"
    " state = excluded.state, output = excluded.output, note = excluded.note,"
    " attempts = excluded.attempts, at = excluded.at"
)
_PUT_EVENT = "INSERT INTO event (run_id, seq, at, kind, step_id, data) VALUES (?, ?, ?, ?, ?, ?)"
_PUT_STATE = "UPDATE run SET state = ?, ended_at = ? WHERE id = ?"


class EmbeddedJournal(RecordingJournal):
    """A journal in a folder: ``runs.sqlite``, and one lock file per run that is being executed."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._file = RunsFile(Path(folder) / "runs.sqlite")
        self._locks = RunLocks(Path(folder) / "runs.locks")

    async def create(self, run: NewRun) -> str:
        def write(connection: sqlite3.Connection) -> str:
            memory = write_given(run.given)
            connection.execute("BEGIN IMMEDIATE")
            for run_id in draw_ids(run):
                done = connection.execute(
                    "INSERT INTO run (id, user, plan, goal, step_count, given, state, created_at, protocol)"
                    " VALUES (?, ?, ?, ?, ?, ?, 'running', ?, ?) ON CONFLICT (id) DO NOTHING",
                    (run_id, run.user, run.plan_json, _storable(run.goal), run.steps, memory, run.at, run.protocol),
                )
                if done.rowcount:
                    break
            connection.execute("COMMIT")
            return run_id

        return await self._asked(write)

    async def find(self, run_id: str) -> RunRecord | None:
        return await self._asked(lambda connection: _read_run(connection, run_id), absent=None)

    async def is_untouched(self, run_id: str) -> bool:
        query = (
            "SELECT state = 'running' AND NOT EXISTS (SELECT 1 FROM event WHERE run_id = id)"
            " AND NOT EXISTS (SELECT 1 FROM step WHERE run_id = id)"
            " AND NOT EXISTS (SELECT 1 FROM signal WHERE run_id = id) FROM run WHERE id = ?"
        )
        return await self._asked(lambda connection: connection.execute(query, (run_id,)).fetchone() == (1,))

    async def list_runs(self, user: str | None, limit: int) -> list[RunLine]:
        def read(connection: sqlite3.Connection) -> list[RunLine]:
            rows = connection.execute(
                "SELECT id, state, goal, created_at, ended_at, step_count,"
                " (SELECT count(*) FROM step WHERE run_id = id AND step.state IN ('completed', 'skipped'))"
                " FROM run WHERE user IS ? ORDER BY created_at DESC, rowid DESC LIMIT ?",
                (user, limit),
            )
            return [RunLine(*row) for row in rows]

        return await self._asked(read, absent=[])

    async def list_events(self, run_id: str, after: int, limit: int) -> list[Event]:
        def read(connection: sqlite3.Connection) -> list[Event]:
            rows = connection.execute(
                "SELECT seq, at, kind, step_id, data FROM event WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
                (run_id, after, limit),
            )
            return [Event(*row) for row in rows]

        return await self._asked(read, absent=[])

    async def change_plan(self, run_id: str, plan_json: str, goal: str, forget: Sequence[int], event: Event) -> None:
        def write(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "UPDATE run SET plan = ?, goal = ?, step_count = ?, state = 'running', ended_at = NULL,"
                " replans = replans + 1 WHERE id = ?",
                (plan_json, _storable(goal), len(json.loads(plan_json)["steps"]), run_id),
            )
            connection.executemany(
                "DELETE FROM step WHERE run_id = ? AND step_id = ?", [(run_id, number) for number in forget]
            )
            connection.execute(_PUT_EVENT, (run_id, *event))
            connection.execute("COMMIT")

        await self._asked(write)

    async def signal(self, run_id: str, verb: Verb, step_id: int | None, value: Any) -> None:
        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO signal (run_id, verb, step_id, value) VALUES (?, ?, ?, ?)",
                (run_id, verb, step_id, encode(value)),
            )

        await self._asked(write)

    async def list_signals(self, run_id: str, after: int) -> list[Signal]:
        def read(connection: sqlite3.Connection) -> list[Signal]:
            rows = connection.execute(
                "SELECT seq, verb, step_id, value FROM signal WHERE run_id = ? AND seq > ? ORDER BY seq",
                (run_id, after),
            )
            return [Signal(seq, verb, step_id, json.loads(value)) for seq, verb, step_id, value in rows]

        return await self._asked(read, absent=[])

    @asynccontextmanager
    async def hold(self, run_id: str) -> AsyncIterator[bool]:
        for is_last in (False, False, False, True):
            with self._locks.hold(run_id) as is_ours:
                if is_ours or is_last:
                    try:
                        yield is_ours
                    finally:
                        if is_ours and self._writer is not None:
                            await self._writer.drained()
                    return
            # Whoever only looks whether a run is held, holds it for an instant.
            await asyncio.sleep(_LOOK_S)

    async def is_held(self, run_id: str) -> bool:
        return self._locks.is_held(run_id)

    async def forget_before(self, at: str) -> int:
        def write(connection: sqlite3.Connection) -> int:
            connection.execute("BEGIN IMMEDIATE")
            old = [row[0] for row in connection.execute("SELECT id FROM run WHERE ended_at < ?", (at,))]
            for statement in (
                "DELETE FROM step WHERE run_id = ?",
                "DELETE FROM event WHERE run_id = ?",
                "DELETE FROM signal WHERE run_id = ?",
                "DELETE FROM run WHERE id = ?",
            ):
                connection.executemany(statement, [(run_id,) for run_id in old])
            connection.execute("COMMIT")
            return len(old)

        return await self._asked(write, absent=0)

    def _new_session(self) -> FileSession:
        return FileSession(self._file.connect, (_PUT_STEP, _PUT_EVENT, _PUT_STATE))

    def _storable_note(self, note: str | None) -> str | None:
        return note and _storable(note)

    async def _asked(self, act: Callable[[sqlite3.Connection], _R], **absent: _R) -> _R:
        """Run a query in the writer's thread; return ``absent`` if there is no file yet."""
        if absent and not self._file.exists():
            return absent["absent"]

        with self._file.translating_sqlite_errors():
            return await self._writing().ask(act)


def _storable(text: str) -> str:
    """Return a text with lone surrogates, which UTF-8 cannot encode, replaced by ``?``."""
    return text.encode("utf-8", "replace").decode()


def _read_run(connection: sqlite3.Connection, run_id: str) -> RunRecord | None:
    connection.execute("BEGIN")
    row = connection.execute(
        "SELECT user, plan, given, state, created_at, ended_at, protocol, replans FROM run WHERE id = ?", (run_id,)
    ).fetchone()
    if row is None:
        return None
    steps = connection.execute(
        "SELECT step_id, state, output, note, attempts, at FROM step WHERE run_id = ?", (run_id,)
    ).fetchall()
    last = connection.execute("SELECT max(seq) FROM event WHERE run_id = ?", (run_id,)).fetchone()[0]
    connection.execute("COMMIT")
    return run_of(run_id, row, [StepRecord(*step) for step in steps], last)
