"""Realtime sources at a terminal: checked when added, listed, reported by doctor and the resource, and removed."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.apps.feed_server import serving_feeds
from tests.apps.processes import COMMAND
from tests.feeds import feed_from_drawing, write_feed
from tests.homes import write_record
from tests.realtime.messages import NOW, call, message, update

DRAWING = """
line A   | Alpha 08:05 | Beta 08:15 | Gamma 08:25
"""
KNOWN, UNKNOWN = update("A-1", call("ALPHA", 90)), update("X-1", call("ALPHA", 90))
LATE = message(KNOWN, UNKNOWN, timestamp=NOW - 7)


@pytest.fixture
def feed(tmp_path):
    return str(write_feed(tmp_path / "feed", feed_from_drawing(DRAWING)))


@pytest.fixture
def updates(tmp_path):
    path = tmp_path / "updates.pb"
    path.write_bytes(LATE)
    return path


@pytest.fixture
def added(feed, updates, invoke):
    return invoke("network", "add", "town", feed, "--realtime", str(updates))


def test_realtime_is_reported_when_added_when_listed_and_on_the_next_board(added, updates, invoke):
    board = json.loads(invoke("departures", "TOWN:ALPHA", "--json").stdout)

    assert "Real time: updates.pb: 7 s old; 1 of 2 match the timetable" in added.stdout
    assert invoke("network", "list").stdout.splitlines()[-1] == f"Realtime source of TOWN: {updates}"
    assert [row["delaySeconds"] for row in board["departures"]] == [90]


def test_the_doctor_reports_ages_and_counts(added, invoke):
    lines = [line for line in invoke("doctor").stdout.splitlines() if line.startswith("real time")]
    assert lines == [
        "real time  updates.pb: 7 s old; 1 of 2 match the timetable",
        "real time  matched: 1 trip-updated",
        "real time  unmatched: 1 trip-unknown",
    ]


def test_the_doctor_explains_why_a_source_fails(added, updates, invoke):
    updates.unlink()
    observed = " ".join(invoke("doctor").stdout.split())
    assert "updates.pb: no message yet; updates.pb cannot be read: No such file or directory" in observed


def test_a_removed_network_loses_its_realtime_data(added, feed, invoke):
    invoke("network", "remove", "town")
    assert "Real time" not in invoke("network", "add", "town", feed).stdout


def test_a_network_added_again_keeps_its_realtime_source_and_reports_it(added, feed, updates, invoke, home):
    again = invoke("network", "add", "town", feed).stdout.splitlines()
    record = home / "networks" / "TOWN.toml"

    assert again[-4] == f"Unchanged settings: realtime. To remove one, delete its line in {record}."
    assert again[-3].startswith("Real time: updates.pb: 7 s old; 1 of 2 ")


@pytest.mark.parametrize(
    ("source", "observed"),
    [
        ("nowhere.pb", "There is no realtime file nowhere.pb."),
        ("TOWN=nowhere.pb", "There is no realtime file nowhere.pb."),
        ("https://example.org/a.pb?api_key=1", "The address contains a key (api_key), which would be stored."),
    ],
)
def test_a_realtime_source_that_cannot_be_stored_is_wrong_usage(feed, source, observed, invoke):
    ended = invoke("network", "add", "town", feed, "--realtime", source)
    assert (ended.returncode, ended.stderr.splitlines()[0]) == (2, observed)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("FINGERPOST_PRIVATE_HOSTS", "127.0.0.1")
    with serving_feeds() as feeds:
        feeds.contents["/good.pb"] = LATE
        feeds.contents["/other.pb"] = message(KNOWN, UNKNOWN, update("X-2", call("ALPHA", 90)), timestamp=NOW - 7)
        feeds.contents["/page"] = b"<!doctype html><title>Welcome</title>"
        feeds.contents["/garbage"] = b"\x00\x01not a message"
        feeds.contents["/empty"] = b""
        feeds.contents["/silent.pb"] = message(timestamp=NOW - 7)
        yield feeds


@pytest.fixture
def add(feed, server, invoke):
    def run(path, named=""):
        return invoke("network", "add", "town", feed, "--realtime", f"{named}{server.url}{path}")

    return run


def follows(invoke):
    return [line for line in invoke("network", "list").stdout.splitlines() if line.startswith("Realtime source of")]


def test_less_than_half_is_warned_of_when_added_and_with_every_answer(add, invoke):
    added = add("/other.pb").stdout
    board = json.loads(invoke("departures", "TOWN:ALPHA", "--json").stdout)
    trip = json.loads(invoke("plan", "TOWN:ALPHA", "TOWN:GAMMA", "--json").stdout)
    doctor = " ".join(invoke("doctor").stdout.split())
    shown = " ".join(invoke("network", "show", "town").stdout.split())

    for text in (" ".join(added.split()), shown, doctor):
        assert "/other.pb: 7 s old; 1 of 3 match the timetable" in text
    for answer in (board, trip):
        (warning,) = [each for each in answer["warnings"] if each["code"] == "realtime-unmatched"]
        assert "matches 1 of 3 trips and alerts" in warning["message"]


def test_the_source_of_a_network_that_is_only_a_fallback_is_checked(added, feed, home, invoke):
    write_record(home, "MAIN", feeds=[feed], fallback="TOWN")

    assert "updates.pb: 7 s old; 1 of 2 match the timetable" in invoke("network", "show", "town").stdout


def test_ids_of_several_feeds_are_named_when_added_and_with_every_answer(feed, server, invoke):
    """A-1 is both feeds', B-1 the second's: most is known, and yet what is said of A-1 is left out."""
    other = str(
        write_feed(Path(feed).with_name("other"), feed_from_drawing(f"{DRAWING}\nline B | Alpha 08:06 | Beta 08:16"))
    )
    server.contents["/both.pb"] = message(KNOWN, update("B-1", call("ALPHA", 90)), timestamp=NOW - 7)
    follows_both = ("--realtime", f"{server.url}/both.pb")
    added = " ".join(invoke("network", "add", "town", f"WEST={feed}", f"EAST={other}", *follows_both).stdout.split())
    board = json.loads(invoke("departures", "EAST:ALPHA", "--json").stdout)
    (warning,) = [each for each in board["warnings"] if each["code"] == "realtime-unmatched"]

    assert "unmatched: 1 id-of-several-feeds" in added
    assert "uses ids that occur in several feeds (A-1)" in warning["message"]


@pytest.mark.parametrize(
    ("named", "path", "status", "observed"),
    [
        # A message without entities is a message.
        ("", "/silent.pb", 0, "matched: nothing"),
        # FEEDs are compared as ids are.
        ("town=", "/good.pb", 0, "matched: 1 trip-updated"),
        ("", "/nowhere", 1, "404"),
        ("", "/page", 1, "returned a web page"),
        ("", "/garbage", 1, "something that is not a GTFS-Realtime message"),
        ("", "/empty", 1, "something that is not a GTFS-Realtime message"),
    ],
)
def test_a_source_is_stored_and_the_exit_status_reports_its_message(add, invoke, home, named, path, status, observed):
    ended = add(path, named)
    hint = f"To remove one, edit the `realtime` line in {home / 'networks' / 'TOWN.toml'}."

    assert (ended.returncode, observed in " ".join(ended.stdout.split()), len(follows(invoke))) == (status, True, 1)
    assert (hint in ended.stderr) == bool(status)


def test_a_stored_source_without_a_message_does_not_change_the_exit_status(add, feed, invoke):
    add("/nowhere")
    again = invoke("network", "add", "town", feed)

    assert (again.returncode, "404" in again.stdout) == (0, True)


def test_a_feed_that_does_not_exist_is_refused_with_those_that_do(add, invoke):
    """Its updates could never match."""
    ended = add("/good.pb", "BUS=")

    assert (ended.returncode, "Its FEEDs are: TOWN." in ended.stderr) == (1, True)
    assert "TOWN" not in invoke("network", "list").stdout


def test_a_reader_that_stops_listening_does_not_lose_the_source(feed, server, invoke):
    """``network add ... | head -1``: everything is kept before the first line is printed."""
    asked = ["network", "add", "town", feed, "--realtime", f"{server.url}/good.pb"]
    process = subprocess.Popen([*COMMAND, *asked], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.wait(60)
    assert len(follows(invoke)) == 1
