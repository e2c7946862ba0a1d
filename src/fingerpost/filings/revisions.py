"""Share splits, the kinds of change between filings, and the common basis of combined figures.

Figures have a common basis if one filing states all of them, or no later filing changed any.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple, TypeVar

from fingerpost.filings.concepts import Metric
from fingerpost.filings.figure import ORIGINAL, SPLIT_ADJUSTED, Fact, Figure, FigureOptions
from fingerpost.filings.formula import NotComputable
from fingerpost.filings.periods import YEAR, day_number

SPLIT_CONCEPT = "us-gaap:StockholdersEquityNoteStockSplitConversionRatio1"
WITNESS_CONCEPTS = (
    "us-gaap:EarningsPerShareDiluted",
    "us-gaap:EarningsPerShareBasic",
    "us-gaap:EarningsPerShareBasicAndDiluted",
    "us-gaap:WeightedAverageNumberOfDilutedSharesOutstanding",
    "us-gaap:WeightedAverageNumberOfSharesOutstandingBasic",
    "us-gaap:CommonStockSharesOutstanding",
    "us-gaap:CommonStockDividendsPerShareDeclared",
)

_SAME_RATIO = 0.005
# The day of a split is stated as an instant or a month; a year is too long.
_PRECISE_DAYS = 31
_SAME_SPLIT_DAYS = 100
_SEEN_SHARE = 0.01
_LOOSEST_SHARE = 0.1
# Two figures that changed by a split's ratio at once confirm the split; one may have been restated.
_WITNESSES = 2


@dataclass(frozen=True, slots=True)
class Split:
    """A split of ``ratio`` new shares for one; figures filed before ``effective`` count in old shares."""

    effective: str
    ratio: float
    known_since: str


class _Change(NamedTuple):
    """A figure filed on ``before`` and again on ``after``, with ``ratio`` new shares for one."""

    after: str
    before: str
    ratio: float
    slack: float


def list_splits(facts: Iterable[Fact], witnesses: Iterable[Fact] = ()) -> list[Split]:
    """Return a company's splits, oldest first.

    ``facts`` state ratios (``SPLIT_CONCEPT``); ``witnesses`` are figures per share and share counts.
    An inverted ratio (10 for a reverse split of 0.1) is corrected by the witnesses.
    """
    families: list[list[Fact]] = []
    for fact in sorted(facts, key=lambda fact: (fact.filed, fact.end, fact.accession, fact.value)):
        if fact.value <= 0 or fact.value == 1:
            continue
        family = next((family for family in families if _is_one_ratio(family[0].value, fact.value)), None)
        if family is None:
            families.append([fact])
        else:
            family.append(fact)
    changes = list(_list_changes(witnesses)) if families else []
    found = [split for family in families for split in _list_family(family, changes)]
    return sorted(found, key=lambda split: (split.effective, split.ratio))


def split_factor(splits: Iterable[Split], filed: str, as_of: str | None) -> float:
    """Return the number of today's shares for one share on the day of a filing."""
    factor = 1.0
    for split in splits:
        if split.effective > filed and (as_of is None or split.known_since <= as_of):
            factor *= split.ratio
    return factor


def is_per_share(unit: str) -> bool:
    return unit.endswith("/shares")


def is_in_shares(unit: str) -> bool:
    return unit == "shares" or is_per_share(unit)


def cents_share(before: float, after: float, unit: str) -> float:
    """Return the relative error of a ratio of amounts per share, which are rounded to the cent."""
    return 0.005 / abs(after) + 0.005 / abs(before) if is_per_share(unit) else 0.0


def shares_ratio(before: float, after: float, unit: str) -> float:
    """Return the number of new shares for one, if only a split changed a figure."""
    return before / after if is_per_share(unit) else after / before


