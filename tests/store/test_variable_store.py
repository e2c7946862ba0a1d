"""User variables: stored by name and user, safe across threads and processes; and unused files are closed."""

import shutil
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost import clock
from fingerpost.errors import ParameterError, SettingsInvalid, StorageUnavailable
from fingerpost.store.sqlite import SqliteFile
from fingerpost.store.variables import MAX_KEYS_PER_USER, MAX_VALUE_BYTES, Variable, VariableStore
from tests.net.at_once import tell_at_once
from tests.scale.places import get_url, open_database

NOON = datetime(2022, 2, 22, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1, microseconds=1)
HOME = {"lat": 60.17, "lon": 24.94, "note": None}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "variables.sqlite3"


@pytest.fixture(params=["file", "postgres"])
def new_store(request, path, tmp_path):
    if request.param == "postgres":
        get_url()
    place = path if request.param == "file" else open_database(tmp_path)
    return lambda **given: VariableStore(place, **given)


@pytest.fixture
def store(new_store):
    return new_store()


only_in_a_file = pytest.mark.parametrize("new_store", ["file"], indirect=True)


def keys(store, user) -> list[str]:
    return [variable.key for variable in store.list_variables(user)]


def test_saving_again_reports_the_previous_value(store):
    """C4: previous is the old variable; it was created when it was created."""
    first, _ = store.save("ada", "home", "location", HOME, NOON)
    second, previous = store.save("ada", "home", "other", "gone", LATER)
    assert previous == first
    assert second == Variable(key="home", type="other", value="gone", created_at=NOON, updated_at=LATER)
    assert store.list_variables("ada") == [second]


def test_users_never_see_each_other(store):
    store.save("ada", "home", "other", 1, NOON)
    assert store.save("bob", "home", "other", 2, NOON)[1] is None
    assert (store.find("ada", "home").value, store.find("bob", "home").value) == (1, 2)
    assert (store.delete("bob"), keys(store, "ada"), keys(store, "bob")) == (["home"], ["home"], [])
    assert store.find("Ada", "home") is None


def test_a_key_is_found_exactly_as_written(store):
    """B10: keys are case-sensitive, and listed in order."""
    for key in ("home", "Home", "ärla"):
        store.save("ada", key, "other", key, NOON)
    assert keys(store, "ada") == ["Home", "home", "ärla"]
    assert (store.find("ada", "HOME"), store.find("ada", "Home").value) == (None, "Home")


def test_deleting_reports_the_previous_values(store):
    for name in ("c", "a", "b"):
        store.save("ada", name, "other", 1, NOON)
    assert (store.delete("ada", "x"), keys(store, "ada")) == ([], ["a", "b", "c"])
    assert (store.delete("ada", "b"), keys(store, "ada")) == (["b"], ["a", "c"])
    assert (store.delete("ada"), keys(store, "ada")) == (["a", "c"], [])


@only_in_a_file
def test_asking_leaves_no_trace(store, path):
    assert (store.find("ada", "home"), store.list_variables("ada"), store.delete("ada")) == (None, [], [])
    assert path.parent.exists() is False


@only_in_a_file
def test_only_the_owner_may_read_the_file(store, path):
    """C4: mode 0600, SQLite's companion files included, and again where somebody loosened it."""
    store.save("ada", "home", "other", 1, NOON)
    reader = sqlite3.connect(path)
    reader.execute("SELECT * FROM variable").fetchall()
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    reader.close()
    assert modes == {f"variables.sqlite3{companion}": 0o600 for companion in ("", "-shm", "-wal")}
    path.chmod(0o644)
    store.save("ada", "work", "other", 1, NOON)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_value_has_a_size(store):
    """Bounds: the bytes of the JSON text count, its two quotes included; one more is refused and changes nothing."""
    largest = "x" * (MAX_VALUE_BYTES - 2)
    store.save("ada", "home", "other", largest, NOON)
    with pytest.raises(ParameterError) as caught:
        store.save("ada", "home", "other", largest + "x", NOON)
    assert caught.value.message == "value must be at most 8000 bytes of JSON; you sent 8001"
    with pytest.raises(ParameterError, match=r"you sent 8002$"):
        store.save("ada", "home", "other", "ä" * 4000, NOON)
    assert store.find("ada", "home").value == largest


