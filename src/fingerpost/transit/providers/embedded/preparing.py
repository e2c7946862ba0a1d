"""Opening a prepared network, and preparing it anew where an older version of fingerpost had prepared it."""

import logging
from pathlib import Path

from fingerpost.errors import FeedUnusable, ParameterError, SettingsInvalid
from fingerpost.store.network_names import plain_name
from fingerpost.transit.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.providers.embedded.feed_origins import Content, OriginFolder, read_origin
from fingerpost.transit.timetable.disk import TimetableOutdated
from fingerpost.transit.timetable.shelf import Shelf, ShelfEntry
from fingerpost.transit.timetable.timetable import Timetable

_log = logging.getLogger(__name__)


def open_prepared(home: Path, name: str) -> tuple[ShelfEntry, Timetable]:
    """Return a network's entry and its timetable, opened.

    A timetable of an older format is first prepared anew from the feeds that were kept, which takes as long as an
    import; of two processes that need it, one does it and the other waits.

    Raises:
        ParameterError: nothing is prepared under this name.
        SettingsInvalid: it is damaged, of a newer format, or of an older one while a feed is no longer there.
    """
    name, shelf = plain_name(name), Shelf(home)
    try:
        return shelf.open(name)
    except TimetableOutdated:
        folder = OriginFolder(home, name)
    with folder.locked():
        try:
            return shelf.open(name)
        except TimetableOutdated:
            _prepare_anew(shelf, folder, shelf.get(name))
        return shelf.open(name)


def _prepare_anew(shelf: Shelf, folder: OriginFolder, entry: ShelfEntry) -> None:
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
        imported = import_feeds(entry.name, sources)
    except (FeedUnusable, ParameterError) as error:
        raise SettingsInvalid(
            f"The network {entry.name} was prepared by an older version and cannot be prepared anew: {error.message} "
            f"Run `fingerpost network refresh {entry.name}`."
        ) from error
    shelf.put(entry.name, imported.timetable, imported.report.to_json(), added_at=entry.added_at, feeds=feeds)


def _find_kept(name: str, folder: OriginFolder, text: str, content: Content) -> FeedSource:
    """Return where a feed's content lies: what was fetched, or the path that the record names."""
    origin = read_origin(text, folder.folder.parent.parent)
    path = origin.path if content.file is None else folder.folder / content.file
    if path is None or not path.exists():
        raise SettingsInvalid(
            f"The network {name} was prepared by an older version, and its feed {text} is not kept. "
            f"Run `fingerpost network refresh {name}`."
        )
    return FeedSource(path, origin.feed_name)
