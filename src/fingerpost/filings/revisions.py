"""Find share splits, classify changes between filings, and put combined figures on a common basis.

Figures are on a common basis if one filing states all of them, or no later filing changed any of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from math import prod
from typing import NamedTuple, TypeVar

from fingerpost.filings.figure import ORIGINAL, SPLIT_ADJUSTED, Fact, Figure, FigureOptions
from fingerpost.filings.formula import NotComputable
from fingerpost.filings.periods import QUARTER, day_number
from fingerpost.runtime.grouping import group_by_key

SPLIT_CONCEPT = "us-gaap:StockholdersEquityNoteStockSplitConversionRatio1"
SPLIT_EVIDENCE_CONCEPTS = (
    "us-gaap:EarningsPerShareDiluted",
    "us-gaap:EarningsPerShareBasic",
    "us-gaap:EarningsPerShareBasicAndDiluted",
    "us-gaap:WeightedAverageNumberOfDilutedSharesOutstanding",
    "us-gaap:WeightedAverageNumberOfSharesOutstandingBasic",
    "us-gaap:CommonStockSharesOutstanding",
    "us-gaap:CommonStockDividendsPerShareDeclared",
)

_SAME_RATIO = 0.005
# Filings date a split with an instant or a month; longer periods are imprecise.
_PRECISE_DAYS = 31
_SAME_SPLIT_DAYS = 100
_RATIO_SLACK = 0.01
_MAX_SLACK = 0.1
# Two figures that change by the ratio at the same time confirm a split; a single change may be a restatement.
_MIN_EVIDENCE = 2


class Split(NamedTuple):
    """A split into ``ratio`` new shares per old share. Figures filed before ``effective`` count old shares."""

    effective: str
    ratio: float
    known_since: str


class _Change(NamedTuple):
    """A figure's change between two filings, which implies a split into ``ratio`` new shares per old share."""

    new_date: str
    old_date: str
    ratio: float
    slack: float


def list_splits(facts: Iterable[Fact], evidence: Iterable[Fact] = ()) -> list[Split]:
    """Return a company's splits, oldest first.

    ``facts`` contain the split ratios (``SPLIT_CONCEPT``). The per-share figures and share counts in ``evidence``
    reveal inverted ratios, such as 10 for a reverse split of 0.1.
    """
    groups: list[list[Fact]] = []
    for fact in sorted(facts, key=lambda fact: (fact.filed, fact.end, fact.accession, fact.value)):
        if fact.value <= 0 or fact.value == 1:
            continue
        group = next((group for group in groups if _is_same_ratio(group[0].value, fact.value)), None)
        if group is None:
            groups.append([fact])
        else:
            group.append(fact)
    changes = list(_list_changes(evidence)) if groups else []
    splits = [split for group in groups for split in _derive_splits(group, changes)]
    return sorted(splits, key=lambda split: (split.effective, split.ratio))


def find_split_factor(splits: Iterable[Split], filed: str, as_of: str | None) -> float:
    """Return how many of today's shares correspond to one share on the filing date."""
    known = (split for split in splits if as_of is None or split.known_since <= as_of)
    return prod((split.ratio for split in known if split.effective > filed), start=1.0)


def is_per_share(unit: str) -> bool:
    return unit.endswith("/shares")


def is_in_shares(unit: str) -> bool:
    return unit == "shares" or is_per_share(unit)


def _measure_split(old: float, new: float, unit: str) -> tuple[float, float]:
    """Return the split ratio that a change implies (new shares per old share), and the relative error of the ratio.

    The error is larger for per-share amounts, because they are rounded to cents.
    """
    if not is_per_share(unit):
        return new / old, _RATIO_SLACK
    return old / new, min(_RATIO_SLACK + 0.005 / abs(new) + 0.005 / abs(old), _MAX_SLACK)


def _derive_splits(ratio_facts: Sequence[Fact], changes: Sequence[_Change]) -> list[Split]:
    ratio = ratio_facts[0].value
    spans = _find_split_spans(changes, ratio)
    if not spans and (inverted_spans := _find_split_spans(changes, 1 / ratio)):
        ratio, spans = 1 / ratio, inverted_spans
    if not spans:
        return [Split(_estimate_effective_day(ratio_facts), ratio, ratio_facts[0].filed)]
    splits = []
    for first, last in spans:
        span_facts = [fact for fact in ratio_facts if fact.filed > first or fact.end > first]
        days_in_span = [fact.end for fact in span_facts if first < fact.end <= last and _is_precise(fact)]
        known_since = min((fact.filed for fact in span_facts), default=last)
        splits.append(Split(max(days_in_span, default=last), ratio, known_since))
    return splits


