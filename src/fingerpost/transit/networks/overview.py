"""Describe all networks as JSON: areas, service days, feeds and realtime health, for ``doctor`` and an MCP resource."""

from datetime import date
from typing import Any

from fingerpost import clock
from fingerpost.transit.model.provenance import RealtimeHealth, ServiceDays, SourceHealth
from fingerpost.transit.port import Network, Networks

_DEGREE_DIGITS = 4


async def describe_networks(networks: Networks) -> list[dict[str, Any]]:
    opened = await networks.open()
    entries = []
    for network in (*opened.answering, *opened.by_token_only, *opened.fallbacks):
        entry = _describe(network, is_answering=network in opened.answering)
        if (health := await network.find_realtime_health()) is not None:
            entry["realtime"] = describe_realtime(health)
        entries.append(entry)
    return entries


def _describe(network: Network, *, is_answering: bool) -> dict[str, Any]:
    profile = network.profile
    bounds = profile.bounds
    today = clock.today_in(profile.zone)
    entry: dict[str, Any] = {
        "name": profile.name,
        "source": profile.source,
        "demo": profile.is_demo,
        "answers": is_answering,
        "abilities": sorted(ability.value for ability in profile.abilities),
        "zone": profile.zone,
        "bounds": {side: round(getattr(bounds, side), _DEGREE_DIGITS) for side in ("south", "west", "north", "east")},
        "modes": sorted(profile.modes),
        "attribution": list(profile.attribution),
        "notes": list(profile.notes),
        **_describe_days(ServiceDays(first_day=profile.first_day, last_day=profile.last_day), today),
    }
    feeds = [
        {"feed": feed.name, **_describe_days(feed.service, today), "state": feed.service.state_on(today).value}
        for feed in profile.feeds
        if feed.service != ServiceDays()
    ]
    return entry | {"feeds": feeds} if feeds else entry


def _describe_days(service: ServiceDays, today: date) -> dict[str, Any]:
    """Describe the first and last day (both null if the timetable is valid every day) and today's state."""
    first, last = service.first_day, service.last_day
    return {
        "firstDay": first and first.isoformat(),
        "lastDay": last and last.isoformat(),
        "today": service.format_service_state(today),
    }


def describe_realtime(health: RealtimeHealth) -> dict[str, Any]:
    counts = {name: dict(getattr(health, name)) for name in ("matched", "unmatched")}
    return {"sources": [_describe_source(source) for source in health.sources], **counts}


def _describe_source(source: SourceHealth) -> dict[str, Any]:
    """Describe a source, leaving out local folders and unknown values."""
    fields = {
        "source": source.location if "://" in source.location else source.location.rpartition("/")[2],
        "feed": source.feed_name,
        "ageSeconds": source.age_s,
        "matched": source.matched,
        "unmatched": source.unmatched,
        "problem": source.problem,
    }
    return {name: value for name, value in fields.items() if value is not None}
