"""The tables that DBOS has no place for: a user's runs, a plan that changes, its steps, events and signals."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from fingerpost.plan.engines.dbos_session import IS_HELD, PUT_EVENT, DbosSession
from fingerpost.plan.engines.recording import RecordingJournal, draw_ids, run_of, write_given
from fingerpost.plan.journal import Event, NewRun, RunLine, RunRecord, Signal, StepRecord, Verb
from fingerpost.plan.limits import encode
from fingerpost.store.postgres.database import Database

if TYPE_CHECKING:
    import psycopg

_R = TypeVar("_R")

_LINES = """
    SELECT id, state, goal, created_at, ended_at, step_count,
    (SELECT count(*) FROM plan_step WHERE run_id = id AND plan_step.state IN ('completed', 'skipped'))
    FROM plan_run
"""
_ORDER = "ORDER BY created_at DESC, number DESC LIMIT %(limit)s"
_LIST_RUNS = f"{_LINES} WHERE user_name = %(user)s {_ORDER}"
_LIST_RUNS_OF_NOBODY = f"{_LINES} WHERE user_name IS NULL {_ORDER}"


class DbosTables(RecordingJournal):
    """The records of runs in the shared database; one connection for each event loop that writes."""

    def __init__(self, database: Database, process: str) -> None:
        super().__init__()
        self._database = database
        self._process = process
        self._session: DbosSession | None = None

    async def create(self, run: NewRun) -> str:
        goal = json.dumps(run.goal)
        # One random id, however often the insert is repeated: where it is there already, it is our own, of a commit
        # whose answer was cut off.
        only = [next(draw_ids(run))] if run.base_id is None else None

        def write(connection: "psycopg.Connection") -> str:
            memory = write_given(run.given)
            for run_id in only or draw_ids(run):
                done = connection.execute(
                    "INSERT INTO plan_run (id, user_name, plan, goal, step_count, given, state, created_at, protocol)"
                    " VALUES (%s, %s, %s, %s, %s, %s, 'running', %s, %s) ON CONFLICT (id) DO NOTHING",
                    (run_id, run.user, run.plan_json, goal, run.steps, memory, run.at, run.protocol),
                )
                if done.rowcount:
                    break
            return run_id

        return await self._ask(write)

    async def find(self, run_id: str) -> RunRecord | None:
        return await self._ask(lambda connection: _read_run(connection, run_id))

    async def is_untouched(self, run_id: str) -> bool:
        query = (
            "SELECT state = 'running' AND NOT EXISTS (SELECT 1 FROM plan_event WHERE run_id = id)"
            " AND NOT EXISTS (SELECT 1 FROM plan_step WHERE run_id = id)"
            " AND NOT EXISTS (SELECT 1 FROM plan_signal WHERE run_id = id) FROM plan_run WHERE id = %s"
        )
        return await self._ask(lambda connection: connection.execute(query, (run_id,)).fetchone() == (True,))

    async def list_runs(self, user: str | None, limit: int) -> list[RunLine]:

        def read(connection: "psycopg.Connection") -> list[RunLine]:
            query = _LIST_RUNS_OF_NOBODY if user is None else _LIST_RUNS
            rows = connection.execute(query, {"user": user, "limit": limit})
            return [RunLine(row[0], row[1], json.loads(row[2]), *row[3:]) for row in rows]

        return await self._ask(read)

    async def list_events(self, run_id: str, after: int, limit: int) -> list[Event]:

        def read(connection: "psycopg.Connection") -> list[Event]:
            rows = connection.execute(
                "SELECT seq, at, kind, step_id, data FROM plan_event"
                " WHERE run_id = %s AND seq > %s ORDER BY seq LIMIT %s",
                (run_id, after, limit),
            )
            return [Event(*row) for row in rows]

        return await self._ask(read)

    async def change_plan(self, run_id: str, plan_json: str, goal: str, forget: Sequence[int], event: Event) -> None:

        def write(connection: "psycopg.Connection") -> None:
            with connection.transaction():
                # The event is there already where the answer to this very change was cut off.
                if not connection.execute(PUT_EVENT, (run_id, *event)).rowcount:
                    return
                connection.execute(
                    "UPDATE plan_run SET plan = %s, goal = %s, step_count = %s, state = 'running', ended_at = NULL,"
                    " replans = replans + 1 WHERE id = %s",
                    (plan_json, json.dumps(goal), len(json.loads(plan_json)["steps"]), run_id),
                )
                connection.execute(
                    "DELETE FROM plan_step WHERE run_id = %s AND step_id = ANY(%s)", (run_id, list(forget))
                )

        await self._ask(write)

    async def signal(self, run_id: str, verb: Verb, step_id: int | None, value: Any) -> None:
        # Twice, where an answer was cut off, it says no more than once: of two decisions the first counts.
        await self._ask(
            lambda connection: connection.execute(
                "INSERT INTO plan_signal (run_id, verb, step_id, value) VALUES (%s, %s, %s, %s)",
                (run_id, verb, step_id, encode(value)),
            )
        )

    async def list_signals(self, run_id: str, after: int) -> list[Signal]:

        def read(connection: "psycopg.Connection") -> list[Signal]:
            rows = connection.execute(
                "SELECT seq, verb, step_id, value FROM plan_signal WHERE run_id = %s AND seq > %s ORDER BY seq",
                (run_id, after),
            )
            return [Signal(seq, verb, step_id, json.loads(value)) for seq, verb, step_id, value in rows]

        return await self._ask(read)

    @asynccontextmanager
    async def hold(self, run_id: str) -> AsyncIterator[bool]:
        writer, session = self._writing(), self._session
        assert session is not None
        claiming = writer.do(lambda: session.claim(run_id))
        try:
            is_ours = await asyncio.shield(claiming)
        except asyncio.CancelledError:
            # The claim succeeds all the same, a moment later.
            claiming.add_done_callback(lambda claimed: _is_true(claimed) and writer.do(lambda: session.release(run_id)))
            raise
        try:
            yield is_ours
        finally:
            if is_ours:
                try:
                    await writer.drained()
                finally:
                    await writer.do(lambda: session.release(run_id))

    async def is_held(self, run_id: str) -> bool:
        query = f"SELECT {IS_HELD} FROM plan_run WHERE id = %s"  # noqa: S608  (constants)
        return await self._ask(lambda connection: connection.execute(query, (run_id,)).fetchone() == (True,))

    async def _forget(self, at: str) -> list[str]:
        """Remove runs that ended before an instant, and return their ids."""
        rows = await self._ask(
            lambda connection: connection.execute(
                "DELETE FROM plan_run WHERE ended_at < %s RETURNING id", (at,)
            ).fetchall()
        )
        return [row[0] for row in rows]

    def _new_session(self) -> DbosSession:
        self._session = DbosSession(self._database, self._process)
        return self._session

    def _storable_note(self, note: str | None) -> str | None:
        """Return a note as JSON, which may hold what no database text may: a NUL, half a surrogate pair."""
        return None if note is None else json.dumps(note)

    async def _ask(self, act: "Callable[[psycopg.Connection], _R]") -> _R:
        return await self._writing().ask(act)


def _is_true(answer: "asyncio.Future[bool]") -> bool:
    return not answer.cancelled() and answer.exception() is None and answer.result()


def _read_text(text: str | None) -> str | None:
    if text is None:
        return None
    found: str = json.loads(text)
    return found


def _read_run(connection: "psycopg.Connection", run_id: str) -> RunRecord | None:
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        row = connection.execute(
            "SELECT user_name, plan, given, state, created_at, ended_at, protocol, replans FROM plan_run WHERE id = %s",
            (run_id,),
        ).fetchone()
        if row is None:
            return None
        steps = connection.execute(
            "SELECT step_id, state, output, note, attempts, at FROM plan_step WHERE run_id = %s", (run_id,)
        ).fetchall()
        last = connection.execute("SELECT max(seq) FROM plan_event WHERE run_id = %s", (run_id,)).fetchone()
    records = [StepRecord(*step)._replace(note=_read_text(step[3])) for step in steps]
    return run_of(run_id, row, records, last[0] if last else None)
