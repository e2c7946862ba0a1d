"""Prepare a network: timetable, streets, addresses and basemap."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from fingerpost.errors import FeedUnusable, ParameterError, SettingsInvalid
from fingerpost.store.network_names import plain_name
from fingerpost.transit.embedded.feed_origins import Content, OriginFolder, read_place
from fingerpost.transit.engine.gtfs.importer import FeedSource, ImportProgress, import_feeds
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.engine.timetable.array_file import TimetableOutdated
from fingerpost.transit.engine.timetable.timetable import STOP, Timetable
from fingerpost.transit.engine.timetable.timetable_store import StoredTimetable, TimetableStore
from fingerpost.transit.osm.addresses.extract import read_addresses
from fingerpost.transit.osm.addresses.gathering import gather
from fingerpost.transit.osm.addresses.index_file import FILE_NAME, write_index
from fingerpost.transit.osm.basemap import pack_lines, read_lines, save_basemap
from fingerpost.transit.osm.streets.extract import RidersArea
from fingerpost.transit.osm.streets.preparing import StreetPreparation
from fingerpost.transit.osm.streets.store import save_streets

_log = logging.getLogger(__name__)


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
        area = RidersArea(table.stop_lat[boardable], table.stop_lon[boardable])
        with TemporaryDirectory() as scratch:
            addresses = read_addresses(home / extract, area.holds, Path(scratch), progress)
        write_index(gather(addresses), folder / FILE_NAME)
        with TemporaryDirectory() as scratch:
            lines = read_lines(home / extract, area.holds, Path(scratch), progress)
        save_basemap(pack_lines(lines), folder)

    store.put(
        name, imported.timetable, report.to_json(),
        added_at=added_at, feeds=feeds, extract=extract, save_beside=save_beside,
    )  # fmt: skip
    return report


def open_prepared(home: Path, name: str) -> tuple[StoredTimetable, Timetable]:
    """Return a network's entry and its opened timetable.

    A timetable of an older format is first imported again from the stored feeds; other processes wait meanwhile.

    Raises:
        ParameterError: nothing is prepared under this name.
        SettingsInvalid: it is damaged, of a newer format, or of an older format and a feed is missing.
    """
    name, store = plain_name(name), TimetableStore(home)
    try:
        return store.open(name)
    except TimetableOutdated:
        folder = OriginFolder(home, name)
    with folder.locked():
        try:
            return store.open(name)
        except TimetableOutdated:
            _prepare_anew(home, folder, store.get(name))
        return store.open(name)


def _prepare_anew(home: Path, folder: OriginFolder, entry: StoredTimetable) -> None:
    feeds = entry.feeds or ()
    if not feeds:
        raise SettingsInvalid(
            f"The network {entry.name} was prepared by an older version, and its feeds are not known. "
            f"Run `fingerpost network add {entry.name} FEED...`."
        )
    contents = folder.read()
    sources = [_find_kept(entry.name, folder, text, contents.get(text, Content())) for text in feeds]
    _log.info("network=%s was prepared by an older version and is prepared anew", entry.name)
    try:
        prepare_network(home, entry.name, sources, extract=entry.extract, feeds=feeds, added_at=entry.added_at)
    except (FeedUnusable, ParameterError) as error:
        raise SettingsInvalid(
            f"The network {entry.name} was prepared by an older version and cannot be prepared anew: {error.message} "
            f"Run `fingerpost network refresh {entry.name}`."
        ) from error


def _find_kept(name: str, folder: OriginFolder, text: str, content: Content) -> FeedSource:
    place = read_place(text, folder.folder.parent.parent)
    path = place.path if content.file is None else folder.folder / content.file
    if path is None or not path.exists():
        raise SettingsInvalid(
            f"The network {name} was prepared by an older version, and its feed {text} is not kept. "
            f"Run `fingerpost network refresh {name}`."
        )
    return FeedSource(path, place.feed_name)
