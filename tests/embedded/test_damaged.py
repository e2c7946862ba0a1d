"""A network that cannot be opened does not take the others with it."""

import asyncio

from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.engine.timetable.array_file import ARRAYS
from tests.homes import keep_network, open_networks

LINE = "line A | Alpha 08:00 | Beta 08:10"


def test_a_damaged_network_is_left_out_and_named(tmp_path):
    """One emptied file of BAD: GOOD answers, and the problem names BAD."""
    for name in ("GOOD", "BAD"):
        entry = keep_network(tmp_path, name, timetable_from_drawing(LINE))
    (entry.folder / ARRAYS).write_bytes(b"")

    opened = asyncio.run(open_networks(tmp_path).open())

    assert [network.profile.name for network in opened.answering] == ["GOOD"]
    assert list(opened.problems) == ["BAD"]
    assert "network add" in opened.problems["BAD"]
