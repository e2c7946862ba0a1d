"""A network polls its realtime sources: new messages affect the next answer, and failures are reported."""

import asyncio
import threading
from datetime import UTC, datetime
from weakref import WeakSet

import pytest

from fingerpost.errors import SourceUnreachable
from fingerpost.net.response import Response
from fingerpost.runtime import instruments
from fingerpost.transit.embedded.realtime_updater import POLL_S
from tests.embedded.conftest import rows, warnings, without_realtime_words
from tests.realtime.messages import NOW, call, message, update

URL = "https://example.org/updates.pb"
LATE = message(update("R-1", call("ALPHA", 120), timestamp=NOW - 30), timestamp=NOW - 10)
LATER = message(update("R-1", call("ALPHA", 240), timestamp=NOW - 5), timestamp=NOW - 5)


def age(body):
    return body["meta"].get("realtimeAgeSeconds")


@pytest.mark.parametrize(
    ("data", "stop", "row", "age_s"),
    [
        (None, "ALPHA", ("R", "08:10", "scheduled_only", None), None),
        (LATE, "ALPHA", ("R", "08:10", "delayed", 120), 30),
        # The message has no update for Delta, and is 10 s old.
        (LATE, "DELTA", ("C", "08:34", "scheduled_only", None), 10),
    ],
    ids=["no source", "an update", "no update"],
)
def test_the_first_answer_includes_realtime_data(town, data, stop, row, age_s):
    """The update about the first train is 30 s old; rows without an update have the message's age."""
    if data is not None:
        town.publish(data)
    board = town.board(f"TEST:{stop}", limit=1, windowMinutes=60)
    assert (rows(board), age(board), warnings(board).get("realtime-stale")) == ([row], age_s, None)


def test_a_new_message_affects_the_next_answer(town):
    town.publish(LATE)
    town.board()
    town.publish(LATER)
    assert rows(town.board(limit=1)) == [("R", "08:10", "delayed", 240)]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "Realtime data is missing or late: updates.pb cannot be read: No such file or directory."),
        (b"\x0a\xff", "not a GTFS-Realtime message"),
    ],
    ids=["missing", "damaged"],
)
def test_a_broken_file_leaves_the_last_good_message_and_is_reported(town, data, problem):
    town.publish(LATE)
    before = town.board()
    if data is None:
        town.file.unlink()
    else:
        town.publish(data)
    after = town.board()
    assert without_realtime_words(after) == without_realtime_words(before)
    assert problem in warnings(after)["realtime-stale"]


def test_a_message_from_the_future_is_reported_and_used_later(town, clock):
    town.publish(message(*(update(trip, relationship="CANCELED") for trip in ("R-1", "R-2")), timestamp=NOW + 1800))
    board = town.board(limit=1)
    assert (rows(board), age(board)) == ([("R", "08:10", "scheduled_only", None)], None)
    assert "dated in the future" in warnings(board)["realtime-stale"]
    clock(NOW + 1800)
    assert rows(town.board(limit=1)) == [("R", "08:40", "cancelled", None)]


def test_sources_can_be_added_and_removed_while_the_network_is_used(town):
    town.publish(LATE)
    with_sources = rows(town.board(limit=1))
    town.follow()
    assert (with_sources, rows(town.board(limit=1))) == (
        [("R", "08:10", "delayed", 120)],
        [("R", "08:10", "scheduled_only", None)],
    )


def test_under_a_fixed_clock_answers_are_the_same_byte_for_byte(towns):
    first, second = towns(), towns()
    first.publish(LATE)
    assert first.plan(limit=3) == second.plan(limit=3)


class Upstream:
    def __init__(self, answer):
        self.answer = answer
        self.opened = self.asked = 0
        self.gate = threading.Event()
        self.gate.set()

    def open(self):
        self.opened += 1
        return self

    async def aclose(self):
        pass

    async def fetch(self, request, known=None):
        self.asked += 1
        await asyncio.to_thread(self.gate.wait, 10)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Response(
            status=200, headers={}, body=self.answer, redacted_url=URL, retrieved_at=datetime.fromtimestamp(NOW, UTC)
        )


def test_http_is_opened_only_for_a_url(towns):
    upstream = Upstream(LATE)
    town = towns(open_client=upstream.open)
    town.publish(LATE)
    town.board()
    opened = [upstream.opened]
    town.follow(URL)
    assert rows(town.board(limit=1)) == [("R", "08:10", "delayed", 120)]
    assert [*opened, upstream.opened, upstream.asked] == [0, 1, 1]


def test_a_hanging_source_does_not_delay_answers(towns, clock):
    upstream = Upstream(LATE)
    town = towns(open_client=upstream.open)
    town.follow(URL)
    town.board()
    clock(NOW + POLL_S)
    upstream.gate.clear()
    assert rows(town.board(limit=1)) == [("R", "08:10", "delayed", 120)]
    upstream.gate.set()


def test_a_url_that_fails_at_first_leaves_the_timetable(towns):
    town = towns(open_client=Upstream(SourceUnreachable("example.org cannot be reached")).open)
    town.follow(URL)
    board = town.board(limit=1)
    assert rows(board) == [("R", "08:10", "scheduled_only", None)]
    assert warnings(board)["realtime-stale"] == "Realtime data is missing or late: example.org cannot be reached."


def test_closing_the_networks_stops_the_thread(towns):
    threads_of_others = set(threading.enumerate())
    upstream = Upstream(LATE)
    town = towns(open_client=upstream.open)
    town.follow(URL)
    town.board()
    town.close()
    started = set(threading.enumerate()) - threads_of_others
    assert [thread.name for thread in started if thread.name == "fingerpost-realtime"] == []


@pytest.fixture
def observed_town(towns, monkeypatch):
    monkeypatch.setattr(instruments, "_AGE_SOURCES", WeakSet())
    return towns()


def observed(observe):
    return [(dict(each.attributes), each.value) for each in observe(None)]


def test_realtime_is_as_old_as_its_message_and_ages_without_queries(observed_town, clock):
    """The message is 10 s old when it is read; a minute later it is 70 s old, without another query."""
    observed_town.publish(LATE)
    observed_town.board()
    first = observed(instruments.observe_realtime)
    clock(NOW + 60)
    second = observed(instruments.observe_realtime)

    assert (first, second) == ([({instruments.NETWORK: "TEST"}, 10)], [({instruments.NETWORK: "TEST"}, 70)])


def test_a_network_without_realtime_has_no_age(observed_town):
    observed_town.board()

    assert observed(instruments.observe_realtime) == []
