"""The runs file across versions of its layout: brought up by a newer program, refused by an older one."""

import asyncio
import sqlite3

import pytest

from fingerpost.errors import SettingsInvalid, StorageUnavailable
from fingerpost.plan.engines import embedded
from fingerpost.plan.engines.embedded import EmbeddedJournal
from tests.plan.drawing import ended, plan, step
from tests.plan.engines import ENGINES
from tests.plan.suite.fixtures import USER, CallLog, new_runs
from tests.plan.suite.processes import killed_half_way
from tests.plan.upgrades import list_what_does_not_only_add, upgrading

EMBEDDED = ENGINES[0]
COST = ("ALTER TABLE plan_step ADD COLUMN cost REAL", "CREATE TABLE bill (run_id TEXT PRIMARY KEY)")


@pytest.fixture
def upgrade(monkeypatch):
    """Make this program a newer one, or the old one again."""
    return upgrading(monkeypatch, embedded)


def described(folder):
    """Return the file's version and its tables as they were made."""
    with sqlite3.connect(folder / "runs.sqlite") as connection:
        tables = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return version, tables


async def test_a_newer_program_carries_on_the_run_of_an_older_ones_killed_process(tmp_path, upgrade, monkeypatch):
    """It brings the file up to its layout first; what is recorded stays, and is not run again."""
    monkeypatch.delenv("FINGERPOST_NOW")
    calls = CallLog(tmp_path)
    await asyncio.to_thread(killed_half_way, EMBEDDED, tmp_path)
    old = described(tmp_path)[0]
    upgrade(*COST)
    journal = EmbeddedJournal(tmp_path)
    newer = new_runs(journal, tmp_path)
    (line,) = await newer.list_runs(USER)
    state = await newer.carry_on(line.run_id)
    journal.close()
    begun = [count for (word, _key), count in sorted(calls.count().items()) if word == "begin"]

    assert (old, line.state, line.settled, state) == (1, "running", 1, "completed")
    assert begun == [1, 2, 1]
    assert described(tmp_path)[0] == 2
    with sqlite3.connect(tmp_path / "runs.sqlite") as connection:
        assert connection.execute("SELECT count(*), count(cost) FROM plan_step").fetchone() == (3, 0)
    connection.close()


async def test_an_older_program_refuses_a_newer_file_and_leaves_it_as_it_is(tmp_path, upgrade, opened, recorder):
    """It says what to do; nothing runs, and the newer program finds everything."""
    upgrade(*COST)
    _state, run = await ended(opened(recorder.tool()), plan(step(1)))
    before = described(tmp_path)
    upgrade()
    older = opened(recorder.tool())
    for asked in (older.list_runs("ann"), older.get(run.run_id, "ann"), older.create(plan(step(1)), user="ann")):
        with pytest.raises(
            SettingsInvalid, match=r"^The runs file runs\.sqlite was written by a newer fingerpost; update this one$"
        ):
            await asked
    upgrade(*COST)
    found = await opened(recorder.tool()).get(run.run_id, "ann")

    assert (before, len(recorder.calls)) == (described(tmp_path), 1)
    assert found == run


async def test_an_upgrade_that_breaks_off_has_not_happened(tmp_path, upgrade, opened, recorder):
    """All of a layout or nothing of it: the older program goes on with the file."""
    _state, run = await ended(opened(recorder.tool()), plan(step(1)))
    before = described(tmp_path)
    upgrade(COST[0], "ALTER TABLE nowhere ADD COLUMN x")
    with pytest.raises(StorageUnavailable):
        await opened(recorder.tool()).list_runs("ann")
    upgrade()
    found = await opened(recorder.tool()).get(run.run_id, "ann")

    assert described(tmp_path) == before
    assert found == run


async def test_an_older_process_that_has_the_file_open_goes_on(tmp_path, upgrade, opened, recorder):
    """A layout only adds: what the older process writes after the upgrade is found by the newer one."""
    older = opened(recorder.tool())
    await ended(older, plan(step(1)))
    upgrade(*COST)
    newer = opened(recorder.tool())
    assert len(await newer.list_runs("ann")) == 1
    state, run = await ended(older, plan(step(1), step(2)))
    found = await newer.get(run.run_id, "ann")

    assert (state, found, described(tmp_path)[0]) == ("completed", run, 2)


def test_each_layout_only_adds():
    """What an older process wrote must stay readable, and what it writes must fit: no drop, no rename, no demand."""
    assert list_what_does_not_only_add(embedded) == []
