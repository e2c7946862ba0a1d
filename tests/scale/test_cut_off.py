"""Connections and the server fail in the middle of work: no record is lost, and nothing runs twice."""

import asyncio
import os
import signal
from datetime import UTC, datetime

import psycopg
import pytest

from fingerpost.errors import StorageUnavailable
from fingerpost.plan.engines import dbos
from fingerpost.plan.records import Event, InitialMemory, JournalFailed, StepRecord, WrittenPlan, read_plan
from fingerpost.store.postgres import is_lost
from fingerpost.store.variables import VariableStore
from tests.plan.suite.fixtures import USER, CallLog, adding, found_sums, new_runs, plan_of_steps, read_runs
from tests.plan.suite.processes import PATIENCE_S, wait_until
from tests.scale.places import SHARED, get_cluster, get_url, open_database, open_journal
from tests.scale.workers import begun, has_ended, working

NOON = datetime(2022, 2, 22, 12, tzinfo=UTC)
AT = "2026-03-10T06:00:00Z"
CHAIN = plan_of_steps(*[adding(number, 20, *([number - 1] if number > 1 else [])) for number in range(1, 13)])


# Its second step outlasts the cut of a connection, and ends while the test waits.
SLOW_CHAIN = plan_of_steps(adding(1, 1), adding(2, 3000, 1), adding(3, 1, 2))


@pytest.fixture
def cut(tmp_path):
    """Cut every connection to the server; tests that share it with others may not."""
    get_url()

    def cut_all():
        own = open_database(tmp_path)
        count = own.read(
            lambda connection: connection.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE application_name = 'fingerpost' AND pid <> pg_backend_pid()"
            ).fetchone()[0]
        )
        own.close()
        return count

    return cut_all


def test_a_pipeline_that_the_server_cut_off_is_lost():
    """What psycopg raises has no state; that the server shuts down is only in the context."""
    error = psycopg.OperationalError("cannot exit pipeline mode while busy")
    error.__context__ = psycopg.errors.AdminShutdown("terminating connection")

    assert is_lost(error, None)
    assert not is_lost(psycopg.errors.UndefinedTable("no such table"), None)


async def new_run(journal):
    return await journal.create(
        WrittenPlan('{"goal":"g","steps":[]}', '"g"', 0), user="ann", initial_memory=InitialMemory(), at=AT
    )


def completed(number):
    return StepRecord(number, "completed", "{}", None, 1, AT)


def test_a_variable_is_saved_and_found_although_its_connection_was_cut(database, cut):
    """The pool's connection is stale twice: the call that meets it opens a new one, and nobody notices."""
    variables = VariableStore(database)
    variables.save("ada", "home", "other", 1, NOON)
    cuts = [cut()]
    second = variables.save("ada", "home", "other", 2, NOON)[1]
    cuts.append(cut())
    found = variables.find("ada", "home")

    assert min(cuts) >= 1
    assert (second.value, found.value) == (1, 2)


def test_a_change_whose_commit_was_cut_off_is_not_called_done_and_not_done_twice(database, cut):
    def count_up(connection):
        connection.execute(
            "INSERT INTO rate_limit (name, free_ms) VALUES ('n', 1)"
            " ON CONFLICT (name) DO UPDATE SET free_ms = rate_limit.free_ms + 1"
        )

    def cut_at_the_end(connection):
        count_up(connection)
        # Between the last statement and the commit.
        cut()

    database.change(count_up)
    with pytest.raises(StorageUnavailable, match=r"^The connection to the database broke during a write") as caught:
        database.change(cut_at_the_end)
    database.change(count_up)
    count = database.read(lambda connection: connection.execute("SELECT free_ms FROM rate_limit").fetchone())

    assert (caught.value.retryable, count) == (True, (2,))


def test_a_hanging_transaction_is_cut_off_before_others_give_up(database):
    """A stopped process keeps its row locks no longer than whoever wants to take its runs waits for one."""
    query = "SELECT setting::int FROM pg_settings WHERE name = %s"
    idle_ms, lock_ms = [
        database.read(lambda connection, name=name: connection.execute(query, (name,)).fetchone()[0])
        for name in ("idle_in_transaction_session_timeout", "lock_timeout")
    ]

    assert 0 < idle_ms < lock_ms


async def test_a_run_continues_over_cut_connections_and_nothing_runs_twice(tmp_path, cut):
    journal = open_journal(tmp_path)
    runs = new_runs(journal, tmp_path)
    run_id = await runs.create(read_plan(CHAIN), user=USER)
    runs.start(run_id)
    log, cuts = CallLog(tmp_path), 0
    while runs.is_running(run_id):
        ended = sum(word == "end" for word, _key in log.count().elements())
        # Between two cuts that are due at once there may be no connection to cut yet.
        if ended >= 3 * (cuts + 1) and await asyncio.to_thread(cut) >= 1:
            cuts += 1
        await asyncio.sleep(0.001)
    await runs.wait(run_id, 0)
    run = await runs.get(run_id, USER)
    events = await journal.list_events(run_id)
    sums = found_sums(runs.build_memory(run).to_dict())
    journal.close()

    assert (run.state, cuts >= 3) == ("completed", True)
    assert sums == {f"k{number}": 20 * number for number in range(1, 13)}
    assert set(log.count().values()) == {1}
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_a_run_continues_after_a_restart_of_the_server(tmp_path, mode):
    cluster = get_cluster()
    journal = open_journal(tmp_path)
    runs = new_runs(journal, tmp_path)
    run_id = await runs.create(read_plan(CHAIN), user=USER)
    runs.start(run_id)
    log = CallLog(tmp_path)
    await asyncio.to_thread(wait_until, lambda: sum(log.count().values()) >= 8, "the fourth step ends")
    await asyncio.to_thread(cluster.stop, mode)
    under_way = runs.is_running(run_id)
    await asyncio.to_thread(cluster.start)
    await runs.wait(run_id, 30)
    run = await runs.get(run_id, USER)
    held = await journal.is_leased(run_id)
    journal.close()

    assert (under_way, run.state, len(run.steps), held) == (True, "completed", 12, False)
    assert set(log.count().values()) == {1}