def _estimate_effective_day(ratio_facts: Sequence[Fact]) -> str:
    """Estimate the date of an unconfirmed split: the latest stated date near the first precise date."""
    precise = [fact for fact in ratio_facts if _is_precise(fact)] or list(ratio_facts)
    first = precise[0]
    candidates = [
        fact.end
        for fact in precise
        if abs(day_number(fact.end) - day_number(first.end)) <= _SAME_SPLIT_DAYS
        and fact.end <= max(first.filed, first.end)
    ]
    return max(candidates)


def _is_precise(fact: Fact) -> bool:
    return not fact.start or day_number(fact.end) - day_number(fact.start) <= _PRECISE_DAYS


def _is_same_ratio(ratio: float, other: float) -> bool:
    return abs(ratio / other - 1) <= _SAME_RATIO or abs(ratio * other - 1) <= _SAME_RATIO


def _list_changes(evidence: Iterable[Fact]) -> Iterator[_Change]:
    stated = (((fact.concept, fact.unit, fact.start, fact.end), fact) for fact in evidence if fact.value)
    for facts in group_by_key(stated).values():
        facts.sort(key=lambda fact: (fact.filed, fact.accession, fact.value))
        for before, after in pairwise(facts):
            if before.filed < after.filed and before.value != after.value:
                ratio, slack = _measure_split(before.value, after.value, after.unit)
                yield _Change(after.filed, before.filed, ratio, slack)


def _find_split_spans(changes: Iterable[_Change], ratio: float) -> list[tuple[str, str]]:
    """Return (last filing date before, first filing date after) for each split with the given ratio.

    Changes that overlap in time are evidence of the same split. A single change does not prove a split.
    """
    groups: list[list[_Change]] = []
    for change in sorted(change for change in changes if abs(change.ratio / ratio - 1) <= change.slack):
        if groups and change.old_date < groups[-1][0].new_date:
            groups[-1].append(change)
        else:
            groups.append([change])
    confirmed = [group for group in groups if len(group) >= _MIN_EVIDENCE]
    return [(max(change.old_date for change in group), group[0].new_date) for group in confirmed]


ROUNDED, SPLIT, RESTATED = "rounded", "split", "restated"

# Larger changes are not due to rounding.
_MAX_ROUNDING = 0.01
_LARGEST_RATIO = 100


def is_rounding(precise: float, coarse: float) -> bool:
    if precise == coarse or precise == 0 or abs(precise - coarse) > _MAX_ROUNDING * abs(precise):
        return False
    precision = _find_precision(coarse)
    # Allow one full unit, because some filers truncate instead of rounding.
    return precision > _find_precision(precise) and abs(Decimal(str(precise)) - Decimal(str(coarse))) < precision


def classify_change(old: float, new: float, unit: str, ratios: Iterable[float]) -> str:
    if is_rounding(old, new) or is_rounding(new, old):
        return ROUNDED
    if is_in_shares(unit) and old and new and _is_split(old, new, unit, ratios):
        return SPLIT
    return RESTATED


def _is_split(old: float, new: float, unit: str, ratios: Iterable[float]) -> bool:
    observed, slack = _measure_split(old, new, unit)
    known_ratios = list(ratios)
    if observed <= 0 or known_ratios:
        return any(abs(observed / ratio - 1) <= slack for ratio in known_ratios)
    nearest = round(observed)
    return 2 <= nearest <= _LARGEST_RATIO and abs(observed / nearest - 1) <= min(slack, 2 * _RATIO_SLACK)


def _find_precision(value: float) -> Decimal:
    exponent = Decimal(str(value)).normalize().as_tuple().exponent
    return Decimal(1).scaleb(int(exponent))


FRAMEWORKS = frozenset({"us-gaap", "ifrs-full"})
RENAMED = "the company changed its name in between, and its later filings do not repeat its earlier figures"
_K = TypeVar("_K")


def have_common_framework(figures: Sequence[Figure]) -> bool:
    """Whether all figures share an accounting framework; cover pages are ignored."""
    frameworks = [names for figure in figures if (names := figure.taxonomies & FRAMEWORKS)]
    return not frameworks or bool(set.intersection(*frameworks))


