"""Changing ``fingerpost.toml``: what is not changed stays byte for byte, whoever dies and whoever comes second."""

import json
import os
import signal
import subprocess
import sys
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.store.network_records import FILE_NAME, NetworkRecord, NetworkRecordFile, describe_schema

WRITTEN = """# Networks of our town.

# The buses, from the council.
[networks.BUS]   # asked for by many
source = "gtfs"
feeds = [
    "BUS=https://example.org/bus.zip",  # every Monday
]
priority = 10    # above the trains

# The trains.
[networks.TRAIN]
zone   =   'Europe/Lisbon'
source = "gtfs"
# End of file.
"""


@pytest.fixture
def file(tmp_path):
    """The file of WRITTEN."""
    (tmp_path / FILE_NAME).write_text(WRITTEN)
    return NetworkRecordFile(tmp_path)


def text_of(file):
    return file.path.read_text()


def test_what_is_put_is_read(tmp_path):
    """Every key."""
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
    file = NetworkRecordFile(tmp_path)
    file.put(other)
    file.put(record)

    assert dict(NetworkRecordFile(tmp_path).read().records) == {"TRE": other, "HSL": record}


def test_a_first_record_is_written_as_one_would_by_hand(tmp_path):
    """Only what differs from the default, the kind of source always."""
    file = NetworkRecordFile(tmp_path)
    file.put(NetworkRecord(name="HSL", feeds=("/a.zip",), priority=1))
    file.put(NetworkRecord(name="TRE", feeds=("/a.zip", "/b.zip")))

    assert text_of(file) == (
        '[networks.HSL]\nsource = "gtfs"\nfeeds = ["/a.zip"]\npriority = 1\n\n'
        '[networks.TRE]\nsource = "gtfs"\nfeeds = [\n    "/a.zip",\n    "/b.zip",\n]\n'
    )


def test_a_value_that_is_set_changes_its_line_alone(file):
    """The remark behind it stays."""
    file.set_value("bus", "priority", 7)

    assert text_of(file) == WRITTEN.replace("priority = 10 ", "priority = 7 ")


def test_a_new_key_comes_below_the_others_of_its_record(file):
    """Above the remark that speaks of the next record."""
    file.set_value("BUS", "languages", ("pt", "en"))

    assert text_of(file) == WRITTEN.replace("the trains\n", 'the trains\nlanguages = [\n    "pt",\n    "en",\n]\n', 1)


def test_a_key_that_is_unset_goes(file):
    """None removes it, and once more does nothing."""
    file.set_value("TRAIN", "zone", None)
    file.set_value("TRAIN", "zone", None)

    assert text_of(file) == WRITTEN.replace("zone   =   'Europe/Lisbon'\n", "")


def test_a_removed_record_leaves_the_remarks_around_it(file):
    """Nobody's words are lost."""
    file.remove("bus")

    assert text_of(file) == (
        "# Networks of our town.\n\n# The buses, from the council.\n\n" + WRITTEN[WRITTEN.index("# The trains.") :]
    )


def test_putting_what_stands_there_writes_nothing(file):
    """Not even a new time of writing."""
    before = file.stamp()
    for record in file.read().records.values():
        file.put(record)

    assert (file.stamp(), text_of(file)) == (before, WRITTEN)


REMARK = st.from_regex(r"\A# [a-z ='\"\[\]]{0,12}\Z")
NAMES = ("A", "B", "C", "D-1")
VALUES = {
    "feeds": st.lists(st.sampled_from(["/a.zip", "X=/b.zip", "https://example.org/?k=${K}"]), max_size=3).map(tuple),
    "priority": st.integers(-5, 5),
    "zone": st.sampled_from([None, "Europe/Helsinki"]),
    "bounds": st.sampled_from([None, (1.0, 2.0, 3.0, 4.5)]),
    "attribution": st.lists(st.sampled_from(["# no remark", 'a"b', "[networks.A]", "ä"]), max_size=2).map(tuple),
}
SETS = st.one_of(
    [st.tuples(st.just("set"), st.sampled_from(NAMES), st.just(key), values) for key, values in VALUES.items()]
)
PUTS = st.tuples(st.just("put"), st.sampled_from(NAMES), st.fixed_dictionaries(VALUES))
REMOVALS = st.tuples(st.just("remove"), st.sampled_from(NAMES))


