"""``network check`` at a terminal: a verdict, and exit statuses that scripts can use."""

import pytest

from fingerpost.testing.feeds import feed_from_drawing, write_feed

DRAWING = """
line A | Alpha 08:05 | Beta 08:15 | Gamma 08:25
"""


@pytest.fixture
def check(tmp_path, invoke):
    def run(**tables):
        feed = feed_from_drawing(DRAWING) | {f"{name}.txt": rows for name, rows in tables.items()}
        return invoke("network", "check", str(write_feed(tmp_path / "feed", feed)), "--questions", "20")

    return run


def test_a_sound_feed_can_be_used(check, invoke):
    ended = check()

    assert (ended.returncode, ended.stdout.splitlines()[0]) == (0, "Riders can use this feed.")
    assert "CHECK" not in invoke("network", "list").stdout


def test_a_feed_with_losses_ends_with_status_3(check):
    ended = check(trips="route_id,service_id,trip_id\nA,ALL,A-1\nZ,ALL,A-9\n")
    lines = ended.stdout.splitlines()
    fault = lines.index("  data: rows that the import leaves out or does not use: 1")

    assert ended.returncode == 3
    assert lines[fault + 1] == (
        "    CHECK: 1 trip-without-route, first in trips.txt line 3: the trip's route is not in the feed"
    )


def test_a_feed_without_trips_ends_with_status_3(check):
    ended = check(stop_times="trip_id,stop_id,stop_sequence,arrival_time,departure_time\n")

    assert ended.returncode == 3
    assert "has no usable trips" in ended.stderr


def test_a_feed_that_is_not_there_is_wrong_usage(invoke):
    ended = invoke("network", "check", "nowhere.zip")

    assert ended.returncode == 2
    assert "nowhere.zip" in ended.stderr
