"""The tables across versions: made once by whoever comes first, brought up by a newer program, refused by an older."""

import asyncio
import sys

import pytest

from fingerpost.errors import SettingsInvalid, StorageUnavailable
from fingerpost.plan.plan_json import read_plan
from fingerpost.store import postgres
from fingerpost.store.variables import VariableStore
from tests.net.at_once import tell_at_once
from tests.plan.suite.fixtures import USER, CallLog, adding, new_runs, plan_of_steps
from tests.plan.suite.processes import killed_half_way
from tests.plan.upgrades import list_what_does_not_only_add, upgrading
from tests.scale.places import SHARED, open_database, open_journal
from tests.scale.test_cut_off import NOON

NUMBERS = list(range(1, len(postgres.LAYOUTS) + 1))
COST = ("ALTER TABLE plan_step ADD COLUMN cost real", "CREATE TABLE bill (run_id text PRIMARY KEY)")
FIRST = """
import sys
from pathlib import Path
from datetime import UTC, datetime
from fingerpost.store.variables import VariableStore
from tests.scale.places import open_database

variables = VariableStore(open_database(Path(sys.argv[1])))
print("ready", flush=True)
sys.stdin.readline()
variables.save("ada", sys.argv[2], "other", 1, datetime(2022, 2, 22, tzinfo=UTC))
print(*[each.key for each in variables.list_variables("ada")], flush=True)
"""


@pytest.fixture
def upgrade(monkeypatch):
    """Make this program a newer one, or the old one again."""
    return upgrading(monkeypatch, postgres)


def described(folder):
    """Return the numbers of the layouts that were applied, and the columns of all tables."""

    def read(connection):
        numbers = connection.execute("SELECT number FROM layout ORDER BY number").fetchall()
        columns = connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = current_schema() ORDER BY 1, 2"
        ).fetchall()
        return [number for (number,) in numbers], columns

    # As whoever looks from outside: without bringing anything up.
    database = open_database(folder)
    database._is_ready = True
    try:
        return database.read(read)
    finally:
        database.close()


def test_processes_that_come_at_once_make_the_tables_once(database, tmp_path):
    """Four first writers: every save arrives, and the layout is applied once."""
    commands = [[sys.executable, "-c", FIRST, str(tmp_path), f"k{number}"] for number in range(4)]
    listed = [said.split() for said in tell_at_once(*commands)]

    assert all(f"k{number}" in keys for number, keys in enumerate(listed))
    assert described(tmp_path)[0] == NUMBERS
    assert len(VariableStore(database).list_variables("ada")) == 4


async def test_the_first_layout_gets_the_columns_of_the_second(database, tmp_path, monkeypatch):
    """What an older program stored is there afterwards."""
    with monkeypatch.context() as older:
        older.setattr(postgres, "LAYOUTS", postgres.LAYOUTS[:1])
        VariableStore(database).save("ada", "home", "other", 1, NOON)
    found = VariableStore(open_database(tmp_path)).find("ada", "home")
    numbers, columns = described(tmp_path)

    assert (found.value, numbers) == (1, NUMBERS)
    assert {("plan_run", "worker", "text"), ("plan_run", "takeovers", "integer")} <= set(columns)


async def test_a_newer_program_carries_on_the_run_of_an_older_ones_killed_process(database, tmp_path, upgrade):
    """It brings the tables up first; what is recorded stays, and is not run again."""
    calls = CallLog(tmp_path)
    await asyncio.to_thread(killed_half_way, SHARED, tmp_path)
    upgrade(*COST)
    journal = open_journal(tmp_path)
    newer = new_runs(journal, tmp_path)
    (line,) = await newer.list_runs(USER)
    state = await newer.carry_on(line.run_id)
    journal.close()
    begun = [count for (word, _key), count in sorted(calls.count().items()) if word == "begin"]
    cost = database.read(
        lambda connection: connection.execute("SELECT count(*), count(cost) FROM plan_step").fetchone()
    )

    assert (line.state, line.settled, state, begun) == ("running", 1, "completed", [1, 2, 1])
    assert (described(tmp_path)[0], cost) == ([*NUMBERS, len(NUMBERS) + 1], (3, 0))


async def test_an_older_program_that_is_connected_goes_on_and_one_that_starts_is_refused(tmp_path, upgrade, database):
    """A layout only adds. Who comes anew is told what to do, and changes nothing."""
    older = open_journal(tmp_path)
    runs = new_runs(older, tmp_path)
    await runs.list_runs(USER)
    upgrade(*COST)
    newer = open_journal(tmp_path)
    assert await newer.list_runs(USER, 9) == []
    before = described(tmp_path)
    state = await runs.carry_on(await runs.create(read_plan(plan_of_steps(adding(1, 0))), user=USER))
    upgrade()
    late = open_journal(tmp_path)
    for asked in (late.list_runs(USER, 9), late.is_held("x")):
        with pytest.raises(SettingsInvalid, match=r"^The database was written by a newer fingerpost; update this one$"):
            await asked
    with pytest.raises(SettingsInvalid, match=r"^The database was written by a newer fingerpost; update this one$"):
        VariableStore(open_database(tmp_path)).save("ada", "home", "other", 1, NOON)
    listed = await newer.list_runs(USER, 9)
    for journal in (older, newer, late):
        journal.close()

    assert (state, [line.state for line in listed], before) == ("completed", ["completed"], described(tmp_path))


async def test_an_upgrade_that_breaks_off_has_not_happened(tmp_path, upgrade, database):
    """All of a layout or nothing of it: the older program goes on with the tables."""
    VariableStore(database).save("ada", "home", "other", 1, NOON)
    before = described(tmp_path)
    upgrade(COST[0], "ALTER TABLE nowhere ADD COLUMN x text")
    with pytest.raises(StorageUnavailable) as caught:
        VariableStore(open_database(tmp_path)).list_variables("ada")
    upgrade()
    again = VariableStore(open_database(tmp_path)).list_variables("ada")

    assert (caught.value.message, caught.value.retryable) == (
        "The database could not do what was asked: UndefinedTable 42P01",
        False,
    )
    assert (described(tmp_path), len(again)) == (before, 1)


def test_each_layout_only_adds():
    """What an older process wrote must stay readable, and what it writes must fit: no drop, no rename, no demand."""
    assert list_what_does_not_only_add(postgres) == []