def _list_family(stated: Sequence[Fact], changes: Sequence[_Change]) -> list[Split]:
    ratio = stated[0].value
    seen = _list_spans(changes, ratio)
    if not seen and (turned := _list_spans(changes, 1 / ratio)):
        ratio, seen = 1 / ratio, turned
    if not seen:
        return [Split(_effective_day(stated), ratio, stated[0].filed)]
    splits = []
    for first, last in seen:
        after = [fact for fact in stated if fact.filed > first or fact.end > first]
        inside = [fact.end for fact in after if first < fact.end <= last and _is_precise(fact)]
        known = min((fact.filed for fact in after), default=last)
        splits.append(Split(max(inside, default=last), ratio, known))
    return splits


def _effective_day(stated: Sequence[Fact]) -> str:
    """Return the day of a split without witnesses: the last stated day near the first filing's."""
    precise = [fact for fact in stated if _is_precise(fact)] or list(stated)
    first = precise[0]
    near = [
        fact.end
        for fact in precise
        if abs(day_number(fact.end) - day_number(first.end)) <= _SAME_SPLIT_DAYS
        and fact.end <= max(first.filed, first.end)
    ]
    return max(near)


def _is_precise(fact: Fact) -> bool:
    return not fact.start or day_number(fact.end) - day_number(fact.start) <= _PRECISE_DAYS


def _is_one_ratio(ratio: float, other: float) -> bool:
    return abs(ratio / other - 1) <= _SAME_RATIO or abs(ratio * other - 1) <= _SAME_RATIO


def _list_changes(witnesses: Iterable[Fact]) -> Iterator[_Change]:
    statements: dict[tuple[str, str, str, str], list[Fact]] = defaultdict(list)
    for fact in witnesses:
        if fact.value:
            statements[fact.concept, fact.unit, fact.start, fact.end].append(fact)
    for facts in statements.values():
        facts.sort(key=lambda fact: (fact.filed, fact.accession, fact.value))
        for before, after in pairwise(facts):
            if before.filed < after.filed and before.value != after.value:
                slack = min(_SEEN_SHARE + cents_share(before.value, after.value, after.unit), _LOOSEST_SHARE)
                ratio = shares_ratio(before.value, after.value, after.unit)
                yield _Change(after.filed, before.filed, ratio, slack)


def _list_spans(changes: Iterable[_Change], ratio: float) -> list[tuple[str, str]]:
    """Return the days around the fewest splits that explain all changes by a ratio: (latest before, first after).

    A single change does not show a split.
    """
    groups: list[list[_Change]] = []
    for change in sorted(change for change in changes if abs(change.ratio / ratio - 1) <= change.slack):
        if groups and change.before < groups[-1][0].after:
            groups[-1].append(change)
        else:
            groups.append([change])
    confirmed = [group for group in groups if len(group) >= _WITNESSES]
    return [(max(change.before for change in group), group[0].after) for group in confirmed]


ROUNDED, SPLIT, RESTATED = "rounded", "split", "restated"

# A larger change is no rounding.
_ROUNDED_SHARE = 0.01
_SPLIT_SHARE = 0.01
_LARGEST_RATIO = 100


def is_rounding(precise: float, coarse: float) -> bool:
    if precise == coarse or precise == 0 or abs(precise - coarse) > _ROUNDED_SHARE * abs(precise):
        return False
    step = _step(coarse)
    # A full step, because some filers truncate instead of rounding.
    return step > _step(precise) and abs(Decimal(str(precise)) - Decimal(str(coarse))) < step


def kind_of_change(before: float, after: float, unit: str, ratios: Iterable[float]) -> str:
    if is_rounding(before, after) or is_rounding(after, before):
        return ROUNDED
    if is_in_shares(unit) and before and after and _is_split(before, after, unit, ratios):
        return SPLIT
    return RESTATED


def _is_split(before: float, after: float, unit: str, ratios: Iterable[float]) -> bool:
    seen = shares_ratio(before, after, unit)
    if seen <= 0:
        return False
    slack = min(_SPLIT_SHARE + cents_share(before, after, unit), _LOOSEST_SHARE)
    known = list(ratios)
    if any(abs(seen / ratio - 1) <= slack for ratio in known):
        return True
    whole = round(seen)
    return not known and 2 <= whole <= _LARGEST_RATIO and abs(seen / whole - 1) <= min(slack, 2 * _SPLIT_SHARE)


