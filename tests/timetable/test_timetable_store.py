"""The timetable store: changes are atomic, even if two processes compete; tests/faults has full disks and kills."""

import subprocess
import sys
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from tests.feeds import timetable_from_drawing

OLD = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10")
NEW = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def stops_of(store, name="HSL"):
    return list(store.open(name)[1].stop_name)


def put(store, timetable, name="HSL"):
    return store.put(name, timetable, '{"report": 1}', added_at=NOON)


def prepared(tmp_path):
    return sorted(path.name for path in (tmp_path / "networks" / "prepared").iterdir())


def test_get_returns_the_stored_value(tmp_path):
    entry = put(TimetableStore(tmp_path), OLD, "hsl")

    assert TimetableStore(tmp_path).get("Hsl") == entry
    assert (entry.name, entry.report_json, entry.added_at) == ("HSL", '{"report": 1}', NOON)
    assert (TimetableStore(tmp_path).list_names(), stops_of(TimetableStore(tmp_path))) == (["HSL"], ["Alpha", "Beta"])


def test_replacing_and_removing_delete_the_old_folder(tmp_path):
    store = TimetableStore(tmp_path)
    first, second = put(store, OLD), put(store, NEW)

    assert (first.stamp != second.stamp, prepared(tmp_path)) == (True, [second.folder.name])
    assert stops_of(store) == ["Alpha", "Beta", "Gamma"]
    store.remove("hsl")
    assert (store.list_names(), prepared(tmp_path)) == ([], [])


def test_replacing_one_network_does_not_affect_others(tmp_path):
    store = TimetableStore(tmp_path)
    for name in ("HSL", "HSL-2", "TRE"):
        put(store, OLD, name)
    put(store, NEW, "HSL")
    store.remove("TRE")

    assert {name: stops_of(store, name) for name in store.list_names()} == {
        "HSL": ["Alpha", "Beta", "Gamma"],
        "HSL-2": ["Alpha", "Beta"],
    }


@pytest.mark.parametrize("name", ["A", "0-9_Z", "x" * 40])
def test_letters_digits_hyphen_and_underscore_are_names(tmp_path, name):
    assert put(TimetableStore(tmp_path), OLD, name).name == name.upper()


@pytest.mark.parametrize("name", ["", "x" * 41, "A B", "Ä", "../A", "demo-helsinki", "DEMO-X"])
def test_names_that_are_refused(tmp_path, name):
    with pytest.raises(ParameterError, match="A network cannot be called"):
        put(TimetableStore(tmp_path), OLD, name)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_network_is_named(tmp_path):
    store = TimetableStore(tmp_path)
    put(store, OLD)
    for ask in (store.get, store.open):
        with pytest.raises(ParameterError) as caught:
            ask("tre")
        assert caught.value.message == "There is no network TRE. Added networks: HSL"


def test_the_stamp_changes_with_every_change_only(tmp_path):
    store = TimetableStore(tmp_path)
    steps = [
        lambda: None,
        lambda: put(store, OLD),
        lambda: put(store, OLD),
        lambda: put(store, OLD, "TRE"),
        lambda: store.remove("TRE"),
    ]
    stamps = []
    for step in steps:
        step()
        stamps += [store.stamp(), TimetableStore(tmp_path).stamp()]

    assert stamps[::2] == stamps[1::2]
    assert all(before != after for before, after in pairwise(stamps[::2]))


def test_pointer_that_cannot_be_read(tmp_path):
    store = TimetableStore(tmp_path)
    put(store, OLD)
    (tmp_path / "networks" / "HSL.json").write_text("{")
    with pytest.raises(SettingsInvalid, match="Run `fingerpost network add` again for this network"):
        store.get("HSL")
    put(store, NEW)

    assert stops_of(store) == ["Alpha", "Beta", "Gamma"]


@pytest.mark.parametrize(
    ("part", "damaged", "reason"),
    [
        ('"checksums"', '"checks"', "'checksums'"),
        ('"format": ', '"format": 1e999, "f": ', "cannot convert float infinity"),
    ],
)
def test_a_damaged_pointer_cannot_be_read(tmp_path, part, damaged, reason):
    """Without its checksums, damage to its files would never be found."""
    store = TimetableStore(tmp_path)
    put(store, OLD)
    path = tmp_path / "networks" / "HSL.json"
    path.write_text(path.read_text().replace(part, damaged))
    with pytest.raises(SettingsInvalid, match=rf"cannot be read \({reason}"):
        store.get("HSL")


def test_a_disk_that_refuses_is_named(tmp_path):
    (tmp_path / "networks").write_text("a file")
    with pytest.raises(SettingsInvalid, match=r"is not writable \(File exists\)"):
        put(TimetableStore(tmp_path), OLD)


ADDING = """
import sys
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from tests.feeds import timetable_from_drawing
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore

store = TimetableStore(Path(sys.argv[1]))
table = timetable_from_drawing(f"line A | Alpha 08:00 | {sys.argv[2]} 08:10")
for _ in range(12):
    store.put("HSL", table, sys.argv[2], added_at=datetime(2026, 3, 2, tzinfo=UTC))
"""


def test_two_processes_leave_one_complete_network(tmp_path):
    store = TimetableStore(tmp_path)
    put(store, OLD)
    writers = [subprocess.Popen([sys.executable, "-c", ADDING, str(tmp_path), name]) for name in ("One", "Two")]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        entry, table = store.open("HSL")
        seen.add((entry.report_json, *table.stop_name))

    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen <= {('{"report": 1}', "Alpha", "Beta"), ("One", "Alpha", "One"), ("Two", "Alpha", "Two")}
    assert store.get("HSL").report_json in {"One", "Two"}
    assert prepared(tmp_path) == [store.get("HSL").folder.name]