@pytest.mark.parametrize("value", [float("nan"), object(), "\ud800"])
def test_a_value_is_json(store, path, value):
    """C4: what has no JSON form is refused before anything is written."""
    with pytest.raises(ParameterError, match=r"^value must be a JSON value$"):
        store.save("ada", "home", "other", value, NOON)
    assert (store.list_variables("ada"), path.exists()) == ([], False)


def test_a_user_has_so_many_keys_and_no_more(store):
    for number in range(MAX_KEYS_PER_USER - 1):
        store.save("ada", f"k{number}", "other", 1, NOON)
    store.save("ada", "last", "other", 1, NOON)
    with pytest.raises(ParameterError) as caught:
        store.save("ada", "one too many", "other", 1, NOON)
    assert caught.value.details == {"field": "key"}
    assert caught.value.message == "1000 variables are already stored; the limit is 1000"
    assert store.save("ada", "last", "other", 2, LATER)[0].value == 2
    assert store.save("bob", "home", "other", 1, NOON)[1] is None
    assert len(store.list_variables("ada")) == MAX_KEYS_PER_USER


@pytest.mark.parametrize(("age", "kept"), [(timedelta(days=30), True), (timedelta(days=30, microseconds=1), False)])
def test_a_variable_is_stored_as_long_as_the_operator_configures(new_store, monkeypatch, age, kept):
    """C4: retention counts from the last change; the last microsecond is still in."""
    store = new_store(retention_days=30)
    store.save("ada", "home", "other", 1, NOON - timedelta(days=400))
    store.save("ada", "home", "other", 2, NOON)
    monkeypatch.setenv(clock.VARIABLE, (NOON + age).isoformat())
    expected = ["home"] if kept else []
    assert keys(store, "ada") == expected
    assert [variable.key for variable in [store.find("ada", "home")] if variable] == expected
    assert (store.save("ada", "home", "other", 3, NOON + age)[1] is not None) == kept
    monkeypatch.setenv(clock.VARIABLE, (NOON + 3 * age).isoformat())
    assert store.delete("ada") == []


def test_without_retention_a_variable_is_stored_for_ever(store, monkeypatch):
    store.save("ada", "home", "other", 1, datetime(1970, 1, 1, tzinfo=UTC))
    monkeypatch.setenv(clock.VARIABLE, "9999-01-01T00:00:00Z")
    assert keys(store, "ada") == ["home"]


def books(application_id):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE books (title TEXT)")
        connection.execute(f"PRAGMA application_id = {application_id}")
        return connection.serialize()


@only_in_a_file
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"These are my notes, and they are not a database." * 50, "is not a readable database"),
        (books(0), "belongs to another program"),
        (books(0x46505641), "belongs to another version of fingerpost"),
    ],
    ids=["notes", "another program", "another version"],
)
def test_a_file_that_is_not_ours_is_the_operators_to_move(store, path, content, reason):
    path.parent.mkdir()
    path.write_bytes(content)
    for attempt in (
        lambda: store.find("ada", "home"),
        lambda: store.list_variables("ada"),
        lambda: store.save("ada", "home", "other", 1, NOON),
    ):
        with pytest.raises(SettingsInvalid) as caught:
            attempt()
        assert caught.value.message == f"The variables file {path.name} {reason}; move it out of the way and call again"
    assert path.read_bytes() == content


def test_a_place_that_cannot_be_written_is_the_operators_too(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "file" / "v.sqlite3", tmp_path / "folder"):
        with pytest.raises(
            SettingsInvalid, match=r"cannot be opened; check the permissions of the file and its folder$"
        ):
            VariableStore(place).save("ada", "home", "other", 1, NOON)


@only_in_a_file
def test_a_busy_file_is_worth_another_try(store, path, monkeypatch):
    monkeypatch.setattr(store._tables, "file", replace(store._tables.file, busy_timeout_s=0.01))
    store.save("ada", "home", "other", 1, NOON)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageUnavailable) as caught:
        store.save("ada", "home", "other", 2, NOON)
    seen = store.find("ada", "home").value
    holder.close()
    assert (caught.value.retryable, seen) == (True, 1)
    assert store.save("ada", "home", "other", 3, NOON)[1].value == 1


def test_threads_may_save_at_once(store):
    with ThreadPoolExecutor(20) as threads:
        list(threads.map(lambda number: store.save("ada", f"k{number:02}", "other", number, NOON), range(40)))
    assert [variable.value for variable in store.list_variables("ada")] == list(range(40))


