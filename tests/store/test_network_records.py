"""Network records: they round-trip, edits preserve comments, and concurrent writers do not conflict."""

import os
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fingerpost.errors import ParameterError
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from tests.net.at_once import tell_at_once

BUS = """# The buses, from the council.

source = "gtfs"  # asked for by many
feeds = [
    "BUS=https://example.org/bus.zip",  # every Monday
]
priority = 10    # above the trains
"""
TRAIN = "zone   =   'Europe/Lisbon'\nsource = \"gtfs\"\n# End of file.\n"


@pytest.fixture
def store(tmp_path):
    folder = tmp_path / "networks"
    folder.mkdir()
    (folder / "BUS.toml").write_text(BUS)
    (folder / "TRAIN.toml").write_text(TRAIN)
    return NetworkRecordStore(tmp_path)


def change(store, name, **fields):
    store.put(store.read().records[name].model_copy(update=fields))


def text_of(store, name):
    return store.path(name).read_text(encoding="utf-8")


def test_stored_values_are_read(tmp_path):
    record = NetworkRecord(
        name="HSL",
        source="otp",
        feeds=("HSL=/data/hsl.zip", "https://example.org/b.zip?key=${HSL_KEY}"),
        realtime=('A "quoted" \\ path',),
        extract="/data/finland.osm.pbf",
        url="https://example.org/otp",
        key="HSL_KEY",
        fallback="TRE",
        priority=-3,
        languages=("fi", "sv", "en"),
        bounds=(59.9, 24.2, 60.5, 25.6),
        zone="Europe/Helsinki",
        attribution=("© HSL ünd ändere",),
    )
    other = NetworkRecord(name="TRE")
    store = NetworkRecordStore(tmp_path)
    store.put(other)
    store.put(record)

    assert dict(NetworkRecordStore(tmp_path).read().records) == {"TRE": other, "HSL": record}


def test_a_new_record_has_only_values_that_differ_from_the_defaults(tmp_path):
    store = NetworkRecordStore(tmp_path)
    store.put(NetworkRecord(name="TRE", feeds=("/a.zip", "/b.zip"), priority=1))

    assert text_of(store, "TRE") == 'source = "gtfs"\nfeeds = [\n    "/a.zip",\n    "/b.zip",\n]\npriority = 1\n'


def test_changing_one_key_changes_only_its_line(store):
    change(store, "BUS", priority=7)
    change(store, "TRAIN", zone=None)
    change(store, "TRAIN", zone=None)

    assert text_of(store, "BUS") == BUS.replace("priority = 10 ", "priority = 7 ")
    assert text_of(store, "TRAIN") == 'source = "gtfs"\n# End of file.\n'


def test_putting_the_stored_record_writes_nothing(store):
    before = store.stamp()
    for record in store.read().records.values():
        store.put(record)

    assert (store.stamp(), text_of(store, "BUS"), text_of(store, "TRAIN")) == (before, BUS, TRAIN)


NAMES = ("A", "B", "D-1")
VALUES = {
    "feeds": st.lists(st.sampled_from(["/a.zip", "X=/b.zip", "https://example.org/?k=${K}"]), max_size=3).map(tuple),
    "priority": st.integers(-5, 5),
    "zone": st.sampled_from([None, "Europe/Helsinki"]),
    "bounds": st.sampled_from([None, (1.0, 2.0, 3.0, 4.5)]),
    "attribution": st.lists(st.sampled_from(["# no remark", 'a"b', "[A]", "ä"]), max_size=2).map(tuple),
}
PUTS = st.tuples(st.just("put"), st.sampled_from(NAMES), st.fixed_dictionaries(VALUES))
REMOVALS = st.tuples(st.just("remove"), st.sampled_from(NAMES))
LINES = st.sampled_from(["# a remark", "", "priority = 3 # high", 'zone = "UTC"', 'source = "gtfs"'])
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end, st.lists(LINES, unique=True), st.sampled_from(["", "\n", "\n\n"])
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries(dict.fromkeys(NAMES, TEXTS)), st.lists(st.one_of(PUTS, REMOVALS), max_size=8))
def test_any_changes_leave_a_dictionary_and_the_remarks(tmp_path, texts, steps):
    (tmp_path / "networks").mkdir(exist_ok=True)
    store = NetworkRecordStore(tmp_path)
    for name, text in texts.items():
        store.path(name).write_text(text)
    model = dict(store.read().records)
    remarked = {name for name, text in texts.items() if "# a remark" in text}
    for step in steps:
        match step:
            case ("put", name, fields):
                model[name] = NetworkRecord(name=name, **fields)
                store.put(model[name])
            case ("remove", name) if name in model:
                del model[name]
                remarked.discard(name)
                store.remove(name)
            case (_, name, *_):
                with pytest.raises(ParameterError, match=f"There is no network {name}"):
                    store.remove(name)

    assert dict(store.read().records) == model
    assert {name for name in model if "# a remark" in text_of(store, name)} == remarked


