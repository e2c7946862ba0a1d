"""The shared journal: runs in PostgreSQL, so that each can be carried on by any of many machines."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from fingerpost.plan.engines.group_commit import GroupCommit
from fingerpost.plan.engines.postgres_session import PUT_EVENT, PostgresSession, is_locked
from fingerpost.plan.journal import (
    ENDED,
    Event,
    Given,
    RunLine,
    RunRecord,
    RunState,
    Signal,
    StepRecord,
    Verb,
)
from fingerpost.plan.size_limits import encode
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

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "fingerpost.plan.runs")


class PostgresJournal:
    """A journal in the shared database; one connection for each event loop that records."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer: GroupCommit | None = None
        self._session: PostgresSession | None = None

    async def create(
        self,
        base_id: str | None,
        user: str | None,
        plan_json: str,
        goal: str,
        steps: int,
        given: Given,
        at: str,
        protocol: int,
    ) -> str:
        """Keep a new run."""
        memory = encode({"values": dict(given.values), "paths": dict(given.paths)})
        free_id = str(uuid.uuid4())

        def write(connection: "psycopg.Connection") -> str:
            count = 0
            while True:
                count += 1
                # Rule F4: under a fixed clock the same question has the same ids, one after the other.
                run_id = free_id if base_id is None else str(uuid.uuid5(_NAMESPACE, f"{base_id}#{count}"))
                done = connection.execute(
                    "INSERT INTO plan_run (id, user_name, plan, goal, step_count, given, state, created_at, protocol)"
                    " VALUES (%s, %s, %s, %s, %s, %s, 'running', %s, %s) ON CONFLICT (id) DO NOTHING",
                    (run_id, user, plan_json, json.dumps(goal), steps, memory, at, protocol),
                )
                # A free id that is there already is our own, of a commit whose answer was cut off.
                if done.rowcount or base_id is None:
                    return run_id

        return await self._ask(write)

    async def find(self, run_id: str) -> RunRecord | None:
        """Return a run, or None."""
        return await self._ask(lambda connection: _read_run(connection, run_id))

    async def is_untouched(self, run_id: str) -> bool:
        """Whether nothing has happened to a run yet."""
        query = (
            "SELECT state = 'running' AND NOT EXISTS (SELECT 1 FROM plan_event WHERE run_id = id)"
            " AND NOT EXISTS (SELECT 1 FROM plan_step WHERE run_id = id)"
            " AND NOT EXISTS (SELECT 1 FROM plan_signal WHERE run_id = id) FROM plan_run WHERE id = %s"
        )
        return await self._ask(lambda connection: connection.execute(query, (run_id,)).fetchone() == (True,))

    async def list_runs(self, user: str | None, limit: int) -> list[RunLine]:
        """Return a user's newest runs."""

        def read(connection: "psycopg.Connection") -> list[RunLine]:
            query = _LIST_RUNS_OF_NOBODY if user is None else _LIST_RUNS
            rows = connection.execute(query, {"user": user, "limit": limit})
            return [RunLine(row[0], row[1], json.loads(row[2]), *row[3:]) for row in rows]

        return await self._ask(read)

    async def list_events(self, run_id: str, after: int, limit: int) -> list[Event]:
        """Return what happened after an event, in order."""

        def read(connection: "psycopg.Connection") -> list[Event]:
            rows = connection.execute(
                "SELECT seq, at, kind, step_id, data FROM plan_event"
                " WHERE run_id = %s AND seq > %s ORDER BY seq LIMIT %s",
                (run_id, after, limit),
            )
            return [Event(*row) for row in rows]

        return await self._ask(read)

    def record(
        self, run_id: str, step: StepRecord | None, events: Sequence[Event], state: RunState | None, at: str
    ) -> Awaitable[None]:
        """Record a step, events and a state; the returned awaitable is done once the server has them on disk."""
        return self._writing().put(
            run_id,
            None if step is None else (run_id, *step._replace(note=_write_text(step.note))),
            [(run_id, *event) for event in events],
            None if state is None else (state, at if state in ENDED else None, run_id),
        )

    def append_event(self, run_id: str, event: Event) -> None:
        """Append an event without waiting for the server."""
        self._writing().append_event((run_id, *event))

    async def change_plan(self, run_id: str, plan_json: str, goal: str, forget: Sequence[int], event: Event) -> None:
        """Replace a run's plan."""

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
        """Store a signal for the process that executes a run."""
        # Twice, where an answer was cut off, it says no more than once: of two decisions the first counts.
        await self._ask(
            lambda connection: connection.execute(
                "INSERT INTO plan_signal (run_id, verb, step_id, value) VALUES (%s, %s, %s, %s)",
                (run_id, verb, step_id, encode(value)),
            )
        )

    async def list_signals(self, run_id: str, after: int) -> list[Signal]:
        """Return a run's signals."""

        def read(connection: "psycopg.Connection") -> list[Signal]:
            rows = connection.execute(
                "SELECT seq, verb, step_id, value FROM plan_signal WHERE run_id = %s AND seq > %s ORDER BY seq",
                (run_id, after),
            )
            return [Signal(seq, verb, step_id, json.loads(value)) for seq, verb, step_id, value in rows]

        return await self._ask(read)

    @asynccontextmanager
    async def hold(self, run_id: str) -> AsyncIterator[bool]:
        """Carry a run on alone."""
        writer, session = self._writing(), self._session
        assert session is not None
        taking = writer.do(lambda: session.take(run_id))
        try:
            is_ours = await asyncio.shield(taking)
        except asyncio.CancelledError:
            # It is taken all the same, a moment later.
            taking.add_done_callback(lambda taken: _is_true(taken) and writer.do(lambda: session.let_go(run_id)))
            raise
        try:
            yield is_ours
        finally:
            if is_ours:
                try:
                    await writer.drained()
                finally:
                    await writer.do(lambda: session.let_go(run_id))

    async def is_held(self, run_id: str) -> bool:
        """Whether anybody carries the run on."""
        return await self._ask(lambda connection: is_locked(connection, run_id))

    async def forget_before(self, at: str) -> int:
        """Remove runs that ended before an instant."""
        return await self._ask(
            lambda connection: connection.execute("DELETE FROM plan_run WHERE ended_at < %s", (at,)).rowcount
        )

    def close(self) -> None:
        """End the writer's thread and its connection; what was recorded is on the server's disk."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _writing(self) -> GroupCommit:
        # One writer an event loop: the command line and the tests begin a new one now and then.
        if self._writer is None or self._writer.loop is not asyncio.get_running_loop():
            self.close()
            self._session = PostgresSession(self._database)
            self._writer = GroupCommit(self._session)
        return self._writer

    async def _ask(self, act: "Callable[[psycopg.Connection], _R]") -> _R:
        """Run a query in the writer's thread."""
        return await self._writing().ask(act)


def _is_true(answer: "asyncio.Future[bool]") -> bool:
    return not answer.cancelled() and answer.exception() is None and answer.result()


def _write_text(text: str | None) -> str | None:
    """Return a text as JSON, which may hold what no database text may: a NUL, half a surrogate pair."""
    return None if text is None else json.dumps(text)


def _read_text(text: str | None) -> str | None:
    if text is None:
        return None
    found: str = json.loads(text)
    return found


def _read_given(text: str) -> Given:
    # By name: what a newer build adds must not keep an older one from saying that the run is newer.
    found = json.loads(text)
    return Given(values=found.get("values", {}), paths=found.get("paths", {}))


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
    user, plan_json, given, state, created_at, ended_at, protocol, replans = row
    records = [StepRecord(*step)._replace(note=_read_text(step[3])) for step in steps]
    return RunRecord(
        run_id=run_id,
        user=user,
        plan_json=plan_json,
        given=_read_given(given),
        state=state,
        created_at=created_at,
        ended_at=ended_at,
        protocol=protocol,
        replans=replans,
        steps={record.step_id: record for record in records},
        last_seq=last[0] if last and last[0] is not None else 0,
    )
