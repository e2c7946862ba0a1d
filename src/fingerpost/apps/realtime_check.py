"""Fetch a network's GTFS-Realtime sources once, and count the entities that match its timetable."""

import asyncio
from pathlib import Path

from fingerpost import clock
from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import new_client
from fingerpost.errors import ParameterError
from fingerpost.store.network_record import NetworkRecord
from fingerpost.transit.embedded.feed_origins import OriginFolder, read_place
from fingerpost.transit.embedded.realtime_feeds import RealtimeFeeds
from fingerpost.transit.embedded.realtime_updater import list_unmatched
from fingerpost.transit.engine.gtfs.importer import FeedSource, list_feed_names
from fingerpost.transit.engine.gtfs.realtime import RealtimeIndex, read_realtime
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.model.provenance import RealtimeHealth


class RealtimeCheck:
    """Fetches a record's realtime messages once, and checks or matches them."""

    def __init__(self, settings: Settings, record: NetworkRecord) -> None:
        self._home = settings.home
        self._record = record
        self._sources = [read_place(text, settings.home) for text in record.realtime]
        self._feeds = asyncio.run(self._fetch(settings))

    async def _fetch(self, settings: Settings) -> RealtimeFeeds:
        async with new_client(settings) as client:
            feeds = RealtimeFeeds(self._sources, client.fetch, clock.now)
            await feeds.refresh()
        return feeds

    def refuse(self, *, unchecked: bool) -> None:
        """Raise ParameterError for an unknown FEED or, unless ``unchecked``, for a source that has no message."""
        record = self._record
        folder = OriginFolder(self._home, record.name)
        feeds = [
            FeedSource(folder.new_path(feed.url) if feed.url else feed.path or Path(), feed.feed_name)
            for feed in (read_place(text, self._home) for text in record.feeds)
        ]
        feed_names = list_feed_names(record.name, feeds) if feeds else []
        for source in self._sources:
            if feeds and source.feed_name is not None and source.feed_name.upper() not in feed_names:
                raise ParameterError(
                    f"{record.name} has no FEED {source.feed_name}, which {source.text} names",
                    {"field": "realtime"},
                    hint=f"Its FEEDs are: {', '.join(feed_names)}; a source without FEED= applies to all of them",
                )
        for source, health in zip(self._sources, self._feeds.health().sources, strict=True):
            if health.problem is not None and not unchecked:
                raise ParameterError(
                    f"{source.text} has no realtime data at the moment: {health.problem}",
                    {"field": "realtime"},
                    hint="Correct the address, or add --unchecked to use it anyway",
                )

    def match(self) -> tuple[RealtimeHealth, tuple[str, ...]]:
        """Match the messages with the stored timetable; return the counts, and warnings about poor matches."""
        _, timetable = TimetableStore(self._home).open(self._record.name)
        now = int(clock.now().timestamp())
        overlay = read_realtime(timetable, RealtimeIndex(timetable), self._feeds.messages(), now)
        return self._feeds.health(overlay), list_unmatched(self._sources, overlay)
