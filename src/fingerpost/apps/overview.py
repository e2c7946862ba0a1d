"""Describe all networks as JSON, for ``doctor`` and the networks resource."""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from fingerpost import clock
from fingerpost.apps.source_kinds import EMBEDDED
from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError
from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport
from fingerpost.transit.model.provenance import FeedVersion, RealtimeHealth, ServiceDays, SourceHealth
from fingerpost.transit.port import Network
from fingerpost.transit.rules.realtime_status import format_age

if TYPE_CHECKING:
    from fingerpost.transit.engine.timetable.timetable_store import TimetableStore

_DEGREE_DIGITS = 4


async def describe_networks(application: Application) -> list[dict[str, Any]]:
    opened = await application.networks.open()
    networks = (*opened.answering, *opened.by_token_only)
    # Now that the networks are open, what they were opened with costs nothing more.
    from fingerpost.transit.engine.timetable.timetable_store import TimetableStore

    described = [
        _describe(network, TimetableStore(application.settings.home), answers=network in opened.answering)
        for network in networks
    ]
    for network, described_network in zip(networks, described, strict=True):
        health = await network.find_realtime_health()
        if health is not None:
            described_network["realtime"] = describe_realtime(health)
    return described


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
        # Null at both ends: the timetable holds on any day.
        "firstDay": None if profile.first_day is None else profile.first_day.isoformat(),
        "lastDay": None if profile.last_day is None else profile.last_day.isoformat(),
        "today": ServiceDays(first_day=profile.first_day, last_day=profile.last_day).format_service_state(today),
    }
    report = find_report(store, profile.name) if profile.source == EMBEDDED else None
    imported: Sequence[FeedReport | None] = () if report is None else report.feeds
    if len(imported) != len(profile.feeds):
        imported = [None] * len(profile.feeds)
    feeds = [
        _describe_feed(feed, today) | ({} if summary is None else _summarise_feed(summary))
        for feed, summary in zip(profile.feeds, imported, strict=True)
        # Of a feed without days nothing is known, unless it was imported.
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


def _summarise_feed(feed: FeedReport) -> dict[str, Any]:
    """Return a feed's report without the machine's path, its findings counted by reason."""
    counted = {key: getattr(feed, key) for key in ("feed", "stops", "routes", "trips", "runs", "events")}
    findings = {finding.reason: finding.count for finding in feed.findings}
    return {**counted, "findings": findings, "tablesNotRead": list(feed.tables_not_read)}


def describe_realtime(health: RealtimeHealth) -> dict[str, Any]:
    """Return a JSON-ready object: the sources without this machine's paths, and what was matched and what was not."""
    return {
        "sources": [_describe_source(source) for source in health.sources],
        "matched": dict(health.matched),
        "unmatched": dict(health.unmatched),
        "calls": dict(health.calls),
        "messages": dict(health.messages),
    }


def _describe_source(source: SourceHealth) -> dict[str, Any]:
    is_url = "://" in source.location
    line = {
        "source": source.location if is_url else source.location.rpartition("/")[2],
        "feed": source.feed_name,
        "ageSeconds": source.age_s,
        "matched": source.matched,
        "unmatched": source.unmatched,
        "problem": source.problem,
    }
    return {name: value for name, value in line.items() if value is not None}


def list_realtime_lines(described: dict[str, Any]) -> list[tuple[str, bool]]:
    """Return (line, is_good) for each line to print about ``describe_realtime``."""
    lines = []
    for source in described["sources"]:
        age_s = source.get("ageSeconds")
        line = f"{source['source']}: " + ("no message yet" if age_s is None else f"{format_age(age_s)} old")
        if "problem" in source:
            line += f"; {source['problem']}"
        matched, unmatched = source.get("matched", 0), source.get("unmatched", 0)
        if "matched" in source:
            line += f"; {matched:,} of {matched + unmatched:,} are known to the timetable"
        lines.append((line, "problem" not in source and matched >= unmatched))
    for what in ("matched", "unmatched"):
        counts = ", ".join(f"{count:,} {reason}" for reason, count in described[what].items())
        lines.append((f"{what}: {counts or 'nothing'}", True))
    return lines
