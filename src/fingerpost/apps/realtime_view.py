"""How a network's real time fares, as an operator or an agent wants to read it."""

from typing import Any

from fingerpost.transit.provenance import RealtimeHealth, SourceHealth


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
    told = {
        "source": source.location if is_url else source.location.rpartition("/")[2],
        "feed": source.feed_name,
        "ageSeconds": source.age_s,
        "problem": source.problem,
    }
    return {name: value for name, value in told.items() if value is not None}


def tell_realtime(described: dict[str, Any]) -> list[tuple[str, bool]]:
    """Return lines about ``describe_realtime`` for a person, and whether each is good news."""
    lines = []
    for source in described["sources"]:
        age_s = source.get("ageSeconds")
        told = f"{source['source']}: " + ("no message yet" if age_s is None else f"{age_s:,} s old")
        if "problem" in source:
            told += f"; {source['problem']}"
        lines.append((told, "problem" not in source))
    for what in ("matched", "unmatched"):
        counts = ", ".join(f"{count:,} {reason}" for reason, count in described[what].items())
        lines.append((f"{what}: {counts or 'nothing'}", True))
    return lines