def is_renamed_between(figures: Sequence[Figure], name_changes: Iterable[str]) -> bool:
    """Whether the company changed its name between the figures' filings; ``name_changes`` lists the dates."""
    days = [figure.fact.filed for figure in figures]
    return any(min(days) <= day < max(days) for day in name_changes)


def explain_break(previous: Figure, figure: Figure, options: FigureOptions, name_changes: Sequence[str]) -> str | None:
    if not have_common_framework([previous, figure]):
        old, new = (" and ".join(sorted(part.taxonomies & FRAMEWORKS)) for part in (previous, figure))
        return f"under {new}; the earlier value is under {old}"
    parts = [part.as_filed or part for part in (previous, figure)]
    stated = [
        {fact.accession for fact in part.headlines if fact.value == part.value or is_rounding(part.value, fact.value)}
        for part in parts
    ]
    if not all(stated) or not stated[0].isdisjoint(stated[1]):
        return None
    if is_renamed_between(parts, name_changes):
        return f"{RENAMED}; no filing states both this value and the previous one"
    restated_count = sum(part.restated for part in parts)
    if options.vintage == ORIGINAL or previous.period != figure.period or not restated_count:
        return None
    # Each quarter is restated by a different filing, a year later.
    if figure.period == QUARTER and (restated_count == 2 or not _list_restated(parts)):
        return None
    return "restated: no filing states both this value and the previous one"


def restate_jointly(figures: Sequence[Figure]) -> list[Figure] | None:
    stated = [{fact.accession: fact for fact in figure.headlines} for figure in figures]
    common = set[str].intersection(*(set(by_accession) for by_accession in stated))
    for accession in sorted(common, key=lambda accession: (stated[0][accession].filed, accession), reverse=True):
        facts = [by_accession[accession] for by_accession in stated]
        tags = {(figure.metric, fact.concept) for figure, fact in zip(figures, facts, strict=True)}
        has_one_tag = len(tags) == len({figure.metric for figure in figures})
        if has_one_tag and len({fact.taxonomy for fact in facts} & FRAMEWORKS) <= 1:
            return [figure.with_fact(fact) for figure, fact in zip(figures, facts, strict=True)]
    return None


def _list_restated(figures: Sequence[Figure]) -> set[str]:
    """Return the metrics of the figures that were restated after the earliest figure was filed.

    Earlier restatements do not matter, because later figures are on the new basis. A figure with a single headline
    does not matter either, because its value already comes from the filing that restated it.
    """
    first = min(figure.fact.filed for figure in figures)
    return {
        figure.metric
        for figure in figures
        if len(figures) > 1 and len(figure.headlines) > 1 and figure.is_restated_after(first)
    }


def align_basis(inputs: Mapping[_K, Figure], options: FigureOptions, name_changes: Sequence[str]) -> dict[_K, Figure]:
    """Put the inputs to a calculation on a common basis, and return them.

    If the frameworks or the company names differ, or an input was restated after another was reported, the values come
    from the newest filing that states all inputs.

    Raises:
        NotComputable: no filing states all inputs.
    """
    figures = list(inputs.values())
    changed = _list_restated(figures)
    is_comparable = have_common_framework(figures)
    # Split-adjusted values are computed, so no filing states them.
    is_adjusted = options.vintage == SPLIT_ADJUSTED and any(is_in_shares(figure.unit) for figure in figures)
    has_joint = options.vintage != ORIGINAL and not is_adjusted
    is_renamed = is_renamed_between(figures, name_changes)
    if is_comparable and not ((changed or is_renamed) and has_joint):
        return dict(inputs)
    joint = restate_jointly(figures) if has_joint else None
    if joint is not None:
        return dict(zip(inputs, joint, strict=True))
    restatement = f"a later filing restated {' and '.join(sorted(changed))}" if changed else RENAMED
    reason = restatement if is_comparable else "two frameworks"
    inputs_text = ", ".join(
        f"{figure.metric} {figure.value} to {figure.end} ({fact.form} {fact.accession} of {fact.filed},"
        f" {fact.taxonomy})"
        for figure in figures
        for fact in [figure.fact]
    )
    raise NotComputable(f"no filing states all inputs, and they are not on the same basis ({reason}): {inputs_text}")
