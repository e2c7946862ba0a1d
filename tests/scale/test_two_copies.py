"""Two copies of fingerpost, each with a home folder of its own, and one database: what one keeps the other has."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from pyrate_limiter import Rate, TokenBucket

from fingerpost import clock
from fingerpost.store.postgres.call_log import SharedCallLog
from fingerpost.store.postgres.limits import SharedLimits
from fingerpost.store.postgres.variables import SharedVariables
from tests.net.at_once import tell_at_once
from tests.plan.suite.fixtures import LONG_MS, USER, CallLog, adding, new_runs, plan_of_steps, read_runs
from tests.plan.suite.processes import Worker, wait_until
from tests.scale.cluster import find_programs, run_program
from tests.scale.places import SHARED, open_database, open_journal, run_sql, url_of
from tests.scale.running import get_url

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
HOUR_MS = 3_600_000
CLI = [sys.executable, "-c", "from fingerpost.apps.cli import main; main()"]
TAKE = """
import sys
from pathlib import Path
from pyrate_limiter import Rate, TokenBucket
from fingerpost.store.postgres.call_log import SharedCallLog
from fingerpost.store.postgres.limits import SharedLimits
from tests.scale.places import open_database

limit = SharedLimits(open_database(Path(sys.argv[1]))).limit("sec")
print("ready", flush=True)
sys.stdin.readline()
print(sum(limit.check(TokenBucket(), [Rate(8, 3_600_000, burst=25)], 10**12, 1).allowed for _ in range(40)))
"""


@pytest.fixture
def copies(tmp_path):
    """Return a function that runs a command on one of two copies, over a database that is made for this test."""
    run_sql("postgres", "CREATE DATABASE two_copies")

    def invoke(copy: str, *arguments: str) -> Mapping[str, object]:
        home = {"FINGERPOST_HOME": str(tmp_path / copy), "FINGERPOST_DATABASE_URL": url_of("two_copies")}
        done = subprocess.run(
            [*CLI, *arguments],
            env=os.environ | home,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if "--json" in arguments else {"said": done.stdout}

    yield invoke
    run_sql("postgres", "DROP DATABASE two_copies WITH (FORCE)")


def test_a_variable_and_a_run_of_one_copy_are_the_others_too(copies, tmp_path):
    """Saved and begun on one; read, approved and carried to its end on the other, whose home folder is another."""
    plan = tmp_path / "plan.json"
    plan.write_text(
        json.dumps(
            {
                "goal": "wait for a person, then say so",
                "steps": [
                    {"step_id": 1, "description": "May we?", "agent": "human", "expected_key": "may"},
                    {"step_id": 2, "description": "Say so", "parameters": {"said": {"$ref": "may", "path": "data"}}},
                ],
            }
        )
    )
    copies("one", "vars", "set", "home", "60.17,24.94")
    begun = copies("one", "run", str(plan), "--json")
    kept = copies("other", "vars", "list")
    ended = copies("other", "runs", "approve", begun["run_id"], "1", "--json")
    listed = copies("one", "runs", "list", "--json")

    assert "home" in kept["said"]
    assert (begun["state"], ended["state"], [run["state"] for run in listed["runs"]]) == (
        "waiting",
        "completed",
        ["completed"],
    )
    assert sorted(path.name for path in (tmp_path / "other").iterdir() if path.suffix == ".sqlite") == []


def test_two_processes_share_one_limit(database, tmp_path):
    """At one instant, 25 tokens are 25 tokens, however many processes reach for them."""
    SharedLimits(database).list_pauses()
    command = [sys.executable, "-c", TAKE, str(tmp_path)]

    assert sum(map(int, tell_at_once(command, command))) == 25


@pytest.mark.parametrize("wrong_by_ms", [-HOUR_MS, 0, HOUR_MS], ids=["behind", "right", "ahead"])
def test_the_calls_of_a_tool_are_counted_over_all_machines(database, wrong_by_ms):
    """Five within a minute, whoever asks and however wrong its clock is; the sixth is told how long to wait."""
    now_ms = int(clock.system_s() * 1000)
    one, other = SharedCallLog(database, "planJourney"), SharedCallLog(database, "planJourney")
    here = [one.pass_at(now_ms, 5, 60_000) for _ in range(3)]
    there = [other.pass_at(now_ms + wrong_by_ms, 5, 60_000) for _ in range(3)]
    another_tool = SharedCallLog(database, "plan_trip").pass_at(now_ms, 5, 60_000)

    assert (here, there[:2], another_tool) == ([None] * 3, [None] * 2, None)
    assert 30_000 < there[2] <= 60_000


def test_a_call_no_longer_counts_once_its_span_is_over(database):
    """A span of a millisecond is over when the next call comes; one of a minute is not."""
    log = SharedCallLog(database, "planJourney")
    assert [log.pass_at(0, 1, 1), log.pass_at(0, 1, 60_000) is None] == [None, False]
    database.change(lambda connection: connection.execute("UPDATE tool_call SET passed_ms = passed_ms - 10"))

    assert log.pass_at(0, 1, 5) is None


@pytest.mark.parametrize("wrong_by", [timedelta(hours=-3), timedelta(hours=3)], ids=["behind", "ahead"])
def test_a_machine_whose_clock_is_wrong_keeps_to_the_pace_of_all(database, wrong_by):
    """Its bucket is as empty as everybody's, and a pause that it sets is as long as the source asked for."""
    rates = [Rate(1, HOUR_MS, burst=2)]
    now_ms = int(clock.system_s() * 1000)
    wrong_ms = now_ms + int(wrong_by / timedelta(milliseconds=1))
    right = SharedLimits(database).limit("sec")
    wrong = SharedLimits(database, clock_ms=lambda: wrong_ms).limit("sec")
    took = [each.check(TokenBucket(), rates, at, 1).allowed for each, at in ((right, now_ms), (wrong, wrong_ms))]
    refused = [each.check(TokenBucket(), rates, at, 1) for each, at in ((wrong, wrong_ms), (right, now_ms))]
    SharedLimits(database, clock_ms=lambda: wrong_ms).limit("tfl").pause(wrong_ms + 600_000)
    (until,) = SharedLimits(database).list_pauses().values()

    assert took == [True, True]
    assert [decision.allowed for decision in refused] == [False, False]
    assert all(HOUR_MS - 60_000 < decision.retry_after_ms <= HOUR_MS + 1000 for decision in refused)
    assert abs(until.timestamp() - clock.system_s() - 600) < 60


