"""A dead worker's runs are taken over by heartbeat, and one that was only slow records nothing after it."""

import asyncio
import os
import signal

import pytest

from fingerpost.plan.engines.heartbeat import MOST_TAKEOVERS, Heartbeat
from fingerpost.plan.engines.postgres import PostgresJournal
from fingerpost.plan.plan_json import read_plan
from fingerpost.plan.takeover import Takeover
from fingerpost.testing.engines.fixtures import LONG_MS, USER, CallLog, adding, new_runs, plan_of_steps
from fingerpost.testing.engines.process import PATIENCE_S, wait_until
from fingerpost.testing.engines.reader import read_runs
from tests.scale.places import SHARED, open_database
from tests.scale.workers import begun, has_ended, working

CHAIN = plan_of_steps(adding(1, 1), adding(2, LONG_MS, 1), adding(3, 1, 2))
# Its second step is longer than it takes to stop a process, and shorter than until that is declared dead.
SLOW_CHAIN = plan_of_steps(adding(1, 1), adding(2, 1500, 1), adding(3, 1, 2))
ENGINES = ["postgres", "dbos"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_killed_workers_run_ends_on_another_with_nobody_asking(engine, database, tmp_path):
    """Killed in its second step: the first is not run again, the second is, and the third follows."""
    with working(engine, tmp_path) as other, working(engine, tmp_path, CHAIN) as one:
        wait_until(lambda: begun(tmp_path).get(2) == 1, "the second step begins")
        one.kill()
        wait_until(has_ended(tmp_path), "the run ends on the other worker")
        assert other.exitcode is None

    assert begun(tmp_path) == {1: 1, 2: 2, 3: 1}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_that_was_only_slow_records_nothing_after_the_takeover(engine, database, tmp_path):
    """Stopped in its second step, with its connections and its lock, and let go on when another has ended the run."""
    with working(engine, tmp_path) as _other, working(engine, tmp_path, SLOW_CHAIN) as slow:
        wait_until(lambda: begun(tmp_path).get(2) == 1, "the second step begins")
        os.kill(slow.pid, signal.SIGSTOP)
        wait_until(has_ended(tmp_path), "the run ends on the other worker")
        (before,) = read_runs(SHARED, tmp_path)
        os.kill(slow.pid, signal.SIGCONT)
        wait_until(lambda: CallLog(tmp_path).count()["end", f"{before.record.run_id}:2"] == 2, "the slow step ends")
        slow.terminate()
        slow.join(PATIENCE_S)
        (after,) = read_runs(SHARED, tmp_path)

    assert begun(tmp_path) == {1: 1, 2: 2, 3: 1}
    assert (after.record, after.events) == (before.record, before.events)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_that_ends_well_leaves_its_runs_at_once(engine, database, tmp_path):
    """It says goodbye: nobody waits for its silence, and only the other is known to live."""
    with working(engine, tmp_path) as _other, working(engine, tmp_path, CHAIN) as one:
        wait_until(lambda: begun(tmp_path).get(2) == 1, "the second step begins")
        one.terminate()
        one.join(PATIENCE_S)
        assert one.exitcode == 0
        wait_until(has_ended(tmp_path), "the run ends on the other worker")
        known = database.read(
            lambda connection: connection.execute("SELECT count(*) FROM plan_worker WHERE NOT is_dead").fetchone()[0]
        )

    assert (begun(tmp_path), known) == ({1: 1, 2: 2, 3: 1}, 1)


async def opened(folder, heartbeat):
    """Return a journal over one run that a worker holds, and the run's id."""
    await asyncio.to_thread(heartbeat.beat)
    journal = PostgresJournal(open_database(folder), heartbeat)
    runs = new_runs(journal, folder)
    return journal, runs, await runs.create(read_plan(CHAIN), user=USER)


async def test_a_worker_that_beats_keeps_its_runs_however_long_they_take(database, tmp_path):
    """Nobody finds them abandoned, and nobody may hold them."""
    alive, other = Heartbeat(database, dead_after_s=30), Heartbeat(database, dead_after_s=30)
    journal, _runs, run_id = await opened(tmp_path, alive)
    elsewhere = PostgresJournal(database, other)
    async with journal.hold(run_id), elsewhere.hold(run_id) as is_taken:
        abandoned = await asyncio.to_thread(other.list_abandoned)
    for each in (journal, elsewhere):
        each.close()

    assert (abandoned, is_taken) == ([], False)


async def test_of_two_who_take_a_dead_workers_run_one_gets_it(database, tmp_path):
    """The dead one is still connected and has its lock; the second finds a worker that lives."""
    silent, first, second = Heartbeat(database, dead_after_s=0), *[Heartbeat(database, dead_after_s=30) for _ in "12"]
    journal, _runs, run_id = await opened(tmp_path, silent)
    both = [PostgresJournal(database, each) for each in (first, second)]
    async with journal.hold(run_id):
        for each in (first, second):
            await asyncio.to_thread(each.beat)
        declaring = Heartbeat(database, dead_after_s=0)
        await asyncio.to_thread(declaring.list_abandoned)
        for each in (first, second):
            # They were declared dead with the silent one, say so, and live on under another id.
            assert not await asyncio.to_thread(each.beat)
        async with both[0].hold(run_id) as one, both[1].hold(run_id) as two:
            taken = [one, two]
    for each in (journal, *both):
        each.close()

    assert taken == [True, False]


async def test_a_run_that_kills_whoever_carries_it_on_is_left_after_a_few(database, tmp_path):
    """It is taken from a dead worker so often and no oftener; whoever looks finds it interrupted."""
    taken = 0
    journal, runs, run_id = await opened(tmp_path, Heartbeat(database, dead_after_s=0))
    async with journal.hold(run_id):
        pass
    while await asyncio.to_thread((next_one := Heartbeat(database, dead_after_s=0)).list_abandoned):
        await asyncio.to_thread(next_one.beat)
        victim = PostgresJournal(database, next_one)
        async with victim.hold(run_id) as is_ours:
            taken += is_ours
        victim.close()
    state = await runs.state_of(await runs.get(run_id, USER))
    journal.close()

    assert (taken, state) == (MOST_TAKEOVERS, "interrupted")


async def test_who_could_not_reach_the_database_declares_nobody_dead(database, tmp_path):
    """Two workers and a database that was away: the first to come back waits as long as a silence may last."""
    journal, _runs, run_id = await opened(tmp_path, Heartbeat(database))
    async with journal.hold(run_id):
        pass
    database.change(
        lambda connection: connection.execute("UPDATE plan_worker SET beat_at = beat_at - interval '1 hour'")
    )
    back = Heartbeat(database)
    mine = new_runs(PostgresJournal(database, back), tmp_path)
    work = asyncio.create_task(Takeover(mine, back, beat_s=0.01).work())
    await asyncio.to_thread(wait_until, lambda: back.worker is not None, "it beats again")
    await asyncio.sleep(0.1)
    dead = database.read(
        lambda connection: connection.execute("SELECT count(*) FROM plan_worker WHERE is_dead").fetchone()
    )
    work.cancel()
    await asyncio.wait([work])
    for each in (journal, mine.journal):
        each.close()

    assert (dead, begun(tmp_path)) == ((0,), {})
