"""Fetch a network's GTFS-Realtime sources once, and count the entities that match its timetable."""

import asyncio
from collections.abc import Sequence

from fingerpost import clock
from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import new_client
from fingerpost.store.network_record import NetworkRecord
from fingerpost.transit.embedded.feed_origins import NamedPlace, read_place
from fingerpost.transit.embedded.realtime_feeds import RealtimeFeeds
from fingerpost.transit.embedded.realtime_updater import list_unmatched
from fingerpost.transit.engine.gtfs.realtime import RealtimeIndex, read_realtime
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.model.provenance import RealtimeHealth


def match_realtime(settings: Settings, record: NetworkRecord) -> tuple[RealtimeHealth, tuple[str, ...]]:
    """Return the counts for a record's sources, and warnings about poor matches."""
    sources = [read_place(text, settings.home) for text in record.realtime]
    feeds = asyncio.run(_fetch(settings, sources))
    _, timetable = TimetableStore(settings.home).open(record.name)
    overlay = read_realtime(timetable, RealtimeIndex(timetable), feeds.messages(), int(clock.now().timestamp()))
    return feeds.health(overlay), list_unmatched(sources, overlay)


async def _fetch(settings: Settings, sources: Sequence[NamedPlace]) -> RealtimeFeeds:
    async with new_client(settings) as client:
        feeds = RealtimeFeeds(sources, client.fetch, clock.now)
        await feeds.refresh()
    return feeds
