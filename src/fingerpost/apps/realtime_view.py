"""Describe the health of a network's realtime sources."""

from typing import Any

from fingerpost.transit.model.provenance import RealtimeHealth, SourceHealth
from fingerpost.transit.rules.realtime_status import say_age


def describe_realtime(health: RealtimeHealth) -> dict[str, Any]:
    """Return a JSON-ready object: the sources without this machine's paths, and what was matched and what was not."""
    return {
        "sources": [_describe(source) for source in health.sources],
        "matched": dict(health.matched),
        "unmatched": dict(health.unmatched),
        "calls": dict(health.calls),
        "messages": dict(health.messages),
    }


def _describe(source: SourceHealth) -> dict[str, Any]:
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
        line = f"{source['source']}: " + ("no message yet" if age_s is None else f"{say_age(age_s)} old")
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
