"""A network that cannot be opened does not take the others with it."""

import asyncio
from datetime import UTC, datetime

from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.providers.embedded.networks import EmbeddedNetworks
from fingerpost.transit.timetable.shelf import Shelf

LINE = "line A | Alpha 08:00 | Beta 08:10"


def test_a_damaged_network_is_left_out_and_named(tmp_path):
    """One emptied file of BAD: GOOD and the demos answer, and the problem names BAD."""
    shelf = Shelf(tmp_path)
    for name in ("GOOD", "BAD"):
        entry = shelf.put(name, timetable_from_drawing(LINE), "{}", added_at=datetime(2026, 1, 1, tzinfo=UTC))
    (entry.folder / "change_s.npy").write_bytes(b"")
    networks = EmbeddedNetworks(tmp_path)

    listed = [network.name for network in asyncio.run(networks.list_networks())]

    assert listed == ["GOOD", "DEMO-LONDON", "DEMO-HELSINKI"]
    assert list(networks.problems) == ["BAD"]
    assert "network add" in networks.problems["BAD"]
