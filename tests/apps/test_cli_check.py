"""``network check`` at a terminal: a verdict, exit statuses that scripts can use, and JSON."""

import json

import numpy as np
import pytest

from fingerpost.transit.engine.gtfs import importer
from fingerpost.transit.engine.gtfs.csv.kernel import UNREADABLE
from fingerpost.transit.engine.gtfs.csv.table import Block
from tests.feeds import feed_from_drawing, write_feed
from tests.realtime.messages import NOW, call, message, update

DRAWING = """
line A | Alpha 08:05 | Beta 08:15 | Gamma 08:25
"""


@pytest.fixture
def check(tmp_path, invoke):
    def run(*options, **tables):
        feed = feed_from_drawing(DRAWING) | {f"{name}.txt": rows for name, rows in tables.items()}
        return invoke("network", "check", str(write_feed(tmp_path / "feed", feed)), "--questions", "20", *options)

    return run


def test_a_sound_feed_can_be_used(check, invoke):
    ended = check()

    assert (ended.returncode, ended.stdout.splitlines()[0]) == (0, "Riders can use this feed.")
    assert "CHECK" not in invoke("network", "list").stdout


def test_a_feed_with_losses_ends_with_status_3(check):
    ended = check("--json", trips="route_id,service_id,trip_id\nA,ALL,A-1\nZ,ALL,A-9\n")
    report = json.loads(ended.stdout)
    faults = [fault for result in report["results"] for fault in result["faults"]]

    assert (ended.returncode, report["verdict"]) == (3, "data")
    assert [(fault["code"], fault["count"]) for fault in faults if fault["origin"] == "data"] == [("feed-left-out", 1)]
    assert faults[0]["examples"] == [
        "CHECK: 1 trip-without-route, first in trips.txt line 3: the trip's route is not in the feed"
    ]


def test_a_feed_without_trips_ends_with_status_3(check):
    ended = check(stop_times="trip_id,stop_id,stop_sequence,arrival_time,departure_time\n")

    assert ended.returncode == 3
    assert "has no usable trips" in ended.stderr


def test_an_import_that_loses_all_trips_is_a_fault_of_the_program(check, monkeypatch):
    monkeypatch.setattr(Block, "read_times_s", lambda block, _: np.full(len(block.lines), UNREADABLE, np.int32))

    assert check().returncode == 1


def test_a_realtime_source_of_another_feed_is_a_fault_of_the_data(check, tmp_path):
    source = tmp_path / "updates.pb"
    source.write_bytes(message(update("X-1", call("ALPHA", 90)), timestamp=NOW))
    ended = check("--realtime", str(source))

    assert ended.returncode == 3
    assert "  data: realtime sources that fail, or mostly do not match the feed: 1" in ended.stdout.splitlines()


def test_ids_that_change_with_a_second_feed_are_a_fault_of_the_program(check, tmp_path, monkeypatch):
    monkeypatch.setattr(importer, "list_feed_names", lambda *_: ["CHECK-FEED", "CHECK-OTHER"])
    other = write_feed(tmp_path / "other", feed_from_drawing("line B | Delta 08:05 | Epsilon 08:15"))
    ended = check(str(other))

    assert ended.returncode == 1
    assert "    CHECK: stop ALPHA" in ended.stdout.splitlines()


@pytest.mark.parametrize("command", [("check",), ("add", "TOWN")], ids=["check", "add"])
@pytest.mark.parametrize("files", [("nowhere.zip",), (".", "--streets", "nowhere.pbf")], ids=["feed", "extract"])
def test_a_missing_file_is_wrong_usage(command, files, invoke):
    ended = invoke("network", *command, *files)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"There is no {'file or folder' if files[0] != '.' else 'extract'} {files[-1]}." in ended.stderr
