"""The metrics include the ages of realtime data."""

from weakref import WeakSet

import pytest

from fingerpost.runtime import instruments
from fingerpost.runtime.instruments import Age

REALTIME = "fingerpost.realtime.age"


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.setattr(instruments, "_AGE_SOURCES", WeakSet())


class AgeSource:
    def __init__(self, *realtime):
        self.realtime = realtime
        instruments.watch(self)

    def list_realtime_ages(self):
        return self.realtime


def test_the_oldest_of_several_sources_is_reported(seen):
    """A fresh message must not hide that another is not; a source of no feed of its own speaks of its network."""
    aged = AgeSource(Age("CITY", "BUS", 4.0), Age("CITY", "BUS", 90.0), Age("CITY", "BUS", 5.0), Age("CITY", None, 7.0))

    assert seen.counted(REALTIME) == {
        (("fingerpost.feed.name", "BUS"), ("fingerpost.network.name", "CITY")): 90.0,
        (("fingerpost.network.name", "CITY"),): 7.0,
    }
    del aged