def test_a_record_that_is_not_toml_can_be_replaced_and_removed(store):
    store.path("BUS").write_text('feeds = ["x.zip"\n')
    store.put(NetworkRecord(name="BUS", priority=1))

    assert text_of(store, "BUS") == 'source = "gtfs"\npriority = 1\n'
    store.path("BUS").write_text('feeds = ["x.zip"\n')
    store.remove("BUS")
    assert list(store.read().records) == ["TRAIN"]


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda store: change(store, "BUS", zone="Nowhere"), "zone must be an IANA time zone"),
        (lambda store: change(store, "BUS", fallback="BUS"), "its fallbacks form a cycle"),
        (lambda store: store.remove("TRAM"), r"There is no network TRAM\. Added networks: BUS, TRAIN$"),
        (lambda store: store.put(NetworkRecord(name="DEMO-X")), "not beginning with DEMO-"),
        (lambda store: store.put(NetworkRecord(name="A", fallback="B")), "its fallback 'B' is not an added network"),
    ],
)
def test_an_invalid_change_changes_nothing(store, attempt, message):
    with pytest.raises(ParameterError, match=message):
        attempt(store)
    assert (text_of(store, "BUS"), text_of(store, "TRAIN")) == (BUS, TRAIN)
    assert list(store.read().records) == ["BUS", "TRAIN"]


def test_the_fallback_of_another_network_is_not_removed(store):
    change(store, "BUS", fallback="TRAIN")
    with pytest.raises(ParameterError, match="TRAIN is the fallback of BUS"):
        store.remove("TRAIN")
    with pytest.raises(ParameterError, match="form a cycle"):
        change(store, "TRAIN", fallback="BUS")


def test_every_edit_has_a_stamp_of_its_own(tmp_path):
    store = NetworkRecordStore(tmp_path)
    stamps = [store.stamp()]
    for number in range(20):
        store.put(NetworkRecord(name="A", priority=1 + number % 9))
        stamps.append(store.stamp())
    draft = tmp_path / "draft"
    draft.write_bytes(store.path("A").read_bytes())
    time_ns = store.path("A").stat().st_mtime_ns
    os.utime(draft, ns=(time_ns, time_ns))
    draft.replace(store.path("A"))
    stamps.append(store.stamp())

    assert len(set(stamps)) == len(stamps)


PUTTING = """
import sys
from pathlib import Path
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
store = NetworkRecordStore(Path(sys.argv[1]))
store.read()
print("ready", flush=True)
sys.stdin.readline()
for number in range(10):
    store.put(NetworkRecord(name=f"{sys.argv[2]}{number}"))
"""


def test_two_simultaneous_writers_lose_nothing(store, tmp_path):
    command = [sys.executable, "-c", PUTTING, str(tmp_path)]
    tell_at_once([*command, "X"], [*command, "Y"])
    records = store.read().records

    assert set(records) == {"BUS", "TRAIN", *(f"{name}{number}" for name in "XY" for number in range(10))}


@pytest.mark.parametrize(
    ("before", "changed", "after"),
    [
        # A key after the last line of a file that does not end in a line break.
        ("priority = 1", {"priority": 1, "zone": "UTC"}, 'priority = 1\nsource = "gtfs"\nzone = "UTC"\n'),
        # TOML tells false from 0, and a priority of false is invalid.
        ("priority = false\n", {"priority": 1}, 'priority = 1\nsource = "gtfs"\n'),
    ],
)
def test_a_replaced_record_is_toml(store, before, changed, after):
    store.path("BUS").write_text(before)
    store.put(NetworkRecord(name="BUS", **changed))

    assert text_of(store, "BUS") == after


def test_hidden_files_next_to_records_are_ignored(store):
    """Editors and macOS leave them; a dangling link among them must not hide that a record has changed."""
    folder = store.path("BUS").parent
    (folder / "._BUS.toml").write_bytes(b"\x00\x05")
    (folder / ".#BUS.toml").symlink_to("nobody@nowhere")

    assert dict(store.read().problems) == {}
    assert len(store.stamp()) == 2
