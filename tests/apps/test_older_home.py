"""A home of an older version opens with all its networks; what a person had decided becomes a record, once."""

import json
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
from datetime import UTC, datetime

import pytest

from fingerpost.apps.record_file import open_record_file
from fingerpost.errors import SettingsInvalid
from fingerpost.store import network_records
from fingerpost.store.network_records import NetworkRecord
from fingerpost.testing.feeds import feed_from_drawing, timetable_from_drawing, write_feed
from fingerpost.transit.providers.embedded.feed_origins import OriginFolder
from fingerpost.transit.providers.embedded.preparing import open_prepared
from fingerpost.transit.timetable.disk import FORMAT, save_timetable
from fingerpost.transit.timetable.timetable_store import TimetableStore

DRAWING = "line 1 | Alpha 08:00 | Beta 08:10"
NEWER = "line 1 | Alpha 08:00 | Beta 08:10 | Gamma 08:20"
TOWN = {"Alpha": (41.0, -8.00), "Beta": (41.0, -8.02)}
FETCHED = "0f/feed.zip"
KNOWN = {
    "changed": True,
    "sha256": "ab" * 32,
    "size_bytes": 3,
    "validators": {"etag": '"v1"', "last_modified": None},
}


class OlderHome:
    """Writes a home as the version of 2026-11-21 left it behind (commit c89c633)."""

    def __init__(self, home, feed):
        self.home, self.feed = home, feed
        for name in ("networks/prepared", "feeds", "realtime"):
            (home / name).mkdir(parents=True)
        for name in ("networks/.lock", "networks/.changes", "realtime/.lock", "realtime/.changes"):
            (home / name).touch()

    def prepare(self, name, *, format_=FORMAT, drawing=DRAWING):
        """A prepared timetable and its pointer, which names no feeds."""
        folder = self.home / "networks" / "prepared" / f"{name}-3f"
        save_timetable(timetable_from_drawing(drawing, coordinates=TOWN, network=name), folder)
        contents = json.loads((folder / "contents.json").read_text())
        (folder / "contents.json").write_text(json.dumps({**contents, "format": format_}))
        pointer = {"folder": folder.name, "added_at": "2026-03-02T12:00:00+00:00", "report": "{}"}
        (self.home / "networks" / f"{name}.json").write_text(json.dumps(pointer))

    def know_origins(self, name, *origins):
        """``origins.json`` as a list; a fetched feed lies beside it."""
        folder = self.home / "feeds" / name
        (folder / "0f").mkdir(parents=True)
        (folder / ".lock").touch()
        shutil.copy(self.feed, folder / FETCHED)
        empty = {"feed_name": None, "url": None, "secret_params": {}, "path": None}
        state = {"file": None, "known": None, "signature": None}
        (folder / "origins.json").write_text(json.dumps([{**empty, **state, **each} for each in origins]))

    def follow(self, name, *sources):
        """``realtime/NAME.json``."""
        raw = [{"location": location, "feed_name": feed_name} for location, feed_name in sources]
        (self.home / "realtime" / f"{name}.json").write_text(json.dumps(raw))


@pytest.fixture
def feed(tmp_path):
    return write_feed(tmp_path / "town.zip", feed_from_drawing(DRAWING, coordinates=TOWN))


@pytest.fixture
def older(home, feed):
    """TOWN from a path, CITY from an address with a key and with real time, LOST from nobody knows where."""
    older = OlderHome(home, feed)
    for name in ("TOWN", "CITY", "LOST"):
        older.prepare(name)
    older.know_origins("TOWN", {"path": str(feed), "signature": "town.zip:1:1"})
    older.know_origins(
        "CITY",
        {
            "feed_name": "BUS",
            "url": "https://example.org/bus.zip?v=1",
            "secret_params": {"api_key": "CITY_KEY"},
            "file": FETCHED,
            "known": KNOWN,
        },
        {"url": "https://example.org/tram.zip", "secret_params": {"key": "CITY_KEY"}, "file": FETCHED, "known": KNOWN},
    )
    older.follow("CITY", ("https://example.org/updates.pb?key=${CITY_KEY}", "BUS"), ("/data/updates.pb", None))
    return older


BUS = "BUS=https://example.org/bus.zip?v=1&api_key=${CITY_KEY}"
TRAM = "https://example.org/tram.zip?key=${CITY_KEY}"


