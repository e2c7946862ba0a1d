"""Store plan runs in SQL: the journal's queries and writer thread, shared by all engines.

A step recorded as completed or skipped never runs again. The writer commits all waiting records in one transaction.
"""

import asyncio
import json
import logging
import uuid
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from itertools import count
from typing import Any, Protocol, TypeVar

from fingerpost.contract.wire import omit_none
from fingerpost.errors import PlanInvalid, ToolError
from fingerpost.plan.limits import encode
from fingerpost.plan.records import (
    ENDED,
    PROTOCOL,
    Event,
    ExecuteRun,
    InitialMemory,
    JournalFailed,
    RunRecord,
    RunState,
    RunSummary,
    Signal,
    StepRecord,
    Verb,
    WrittenPlan,
    encode_text,
)

_log = logging.getLogger(__name__)

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "fingerpost.plan.runs")
# An event waits at most this long for a record whose commit it can share.
_MAX_DELAY_S = 0.02

Row = tuple[Any, ...]
"""A statement's parameters; the last one is the run's id."""

_R = TypeVar("_R")

_PUT_STEP = """
    INSERT INTO plan_step (step_id, state, output, note, attempts, at, run_id) VALUES (%s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (run_id, step_id) DO UPDATE SET
    state = excluded.state, output = excluded.output, note = excluded.note,
    attempts = excluded.attempts, at = excluded.at
"""
# If the connection breaks during a commit, the write is repeated, so the event may already exist.
_PUT_EVENT = """
    INSERT INTO plan_event (seq, at, kind, step_id, data, run_id) VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (run_id, seq) DO NOTHING
"""
_PUT_STATE = "UPDATE plan_run SET state = %s, ended_at = %s WHERE id = %s"
_CREATE = """
    INSERT INTO plan_run (id, user_name, plan, goal, step_count, given, state, created_at, protocol)
    VALUES (%s, %s, %s, %s, %s, %s, 'running', %s, %s) ON CONFLICT (id) DO NOTHING
"""
_FIND_RUN = """
    SELECT id AS run_id, user_name AS "user", plan AS plan_json, given, state, created_at, ended_at, protocol, replans
    FROM plan_run WHERE id = %s
"""
_LIST_STEPS = "SELECT step_id, state, output, note, attempts, at FROM plan_step WHERE run_id = %s"
_LIST_RUNS = """
    SELECT id, state, goal, created_at, ended_at,
    (SELECT count(*) FROM plan_step WHERE run_id = id AND plan_step.state IN ('completed', 'skipped')), step_count
    FROM plan_run WHERE user_name = %s ORDER BY created_at DESC, number DESC LIMIT %s
"""
_LIST_EVENTS = "SELECT seq, at, kind, step_id, data FROM plan_event WHERE run_id = %s ORDER BY seq"
_EVENT = "SELECT kind, data FROM plan_event WHERE run_id = %s AND seq = %s"
_LIST_SIGNALS = "SELECT seq, verb, step_id, value FROM plan_signal WHERE run_id = %s AND seq > %s ORDER BY seq"
_CHANGE_PLAN = """
    UPDATE plan_run SET plan = %s, goal = %s, step_count = %s, state = 'running', ended_at = NULL,
    replans = replans + 1 WHERE id = %s
"""


class JournalSession(Protocol):
    """A connection to the runs' database; all methods except ``stop_waiting`` must be called in the writer's thread."""

    def transact(self, act: Callable[[Any], _R], *, is_write: bool = False) -> _R:
        """Call a function with the connection in one transaction; ``is_write`` is true for a batch of records."""

    def find_lost_runs(self, connection: Any, run_ids: Collection[str]) -> Collection[str]:
        """Return the runs that were deleted, or claimed by another process; their records must be rejected."""

    def stop_waiting(self) -> None:
        """Stop waiting for an unreachable database; any thread may call this."""

    def close(self) -> None: ...


