"""A source of real time is looked at when it is added: what matches is said, what cannot be followed is refused."""

import json
import subprocess
from pathlib import Path

import pytest

from fingerpost.testing.feeds import feed_from_drawing, write_feed
from tests.apps.feed_server import serving_feeds
from tests.apps.processes import COMMAND
from tests.realtime.messages import NOW, call, message, update

DRAWING = """
line A   | Alpha 08:05 | Beta 08:15 | Gamma 08:25
"""
KNOWN, UNKNOWN = update("A-1", call("ALPHA", 90)), update("X-1", call("ALPHA", 90))


def unknown(count):
    return [update(f"X-{number}", call("ALPHA", 90)) for number in range(count)]


@pytest.fixture
def feed(tmp_path):
    return str(write_feed(tmp_path / "feed", feed_from_drawing(DRAWING)))


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("FINGERPOST_PRIVATE_HOSTS", "127.0.0.1")
    with serving_feeds() as feeds:
        feeds.contents["/good.pb"] = message(KNOWN, UNKNOWN, timestamp=NOW - 7)
        feeds.contents["/other.pb"] = message(KNOWN, *unknown(2), timestamp=NOW - 7)
        feeds.contents["/page"] = b"<!doctype html><title>Welcome</title>"
        feeds.contents["/garbage"] = b"\x00\x01not a message"
        feeds.contents["/empty"] = b""
        feeds.contents["/silent.pb"] = message(timestamp=NOW - 7)
        yield feeds


@pytest.fixture
def add(feed, server, invoke):
    """Add TOWN following a path of the server: ``add("/good.pb", "FEED=", ...)``."""

    def run(path, named="", *more):
        return invoke("network", "add", "town", feed, "--realtime", f"{named}{server.url}{path}", *more)

    return run


def follows(invoke):
    return [line for line in invoke("network", "list").stdout.splitlines() if line.startswith("Real time of")]


def test_what_matched_is_said_per_source_and_per_feed(add, server):
    """One of two trips is known, with its one stop time; the half is no warning."""
    lines = add("/good.pb").stdout.splitlines()[-3:]
    known = "1 of 2 trips, vehicles and alerts are known to the timetable, and 1 of 1 of their stop times"
    assert lines == [
        f"Real time: {server.url}/good.pb: {known}",
        "  trips by FEED: TOWN 1",
        "  not matched: 1 trip-unknown",
    ]


def test_less_than_half_is_warned_of_when_added_and_with_every_answer(add, invoke):
    """One of three: the terminal, the doctor, show, a board and a trip say it."""
    added = add("/other.pb").stdout
    board = json.loads(invoke("departures", "TOWN:ALPHA", "--json").stdout)
    trip = json.loads(invoke("plan", "TOWN:ALPHA", "TOWN:GAMMA", "--json").stdout)
    doctor = " ".join(invoke("doctor").stdout.split())
    shown = invoke("network", "show", "town").stdout

    assert "Less than half is known" in added
    assert "Less than half is known" in shown
    assert "/other.pb: 7 s old; 1 of 3 are known to the timetable" in doctor
    for answer in (board, trip):
        (warning,) = [each for each in answer["warnings"] if each["code"] == "realtime-unmatched"]
        assert "knows 1 of 3 trips, vehicles and alerts" in warning["message"]


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

    assert "not matched: 1 id-of-several-feeds Several FEEDs have A-1; what is said of that is left out." in added
    assert "speaks of A-1, which several FEEDs have" in warning["message"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/nowhere", "404"),
        ("/page", "gave a web page"),
        ("/garbage", "something that is not a GTFS-Realtime message"),
        ("/empty", "something that is not a GTFS-Realtime message"),
    ],
)
def test_what_gives_no_message_is_refused_and_nothing_is_imported(add, invoke, path, why):
    """A typing error must not pass for real time."""
    ended = add(path)
    assert (ended.returncode, why in ended.stderr, "--unchecked" in ended.stderr) == (2, True, True)
    assert "TOWN" not in invoke("network", "list").stdout


def test_a_source_that_gives_nothing_now_is_followed_on_request(add, invoke):
    """A night without real time, say; what it gave is said all the same."""
    ended = add("/nowhere", "", "--unchecked")
    assert (ended.returncode, "404" in ended.stdout, len(follows(invoke))) == (0, True, 1)


def test_a_source_that_says_nothing_now_is_followed(add, invoke):
    """A message without entities is a message."""
    ended = add("/silent.pb")
    assert (ended.returncode, "nothing could be matched" in ended.stdout, len(follows(invoke))) == (0, True, 1)


@pytest.mark.parametrize("more", [[], ["--unchecked"]])
def test_a_feed_that_does_not_exist_is_refused_with_those_that_do(add, invoke, more):
    """Its updates could never match."""
    ended = add("/good.pb", "BUS=", *more)
    assert (ended.returncode, "Its FEEDs are: TOWN" in " ".join(ended.stderr.split())) == (2, True)
    assert "TOWN" not in invoke("network", "list").stdout


def test_a_feed_is_named_in_either_case(add):
    """FEEDs are compared as ids are."""
    assert add("/good.pb", "town=").returncode == 0


def test_real_time_that_is_set_later_is_looked_at_too(add, server, invoke):
    """The same refusals and the same words, and what was followed stays."""
    add("/good.pb")
    refused = invoke("network", "set", "town", "realtime", f"{server.url}/page")
    kept = follows(invoke)
    changed = invoke("network", "set", "town", "realtime", f"{server.url}/other.pb")
    assert (refused.returncode, kept[0].endswith("/good.pb")) == (2, True)
    assert "1 of 3 trips" in changed.stdout


def test_a_reader_that_stops_listening_does_not_lose_the_source(feed, server, invoke):
    """``network add ... | head -1``: everything is kept before the first line is printed."""
    asked = ["network", "add", "town", feed, "--realtime", f"{server.url}/good.pb"]
    process = subprocess.Popen([*COMMAND, *asked], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.wait(60)
    assert len(follows(invoke)) == 1
