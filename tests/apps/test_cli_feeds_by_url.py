"""Networks whose feeds are fetched from a URL."""

import json
import signal
import subprocess
import sys

import pytest

from fingerpost.transit.embedded.feed_origins import OriginFolder
from tests.apps.conftest import write_town
from tests.apps.feed_server import serving_feeds

ONE_TRIP = "line 1 | Alpha 08:00 | Beta 08:10"
TWO_TRIPS = "line 1 | Alpha 08:00 | Beta 08:10\nline 1 | Alpha 09:00 | Beta 09:10"

DIE_BEFORE_THE_RECORD = """
import os, signal, sys
from fingerpost.transit.embedded.feed_origins import OriginFolder
OriginFolder.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from fingerpost.apps.cli import main
sys.argv = ["fingerpost", "network", "refresh", "TOWN"]
main()
"""


@pytest.fixture
def feeds(monkeypatch):
    monkeypatch.setenv("FINGERPOST_PRIVATE_HOSTS", "127.0.0.1")
    with serving_feeds() as server:
        yield server


@pytest.fixture
def publish(feeds, tmp_path):
    def serve(drawing=ONE_TRIP, path="/town.zip"):
        feeds.contents[path] = write_town(tmp_path, drawing).read_bytes()
        return feeds.url + path

    return serve


@pytest.fixture
def town(publish, invoke):
    return invoke("network", "add", "Town", publish())


def report_of(home):
    return json.loads(json.loads((home / "networks" / "TOWN.json").read_text())["report"])["feeds"]


def fetched_files(home):
    return sorted(path.name for path in (home / "feeds" / "TOWN").glob("*/*"))


def test_a_refresh_checks_whether_the_feed_has_changed(town, publish, feeds, invoke, home):
    added = (town.returncode, report_of(home)[0]["trips"], fetched_files(home))
    before = (home / "networks" / "TOWN.json").read_bytes()
    same = invoke("network", "refresh", "town")
    untouched = (home / "networks" / "TOWN.json").read_bytes() == before
    publish(TWO_TRIPS)
    news = invoke("network", "refresh")

    assert added == (0, 1, ["town.zip"])
    assert (same.returncode, same.stdout, untouched) == (0, "TOWN is unchanged.\n", True)
    assert "in service; 2 stops, 1 route, 2 trips, 4 stop times; nothing left out\n" in news.stdout
    assert [status for _, _, status in feeds.asked] == [200, 304, 200]
    assert (report_of(home)[0]["trips"], fetched_files(home)) == (2, ["town.zip"])


def test_one_changed_feed_of_two_is_enough(publish, invoke, home):
    invoke("network", "add", "Town", publish(path="/a.zip"), f"OTHER={publish(path='/b.zip')}")
    publish(TWO_TRIPS, "/b.zip")
    refreshed = invoke("network", "refresh", "Town")

    assert refreshed.returncode == 0, refreshed.stderr
    assert [(feed["feed"], feed["trips"]) for feed in report_of(home)] == [("TOWN", 1), ("OTHER", 2)]
    assert fetched_files(home) == ["a.zip", "b.zip"]


def test_a_feed_on_disk_is_refreshed_when_it_was_written_to(tmp_path, invoke, home):
    path = write_town(tmp_path, ONE_TRIP)
    invoke("network", "add", "Town", str(path))
    same = invoke("network", "refresh", "Town")
    write_town(tmp_path, TWO_TRIPS)
    invoke("network", "refresh", "Town")

    assert (same.stdout, report_of(home)[0]["trips"]) == ("TOWN is unchanged.\n", 2)


def test_a_new_version_that_cannot_be_used_leaves_the_old(town, publish, feeds, invoke, home):
    feeds.contents["/town.zip"] = b"<html>Moved</html>"
    broken = invoke("network", "refresh", "Town")
    after_broken = (report_of(home)[0]["trips"], fetched_files(home))
    publish(TWO_TRIPS)
    invoke("network", "refresh", "Town")

    assert (broken.returncode, broken.stderr.count("\n"), after_broken) == (1, 3, (1, ["town.zip"]))
    assert report_of(home)[0]["trips"] == 2


def test_a_source_that_fails_is_named_and_the_others_go_on(town, publish, feeds, invoke, home):
    invoke("network", "add", "Aland", publish(path="/a.zip"))
    del feeds.contents["/a.zip"]
    publish(TWO_TRIPS)
    refreshed = invoke("network", "refresh")

    assert (refreshed.returncode, "HTTP 404" in refreshed.stderr, report_of(home)[0]["trips"]) == (1, True, 2)


def test_killed_before_its_record_a_refresh_has_done_no_harm(town, publish, invoke, home):
    publish(TWO_TRIPS)
    died = subprocess.run([sys.executable, "-c", DIE_BEFORE_THE_RECORD], capture_output=True, check=False)
    trips = report_of(home)[0]["trips"]
    again = invoke("network", "refresh", "Town")

    assert (died.returncode, trips, again.returncode, fetched_files(home)) == (-signal.SIGKILL, 2, 0, ["town.zip"])


def test_a_key_is_named_in_the_address_and_never_stored(publish, feeds, invoke, home, monkeypatch):
    monkeypatch.setenv("TOWN_KEY", "s3cr3t-k3y")
    added = invoke("network", "add", "Town", publish() + "?v=1&api_key=${TOWN_KEY}")
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())

    assert feeds.asked == [("/town.zip", "v=1&api_key=s3cr3t-k3y", 200)]
    assert (b"s3cr3t" in kept, "s3cr3t" in added.stdout + added.stderr) == (False, False)


def test_a_key_in_the_clear_is_refused(feeds, invoke):
    refused = invoke("network", "add", "Town", f"{feeds.url}/town.zip?api_key=abcdef")

    assert (refused.returncode, "${NAME}" in refused.stderr, feeds.asked) == (2, True, [])


def test_loopback_is_called_only_with_permission(feeds, invoke, monkeypatch):
    monkeypatch.delenv("FINGERPOST_PRIVATE_HOSTS")
    refused = invoke("network", "add", "Town", f"{feeds.url}/town.zip")

    assert (refused.returncode, "FINGERPOST_PRIVATE_HOSTS" in refused.stderr, feeds.asked) == (1, True, [])


def test_a_removed_network_leaves_no_feed_behind(town, invoke, home):
    invoke("network", "remove", "town")
    refreshed = invoke("network", "refresh", "Town")

    assert ((home / "feeds" / "TOWN").exists(), refreshed.returncode) == (False, 2)


def test_a_network_that_was_never_added_leaves_no_folder(invoke, home):
    failed = invoke("network", "add", "Town", "absent.zip")

    left = [*(home / "feeds").glob("TOWN*"), *(home / "networks").glob("TOWN*")]
    assert (failed.returncode, left) == (2, [])


def test_a_damaged_record_is_reported(town, invoke, home):
    (OriginFolder(home, "TOWN").folder / "origins.json").write_text("[{}]")
    refreshed = invoke("network", "refresh", "Town")

    assert (refreshed.returncode, "network add" in refreshed.stderr) == (2, True)
