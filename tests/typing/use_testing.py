"""``fingerpost.testing`` in the code of source authors: every line here must type-check."""

from pathlib import Path
from typing import assert_type

from fingerpost.testing.feeds import feed_from_drawing, stop_id_of, timetable_from_drawing, write_feed
from fingerpost.transit.engine.timetable.timetable import Timetable


def draw_a_feed(folder: Path) -> None:
    tables = feed_from_drawing("line A | Alpha 08:00 | Beta 08:10", coordinates={"Alpha": (60.1, 24.9)})
    assert_type(tables, dict[str, str])
    assert_type(write_feed(folder / "feed.zip", tables), Path)
    assert_type(timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10"), Timetable)
    assert_type(stop_id_of("Alpha"), str)