class GroupCommit:
    """A journal's writer for one event loop: a thread with its own connection."""

    def __init__(self, session: JournalSession) -> None:
        self.loop = asyncio.get_running_loop()
        self._session = session
        # The next transaction: its rows by statement, and the futures of the runs that wait for it.
        self._rows: defaultdict[str, list[Row]] = defaultdict(list)
        self._waiters: dict[str, asyncio.Future[None]] = {}
        self._is_busy = False
        self._timer: asyncio.TimerHandle | None = None
        self.is_closed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fingerpost-journal")

    def put(self, run_id: str, rows: Iterable[tuple[str, Row]]) -> "asyncio.Future[None]":
        """Add statements and their rows to the next transaction; the future completes once the rows are on disk.

        All rows of a run in one transaction have the same future.
        """
        for statement, row in rows:
            self._rows[statement].append(row)
        if not self._waiters:
            # Defer the commit, so that other records from the same loop iteration share it.
            self.loop.call_soon(self._commit_batch)
        waiter = self._waiters.get(run_id)
        if waiter is None or waiter.done():
            waiter = self._waiters[run_id] = self.loop.create_future()
        return waiter

    def append(self, statement: str, row: Row) -> None:
        self._rows[statement].append(row)
        if self._timer is None:
            self._timer = self.loop.call_later(_MAX_DELAY_S, self._flush_events)

    def transact(self, act: Callable[[Any], _R]) -> "asyncio.Future[_R]":
        """Run a function with the connection after the work already submitted, even if the caller is cancelled."""
        return asyncio.shield(self.submit(partial(self._session.transact, act)))

    def submit(self, act: Callable[[], _R]) -> "asyncio.Future[_R]":
        """Run a function in the writer's thread; cancelling the future prevents the call if it has not started."""
        return asyncio.wrap_future(self._thread.submit(act), loop=self.loop)

    async def drain(self) -> None:
        """Wait until all queued rows are written or rejected; after ``close``, do not wait."""
        if not self.is_closed and (self._is_busy or self._rows):
            await asyncio.wait([self._flush()])

    def _flush_events(self) -> None:
        self._timer = None
        # A commit has usually taken the events with it.
        if self._rows and not self.is_closed:
            self._flush()

    def _flush(self) -> "asyncio.Future[None]":
        """Commit all queued rows as soon as possible; errors are only logged."""
        waiter = self.put("", ())
        waiter.add_done_callback(asyncio.Future.exception)
        self._commit_batch()
        return waiter

    def close(self) -> None:
        """Stop the thread once all queued rows are written."""
        if self._rows or self._waiters:
            self._submit_batch()
        self.is_closed = True
        self._session.stop_waiting()
        self._thread.submit(self._session.close)
        self._thread.shutdown()

    def _commit_batch(self) -> None:
        if self._waiters and not (self._is_busy or self.is_closed):
            self._submit_batch()

    def _submit_batch(self) -> None:
        commit = partial(self._session.transact, partial(self._write, self._rows), is_write=True)
        self._thread.submit(commit).add_done_callback(partial(self._finish_soon, self._waiters))
        self._rows, self._waiters, self._is_busy = defaultdict(list), {}, True

    def _finish_soon(self, waiters: "dict[str, asyncio.Future[None]]", future: "Future[Collection[str]]") -> None:
        """Finish a batch on the event loop; the writer's thread calls this."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._finish, waiters, future)

    def _write(self, rows: Mapping[str, Sequence[Row]], connection: Any) -> Collection[str]:
        run_ids = {row[-1] for statement_rows in rows.values() for row in statement_rows}
        lost = self._session.find_lost_runs(connection, run_ids)
        for statement, statement_rows in rows.items():
            if stored := [row for row in statement_rows if row[-1] not in lost]:
                connection.cursor().executemany(statement, stored)
        return lost

    def _finish(self, waiters: "dict[str, asyncio.Future[None]]", future: "Future[Collection[str]]") -> None:
        self._is_busy = False
        if (error := future.exception()) is not None:
            _log.error("the journal could not be written: %s", error)
        for run_id, waiter in waiters.items():
            if waiter.done():
                continue
            if error is not None:
                reason = f": {error.message}" if isinstance(error, ToolError) else ""
                failed = JournalFailed(f"The progress of a run could not be stored{reason}")
                failed.__cause__ = error
                waiter.set_exception(failed)
            elif run_id in future.result():
                reason = "The run is now being executed elsewhere, so its later steps here are not recorded"
                waiter.set_exception(JournalFailed(reason))
            else:
                waiter.set_result(None)
        self._commit_batch()


class Journal(ABC):
    """Stores runs in SQL. Every method may raise StorageUnavailable, or SettingsInvalid if the operator must act."""

    execute_here: ExecuteRun
    """Executes a run in this process; the journal's owner sets it."""

    def __init__(self) -> None:
        self._writer: GroupCommit | None = None

    @abstractmethod
    def _new_session(self) -> JournalSession:
        """Open a session for a new writer."""

    async def _transact(self, act: Callable[[Any], _R]) -> _R:
        return await self._get_writer().transact(act)

    async def _read(self, read: Callable[[Any], _R]) -> _R:
        return await self._transact(read)

    async def _select(self, query: str, *values: object) -> list[Any]:
        return await self._read(lambda connection: connection.execute(query, values).fetchall())

    @abstractmethod
    def lease(self, run_id: str) -> AbstractAsyncContextManager[bool]:
        """Lock a run for execution; yield False if another process or task is executing it."""

    @abstractmethod
    async def is_leased(self, run_id: str) -> bool:
        """Whether the run is locked for execution."""

    async def create(
        self,
        plan: WrittenPlan,
        *,
        user: str | None,
        initial_memory: InitialMemory,
        at: str,
        base: str | None = None,
        protocol: int = PROTOCOL,
    ) -> str:
        """Store a new run of a plan and return the run's id: random, or derived from ``base`` and a counter."""
        # If the random id exists, it was stored by a commit whose reply was lost.
        random_id = str(uuid.uuid4())

        def write(connection: Any) -> str:
            memory_json = encode({"values": dict(initial_memory.values), "paths": dict(initial_memory.paths)})
            for number in count(1):
                # With a fixed clock, a counter makes the id unique (rule F4).
                run_id = random_id if base is None else str(uuid.uuid5(_NAMESPACE, f"{base}#{number}"))
                row = (run_id, user, *plan, memory_json, at, protocol)
                if connection.execute(_CREATE, row).rowcount or base is None:
                    return run_id
            raise AssertionError("unreachable")

        return await self._transact(write)

    async def find(self, run_id: str) -> RunRecord | None:
        return await self._read(lambda connection: _read_run(connection, run_id))

    async def list_runs(self, user: str, limit: int) -> list[RunSummary]:
        rows = await self._select(_LIST_RUNS, user, limit)
        summaries = [dict(zip(RunSummary.__annotations__, row, strict=True)) for row in rows]
        return [omit_none(RunSummary, summary | {"goal": json.loads(summary["goal"])}) for summary in summaries]

    async def list_events(self, run_id: str) -> list[Event]:
        return list(map(Event._make, await self._select(_LIST_EVENTS, run_id)))

    async def change_plan(self, run_id: str, plan: WrittenPlan, deleted_steps: Sequence[int], event: Event) -> None:
        """Replace a run's plan, increment its replan count, and delete the records of unfinished steps.

        Decisions are deleted too, because they were made before anyone saw the steps of the new plan.
        """

        def write(connection: Any) -> None:
            if not connection.execute(_PUT_EVENT, (*event, run_id)).rowcount:
                # The event exists if this change was committed but its reply was lost.
                stored = connection.execute(_EVENT, (run_id, event.seq)).fetchone()
                if stored == (event.kind, event.data):
                    return
                raise PlanInvalid("Another process continued the run in the meantime. Read the run and try again")
            connection.execute(_CHANGE_PLAN, (*plan, run_id))
            for step_id in deleted_steps:
                connection.execute("DELETE FROM plan_step WHERE run_id = %s AND step_id = %s", (run_id, step_id))
            connection.execute("DELETE FROM plan_signal WHERE run_id = %s AND step_id IS NOT NULL", (run_id,))

        await self._transact(write)

    async def signal(self, run_id: str, verb: Verb, step_id: int | None, value: Any) -> None:
        # A signal stored twice after a lost reply is harmless, because the first of two decisions counts.
        query = "INSERT INTO plan_signal (run_id, verb, step_id, value) VALUES (%s, %s, %s, %s)"
        await self._transact(lambda connection: connection.execute(query, (run_id, verb, step_id, encode(value))))

    async def list_signals(self, run_id: str, after: int) -> list[Signal]:
        return await self._read(lambda connection: _read_signals(connection, run_id, after))

    def record(
        self, run_id: str, step: StepRecord | None, events: Sequence[Event], state: RunState | None, at: str
    ) -> "asyncio.Future[None]":
        """Record a step, events and a state atomically; the future completes once the data is durable.

        Records of a run that share a transaction share the future.
        """
        rows: list[tuple[str, Row]] = [(_PUT_EVENT, (*event, run_id)) for event in events]
        if step is not None:
            if step.note:
                step = step._replace(note=encode_text(step.note))
            rows.append((_PUT_STEP, (*step, run_id)))
        if state is not None:
            rows.append((_PUT_STATE, (state, at if state in ENDED else None, run_id)))
        return self._get_writer().put(run_id, rows)

    def append_event(self, run_id: str, event: Event) -> None:
        self._get_writer().append(_PUT_EVENT, (*event, run_id))

    def recovering(self) -> AbstractAsyncContextManager[None]:
        """Recover the runs of dead processes during the block, if several processes share the engine."""
        return nullcontext()

    async def execute_run(self, run_id: str) -> RunState:
        """Execute a run in this process; an engine may override this."""
        return await self.execute_here(run_id)

    def close(self) -> None:
        """Stop the writer thread; all recorded data is then on disk."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _get_writer(self) -> GroupCommit:
        # Each event loop has its own writer; the command line and the tests use several loops.
        if self._writer is None or self._writer.loop is not asyncio.get_running_loop():
            Journal.close(self)
            self._writer = GroupCommit(self._new_session())
        return self._writer


def _read_run(connection: Any, run_id: str) -> RunRecord | None:
    # Read the event number first, so that a plan change conflicts if the run continues during the other queries.
    (last_seq,) = connection.execute("SELECT max(seq) FROM plan_event WHERE run_id = %s", (run_id,)).fetchone()
    cursor = connection.execute(_FIND_RUN, (run_id,))
    row = cursor.fetchone()
    if row is None:
        return None
    run = dict(zip((name for name, *_ in cursor.description), row, strict=True))
    # Ignore unknown keys from a newer build, so that the version check can report the newer run.
    stored_memory = json.loads(run.pop("given"))
    records = [StepRecord(*step) for step in connection.execute(_LIST_STEPS, (run_id,))]
    return RunRecord(
        **run,
        initial_memory=InitialMemory(values=stored_memory.get("values", {}), paths=stored_memory.get("paths", {})),
        steps={step.step_id: step._replace(note=step.note and json.loads(step.note)) for step in records},
        last_seq=last_seq or 0,
        signals=_read_signals(connection, run_id),
    )


def _read_signals(connection: Any, run_id: str, after: int = 0) -> list[Signal]:
    rows = connection.execute(_LIST_SIGNALS, (run_id, after)).fetchall()
    return [Signal(seq, verb, step_id, json.loads(value)) for seq, verb, step_id, value in rows]
