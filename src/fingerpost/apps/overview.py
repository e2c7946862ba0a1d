"""Describe all networks as JSON: areas, days, import reports and realtime, for ``doctor`` and an MCP resource."""

from datetime import date
from typing import TYPE_CHECKING, Any

from fingerpost import clock
from fingerpost.apps.source_kinds import EMBEDDED
from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError
from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport
from fingerpost.transit.model.provenance import FeedVersion, RealtimeHealth, ServiceDays, SourceHealth
from fingerpost.transit.port import Network

if TYPE_CHECKING:
    from fingerpost.transit.engine.timetable.timetable_store import TimetableStore

_DEGREE_DIGITS = 4


async def describe_networks(application: Application) -> list[dict[str, Any]]:
    # A local import, because it would slow the start of a server; opening the networks loads it anyway.
    opened = await application.networks.open()
    from fingerpost.transit.engine.timetable.timetable_store import TimetableStore

    store, networks = TimetableStore(application.settings.home), []
    for network in (*opened.answering, *opened.by_token_only):
        described = _describe(network, store, answers=network in opened.answering)
        if (health := await network.find_realtime_health()) is not None:
            described["realtime"] = describe_realtime(health)
        networks.append(described)
    return networks


def _describe(network: Network, store: "TimetableStore", *, answers: bool) -> dict[str, Any]:
    profile = network.profile
    bounds = profile.bounds
    today = clock.today_in(profile.zone)
    described: dict[str, Any] = {
        "name": profile.name,
        "source": profile.source,
        "demo": profile.is_demo,
        "answers": answers,
        "abilities": sorted(ability.value for ability in profile.abilities),
        "zone": profile.zone,
        "bounds": {side: round(getattr(bounds, side), _DEGREE_DIGITS) for side in ("south", "west", "north", "east")},
        "modes": sorted(profile.modes),
        "attribution": list(profile.attribution),
        "notes": list(profile.notes),
        # Both are null if the timetable is valid every day.
        "firstDay": None if profile.first_day is None else profile.first_day.isoformat(),
        "lastDay": None if profile.last_day is None else profile.last_day.isoformat(),
        "today": ServiceDays(first_day=profile.first_day, last_day=profile.last_day).format_service_state(today),
    }
    report = find_report(store, profile.name) if profile.source == EMBEDDED else None
    is_complete = report is not None and len(report.feeds) == len(profile.feeds)
    feed_reports = report.feeds if report is not None and is_complete else [None] * len(profile.feeds)
    feeds = [
        _describe_feed(feed, today) | ({} if summary is None else _count_feed_rows(summary))
        for feed, summary in zip(profile.feeds, feed_reports, strict=True)
        if summary is not None or feed.service != ServiceDays()
    ]
    if feeds:
        described["feeds"] = feeds
    return described


def _describe_feed(feed: FeedVersion, today: date) -> dict[str, Any]:
    first, last = feed.service.first_day, feed.service.last_day
    return {
        "feed": feed.name,
        "firstDay": first and first.isoformat(),
        "lastDay": last and last.isoformat(),
        "state": feed.service.state_on(today).value,
        "today": feed.service.format_service_state(today),
    }


def find_report(store: "TimetableStore", name: str) -> ImportReport | None:
    try:
        return ImportReport.from_json(store.get(name).report_json)
    except (ToolError, ValueError):
        return None


def _count_feed_rows(feed: FeedReport) -> dict[str, Any]:
    """Return a feed's counts and its findings by reason, without local paths."""
    counts = {key: getattr(feed, key) for key in ("feed", "stops", "routes", "trips", "runs", "events")}
    findings = {finding.reason: finding.count for finding in feed.findings}
    return {**counts, "findings": findings, "tablesNotRead": list(feed.tables_not_read)}


def describe_realtime(health: RealtimeHealth) -> dict[str, Any]:
    counts = {name: dict(getattr(health, name)) for name in ("matched", "unmatched", "calls", "messages")}
    return {"sources": [_describe_source(source) for source in health.sources], **counts}


def _describe_source(source: SourceHealth) -> dict[str, Any]:
    """Describe a source, leaving out local folders and unknown values."""
    is_url = "://" in source.location
    fields = {
        "source": source.location if is_url else source.location.rpartition("/")[2],
        "feed": source.feed_name,
        "ageSeconds": source.age_s,
        "matched": source.matched,
        "unmatched": source.unmatched,
        "problem": source.problem,
    }
    return {name: value for name, value in fields.items() if value is not None}
