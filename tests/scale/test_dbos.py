"""The pitfalls of DBOS are avoided: version, serializer, executors, and one instance per process."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from psycopg import sql

from fingerpost.plan.engines.dbos import DbosJournal
from fingerpost.plan.engines.dbos_executor import VERSION
from fingerpost.plan.journal import InitialMemory
from fingerpost.plan.records import read_plan, write_plan
from tests.apps.processes import DEADLINE_S
from tests.plan.suite.fixtures import INTERRUPTED, LONG_MS, USER, Build, CallLog, adding, new_runs, plan_of_steps
from tests.plan.suite.processes import PATIENCE_S, wait_until
from tests.scale.places import get_url, open_database, open_journal
from tests.scale.workers import begun, has_ended, working

AT = "2026-03-10T06:00:00Z"
SCALE = Path(__file__).parents[2] / "docs/scale.md"


def read_dbos(database, table, *columns):
    query = sql.SQL("SELECT {} FROM {}").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(f"{database.schema}_dbos", table)
    )
    return database.read(lambda connection: connection.execute(query).fetchall())


def test_a_run_started_on_one_version_ends_on_the_next(database, tmp_path):
    """DBOS would leave the workflows of another version alone; ours are of one, and all that is kept is JSON."""
    with working(tmp_path, build=Build.NEWER) as _newer, working(tmp_path, INTERRUPTED) as older:
        wait_until(lambda: begun(tmp_path).get(2) == 1, "the second step begins")
        older.kill()
        wait_until(has_ended(tmp_path), "the run ends on the newer version")
        wait_until(lambda: read_dbos(database, "workflow_status", "status") == [("SUCCESS",)], "DBOS knows")
    columns = ("application_version", "executor_id", "serialization")
    ((version, executor, how),) = read_dbos(database, "workflow_status", *columns)
    ((inputs,),) = read_dbos(database, "workflow_input", "inputs")
    steps = read_dbos(database, "operation_outputs", "output")
    builds = sorted(CallLog(tmp_path).builds().items())

    assert [each for _key, each in builds] == [["first"], ["first", "newer"], ["newer"]]
    assert (version, how, executor == "local") == (VERSION, "portable_json", False)
    assert json.loads(inputs) == {"positionalArgs": [builds[0][0].rpartition(":")[0]], "namedArgs": {}}
    assert steps == []


def test_a_program_with_its_own_dbos_gets_an_error(database, tmp_path):
    script = """
import asyncio, os, sys
from pathlib import Path
from dbos import DBOS
from fingerpost.errors import SettingsInvalid
from tests.scale.places import SHARED, open_journal

DBOS(config={"name": "theirs", "system_database_url": f"sqlite:///{sys.argv[1]}/theirs.sqlite"})

async def launch():
    journal = open_journal(Path(sys.argv[1]))
    try:
        await journal.launch()
    except SettingsInvalid as error:
        print(error.message, DBOS.executor_id)
    journal.close()

asyncio.run(launch())
"""
    get_url()
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)

    assert done.stdout == ("This program already uses DBOS itself, so plans cannot use it too local\n"), done.stderr


async def test_a_closed_journal_leaves_no_run_claimed(database, tmp_path):
    """The other journal has the same process name, which counts as alive."""
    journal, other = open_journal(tmp_path), open_journal(tmp_path)
    plan = write_plan(read_plan(plan_of_steps(adding(1, 0))))
    run_id = await journal.create(plan, user=None, initial_memory=InitialMemory(), at=AT)
    claiming = asyncio.create_task(journal.lease(run_id).__aenter__())
    await asyncio.sleep(0)
    claiming.cancel()
    await asyncio.wait([claiming])
    journal.close()

    async with other.lease(run_id) as is_leased:
        assert is_leased
    other.close()


async def test_an_unexpected_error_of_a_run_reaches_its_caller(database, tmp_path):
    journal = open_journal(tmp_path)

    async def fail(_run_id):
        raise ZeroDivisionError

    journal.execute_here = fail
    try:
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(ZeroDivisionError):
                await journal.execute_run("a-run")
    finally:
        journal.close()


def test_two_processes_are_two_executors(database, tmp_path):
    """Each begins a run of its own; of two of one name, either would take the other's runs for its own old ones."""
    long = plan_of_steps(adding(1, LONG_MS))
    with working(tmp_path, long) as _one, working(tmp_path, long) as _other:
        wait_until(lambda: CallLog(tmp_path).count().total() == 2, "both steps begin")
        rows = read_dbos(database, "workflow_status", "executor_id")

    assert len({executor for (executor,) in rows}) == 2


async def test_the_documented_statements_delete_old_runs_and_their_workflows(database, tmp_path):
    ended = plan_of_steps(adding(1, 0))
    waiting = {"goal": "g", "steps": [{"step_id": 1, "description": "", "agent": "human"}]}
    journal = DbosJournal(open_database(tmp_path))
    runs = new_runs(journal, tmp_path)
    ids = [await runs.create(read_plan(raw), user=USER) for raw in (ended, waiting)]
    for run_id in ids:
        await runs.execute(run_id)
    statements = re.findall(r"^    (DELETE FROM .*?;)$", SCALE.read_text(), re.MULTILINE | re.DOTALL)
    for statement in statements:
        schemas = statement.replace("fingerpost", database.schema).replace("2026-01-01", "9999-01-01")
        database.change(lambda connection, query=schemas: connection.execute(query))

    assert len(statements) == 2
    assert [line["run_id"] for line in await runs.list_runs(USER)] == ids[1:]
    assert [uuid.partition(":")[0] for (uuid,) in read_dbos(database, "workflow_status", "workflow_uuid")] == ids[1:]
    journal.close()
