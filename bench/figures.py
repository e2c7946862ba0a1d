"""Times as they are reported: milliseconds, p50 and p95, never a mean."""

from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def p50(values: Sequence[float]) -> float:
    return percentile(values, 0.50)


def p95(values: Sequence[float]) -> float:
    return percentile(values, 0.95)


def verdict(value: float, bound: float) -> str:
    """Return ``ok``, or ``short`` where a bound is missed."""
    return "ok" if value <= bound else "short"