@st.composite
def documents(draw):
    """Remarks, records in any order, and remarks between them."""
    parts = []
    for name in draw(st.permutations(NAMES[:3])):
        parts += draw(st.lists(st.one_of(REMARK, st.just("")), max_size=3))
        parts += [f"[networks.{name}]" + draw(st.sampled_from(["", "  # own"]))]
        parts += draw(st.sampled_from([[], ["priority = 3 # high"], ['zone = "UTC"', "# inside", 'source = "gtfs"']]))
    return "\n".join([*parts, *draw(st.lists(REMARK, max_size=2))]) + draw(st.sampled_from(["", "\n"]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents(), st.lists(st.one_of(SETS, PUTS, REMOVALS), min_size=1, max_size=8))
def test_remarks_and_other_records_survive_any_changes(tmp_path, text, steps):
    """Whatever is put, set and removed: what is read is what a dictionary would hold, and remarks outside stay."""
    (tmp_path / FILE_NAME).write_text(text)
    file = NetworkRecordFile(tmp_path)
    model = dict(file.read().records)
    for step in steps:
        before = text_of(file)
        others = {name: table for name, table in tomllib.loads(before).get("networks", {}).items() if name != step[1]}
        remarks = [line for line in outside(before, step[1]) if line.strip()]
        match step:
            case ("put", name, fields):
                model[name] = NetworkRecord(name=name, **fields)
                file.put(model[name])
            case ("set", name, key, value) if name in model:
                model[name] = model[name].model_copy(update={key: value})
                file.set_value(name, key, value)
            case ("remove", name) if name in model:
                del model[name]
                file.remove(name)
            case (_, name, *_):
                with pytest.raises(ParameterError, match=f"There is no network {name}"):
                    file.remove(name) if step[0] == "remove" else file.set_value(name, step[2], step[3])
        after = text_of(file)
        now = tomllib.loads(after).get("networks", {})
        assert dict(file.read().records) == model
        assert {name: table for name, table in now.items() if name != step[1]} == others
        assert [line for line in outside(after, step[1]) if line.strip()] == remarks


def outside(text, name):
    """The lines of a text that are no part of one record."""
    inside, lines, held = False, [], []
    for line in text.split("\n"):
        header = line.startswith("[networks.")
        if header:
            lines += held
            held, inside = [], line.partition("#")[0].strip() == f"[networks.{name}]"
        if not inside:
            lines.append(line)
        elif line.startswith("#") or not line.strip():
            held.append(line)
        else:
            held = []
    return lines + held


def test_a_mistake_elsewhere_hinders_no_change(tmp_path):
    """BAD is no TOML; GOOD is changed and BAD's text stays as it is."""
    bad = '[networks.BAD]\nfeeds = ["x.zip"\n\n'
    (tmp_path / FILE_NAME).write_text(f"{bad}[networks.GOOD]\npriority = 1\n")
    file = NetworkRecordFile(tmp_path)
    file.set_value("GOOD", "priority", 2)
    file.put(NetworkRecord(name="NEW"))

    assert text_of(file) == f'{bad}[networks.GOOD]\npriority = 2\n\n[networks.NEW]\nsource = "gtfs"\n'
    assert {name: record.priority for name, record in file.read().records.items()} == {"GOOD": 2, "NEW": 0}


def test_a_record_that_is_no_toml_can_be_replaced_and_removed(tmp_path):
    """Its remarks stay; set cannot know what it says."""
    (tmp_path / FILE_NAME).write_text('[networks.BAD]\n# From the council.\nfeeds = ["x.zip"\n')
    file = NetworkRecordFile(tmp_path)
    with pytest.raises(ParameterError, match=r"The record of BAD cannot be read: this is no TOML .*, line \d of "):
        file.set_value("BAD", "priority", 1)
    file.put(NetworkRecord(name="BAD", priority=1))

    assert text_of(file) == '# From the council.\n\n[networks.BAD]\nsource = "gtfs"\npriority = 1\n'
    (tmp_path / FILE_NAME).write_text('[networks.BAD]\nfeeds = ["x.zip"\n')
    file.remove("BAD")
    assert text_of(file) == ""


def test_a_wrong_value_is_mended_by_setting_it_though_another_is_wrong(tmp_path):
    """One after the other."""
    (tmp_path / FILE_NAME).write_text('[networks.A]\npriority = "high"\nzone = "Nowhere"\n')
    file = NetworkRecordFile(tmp_path)
    file.set_value("A", "priority", 1)
    still = file.read().problems["A"]
    file.set_value("A", "zone", "UTC")

    assert "line 3: zone must be" in still
    assert file.read().records["A"] == NetworkRecord(name="A", priority=1, zone="UTC")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file.set_value("BUS", "zone", "Nowhere"), "zone must be an IANA time zone"),
        (lambda file: file.set_value("BUS", "fallback", "TRAM"), "its fallback 'TRAM' is no network of this file"),
        (lambda file: file.set_value("BUS", "fallback", "BUS"), "goes in a circle"),
        (lambda file: file.set_value("BUS", "colour", "red"), "a record has no key 'colour'"),
        (lambda file: file.set_value("TRAM", "zone", "UTC"), r"There is no network TRAM. Added networks: BUS, TRAIN\."),
        (lambda file: file.remove("TRAM"), "There is no network TRAM"),
        (lambda file: file.put(NetworkRecord(name="DEMO-X")), "names that begin with DEMO- are the demo's"),
        (lambda file: file.put(NetworkRecord(name="A", fallback="B")), "its fallback 'B' is no network"),
    ],
)
def test_a_change_that_cannot_be_used_changes_nothing(file, change, message):
    """The file is as it was."""
    with pytest.raises(ParameterError, match=message):
        change(file)
    assert text_of(file) == WRITTEN