def _step(value: float) -> Decimal:
    exponent = Decimal(str(value)).normalize().as_tuple().exponent
    return Decimal(1).scaleb(int(exponent))


FRAMEWORKS = frozenset({"us-gaap", "ifrs-full"})
_K = TypeVar("_K")


def share_framework(figures: Sequence[Figure]) -> bool:
    """Whether all figures share an accounting framework; cover pages have none."""
    frameworks = [found for figure in figures if (found := figure.taxonomies & FRAMEWORKS)]
    return not frameworks or bool(set.intersection(*frameworks))


def explain_break(before: Figure, figure: Figure, options: FigureOptions) -> str | None:
    if not share_framework([before, figure]):
        old, new = (" and ".join(sorted(part.taxonomies & FRAMEWORKS)) for part in (before, figure))
        return f"under {new}; the earlier value is under {old}"
    years = [part.as_filed or part for part in (before, figure) if part.period == YEAR and part.headlines]
    if options.vintage == ORIGINAL or len(years) < 2 or not any(year.restated for year in years):
        return None
    of_first, of_second = (
        {fact.accession for fact in year.headlines if fact.value == year.value or is_rounding(year.value, fact.value)}
        for year in years
    )
    return None if of_first & of_second else "restated: no filing states this value and the one before it"


def find_joint(figures: Sequence[Figure], metric_names: Sequence[str]) -> list[Figure] | None:
    stated = [{fact.accession: fact for fact in figure.headlines} for figure in figures]
    common = set[str].intersection(*(set(by_accession) for by_accession in stated))
    for accession in sorted(common, key=lambda accession: (stated[0][accession].filed, accession), reverse=True):
        facts = [by_accession[accession] for by_accession in stated]
        tags = {(name, fact.concept) for name, fact in zip(metric_names, facts, strict=True)}
        has_one_tag = len(tags) == len(set(metric_names))
        if has_one_tag and len({fact.taxonomy for fact in facts} & FRAMEWORKS) <= 1:
            return [figure.restated_by(fact) for figure, fact in zip(figures, facts, strict=True)]
    return None


def on_one_basis(inputs: Mapping[_K, tuple[Metric, Figure]], options: FigureOptions) -> dict[_K, tuple[Metric, Figure]]:
    """Return the inputs of a calculation on a common basis.

    If they have two frameworks, or one of several periods of a metric was restated, the newest filing that states
    all inputs decides their values.

    Raises:
        NotComputable: no filing states all of them.
    """
    figures = [figure for _, figure in inputs.values()]
    names = [metric.name for metric, _ in inputs.values()]
    # A figure with one headline has already been restated to one filing.
    is_changed = [figure.restated and len(figure.headlines) > 1 for figure in figures]
    changed = {name for name, is_new in zip(names, is_changed, strict=True) if is_new and names.count(name) > 1}
    is_comparable = share_framework(figures)
    # No filing states split-adjusted values.
    is_adjusted = options.vintage == SPLIT_ADJUSTED and any(is_in_shares(figure.unit) for figure in figures)
    has_joint = options.vintage != ORIGINAL and not is_adjusted
    if is_comparable and not (changed and has_joint):
        return dict(inputs)
    joint = find_joint(figures, names) if has_joint else None
    if joint is not None:
        pairs = zip(inputs.items(), joint, strict=True)
        return {key: (metric, figure) for (key, (metric, _)), figure in pairs}
    why = f"a later filing restated {' and '.join(sorted(changed))}" if is_comparable else "of two frameworks"
    listed = ", ".join(
        f"{name} {figure.value} to {figure.end} ({fact.form} {fact.accession} of {fact.filed}, {fact.taxonomy})"
        for name, figure in zip(names, figures, strict=True)
        for fact in [figure.fact]
    )
    raise NotComputable(f"no filing states all inputs, and they are not on one basis ({why}): {listed}")