@only_in_a_file
def test_processes_may_save_at_once(store, path):
    script = (
        "import pathlib, sys; from datetime import UTC, datetime; from fingerpost.store.variables import VariableStore;"
        "store = VariableStore(pathlib.Path(sys.argv[1])); now = datetime(2022, 2, 22, tzinfo=UTC);"
        "print('ready', flush=True); sys.stdin.readline();"
        "seen = [store.save('ada', 'shared', 'other', f'{sys.argv[2]}-{n}', now)[1] for n in range(15)];"
        "store.save('ada', f'own-{sys.argv[2]}', 'other', 1, now);"
        "print(*[old.value if old else 'none' for old in seen])"
    )
    commands = [[sys.executable, "-c", script, str(path), str(number)] for number in range(4)]
    replaced = " ".join(tell_at_once(*commands)).split()
    last = store.find("ada", "shared").value
    everything = {"none"} | {f"{number}-{turn}" for number in range(4) for turn in range(15)}
    assert (set(replaced) | {last}, len(replaced)) == (everything, 60)
    assert keys(store, "ada") == ["own-0", "own-1", "own-2", "own-3", "shared"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@given(value=JSON, instant=st.datetimes(timezones=st.just(UTC)))
def test_every_json_value_and_instant_is_returned_unchanged(tmp_path_factory, value, instant):
    """C4: nothing is rounded, dropped or reordered into something else."""
    store = VariableStore(tmp_path_factory.getbasetemp() / "round-trip.sqlite3")
    store.delete("ada")
    saved, _ = store.save("ada", "home", "other", value, instant)
    assert (saved.value, saved.created_at, store.find("ada", "home")) == (value, instant, saved)


def test_the_store_opens_through_a_path_with_odd_characters(tmp_path):
    place = tmp_path / "a?b #c%20ä" / "v.sqlite3"
    VariableStore(place).save("ada", "home", "other", 1, NOON)
    assert [file.name for file in place.parent.iterdir()] == ["v.sqlite3"]
    assert keys(VariableStore(place), "ada") == ["home"]


DESCRIPTORS = Path("/proc/self/fd")


def open_files():
    return {descriptor.resolve() for descriptor in DESCRIPTORS.iterdir()}


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="open files are listed in /proc on Linux alone")
@pytest.mark.parametrize("synchronous", [None, "OFF"])
def test_a_file_that_is_not_a_database_is_closed(tmp_path, synchronous):
    """SQLite notices at the first statement, which may be a setting of the connection's own."""
    path = (tmp_path / "limits.sqlite").resolve()
    path.write_bytes(b"this is no database, and long enough to be told from one" * 20)
    file = SqliteFile(path=path, contents="limits", synchronous=synchronous)

    message = r"limits\.sqlite is not a readable database; move it out of the way"
    with pytest.raises(SettingsInvalid, match=message) as caught, file.opened() as connection:
        connection.execute("SELECT 1 FROM anything")

    # The error's traceback would keep a connection that nobody closed.
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
    assert path not in open_files()


def test_a_reader_undoes_the_transaction_of_a_killed_process(tmp_path):
    """A copy of the files in the middle of a transaction is what such a process leaves."""
    (tmp_path / "live").mkdir()
    with closing(sqlite3.connect(tmp_path / "live" / "a.sqlite", isolation_level=None)) as writer:
        writer.executescript("CREATE TABLE t AS SELECT 1; PRAGMA cache_size = 1; BEGIN")
        writer.executemany("INSERT INTO t VALUES (zeroblob(?))", [(5_000,)] * 20)
        shutil.copytree(tmp_path / "live", tmp_path / "left")
    with SqliteFile(path=tmp_path / "left" / "a.sqlite", contents="variables").reading() as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)


def test_a_second_connection_keeps_the_locks_of_the_first(path):
    """POSIX drops all locks of a process on a file when the process closes any descriptor of that file."""
    file = SqliteFile(path=path, contents="variables")
    file.create_owner_only()
    with file.opened() as connection:
        connection.execute("BEGIN IMMEDIATE")
        file.create_owner_only()
        write = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
        other = subprocess.run([sys.executable, "-c", write, path], capture_output=True, text=True, check=False)
    assert other.stderr.strip().endswith("database is locked")
