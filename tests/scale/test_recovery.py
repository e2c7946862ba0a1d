"""Another process recovers the runs of a dead one."""

import asyncio
import signal

import pytest

from fingerpost.plan.engines.dbos import DbosJournal
from fingerpost.plan.engines.dbos_executor import MAX_TAKEOVERS
from fingerpost.plan.records import read_plan
from tests.plan.suite.fixtures import INTERRUPTED, USER, new_runs
from tests.plan.suite.processes import PATIENCE_S, wait_until
from tests.scale.places import open_database
from tests.scale.workers import begun, has_ended, working


@pytest.mark.parametrize(("end", "exit_code"), [("kill", -signal.SIGKILL), ("terminate", 0)])
def test_the_run_of_an_ended_process_ends_on_another_without_a_caller(database, tmp_path, end, exit_code):
    with working(tmp_path) as other, working(tmp_path, INTERRUPTED) as one:
        wait_until(lambda: begun(tmp_path).get(2) == 1, "the second step begins")
        getattr(one.process, end)()
        one.process.join(PATIENCE_S)
        wait_until(has_ended(tmp_path), "the run ends on the other process")
        assert (one.process.exitcode, other.process.exitcode) == (exit_code, None)

    assert begun(tmp_path) == {1: 1, 2: 2, 3: 1}


def test_a_run_that_killed_a_few_processes_in_a_row_is_left(database, tmp_path):
    with working(tmp_path, INTERRUPTED) as one:
        wait_until(lambda: begun(tmp_path).get(2) == 1, "the second step begins")
        one.kill()
    database.change(lambda at: at.execute("UPDATE plan_run SET takeovers = %s", (MAX_TAKEOVERS,)))
    with working(tmp_path):
        wait_until(lambda: list_statuses(database) == {"CANCELLED"}, "the run is left")
        state = asyncio.run(state_of_only_run(tmp_path))

    assert (begun(tmp_path), state) == ({1: 1, 2: 1}, "interrupted")


def list_statuses(database):
    query = f"SELECT DISTINCT status FROM {database.schema}_dbos.workflow_status"
    return {status for (status,) in database.read(lambda connection: connection.execute(query).fetchall())}


async def state_of_only_run(folder):
    journal = DbosJournal(open_database(folder))
    runs = new_runs(journal, folder)
    (line,) = await runs.list_runs(USER)
    state = await runs.find_state(line["run_id"], line["state"])
    journal.close()
    return state


async def test_a_run_that_a_command_left_stays_interrupted(database, tmp_path):
    """Only the runs of servers are recovered: whoever pressed Ctrl-C wanted it to stop."""
    command = DbosJournal(open_database(tmp_path), dead_after_s=0)
    runs = new_runs(command, tmp_path)
    run_id = await runs.create(read_plan(INTERRUPTED), user=USER)
    runs.start(run_id)
    await asyncio.to_thread(wait_until, lambda: begun(tmp_path).get(2) == 1, "the second step begins")
    await runs.stop()
    server = DbosJournal(open_database(tmp_path), dead_after_s=0)
    server._process = "of-a-server"
    dead = await server._list_dead(await server.launch())
    state = await runs.find_state(run_id, (await runs.get(run_id, USER)).state)
    for journal in (server, command):
        journal.close()

    assert (dead, state) == ([], "interrupted")
