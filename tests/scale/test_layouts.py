"""The database tables across versions; ``tests/plan/test_layouts.py`` has the facts for all storage places."""

import sys

from fingerpost.store import postgres
from fingerpost.store.variables import VariableStore
from tests.net.at_once import tell_at_once
from tests.scale.places import describe_tables, open_database
from tests.scale.test_cut_off import NOON

NUMBERS = list(range(1, len(postgres.LAYOUTS) + 1))
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


def test_simultaneous_processes_create_the_tables_once(database, tmp_path):
    commands = [[sys.executable, "-c", FIRST, str(tmp_path), f"k{number}"] for number in range(4)]
    listed = [said.split() for said in tell_at_once(*commands)]

    assert all(f"k{number}" in keys for number, keys in enumerate(listed))
    assert describe_tables(tmp_path)[0] == NUMBERS
    assert len(VariableStore(database).list_variables("ada")) == 4


def test_the_first_layout_gets_the_columns_of_the_second(database, tmp_path, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr(postgres, "LAYOUTS", postgres.LAYOUTS[:1])
        VariableStore(database).save("ada", "home", "other", 1, NOON)
    found = VariableStore(open_database(tmp_path)).find("ada", "home")
    numbers, columns = describe_tables(tmp_path)

    assert (found.value, numbers) == (1, NUMBERS)
    assert {("plan_run", "worker", "text"), ("plan_run", "takeovers", "integer")} <= set(columns)
