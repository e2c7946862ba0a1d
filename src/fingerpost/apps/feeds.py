"""Adding a network from files and addresses, and refreshing it: the new version is prepared beside the old."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from fingerpost import clock
from fingerpost.apps.feed_origins import Origin, OriginFolder, sign
from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.net.client import Client
from fingerpost.net.download import download
from fingerpost.net.request import Bounds, Request
from fingerpost.transit.gtfs.importer import FeedSource, ImportProgress, import_feeds
from fingerpost.transit.gtfs.report import ImportReport
from fingerpost.transit.timetable.shelf import Shelf, plain_name

FEED_BOUNDS = Bounds(connect_s=10.0, read_s=60.0, total_s=1800.0, max_bytes=2_000_000_000, attempts=4)

Tell = Callable[[str, int], None]
"""Told what is being fetched, and how many bytes of it are there."""


@dataclass(frozen=True, slots=True)
class _Fetched:
    origin: Origin
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

    async def add(self, name: str, origins: Sequence[Origin]) -> ImportReport:
        """Import feeds as a network, in place of the one that has the name.

        Raises:
            ParameterError: the name, or the feeds' names, are no good.
            FeedUnusable: a feed cannot be used.
            SettingsInvalid: the disk refuses.
            ToolError: a feed cannot be fetched, as ``Client.fetch`` says.
        """
        network = plain_name(name)
        folder = OriginFolder(self._home, network)
        with folder.locked(), _tidy(folder):
            return await self._bring(network, folder, [await self._fetch(folder, origin) for origin in origins])

    async def refresh(self, name: str) -> ImportReport | None:
        """Fetch a network's feeds again, and import them where one has changed; None where none has.

        Raises:
            ParameterError: there is no such network, or it is not known where its feeds come from.
            ToolError: as ``add``; the network stays as it is.
        """
        network = plain_name(name)
        self._shelf.get(network)
        folder = OriginFolder(self._home, network)
        with folder.locked(), _tidy(folder):
            origins = folder.read()
            if not origins:
                raise ParameterError(
                    f"It is not known where the feeds of {network} come from", {"field": "name"}, hint="Add it again"
                )
            fetched = [await self._fetch(folder, origin) for origin in origins]
            if any(one.changed for one in fetched):
                return await self._bring(network, folder, fetched)
            folder.write([one.origin for one in fetched])
        return None

    async def _fetch(self, folder: OriginFolder, origin: Origin) -> _Fetched:
        """Return where a feed's content lies now, and whether it is another than was imported."""
        if origin.url is None:
            path = Path(origin.path or "")
            signature = sign(path)
            changed = not signature or signature != origin.signature
            return _Fetched(replace(origin, signature=signature), path, changed)
        held = None if origin.file is None else folder.folder / origin.file
        path = folder.new_path(origin.url)
        request = Request(url=origin.url, secret_params=origin.secret_params, bounds=FEED_BOUNDS)
        got = await download(
            self._client,
            request,
            path,
            known=origin.known if held is not None else None,
            held=held,
            progress=lambda size: self._tell(request.shown, size),
        )
        if not got.changed and held is not None:
            return _Fetched(replace(origin, known=got), held, changed=False)
        file = path.relative_to(folder.folder).as_posix()
        return _Fetched(replace(origin, known=got, file=file), path, changed=True)

    async def _bring(self, network: str, folder: OriginFolder, fetched: Sequence[_Fetched]) -> ImportReport:
        sources = [FeedSource(one.path, one.origin.feed_name) for one in fetched]
        imported = await asyncio.to_thread(import_feeds, network, sources, progress=self._progress)
        report = imported.report
        await asyncio.to_thread(self._shelf.put, network, imported.timetable, report.to_json(), added_at=clock.now())
        folder.write([one.origin for one in fetched])
        return report


@contextmanager
def _tidy(folder: OriginFolder) -> Iterator[None]:
    """In the end, remove what was fetched and is not in the record: of a failure, or of an earlier version."""
    try:
        yield
    finally:
        # A record that cannot be read names nothing that may be removed.
        with suppress(SettingsInvalid):
            folder.sweep(folder.read())