async def test_after_a_cut_a_run_is_leased_again(tmp_path, cut):
    """The lock went with its connection; the next look of the one who holds the run takes it again."""
    one, other = open_journal(tmp_path), open_journal(tmp_path)
    run_id = await new_run(one)
    async with one.lease(run_id) as first:
        await asyncio.to_thread(cut)
        await one.list_signals(run_id, 0)
        async with other.lease(run_id) as second:
            seen = (first, second, await other.is_leased(run_id))
    async with other.lease(run_id) as third:
        pass
    one.close()
    other.close()

    assert (*seen, third) == (True, False, True, True)


async def test_a_claim_whose_reply_is_lost_is_repeated(tmp_path, monkeypatch):
    journal = open_journal(tmp_path)
    run_id = await new_run(journal)
    session = dbos.DbosSession(journal._database, "one")
    once = session._transact_once

    def lose(act):
        monkeypatch.setattr(session, "_transact_once", once)
        once(act)
        session.close()
        raise dbos.DatabaseLost

    monkeypatch.setattr(session, "_transact_once", lose)
    claims = [session.claim(run_id), session.claim(run_id)]
    session.release(run_id)
    held = await journal.is_leased(run_id)
    session.close()
    journal.close()

    assert (claims, held) == ([True, False], False)


async def test_a_process_without_the_lease_records_nothing_more(tmp_path, cut):
    one, other = open_journal(tmp_path), open_journal(tmp_path)
    other._process = "another"
    run_id, free_id = await new_run(one), await new_run(one)
    async with one.lease(run_id):
        await one.record(run_id, completed(1), [Event(1, AT, "step_completed", 1, None)], None, AT)
        await asyncio.to_thread(cut)
        # The server ends a connection, and with it the lock, a moment after it was told to.
        async with asyncio.timeout(30):
            while await other.is_leased(run_id):
                pass
        async with other.lease(run_id) as taken:
            await other.record(run_id, completed(2), [Event(2, AT, "step_completed", 2, None)], None, AT)
            late = one.record(run_id, completed(3), [Event(2, AT, "step_completed", 3, None)], "completed", AT)
            beside = one.record(free_id, completed(1), [], "completed", AT)
            with pytest.raises(JournalFailed, match=r"^The run is now being executed elsewhere, so its later"):
                await late
            await beside
            is_held = await one.is_leased(run_id)
    run, free = await other.find(run_id), await other.find(free_id)
    events = await other.list_events(run_id)
    held_after = await other.is_leased(run_id)
    one.close()
    other.close()

    assert (taken, is_held, held_after) == (True, True, False)
    assert (sorted(run.steps), run.state, [event.step_id for event in events]) == ([1, 2], "running", [1, 2])
    assert free.state == "completed"


def test_a_process_that_returns_after_recovery_records_nothing(database, tmp_path, cut):
    with working(tmp_path, SLOW_CHAIN) as slow:
        wait_until(lambda: begun(tmp_path).get(2) == 1, "the second step begins")
        os.kill(slow.process.pid, signal.SIGSTOP)
        assert cut() >= 1
        with working(tmp_path) as _other:
            wait_until(has_ended(tmp_path), "the run ends on the other process")
            (before,) = read_runs(SHARED, tmp_path)
            os.kill(slow.process.pid, signal.SIGCONT)
            wait_until(lambda: CallLog(tmp_path).count()["end", f"{before.record.run_id}:2"] == 2, "the slow step ends")
            slow.process.terminate()
            slow.process.join(PATIENCE_S)
            (after,) = read_runs(SHARED, tmp_path)

    assert begun(tmp_path) == {1: 1, 2: 2, 3: 1}
    assert (after.record, after.events) == (before.record, before.events)


async def test_a_record_waits_no_longer_than_its_patience(tmp_path, monkeypatch):
    monkeypatch.setattr(dbos, "_MAX_READ_WAIT_S", 0.3)
    monkeypatch.setattr(dbos, "_MAX_WRITE_WAIT_S", 0.3)
    cluster = get_cluster()
    journal = open_journal(tmp_path)
    run_id = await new_run(journal)
    cluster.stop()
    try:
        with pytest.raises(JournalFailed) as caught:
            await journal.record(run_id, completed(1), [], None, AT)
        with pytest.raises(StorageUnavailable) as unread:
            await journal.find(run_id)
        journal.record(run_id, completed(1), [], None, AT)
        await asyncio.to_thread(journal.close)
    finally:
        cluster.start()

    assert caught.value.message == (
        "The progress of a run could not be stored: The database cannot be reached; try again in a moment"
    )
    assert unread.value.message == "The database cannot be reached; try again in a moment"


async def test_a_caller_that_leaves_while_acquiring_a_run_does_not_keep_it(tmp_path, database):
    journal = open_journal(tmp_path)
    run_id = await new_run(journal)

    async def hold():
        async with journal.lease(run_id):
            await asyncio.sleep(60)

    holding = asyncio.ensure_future(hold())
    await asyncio.sleep(0)
    holding.cancel()
    await asyncio.wait([holding])
    async with journal.lease(run_id) as is_ours:
        pass
    async with journal.lease(run_id) as again:
        pass
    journal.close()

    assert (is_ours or again, holding.cancelled()) == (True, True)
