"""Fetch a network's sources of real time once, and count what of them its timetable knows."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fingerpost import clock
from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import new_client
from fingerpost.errors import ParameterError
from fingerpost.store.network_record import NetworkRecord
from fingerpost.transit.embedded.feed_origins import OriginFolder, read_origin
from fingerpost.transit.embedded.realtime_feeds import RealtimeFeeds, RealtimeSource, read_source
from fingerpost.transit.embedded.realtime_updater import name_shared
from fingerpost.transit.engine.gtfs.importer import FeedSource, list_feed_names
from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.gtfs.realtime.outcomes import APPLIED, StopTimeOutcome
from fingerpost.transit.engine.timetable.overlay import MatchCount, Overlay
from fingerpost.transit.engine.timetable.timetable import Timetable

_NONE = MatchCount(0, 0)
_MOSTLY_UNMATCHED = (
    "  Less than half is known: it speaks of other feeds, or of another version of these. "
    "What is late or cancelled may be shown as scheduled."
)
_SHARED = (
    "  Several FEEDs have {}; what is said of that is left out. Say FEED= before the source to tell whose it speaks of."
)
_STOP_TIMES_APPLIED = (StopTimeOutcome.APPLIED, StopTimeOutcome.HELD, StopTimeOutcome.STOP_NOT_MOVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCheck:
    """What one source gave, and what of it the timetable knows.

    ``trips`` counts by FEED the trips that it changes, ``reasons`` by reason what was not matched.
    ``stop_times`` counts the stop times of matched trips that could be placed, and those that could not.
    ``shared_ids`` are those that several FEEDs have.
    """

    source: RealtimeSource
    problem: str | None = None
    entities: MatchCount = _NONE
    stop_times: MatchCount = _NONE
    trips: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    shared_ids: Sequence[str] = ()


def fetch_realtime(settings: Settings, texts: Sequence[str]) -> dict[str, FeedBytes | str]:
    """Fetch sources once, all at the same time; return for each its message, or a sentence on why it gave none.

    Texts are those of a record; a relative path counts from the home folder.
    """
    sources = {text: read_source(text, settings.home) for text in texts}

    async def fetch() -> dict[str, FeedBytes | str]:
        async with new_client(settings) as client:
            feeds = {text: RealtimeFeeds([source], client.fetch, clock.now) for text, source in sources.items()}
            await asyncio.gather(*(each.refresh() for each in feeds.values()))
        return {text: _message_or_problem(each) for text, each in feeds.items()}

    return asyncio.run(fetch())


def _message_or_problem(feeds: RealtimeFeeds) -> FeedBytes | str:
    messages = feeds.messages()
    return messages[0] if messages else feeds.health().sources[0].problem or "It did not answer."


def refuse_silent(fetched: Mapping[str, FeedBytes | str]) -> None:
    """Raise where a source gives no message.

    Raises:
        ParameterError: it does not answer, or what it gives is no GTFS-Realtime message.
    """
    for text, got in fetched.items():
        if isinstance(got, str):
            raise ParameterError(
                f"{text} gives no real time now: {got.rstrip('.')}",
                {"field": "realtime"},
                hint="Correct the address, or add --unchecked to follow it all the same",
            )


def refuse_unknown_feeds(record: NetworkRecord, home: Path) -> None:
    """Raise where a source of real time names a FEED that the network will not have.

    Raises:
        ParameterError: there is no such FEED; the hint lists those that there are.
    """
    origins = [read_origin(text, home) for text in record.feeds]
    if not origins:
        return
    folder = OriginFolder(home, record.name)
    paths = [folder.new_path(each.url) if each.url is not None else each.path or Path() for each in origins]
    known = list_feed_names(
        record.name, [FeedSource(path, origin.feed_name) for path, origin in zip(paths, origins, strict=True)]
    )
    for text in record.realtime:
        named = read_source(text, home).feed_name
        if named is not None and named.upper() not in known:
            raise ParameterError(
                f"{record.name} has no FEED {named}, which {text} speaks of",
                {"field": "realtime"},
                hint=f"Its FEEDs are: {', '.join(known)}; without FEED= a source speaks of all of them",
            )


def check_sources(timetable: Timetable, fetched: Mapping[str, FeedBytes | str], home: Path) -> list[SourceCheck]:
    index = RealtimeIndex(timetable)
    now = int(clock.now().timestamp())
    checks = []
    for text, got in fetched.items():
        source = read_source(text, home)
        if isinstance(got, str):
            checks.append(SourceCheck(source=source, problem=got))
        else:
            checks.append(_check(timetable, source, read_realtime(timetable, index, [got], now)))
    return checks


def _check(timetable: Timetable, source: RealtimeSource, overlay: Overlay) -> SourceCheck:
    applied = sum(overlay.stop_time_counts.get(each, 0) for each in _STOP_TIMES_APPLIED)
    return SourceCheck(
        source=source,
        entities=next(iter(overlay.matches.values()), _NONE),
        stop_times=MatchCount(applied, sum(overlay.stop_time_counts.values()) - applied),
        trips=_count_trips(timetable, overlay),
        reasons={reason: count for reason, count in overlay.counts.items() if reason not in APPLIED},
        shared_ids=next(iter(overlay.shared_ids.values()), ()),
    )


def _count_trips(timetable: Timetable, overlay: Overlay) -> dict[str, int]:
    """Return the trips that an overlay changes or adds, by FEED; all FEEDs are named."""
    counts: Counter[str] = Counter({feed.name: 0 for feed in timetable.feeds})
    for trip_departure, _ in overlay.rides:
        route = int(timetable.trip_route[int(timetable.trip_departure_trip[trip_departure])])
        counts[timetable.feeds[int(timetable.route_feed[route])].name] += 1
    for added in overlay.added:
        counts[timetable.feeds[int(timetable.stop_feed[added.stop[0]])].name] += 1
    return dict(counts)


def list_check_lines(check: SourceCheck) -> list[tuple[str, bool]]:
    """Return (line, is_good) for each line to print about a source."""
    head = f"Real time: {check.source.text}"
    if check.problem is not None:
        return [(f"{head}: {check.problem}", False)]
    found, calls = check.entities, check.stop_times
    whole = found.matched + found.unmatched
    if not whole:
        return [(f"{head}: nothing is said now, so nothing could be matched", True)]
    line = f"{head}: {found.matched:,} of {whole:,} trips, vehicles and alerts are known to the timetable"
    if calls.matched + calls.unmatched:
        line += f", and {calls.matched:,} of {calls.matched + calls.unmatched:,} of their stop times"
    lines = [
        (line, True),
        (f"  trips by FEED: {', '.join(f'{name} {count:,}' for name, count in check.trips.items())}", True),
    ]
    if check.reasons:
        lines.append((f"  not matched: {', '.join(f'{count:,} {why}' for why, count in check.reasons.items())}", True))
    if check.shared_ids:
        lines.append((_SHARED.format(name_shared(check.shared_ids)), False))
    if found.is_mostly_unmatched:
        lines.append((_MOSTLY_UNMATCHED, False))
    return lines