async def test_a_run_of_a_killed_copy_is_interrupted_at_once_and_ends_on_the_other(database, tmp_path):
    """It is nobody's the moment its process is gone; resumed, only the step that was interrupted runs again."""
    calls = CallLog(tmp_path)
    chain = plan_of_steps(adding(1, 1), adding(2, LONG_MS, 1), adding(3, 1, 2))
    journal = open_journal(tmp_path)
    runs = new_runs(journal, tmp_path)
    with Worker(SHARED, tmp_path, [chain]) as worker:
        wait_until(lambda: sum(calls.count().values()) == 3, "the second step begins")
        (line,) = await runs.list_runs(USER)
        before = await runs.state_of(line)
        worker.kill()
        while await journal.is_held(line.run_id):
            pass
    after = await runs.state_of(line)
    state = await runs.carry_on(line.run_id)
    journal.close()
    begun = [count for (word, _key), count in sorted(calls.count().items()) if word == "begin"]

    assert (before, after, state, begun) == ("running", "interrupted", "completed", [1, 2, 1])


def test_a_backup_brings_everything_back(database, tmp_path, schema):
    """The steps of docs/scale.md: dumped while a run is under way, restored elsewhere, carried to its end there."""
    programs = find_programs()
    SharedVariables(database).save("ada", "home", "location", {"lat": 60.17}, NOON)
    calls = CallLog(tmp_path)
    dump = tmp_path / "fingerpost.dump"
    with Worker(SHARED, tmp_path, [plan_of_steps(adding(1, 1), adding(2, LONG_MS, 1), adding(3, 1))]) as worker:
        wait_until(lambda: sum(calls.count().values()) == 5, "the long step begins")
        wait_until(lambda: len(read_runs(SHARED, tmp_path)[0].record.steps) == 2, "two steps are recorded")
        run_program(programs / "pg_dump", "--format=custom", f"--schema={schema}", f"--file={dump}", get_url())
        worker.kill()
    before = read_runs(SHARED, tmp_path)
    run_sql("postgres", "CREATE DATABASE restored")
    try:
        restored = url_of("restored")
        run_program(programs / "pg_restore", "--no-owner", f"--dbname={restored}", str(dump))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FINGERPOST_TEST_DATABASE_URL", restored)
            after = read_runs(SHARED, tmp_path)
            elsewhere = open_database(tmp_path)
            found = SharedVariables(elsewhere).find("ada", "home")
            saved = SharedVariables(elsewhere).save("ada", "work", "other", 1, NOON)[0]
            elsewhere.close()
    finally:
        run_sql("postgres", "DROP DATABASE restored WITH (FORCE)")

    assert [run.record for run in after] == [run.record for run in before]
    assert (sorted(after[0].record.steps), found.value, saved.key) == ([1, 3], {"lat": 60.17}, "work")
