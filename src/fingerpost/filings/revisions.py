"""Why two filings state two numbers for one thing: rounded, split, or restated."""

from collections.abc import Iterable
from decimal import Decimal

from fingerpost.filings.splits import cents_share, is_per_share, is_share_count, shares_ratio

ROUNDED, SPLIT, RESTATED = "rounded", "split", "restated"

# A rounding that moves a figure by more says something else.
_ROUNDED_SHARE = 0.01
_SPLIT_SHARE = 0.01
_LOOSEST_SHARE = 0.1
_LARGEST_RATIO = 100


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
    """Return the value of the last digit that is not a zero."""
    exponent = Decimal(str(value)).normalize().as_tuple().exponent
    return Decimal(1).scaleb(int(exponent))
