"""The commands in docs/scale.md restore a database, including DBOS's data, and a waiting run ends there."""

import os
import re
import subprocess
from urllib.parse import urlsplit

import pytest

from fingerpost.plan.engines.dbos import DbosJournal
from fingerpost.plan.records import read_plan
from fingerpost.store.postgres import LAYOUTS, Database
from fingerpost.store.variables import VariableStore
from tests.plan.suite.fixtures import USER, CallLog, adding, approval_step, new_runs, plan_of_steps
from tests.project.sources import ROOT
from tests.scale.cluster import find_programs
from tests.scale.places import run_sql, url_of
from tests.scale.test_cut_off import NOON

PLAN = plan_of_steps(adding(1, 1), {**approval_step(2), "dependencies": [1]}, {**adding(3, 1), "dependencies": [2]})
RESTORED = "restored_by_the_page"


def read_commands():
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    section = page.partition("## Back up and restore")[2].partition("\n## ")[0]
    return re.findall(r"^    (.+)$", section, re.MULTILINE)


@pytest.fixture
def address(new_database):
    yield url_of(new_database())
    run_sql("postgres", f"DROP DATABASE IF EXISTS {RESTORED} WITH (FORCE)")


async def execute(url, folder, run_id=None):
    journal = DbosJournal(Database(url))
    runs = new_runs(journal, folder)
    try:
        if run_id is None:
            run_id = await runs.create(read_plan(PLAN), user=USER)
        else:
            await runs.decide(run_id, USER, 2, approved=True)
        return run_id, await runs.execute(run_id)
    finally:
        journal.close()


async def test_the_commands_of_the_page_restore_everything(address, tmp_path):
    VariableStore(Database(address)).save("ada", "home", "other", 1, NOON)
    run_id, before = await execute(address, tmp_path)
    server = urlsplit(address)
    environ = {
        **os.environ,
        "PATH": f"{find_programs()}{os.pathsep}{os.environ['PATH']}",
        "PGHOST": server.hostname,
        "PGPORT": str(server.port),
        "PGUSER": server.username,
        "PGPASSWORD": server.password,
        "FINGERPOST_DATABASE_URL": address,
    }
    commands = read_commands()
    for command in commands:
        here = command.replace("postgresql://...your server.../restored", url_of(RESTORED))
        here = re.sub(r"\brestored$", RESTORED, here)
        subprocess.run(here, shell=True, check=True, env=environ, cwd=tmp_path)  # noqa: ASYNC221
    restored = Database(url_of(RESTORED))
    numbers = restored.read(lambda connection: connection.execute("SELECT number FROM layout ORDER BY 1").fetchall())
    found = VariableStore(restored).find("ada", "home")
    _run_id, after = await execute(url_of(RESTORED), tmp_path, run_id)
    restored.close()
    begun = {key: count for (word, key), count in CallLog(tmp_path).count().items() if word == "begin"}

    assert [command.split()[0] for command in commands] == ["pg_dump", "createdb", "pg_restore"]
    assert (before, after, found.value) == ("waiting", "completed", 1)
    assert [number for (number,) in numbers] == list(range(1, len(LAYOUTS) + 1))
    assert begun == {f"{run_id}:1": 1, f"{run_id}:3": 1}