def test_a_fallback_is_not_removed_from_under_its_network(file):
    """The sentence names who needs it."""
    file.set_value("BUS", "fallback", "TRAIN")
    with pytest.raises(ParameterError, match="BUS could not be used any more: its fallback 'TRAIN' is no network"):
        file.remove("TRAIN")


def test_a_file_that_leaves_no_place_is_not_touched(tmp_path):
    """A table in a line cannot be added to; the sentence says what to do."""
    (tmp_path / FILE_NAME).write_text("networks = { A = { priority = 1 } }\n")
    file = NetworkRecordFile(tmp_path)
    with pytest.raises(SettingsInvalid, match="Edit it by hand"):
        file.put(NetworkRecord(name="B"))
    file.set_value("A", "priority", 2)

    assert text_of(file) == "networks = { A = { priority = 2 } }\n"


def test_every_edit_has_a_stamp_of_its_own(tmp_path):
    """Twenty changes of one byte, and an editor that puts a file of the same size and time in the place."""
    file = NetworkRecordFile(tmp_path)
    stamps = [file.stamp()]
    for number in range(20):
        file.put(NetworkRecord(name="A", priority=1 + number % 9))
        stamps.append(file.stamp())
    times = [stamp[0] for stamp in stamps[1:]]
    draft = tmp_path / "draft"
    draft.write_bytes(file.path.read_bytes())
    os.utime(draft, ns=(times[-1], times[-1]))
    draft.replace(file.path)
    stamps.append(file.stamp())

    assert len(set(stamps)) == len(stamps)
    assert times == sorted(set(times))


def test_a_clock_that_stands_still_still_gives_later_times(file):
    """The file is from next year: the change is later still."""
    future = 2_000_000_000_000_000_000
    os.utime(file.path, ns=(future, future))
    file.set_value("BUS", "priority", 11)

    assert file.path.stat().st_mtime_ns > future


KILLED = """
import os, signal, sys
from pathlib import Path
from fingerpost.store.network_records import NetworkRecord, NetworkRecordFile
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
NetworkRecordFile(Path(sys.argv[1])).put(NetworkRecord(name="NEW"))
"""


def test_killed_between_draft_and_rename_the_file_is_the_old_one(file, tmp_path):
    """And the next change takes the draft's place."""
    died = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)

    assert (died.returncode, text_of(file)) == (-signal.SIGKILL, WRITTEN)
    assert (tmp_path / f".{FILE_NAME}.draft").exists()
    file.put(NetworkRecord(name="NEW"))
    assert text_of(file) == f'{WRITTEN}\n[networks.NEW]\nsource = "gtfs"\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".{FILE_NAME}.lock", FILE_NAME]


PUTTING = """
import sys
from pathlib import Path
from fingerpost.store.network_records import NetworkRecord, NetworkRecordFile
file = NetworkRecordFile(Path(sys.argv[1]))
file.read()
print("ready", flush=True)
sys.stdin.readline()
for number in range(10):
    file.put(NetworkRecord(name=f"{sys.argv[2]}{number}"))
    file.set_value("BUS", "priority", number)
"""


def test_two_writers_at_once_lose_nothing(file, tmp_path):
    """Both begin at one word; all twenty records are there, and the old ones."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", PUTTING, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("X", "Y")
    ]
    for writer in writers:
        writer.stdout.readline()
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=600)

    names = {f"{name}{number}" for name in "XY" for number in range(10)}
    assert [writer.returncode for writer in writers] == [0, 0]
    assert set(file.read().records) == {"BUS", "TRAIN", *names}


def test_a_disk_that_refuses_is_named(tmp_path):
    """A folder stands where the file should."""
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(SettingsInvalid, match=r"fingerpost\.toml cannot be read \(Is a directory\)"):
        NetworkRecordFile(tmp_path).read()


def test_the_schema_names_every_key_with_its_meaning():
    """It is JSON, allows nothing else, and says what each key is."""
    schema = json.loads(json.dumps(describe_schema()))
    record = schema["properties"]["networks"]["additionalProperties"]

    assert set(record["properties"]) == set(NetworkRecord.model_fields) - {"name"}
    assert all(field["description"] for field in record["properties"].values())
    assert (schema["additionalProperties"], record["additionalProperties"]) == (False, False)
    assert record["properties"]["bounds"]["maxItems"] == 4
    assert "null" not in json.dumps(schema)
