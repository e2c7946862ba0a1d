"""Adding a network from files and addresses, and refreshing it: the new version is prepared beside the old."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from fingerpost import clock
from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.net.client import Client
from fingerpost.net.download import download
from fingerpost.net.request import Bounds, Request
from fingerpost.store.network_record import NetworkRecord
from fingerpost.transit.gtfs.importer import FeedSource, ImportProgress, import_feeds
from fingerpost.transit.gtfs.report import ImportReport
from fingerpost.transit.providers.embedded.feed_origins import Content, Origin, OriginFolder, read_origin, sign
from fingerpost.transit.timetable.shelf import Shelf

FEED_BOUNDS = Bounds(connect_s=10.0, read_s=60.0, total_s=1800.0, max_bytes=2_000_000_000, attempts=4)

Tell = Callable[[str, int], None]
"""Told what is being fetched, and how many bytes of it are there."""


@dataclass(frozen=True, slots=True)
class _Fetched:
    origin: Origin
    content: Content
    path: Path
    changed: bool


class FeedKeeper:
    """Brings feeds into the house and puts their network onto the shelf.

    Killed at any instant, the shelf holds the old network or the new one; what is known of the feeds is written last.
    """

    def __init__(
        self,
        home: Path,
        client: Client,
        *,
        tell: Tell = lambda _what, _bytes: None,
        progress: ImportProgress = lambda _what, _done, _whole: None,
    ) -> None:
        self._home = home
        self._shelf = Shelf(home)
        self._client = client
        self._tell = tell
        self._progress = progress

    async def add(self, record: NetworkRecord) -> ImportReport:
        """Import the feeds of a record as its network, in place of the one that has the name.

        The record itself is the caller's to keep, once this has succeeded.

        Raises:
            ParameterError: the feeds, or their names, are no good.
            FeedUnusable: a feed cannot be used.
            SettingsInvalid: the disk refuses.
            ToolError: a feed cannot be fetched, as ``Client.fetch`` says.
        """
        folder = OriginFolder(self._home, record.name)
        with folder.locked(), _tidy(folder):
            fetched = [await self._fetch(folder, origin, Content()) for origin in self._read_origins(record)]
            return await self._bring(record, folder, fetched)

    async def refresh(self, record: NetworkRecord) -> ImportReport | None:
        """Fetch a record's feeds again, and import them where one has changed or others are named; None where not.

        What is not prepared, or cannot be opened, is prepared anew.

        Raises:
            ParameterError: the record names no feed.
            ToolError: as ``add``; the network stays as it is.
        """
        if not record.feeds:
            raise ParameterError(
                f"It is not known where the feeds of {record.name} come from", {"field": "name"}, hint="Add it again"
            )
        folder = OriginFolder(self._home, record.name)
        with folder.locked(), _tidy(folder):
            contents = folder.read()
            fetched = [
                await self._fetch(folder, origin, contents.get(text, Content()))
                for text, origin in zip(record.feeds, self._read_origins(record), strict=True)
            ]
            if any(one.changed for one in fetched) or not await asyncio.to_thread(self._is_ready, record):
                return await self._bring(record, folder, fetched)
            folder.write(_contents(record, fetched))
        return None

    def _read_origins(self, record: NetworkRecord) -> list[Origin]:
        """Return the feeds of a record; a relative path in it counts from its file's folder."""
        return [read_origin(text, self._home) for text in record.feeds]

    def _is_ready(self, record: NetworkRecord) -> bool:
        """Whether what is prepared can be opened and is of the record's feeds."""
        try:
            entry, _ = self._shelf.open(record.name)
        except (ParameterError, SettingsInvalid):
            return False
        return entry.find_note(record.feeds) is None

    async def _fetch(self, folder: OriginFolder, origin: Origin, content: Content) -> _Fetched:
        """Return where a feed's content lies now, and whether it is another than was imported."""
        if origin.url is None:
            path = origin.path or Path()
            signature = sign(path)
            changed = not signature or signature != content.signature
            return _Fetched(origin, Content(signature=signature), path, changed)
        held = None if content.file is None else folder.folder / content.file
        path = folder.new_path(origin.url)
        request = Request(url=origin.url, secret_params=origin.secret_params, bounds=FEED_BOUNDS)
        got = await download(
            self._client,
            request,
            path,
            known=content.known if held is not None else None,
            held=held,
            progress=lambda size: self._tell(request.shown, size),
        )
        if not got.changed and held is not None:
            return _Fetched(origin, replace(content, known=got), held, changed=False)
        file = path.relative_to(folder.folder).as_posix()
        return _Fetched(origin, Content(file=file, known=got), path, changed=True)

    async def _bring(self, record: NetworkRecord, folder: OriginFolder, fetched: Sequence[_Fetched]) -> ImportReport:
        sources = [FeedSource(one.path, one.origin.feed_name) for one in fetched]
        imported = await asyncio.to_thread(import_feeds, record.name, sources, progress=self._progress)
        report = imported.report
        await asyncio.to_thread(
            self._shelf.put,
            record.name,
            imported.timetable,
            report.to_json(),
            added_at=clock.now(),
            feeds=record.feeds,
        )
        folder.write(_contents(record, fetched))
        return report


def _contents(record: NetworkRecord, fetched: Sequence[_Fetched]) -> dict[str, Content]:
    return {text: one.content for text, one in zip(record.feeds, fetched, strict=True)}


@contextmanager
def _tidy(folder: OriginFolder) -> Iterator[None]:
    """In the end, remove what was fetched and is not kept: of a failure, or of an earlier version."""
    try:
        yield
    finally:
        # What cannot be read names nothing that may be removed.
        with suppress(SettingsInvalid):
            folder.sweep(folder.read().values())
