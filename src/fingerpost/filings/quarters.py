"""Quarters that no filing states: the year to date less the year to date before.

Amounts only. A per-share figure does not add up over quarters, because its share count changes.
"""

from collections.abc import Iterable

from fingerpost.filings.figure import DERIVED, ESTIMATED, Figure
from fingerpost.filings.periods import HALF, NINE_MONTHS, QUARTER, YEAR, class_of, day_after
from fingerpost.filings.splits import is_per_share, is_share_count

_STEPS = ((YEAR, NINE_MONTHS, "FY - 9M"), (NINE_MONTHS, HALF, "9M - H1"), (HALF, QUARTER, "H1 - Q1"))
_CENTS = 4


def derive_quarters(figures: Iterable[Figure], *, estimate: bool = False) -> list[Figure]:
    """Return the quarters that follow from pairs of figures with one start, one unit and one family of tags.

    A quarter that is stated under a better tag, or an equal one, is not derived.
    ``estimate`` also gives what does not truly add up, named an estimate.
    """
    known = list(figures)
    stated_tiers = {figure.end: figure.tier for figure in known if figure.period == QUARTER}
    by_class_and_start: dict[tuple[str, str], list[Figure]] = {}
    for figure in known:
        by_class_and_start.setdefault((figure.period, figure.start), []).append(figure)
    derived: dict[str, Figure] = {}
    for longer_class, shorter_class, formula in _STEPS:
        for longer in known:
            if longer.period != longer_class or stated_tiers.get(longer.end, longer.tier + 1) <= longer.tier:
                continue
            for shorter in by_class_and_start.get((shorter_class, longer.start), ()):
                quarter = _subtract(longer, shorter, formula, estimate=estimate)
                if quarter is not None:
                    derived.setdefault(quarter.end, quarter)
    return list(derived.values())


def _subtract(longer: Figure, shorter: Figure, formula: str, *, estimate: bool) -> Figure | None:
    additive = not (is_per_share(longer.unit) or is_share_count(longer.unit) or longer.unit == "pure")
    start = day_after(shorter.end)
    if class_of(start, longer.end) != QUARTER or longer.tier != shorter.tier or longer.unit != shorter.unit:
        return None
    if not additive and not (estimate and is_per_share(longer.unit)):
        return None
    notes = []
    if not longer.concepts & shorter.concepts:
        notes.append(f"the two parts bear different tags: {longer.fact.concept} and {shorter.fact.concept}")
    if longer.restated != shorter.restated:
        restated, other = (longer, shorter) if longer.restated else (shorter, longer)
        notes.append(f"mixed vintages: {restated.period} was restated and {other.period} was not")
    if not additive:
        notes.append("an estimate: per-share figures do not add up, because the share count changes")
    value = longer.value - shorter.value
    newest = max(longer.fact, shorter.fact, key=lambda fact: (fact.filed, fact.accession))
    return Figure(
        start=start,
        end=longer.end,
        unit=longer.unit,
        value=round(value, _CENTS) if isinstance(value, float) else value,
        fact=newest,
        tier=longer.tier,
        concepts=longer.concepts & shorter.concepts,
        kind=DERIVED if additive else ESTIMATED,
        parts=(longer, shorter),
        formula=formula,
        notes=tuple(notes),
    )
