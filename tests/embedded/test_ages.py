"""The metrics on the age of a network's realtime data."""

from weakref import WeakSet

import pytest

from fingerpost.runtime import instruments
from tests.embedded.conftest import Town
from tests.realtime.messages import NOW, call, message, update

LATE = message(update("R-1", call("ALPHA", 120), timestamp=NOW - 30), timestamp=NOW - 10)


@pytest.fixture
def town(tmp_path, clock, monkeypatch):
    monkeypatch.setattr(instruments, "_AGE_SOURCES", WeakSet())
    clock(NOW)
    return Town(tmp_path)


def observed(observe):
    return [(dict(each.attributes), each.value) for each in observe(None)]


def test_realtime_is_as_old_as_its_message_and_ages_without_queries(town, clock):
    """Said 10 s ago when it was read; a minute later nobody has asked for a newer one."""
    town.say(LATE)
    town.board()
    first = observed(instruments.observe_realtime)
    clock(NOW + 60)
    second = observed(instruments.observe_realtime)

    assert (first, second) == ([({instruments.NETWORK: "TEST"}, 10)], [({instruments.NETWORK: "TEST"}, 70)])


def test_a_network_without_realtime_has_no_age(town):
    town.board()

    assert observed(instruments.observe_realtime) == []
