"""The tables of runs across versions: a newer program upgrades them, and an older one refuses them."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from types import ModuleType

import pytest

from fingerpost.errors import SettingsInvalid, StorageUnavailable
from fingerpost.plan.engines import embedded
from fingerpost.plan.records import read_plan
from fingerpost.store import postgres
from tests.plan.engines import ENGINES
from tests.plan.suite.engine import Engine
from tests.plan.suite.fixtures import USER, CallLog, adding, new_runs, plan_of_steps
from tests.plan.suite.processes import killed_half_way
from tests.scale.places import SHARED, describe_tables, get_url, open_database

COST = ("ALTER TABLE plan_step ADD COLUMN cost real", "CREATE TABLE bill (run_id text PRIMARY KEY)")
COUNT_COST = "SELECT count(*), count(cost) FROM plan_step"


def read_file(folder, read):
    with closing(sqlite3.connect(folder / "runs.sqlite")) as connection:
        return read(connection)


def describe_file(folder):
    return read_file(
        folder,
        lambda file: (
            file.execute("PRAGMA user_version").fetchone()[0],
            file.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall(),
        ),
    )


def read_server(folder, read):
    with closing(open_database(folder)) as database:
        return database.read(read)


@dataclass(frozen=True)
class Place:
    engine: Engine
    module: ModuleType
    describe: Callable
    read: Callable
    newer: str
    broken: str


PLACES = {
    "file": Place(
        ENGINES[0],
        embedded,
        describe_file,
        read_file,
        "The runs file runs.sqlite was written by a newer fingerpost; update fingerpost",
        "The runs file runs.sqlite could not be used: no such table: nowhere",
    ),
    "postgres": Place(
        SHARED,
        postgres,
        describe_tables,
        read_server,
        "The database was written by a newer fingerpost; update fingerpost",
        "The database failed: UndefinedTable 42P01",
    ),
}


@pytest.fixture(params=PLACES)
def place(request, free_clock):
    if request.param == "postgres":
        get_url()
    return PLACES[request.param]


@pytest.fixture
def upgrade(place, monkeypatch):
    first = place.module.LAYOUTS

    def add(*statements):
        monkeypatch.setattr(place.module, "LAYOUTS", (*first, statements) if statements else first)

    return add


@pytest.fixture
def opened(place, tmp_path):
    journals = []

    def open_runs():
        journals.append(place.engine.open(tmp_path))
        return new_runs(journals[-1], tmp_path)

    yield open_runs
    for journal in journals:
        journal.close()


async def complete_a_run(runs):
    return await runs.execute(await runs.create(read_plan(plan_of_steps(adding(1, 0))), user=USER))


async def test_a_newer_program_carries_on_the_run_of_an_older_ones_killed_process(place, upgrade, opened, tmp_path):
    calls = CallLog(tmp_path)
    await asyncio.to_thread(killed_half_way, place.engine, tmp_path)
    upgrade(*COST)
    newer = opened()
    (line,) = await newer.list_runs(USER)
    state = await newer.execute(line["run_id"])
    begun = [count for (word, _key), count in sorted(calls.count().items()) if word == "begin"]
    cost = place.read(tmp_path, lambda connection: connection.execute(COUNT_COST).fetchone())

    assert (line["state"], line["completed"], state, begun) == ("running", 1, "completed", [1, 2, 1])
    assert cost == (3, 0)


async def test_a_connected_older_program_continues_and_a_new_one_is_refused(place, upgrade, opened, tmp_path):
    older = opened()
    await complete_a_run(older)
    upgrade(*COST)
    newer = opened()
    before = len(await newer.list_runs(USER))
    state = await complete_a_run(older)
    described = place.describe(tmp_path)
    upgrade()
    late = opened()
    (line, _first) = await newer.list_runs(USER)
    for asked in (late.list_runs(USER), late.get(line["run_id"], USER), complete_a_run(late)):
        with pytest.raises(SettingsInvalid) as refused:
            await asked
        assert refused.value.message == place.newer

    assert (before, state, line["state"], line["completed"]) == (1, "completed", "completed", 1)
    assert place.describe(tmp_path) == described


async def test_an_upgrade_that_breaks_off_has_not_happened(place, upgrade, opened, tmp_path):
    await complete_a_run(opened())
    before = place.describe(tmp_path)
    upgrade(COST[0], "ALTER TABLE nowhere ADD COLUMN x text")
    with pytest.raises(StorageUnavailable) as caught:
        await opened().list_runs(USER)
    upgrade()
    again = await opened().list_runs(USER)

    assert (caught.value.message, caught.value.retryable) == (place.broken, False)
    assert (place.describe(tmp_path), len(again)) == (before, 1)


@pytest.mark.parametrize("module", [embedded, postgres])
def test_a_new_layout_only_adds(module):
    """Processes of an older build that have the tables open can still read and write: no drop, no rename, no demand."""
    later = [statement.upper() for layout in module.LAYOUTS[1:] for statement in layout]
    forbidden = ("DROP", "RENAME", "DELETE", "UPDATE")

    assert [each for each in later if any(word in each for word in forbidden)] == []
    assert [each for each in later if "NOT NULL" in each.partition("ADD COLUMN")[2] and "DEFAULT" not in each] == []