def records_of(home):
    return dict(open_record_file(home).read().records)


def expected(feed):
    return {
        "CITY": NetworkRecord(
            name="CITY",
            feeds=(BUS, TRAM),
            realtime=("BUS=https://example.org/updates.pb?key=${CITY_KEY}", "/data/updates.pb"),
        ),
        "LOST": NetworkRecord(name="LOST"),
        "TOWN": NetworkRecord(name="TOWN", feeds=(str(feed),)),
    }


def test_the_first_look_makes_records_of_what_was_decided(older, feed, home):
    """The three records of before are one; what was known of content stays with the network."""
    assert records_of(home) == expected(feed)
    assert not (home / "realtime").exists()
    assert {name: TimetableStore(home).get(name).feeds for name in TimetableStore(home).list_names()} == {
        "CITY": (BUS, TRAM),
        "LOST": (),
        "TOWN": (str(feed),),
    }
    contents = OriginFolder(home, "CITY").read()
    assert (list(contents), contents[BUS].file, contents[BUS].known.validators.etag) == ([BUS, TRAM], FETCHED, '"v1"')


def test_the_second_look_writes_nothing(older, home):
    """Not by this process nor by another."""
    records_of(home)
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*.*") if path.is_file()}
    records_of(home)

    assert {path: path.stat().st_mtime_ns for path in home.rglob("*.*") if path.is_file()} == before


def test_a_record_that_is_there_already_stays(older, feed, home):
    """What a person wrote beforehand stands above what was found."""
    (home / "fingerpost.toml").write_text("# mine\n[networks.CITY]\npriority = 3\n")

    assert records_of(home) == {**expected(feed), "CITY": NetworkRecord(name="CITY", priority=3)}
    assert (home / "fingerpost.toml").read_text().startswith("# mine\n[networks.CITY]\npriority = 3\n")


def test_a_removed_network_does_not_come_back(older, home, invoke):
    """The record goes, and what stays behind of it makes no new one."""
    removed = invoke("network", "remove", "city")

    assert removed.returncode == 0, removed.stderr
    assert sorted(records_of(home)) == ["LOST", "TOWN"]


def test_networks_without_known_feeds_answer_and_say_what_to_do(older, invoke):
    """From what is prepared; a refresh cannot know where to look."""
    board = invoke("departures", "LOST:ALPHA")
    refreshed = invoke("network", "refresh", "LOST")

    assert "Beta" in board.stdout, board.stderr
    assert (refreshed.returncode, refreshed.stderr.splitlines()[-1]) == (1, "Add it again.")


def test_an_older_network_is_refreshed_when_its_feed_has_changed(older, feed, invoke):
    """The signature of before was another."""
    assert (
        "TOWN: 2026-01-01 to 2026-12-31, in service; 2 stops, 1 route, 1 trip"
        in invoke("network", "refresh", "TOWN").stdout
    )
    assert invoke("network", "refresh", "TOWN").stdout == "TOWN is unchanged.\n"


@pytest.mark.parametrize("place", ["realtime/CITY.json", "feeds/CITY/origins.json", "networks/CITY.json"])
def test_what_cannot_be_read_is_told_and_stays(older, home, feed, place):
    """The record says what is missing where a file is damaged; the other networks are whole."""
    (home / place).write_text("[{")
    records = records_of(home)
    text = (home / "fingerpost.toml").read_text()

    assert {name: records[name] for name in ("LOST", "TOWN")} == {
        name: expected(feed)[name] for name in ("LOST", "TOWN")
    }
    assert (home / place).read_text() == "[{"
    assert ("# The " in text and str(home / place) in text) == (place != "networks/CITY.json")
    assert records_of(home) == records


DIE = """
import os, signal, sys
from pathlib import Path
from fingerpost.apps.record_file import open_record_file
left, replace = int(sys.argv[2]), Path.replace

def mortal(path, target):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(path, target)

Path.replace = mortal
open_record_file(Path(sys.argv[1])).read()
"""


@pytest.mark.parametrize("step", range(6))
def test_killed_on_the_way_the_next_look_does_the_rest(older, feed, home, step):
    """Before the record, after it, between the files of the networks: in the end all is as if nobody had died."""
    died = subprocess.run([sys.executable, "-c", DIE, str(home), str(step)], check=False)

    assert died.returncode == -signal.SIGKILL
    assert records_of(home) == expected(feed)
    assert {name: TimetableStore(home).get(name).feeds for name in ("CITY", "LOST", "TOWN")} == {
        name: record.feeds for name, record in expected(feed).items()
    }
    assert not (home / "realtime").exists()


