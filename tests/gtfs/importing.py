"""Import feeds written as text, and locate the real ones."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from fingerpost.transit.engine.gtfs.importer import FeedSource, ImportResult, import_feeds
from tests.feeds import feed_from_drawing, write_feed

REAL_FEEDS = [
    ("helsinki/hsl_centre_2022-02-22", date(2022, 2, 22)),
    ("tampere/tampere_nysse_2021-22", date(2022, 2, 15)),
    # A holiday, on which calendar_dates.txt exchanges the services.
    ("small/caltrain", date(2018, 7, 4)),
    ("kingston/kingston_2026-01", date(2026, 1, 15)),
    ("small/cairns_2014", date(2014, 6, 3)),
    ("small/sao_paulo_subset", date(2012, 5, 9)),
    ("small/google_example", date(2007, 6, 5)),
    ("small/wmata_rail_2026", date(2026, 5, 6)),
    *((f"nyc/{name}", date(2026, 9, 30)) for name in ("lirr", "subway", "mnr")),
    *((f"nyc/bus_{name}", date(2026, 9, 30)) for name in ("bk", "busco", "bx", "m", "qns", "si")),
]
"""Feeds in the shared data, each with a day of its service."""

ONE_LINE = """
line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20
"""


def import_text(
    tmp_path: Path,
    tables: Mapping[str, str | None],
    drawing: str = ONE_LINE,
    coordinates: Mapping[str, tuple[float, float]] | None = None,
) -> ImportResult:
    feed = feed_from_drawing(drawing, coordinates=coordinates) | dict(tables)
    path = write_feed(tmp_path / "feed", {name: text for name, text in feed.items() if text is not None})
    return import_feeds("test", [FeedSource(path)])


def findings_of(imported: ImportResult) -> list[tuple[str, int, str, int]]:
    """Return (reason, count, table, line) of everything that the first feed's report names."""
    return [
        (found.reason, found.count, found.places[0].table, found.places[0].line)
        for found in imported.report.feeds[0].findings
    ]
