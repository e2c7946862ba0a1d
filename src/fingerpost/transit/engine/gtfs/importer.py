"""Import GTFS feeds as one network: read them, merge them and assemble one timetable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fingerpost.errors import ParameterError
from fingerpost.transit.engine.gtfs.csv.archive import open_archive
from fingerpost.transit.engine.gtfs.csv.columns import IdIndex
from fingerpost.transit.engine.gtfs.feed_reader import TABLES_READ, build_report, read_feed
from fingerpost.transit.engine.gtfs.merging import FeedMerger
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.engine.timetable.walks import FindWalks, straight_line_walks

ImportProgress = Callable[[str, int, int | None], None]
"""Called with the current FEED or step, the amount done, and the total (None: unknown)."""

_LINKING = "linking stops"


@dataclass(frozen=True, slots=True)
class FeedSource:
    """A zip file or folder to import, and optionally the FEED of its stop ids (rule A8)."""

    path: Path
    feed_name: str | None = None


class ImportResult(NamedTuple):
    timetable: Timetable
    report: ImportReport


def import_feeds(
    network: str,
    sources: Sequence[FeedSource],
    *,
    progress: ImportProgress = lambda _step, _done, _total: None,
    find_walks: FindWalks = straight_line_walks,
) -> ImportResult:
    """Import feeds as one network; ``progress`` is called in this thread, and ``find_walks`` computes walks.

    Raises:
        FeedUnusable: a feed cannot be used; the message names the file, table and line, and says what to do.
        ParameterError: there is no feed, or two feeds have the same name.
    """
    merger, headsigns, reports = FeedMerger(), IdIndex(), []
    for source, name in zip(sources, list_feed_names(network, sources), strict=True):
        with open_archive(source.path) as archive:
            archive.advance = _new_progress_counter(name, archive.measure(TABLES_READ), progress)
            feed = read_feed(archive, name, headsigns)
            merger.add(feed, archive.findings)
            reports.append(build_report(archive, feed))
    progress(_LINKING, 0, 1)
    timetable = assemble(merger.finish(headsigns), find_walks)
    progress(_LINKING, 1, 1)
    return ImportResult(timetable, ImportReport(network=network.upper(), feeds=tuple(reports)))


def _new_progress_counter(step: str, total: int, progress: ImportProgress) -> Callable[[int], None]:
    done = 0

    def advance(byte_count: int) -> None:
        nonlocal done
        done = min(done + byte_count, total)
        progress(step, done, total)

    advance(0)
    return advance


def list_feed_names(network: str, sources: Sequence[FeedSource]) -> list[str]:
    """Return each source's FEED: its ``feed_name`` or, if it has none, the network's name, with the file name appended.

    The first feed gets no file name, so that its ids stay the same when others are added (rule A8).
    """
    if not sources:
        raise ParameterError("A network needs at least one feed: NAME PATH", {"field": "feed"})
    names: list[str] = []
    default_names: set[str] = set()
    for number, source in enumerate(sources):
        if source.feed_name is not None:
            name = source.feed_name.strip().upper()
            if not name or name.startswith("DEMO-"):
                raise ParameterError(
                    f"A feed cannot be called {source.feed_name!r}. Choose a name that is not empty and does not "
                    "begin with DEMO-",
                    {"field": "feed"},
                )
        else:
            stem = source.path.name.removesuffix(".zip").removesuffix(".gtfs")
            name = f"{network}-{stem}".upper() if number else network.upper()
            if name in default_names:
                raise ParameterError(
                    f"Two of the feeds would both be called {name}. Name them: FEED=PATH", {"field": "feed"}
                )
            default_names.add(name)
        names.append(name)
    return names
