"""Why two filings state two numbers for one thing: rounded, split, or restated."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from fingerpost.filings.fact import Fact
from fingerpost.filings.periods import day_number

ROUNDED, SPLIT, RESTATED = "rounded", "split", "restated"
SPLIT_CONCEPT = "us-gaap:StockholdersEquityNoteStockSplitConversionRatio1"

# A rounding that moves a figure by more says something else.
_ROUNDED_SHARE = 0.01
_SPLIT_SHARE = 0.01
_SAME_SPLIT_DAYS = 200
_LOOSEST_SHARE = 0.1
_LARGEST_RATIO = 100


@dataclass(frozen=True, slots=True)
class Split:
    """A split of ``ratio`` new shares for one; figures filed on or before ``effective`` count in old shares."""

    effective: str
    ratio: float
    known_since: str


def list_splits(facts: Iterable[Fact]) -> list[Split]:
    """Return a company's splits; a ratio that is told again under a day near by is the same split.

    The effective day is the last of those days that is not after the first filing that tells it.
    """
    found: list[Split] = []
    for fact in sorted(facts, key=lambda fact: (fact.filed, fact.end, fact.accession, fact.value)):
        if fact.value <= 0 or fact.value == 1:
            continue
        same = next((split for split in found if _is_same(split, fact)), None)
        if same is None:
            found.append(Split(min(fact.end, fact.filed), fact.value, fact.filed))
        elif same.effective < fact.end <= same.known_since:
            found[found.index(same)] = Split(fact.end, same.ratio, same.known_since)
    return sorted(found, key=lambda split: split.effective)


def split_factor(splits: Iterable[Split], filed: str, as_of: str | None) -> float:
    """Return how many of today's shares one share was when something was filed."""
    factor = 1.0
    for split in splits:
        if split.effective > filed and (as_of is None or split.known_since <= as_of):
            factor *= split.ratio
    return factor


def is_per_share(unit: str) -> bool:
    """Whether a figure is so much a share."""
    return unit.endswith("/shares")


def is_share_count(unit: str) -> bool:
    """Whether a figure counts shares."""
    return unit == "shares"


def is_rounding(precise: float, coarse: float) -> bool:
    """Whether ``coarse`` is ``precise`` with fewer digits."""
    if precise == coarse or precise == 0 or abs(precise - coarse) > _ROUNDED_SHARE * abs(precise):
        return False
    step = _step(coarse)
    # Less than one step: some filers cut digits off instead of rounding.
    return step > _step(precise) and abs(Decimal(str(precise)) - Decimal(str(coarse))) < step


def kind_of_change(before: float, after: float, unit: str, ratios: Iterable[float]) -> str:
    """Return the name of the difference between two values that two filings state."""
    if is_rounding(before, after) or is_rounding(after, before):
        return ROUNDED
    if (is_per_share(unit) or is_share_count(unit)) and before and after and _is_split(before, after, unit, ratios):
        return SPLIT
    return RESTATED


def _is_split(before: float, after: float, unit: str, ratios: Iterable[float]) -> bool:
    seen = before / after if is_per_share(unit) else after / before
    if seen <= 0:
        return False
    # What is told to the cent cannot show a ratio more exactly than half a cent allows.
    cents = 0.005 / abs(after) + 0.005 / abs(before) if is_per_share(unit) else 0.0
    slack = min(_SPLIT_SHARE + cents, _LOOSEST_SHARE)
    known = list(ratios)
    if any(abs(seen / ratio - 1) <= slack for ratio in known):
        return True
    whole = round(seen)
    return not known and 2 <= whole <= _LARGEST_RATIO and abs(seen / whole - 1) <= min(slack, 2 * _SPLIT_SHARE)


def _is_same(split: Split, fact: Fact) -> bool:
    return split.ratio == fact.value and abs(day_number(split.effective) - day_number(fact.end)) <= _SAME_SPLIT_DAYS


def _step(value: float) -> Decimal:
    """Return the value of the last digit that is not a zero."""
    exponent = Decimal(str(value)).normalize().as_tuple().exponent
    return Decimal(1).scaleb(int(exponent))
