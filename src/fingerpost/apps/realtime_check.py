"""Fetch a network's GTFS-Realtime sources once, and count the entities that match its timetable."""

import asyncio
from collections import Counter
from pathlib import Path

from fingerpost import clock
from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import new_client
from fingerpost.errors import ParameterError, ToolError
from fingerpost.store.network_record import NetworkRecord
from fingerpost.transit.embedded.feed_origins import OriginFolder, read_place
from fingerpost.transit.embedded.realtime_feeds import RealtimeFeeds
from fingerpost.transit.embedded.realtime_updater import name_shared
from fingerpost.transit.engine.gtfs.importer import FeedSource, list_feed_names
from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.gtfs.realtime.outcomes import APPLIED, StopTimeOutcome
from fingerpost.transit.engine.timetable.overlay import MatchCount, Overlay
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore

_NONE = MatchCount(0, 0)
_MOSTLY_UNMATCHED = (
    "  The timetable matches less than half: the source belongs to other feeds, or to another version of these. "
    "Delays and cancellations may be missing."
)
_SHARED = "  Several FEEDs have {}, so its updates are left out. Write FEED= before the source to choose one."
_STOP_TIMES_APPLIED = (StopTimeOutcome.APPLIED, StopTimeOutcome.HELD, StopTimeOutcome.STOP_NOT_MOVED)


class RealtimeCheck:
    """The current message of each realtime source of a record, or the reason for its absence; fetched once."""

    def __init__(self, settings: Settings, record: NetworkRecord) -> None:
        self._settings = settings
        self._record = record
        self._fetched = asyncio.run(self._fetch())

    async def _fetch(self) -> dict[str, FeedBytes | str]:
        async with new_client(self._settings) as client:
            feeds = {
                text: RealtimeFeeds([read_place(text, self._settings.home)], client.fetch, clock.now)
                for text in self._record.realtime
            }
            await asyncio.gather(*(source.refresh() for source in feeds.values()))
        return {
            text: next(iter(source.messages()), None) or source.health().sources[0].problem or "It did not answer"
            for text, source in feeds.items()
        }

    def refuse(self, *, unchecked: bool) -> None:
        """Raise ParameterError if a source names an unknown FEED, or has no message and is not ``unchecked``."""
        record, home = self._record, self._settings.home
        folder = OriginFolder(home, record.name)
        feeds = [
            FeedSource(folder.new_path(feed.url) if feed.url else feed.path or Path(), feed.feed_name)
            for feed in (read_place(text, home) for text in record.feeds)
        ]
        known = list_feed_names(record.name, feeds) if feeds else []
        for text in record.realtime:
            named = read_place(text, home).feed_name
            if feeds and named is not None and named.upper() not in known:
                raise ParameterError(
                    f"{record.name} has no FEED {named}, which {text} names",
                    {"field": "realtime"},
                    hint=f"Its FEEDs are: {', '.join(known)}; without FEED= a source applies to all of them",
                )
        for text, message in self._fetched.items():
            if isinstance(message, str) and not unchecked:
                raise ParameterError(
                    f"{text} has no realtime data now: {message}",
                    {"field": "realtime"},
                    hint="Correct the address, or add --unchecked to use it anyway",
                )

    def list_lines(self) -> list[tuple[str, bool]]:
        """Return (line, is_good) for each line to print: how much of each message matches the timetable."""
        try:
            _, timetable = TimetableStore(self._settings.home).open(self._record.name)
        except ToolError as error:
            return [(f"Realtime was not checked: {error.message}", True)]
        index, now = RealtimeIndex(timetable), int(clock.now().timestamp())
        lines: list[tuple[str, bool]] = []
        for text, message in self._fetched.items():
            head = f"Real time: {read_place(text, self._settings.home).text}"
            if isinstance(message, str):
                lines.append((f"{head}: {message}", False))
            else:
                lines += _describe(head, timetable, read_realtime(timetable, index, [message], now))
        return lines


def _describe(head: str, timetable: Timetable, overlay: Overlay) -> list[tuple[str, bool]]:
    found = next(iter(overlay.matches.values()), _NONE)
    whole = found.matched + found.unmatched
    if not whole:
        return [(f"{head}: the message is empty, so nothing could be matched", True)]
    line = f"{head}: {found.matched:,} of {whole:,} trips, vehicles and alerts are known to the timetable"
    stop_times = sum(overlay.stop_time_counts.values())
    if stop_times:
        applied = sum(overlay.stop_time_counts.get(outcome, 0) for outcome in _STOP_TIMES_APPLIED)
        line += f", and {applied:,} of {stop_times:,} of their stop times"
    trips = ", ".join(f"{name} {count:,}" for name, count in _count_trips(timetable, overlay).items())
    lines = [(line, True), (f"  trips by FEED: {trips}", True)]
    reasons = [f"{count:,} {reason}" for reason, count in overlay.counts.items() if reason not in APPLIED]
    if reasons:
        lines.append((f"  not matched: {', '.join(reasons)}", True))
    if found.shared_ids:
        lines.append((_SHARED.format(name_shared(found.shared_ids)), False))
    if found.is_mostly_unmatched:
        lines.append((_MOSTLY_UNMATCHED, False))
    return lines


def _count_trips(timetable: Timetable, overlay: Overlay) -> dict[str, int]:
    counts: Counter[str] = Counter({feed.name: 0 for feed in timetable.feeds})
    for trip_departure, _ in overlay.rides:
        route = int(timetable.trip_route[int(timetable.trip_departure_trip[trip_departure])])
        counts[timetable.feeds[int(timetable.route_feed[route])].name] += 1
    for added in overlay.added:
        counts[timetable.feeds[int(timetable.stop_feed[added.stop[0]])].name] += 1
    return dict(counts)
