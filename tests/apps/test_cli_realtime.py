"""Real time at a terminal: added with its network, listed, told by the doctor and by the resource, forgotten."""

import asyncio
import json

import pytest

from fingerpost.apps.mcp.resources import NETWORKS, read_resource
from fingerpost.testing.feeds import feed_from_drawing, write_feed
from tests.realtime.messages import NOW, call, message, update

DRAWING = """
line A   | Alpha 08:05 | Beta 08:15 | Gamma 08:25
"""
LATE = message(update("A-1", call("ALPHA", 90)), update("X-1", call("ALPHA", 90)), timestamp=NOW - 7)


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
    """The network TOWN with its real time."""
    return invoke("network", "add", "town", feed, "--realtime", str(updates))


def test_an_added_network_with_real_time_tells_it_and_answers(added, updates, invoke):
    """The file is named, and the next board knows the delay."""
    board = json.loads(invoke("departures", "TOWN:ALPHA", "--json").stdout)
    assert f"Real time: {updates}: 1 of 2 trips, vehicles and alerts are known" in added.stdout
    assert [row["delaySeconds"] for row in board["departures"]] == [90]


def test_real_time_is_listed_with_its_network(added, updates, invoke):
    assert invoke("network", "list").stdout.splitlines()[-1] == f"Real time of TOWN: {updates}"


def test_the_doctor_tells_age_and_counts(added, invoke):
    """One update was matched, one names a trip that is not there."""
    lines = [line for line in invoke("doctor").stdout.splitlines() if line.startswith("real time")]
    assert lines == [
        "real time  updates.pb: 7 s old; 1 of 2 are known to the timetable",
        "real time  matched: 1 trip-updated",
        "real time  unmatched: 1 trip-unknown",
    ]


def test_the_doctor_tells_why_a_source_is_dead(added, updates, invoke):
    updates.unlink()
    observed = " ".join(invoke("doctor").stdout.split())
    assert "updates.pb: no message yet; updates.pb cannot be read: No such file or directory." in observed


def test_the_resource_tells_the_same(added, application):
    read = asyncio.run(read_resource(application, NETWORKS, user="ann"))
    asyncio.run(application.networks.close())
    town = json.loads(read.contents[0].text)["networks"][0]
    assert town["realtime"]["sources"] == [{"source": "updates.pb", "ageSeconds": 7, "matched": 1, "unmatched": 1}]
    assert (town["realtime"]["matched"], town["realtime"]["unmatched"]) == ({"trip-updated": 1}, {"trip-unknown": 1})


def test_a_removed_network_takes_its_real_time_with_it(added, feed, invoke):
    invoke("network", "remove", "town")
    assert "Real time" not in invoke("network", "add", "town", feed).stdout


def test_a_network_that_is_added_again_keeps_its_real_time_and_says_so(added, feed, updates, invoke):
    again = invoke("network", "add", "town", feed).stdout.splitlines()
    invoke("network", "set", "town", "realtime", "--unset")
    board = json.loads(invoke("departures", "TOWN:ALPHA", "--json").stdout)

    assert again[-4] == "Kept from before: realtime. `fingerpost network set TOWN KEY --unset` forgets one."
    assert again[-3].startswith(f"Real time: {updates}: 1 of 2 ")
    assert "delaySeconds" not in board["departures"][0]


@pytest.mark.parametrize(
    ("source", "observed"),
    [
        ("nowhere.pb", "There is no realtime file nowhere.pb."),
        ("https://example.org/a.pb?api_key=1", "The address holds a key (api_key), which would be stored."),
    ],
)
def test_real_time_that_cannot_be_kept_is_wrong_usage(feed, source, observed, invoke):
    ended = invoke("network", "add", "town", feed, "--realtime", source)
    assert (ended.returncode, ended.stderr.splitlines()[0]) == (2, observed)
