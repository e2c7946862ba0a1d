"""Import the feeds and the OpenStreetMap extract of a network, and store its timetable, streets and maps."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from fingerpost.transit.engine.gtfs.importer import FeedSource, ImportProgress, import_feeds
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.osm.addresses.extract import read_addresses
from fingerpost.transit.osm.addresses.index_file import FILE_NAME, gather, write_index
from fingerpost.transit.osm.basemap import pack_lines, read_lines, save_basemap
from fingerpost.transit.osm.streets.extract import find_area
from fingerpost.transit.osm.streets.preparing import StreetPreparation
from fingerpost.transit.osm.streets.store import save_streets


def prepare_network(
    home: Path,
    name: str,
    sources: Sequence[FeedSource],
    *,
    extract: str | None,
    feeds: Sequence[str],
    added_at: datetime,
    progress: ImportProgress = lambda _what, _done, _whole: None,
) -> ImportReport:
    """Import feeds, and the streets of an extract, and store them as a network.

    ``sources`` hold the content of the record's ``feeds``; ``extract`` is relative to the home folder.

    Raises:
        ParameterError: the feeds, or their names, are invalid.
        FeedUnusable: a feed or the extract cannot be used.
        SettingsInvalid: the disk cannot be written, or an extract is given and osmium is not installed.
    """
    store = TimetableStore(home)
    if extract is None:
        imported = import_feeds(name, sources, progress=progress)
        store.put(name, imported.timetable, imported.report.to_json(), added_at=added_at, feeds=feeds)
        return imported.report
    streets = StreetPreparation(home / extract, progress)
    imported = import_feeds(name, sources, progress=progress, find_walks=streets.find_walks)
    report = replace(imported.report, streets=streets.prepared.coverage)

    def save_beside(folder: Path) -> None:
        save_streets(streets.prepared, folder)
        table = imported.timetable
        boardable = table.stop_kind == STOP
        is_near_stops = find_area(table.stop_lat[boardable], table.stop_lon[boardable])
        with TemporaryDirectory() as scratch:
            addresses = read_addresses(home / extract, is_near_stops, Path(scratch), progress)
        write_index(gather(addresses), folder / FILE_NAME)
        with TemporaryDirectory() as scratch:
            lines = read_lines(home / extract, is_near_stops, Path(scratch), progress)
        save_basemap(pack_lines(lines), folder)

    store.put(
        name, imported.timetable, report.to_json(),
        added_at=added_at, feeds=feeds, extract=extract, save_beside=save_beside,
    )  # fmt: skip
    return report