def test_two_that_look_first_at_once_make_one_file(older, feed, home):
    """Two threads meet before either has looked; each network has one record."""
    meeting, seen = threading.Barrier(2), []

    def look():
        file = open_record_file(home)
        meeting.wait(30)
        seen.append(dict(file.read().records))

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == [expected(feed)] * 2
    assert sorted(tomllib.loads((home / "fingerpost.toml").read_text())["networks"]) == ["CITY", "LOST", "TOWN"]


def test_a_disk_that_refuses_is_told(older, home, monkeypatch):
    """And the older home is as it was."""

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(network_records, "replace_file", refuse)
    with pytest.raises(SettingsInvalid, match="No space left on device"):
        open_record_file(home).read()
    assert (home / "realtime" / "CITY.json").exists()


# ------------------------------------------------------------------------- prepared by an older version


def stops_of(home, name):
    return list(open_prepared(home, name)[1].stop_name)


def test_a_timetable_of_an_older_format_is_prepared_anew_from_its_path(older, feed, home):
    """Once; it is as old as before."""
    older.prepare("TOWN", format_=FORMAT - 1)
    records_of(home)
    write_feed(feed, feed_from_drawing(NEWER, coordinates=TOWN))
    entry, timetable = open_prepared(home, "town")

    assert list(timetable.stop_name) == ["Alpha", "Beta", "Gamma"]
    assert (entry.added_at, entry.feeds) == (datetime(2026, 3, 2, 12, tzinfo=UTC), (str(feed),))
    assert open_prepared(home, "TOWN")[0] == entry


def test_a_timetable_of_an_older_format_is_prepared_anew_from_what_was_fetched(older, home):
    """Nobody is asked; both feeds keep their names."""
    older.prepare("CITY", format_=FORMAT - 1)
    records_of(home)

    _, timetable = open_prepared(home, "CITY")
    assert [feed.name for feed in timetable.feeds] == ["BUS", "CITY-FEED"]


def test_an_older_format_without_its_feed_says_what_to_do(older, feed, home):
    """The path is gone, the fetched file is gone, the feeds were never known."""
    for name in ("TOWN", "CITY", "LOST"):
        older.prepare(name, format_=FORMAT - 1)
    records_of(home)
    feed.unlink()
    (home / "feeds" / "CITY" / FETCHED).unlink()
    observed = {}
    for name in ("TOWN", "CITY", "LOST"):
        with pytest.raises(SettingsInvalid) as caught:
            open_prepared(home, name)
        observed[name] = caught.value.message

    before = "was prepared by an older version, and its feed"
    assert observed == {
        "TOWN": f"The network TOWN {before} {feed} is not kept. Run `fingerpost network refresh TOWN`.",
        "CITY": f"The network CITY {before} {BUS} is not kept. Run `fingerpost network refresh CITY`.",
        "LOST": f"The network LOST {before}s are not known. Run `fingerpost network add LOST FEED...`.",
    }


def test_a_newer_format_is_left_alone(older, home):
    """A newer version shares this home: its work is not undone."""
    older.prepare("TOWN", format_=FORMAT + 1)
    records_of(home)
    with pytest.raises(SettingsInvalid, match=f"is of format {FORMAT + 1}, not {FORMAT}"):
        open_prepared(home, "TOWN")


def test_a_refresh_prepares_an_older_format_anew_though_nothing_has_changed(older, feed, home, invoke):
    """What cannot be opened is imported again."""
    invoke("network", "refresh", "TOWN")
    folder = TimetableStore(home).get("TOWN").folder
    contents = json.loads((folder / "contents.json").read_text())
    (folder / "contents.json").write_text(json.dumps({**contents, "format": FORMAT - 1}))

    assert "TOWN is usable" in invoke("network", "refresh", "TOWN").stdout
    assert stops_of(home, "TOWN") == ["Alpha", "Beta"]


def test_a_running_server_opens_an_older_home(older, home, invoke):
    """A question is enough."""
    older.prepare("TOWN", format_=FORMAT - 1)
    board = invoke("departures", "TOWN:ALPHA")

    assert "Beta" in board.stdout, board.stderr
    assert (home / "fingerpost.toml").stat().st_size > 0
