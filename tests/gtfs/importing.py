"""Importing feeds written as text, and finding the real ones."""

from collections.abc import Mapping
from pathlib import Path

from fingerpost.testing.feeds import feed_from_drawing, write_feed
from fingerpost.transit.engine.gtfs.importer import FeedSource, Imported, import_feeds

ONE_LINE = """
line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20
"""


def import_text(tmp_path: Path, tables: Mapping[str, str | None], drawing: str = ONE_LINE) -> Imported:
    feed = feed_from_drawing(drawing) | dict(tables)
    path = write_feed(tmp_path / "feed", {name: text for name, text in feed.items() if text is not None})
    return import_feeds("test", [FeedSource(path)])


def findings_of(imported: Imported) -> list[tuple[str, int, str, int]]:
    """Return (reason, count, table, line) of everything that the first feed's report names."""
    return [
        (found.reason, found.count, found.places[0].table, found.places[0].line)
        for found in imported.report.feeds[0].findings
    ]
