"""Classify a period by its length, and find its fiscal year and quarter.

Both follow from its start and end. A source's ``fy`` and ``fp`` describe the filing instead (docs/filings.md).
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from functools import lru_cache

YEAR, QUARTER, HALF, NINE_MONTHS, INSTANT, OTHER = "FY", "Q", "H1", "9M", "instant", "other"
YEAR_TO_DATE = (HALF, NINE_MONTHS)
# Four consecutive quarters that are not a fiscal year.
TRAILING = "TTM"
QUARTERS = 4

_CLASSES = ((75, 105, QUARTER), (165, 200, HALF), (255, 290, NINE_MONTHS), (350, 380, YEAR))
_YEAR_DAYS = 365.25
# A 52/53-week year moves its end by up to six days, and tags may be off by one.
_SLACK_DAYS = 7
# A year that ends in the first days of January is named after the year before.
_NEW_YEAR_DAYS = 10
_MAX_YEAR_DAYS = 380
# A quarter has 90 to 92 days, or 13 weeks.
_QUARTER_SLACK_DAYS = 3
# If the time between two year ends is further off whole years, the company changed its year end.
_SAME_YEAR_END_DAYS = 10


@lru_cache(maxsize=4096)
def day_number(day: str) -> int:
    return date.fromisoformat(day).toordinal()


@lru_cache(maxsize=4096)
def class_of(start: str, end: str) -> str:
    if not start:
        return INSTANT
    days = day_number(end) - day_number(start)
    return next((name for low, high, name in _CLASSES if low <= days <= high), OTHER)


class FiscalCalendar:
    """The ends and names of a company's fiscal years.

    Ends before the first and after the last known end are extrapolated by whole years.
    After a change of year end, the transition period counts back from the later end.
    """

    def __init__(self, years: Iterable[tuple[str, int]]) -> None:
        self._anchors = sorted((day_number(end), year) for end, year in years)
        self._days = [day for day, _ in self._anchors]

    def place(self, end: str) -> tuple[int, int]:
        """Return the fiscal year that a day lies in, and the quarter (1 to 4) whose end is nearest to it."""
        day = day_number(end)
        if not self._anchors:
            named = date.fromordinal(day - _NEW_YEAR_DAYS)
            return named.year, (named.month + 2) // 3
        year_end, year = self._year_around(day)
        left = round((year_end - day) / (_YEAR_DAYS / 4))
        return year, max(1, min(4, 4 - left))

    def is_year_end(self, end: str) -> bool:
        day = day_number(end)
        # Without annual reports no year end is known.
        return bool(self._anchors) and abs(self._year_around(day)[0] - day) <= _SLACK_DAYS

    def lies_in_known_year(self, day: str) -> bool:
        return bool(self._anchors) and self._year_around(day_number(day)) in self._anchors

    def place_of_report(self, filed: str, *, is_annual: bool) -> tuple[int, int]:
        day = day_number(filed)
        if not self._anchors:
            year, quarter = self.place(filed)
            return (year - 1, 4) if is_annual or quarter == 1 else (year, quarter - 1)
        year_end, year = self._year_around(day)
        if year_end < day:
            return year, 4
        quarter = 4 - math.ceil((year_end - day) / (_YEAR_DAYS / 4))
        return (year - 1, 4) if is_annual or quarter < 1 else (year, quarter)

    def quarter_of(self, start: str) -> tuple[int, int]:
        day = day_number(start)
        if not self._anchors:
            return date.fromordinal(day).year, (date.fromordinal(day).month + 2) // 3
        at = bisect_left(self._days, day)
        if 0 < at < len(self._days) and self._days[at] - self._days[at - 1] <= _MAX_YEAR_DAYS:
            year_end, year = self._anchors[at]
        else:
            year_end, year = self._year_around(day + _SLACK_DAYS)
        left = (year_end - day - _QUARTER_SLACK_DAYS) / (_YEAR_DAYS / 4)
        return year, max(1, min(4, 4 - math.floor(left)))

    def begins_transition(self, start: str) -> bool:
        """Whether a day begins a transition period, between the old and the new year end."""
        at = bisect_left(self._days, day_number(start))
        follows = at > 0 and day_number(start) - self._days[at - 1] <= _SLACK_DAYS
        return follows and (at == len(self._days) or self._days[at] - self._days[at - 1] > _MAX_YEAR_DAYS)

    def days_off(self, end: str) -> int:
        if not self._anchors:
            return 0
        day = day_number(end)
        year_end, _ = self._year_around(day)
        quarter_days = _YEAR_DAYS / 4
        left = (year_end - day) / quarter_days
        return round(abs(left - round(left)) * quarter_days)

    def _year_around(self, day: int) -> tuple[int, int]:
        at = bisect_left(self._days, day - _SLACK_DAYS)
        if at == len(self._anchors):
            known_end, known_year = self._anchors[-1]
            years = -int(-(day - _SLACK_DAYS - known_end) // _YEAR_DAYS)
            return known_end + round(years * _YEAR_DAYS), known_year + years
        known_end, known_year = self._anchors[at]
        years = int((known_end - day + _SLACK_DAYS) // _YEAR_DAYS)
        return known_end - round(years * _YEAR_DAYS), known_year - years


def name_years(reported: Iterable[tuple[str, str, int | None]]) -> dict[str, int]:
    """Return the fiscal year of each annual period end, from (end, filed, the filing's ``fy``).

    The earliest filing decides the year of an end. If most other ends contradict it, it is a tagging error and is
    replaced (four annual reports of NVIDIA are tagged a year too early). Only ends on about the same day of a year are
    compared, because a company that changes its year end starts a new count.
    """
    first: dict[str, int] = {}
    for end, _filed, year in sorted(reported, key=lambda row: (row[1], row[0])):
        if year is not None:
            first.setdefault(end, year)
    same_day: list[list[str]] = []
    for end in sorted(first):
        group = next((ends for ends in same_day if _is_same_year_end(ends[-1], end)), None)
        if group is None:
            same_day.append([end])
        else:
            group.append(end)
    names: dict[str, int] = {}
    for ends in same_day:
        names |= _correct_by_majority([(end, first[end]) for end in ends])
    return names


def _correct_by_majority(named: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return fiscal years that agree with the majority; without a majority, the given ones."""
    agreeing = {
        end: sum(other_year - year == _years_between(end, other) for other, other_year in named) for end, year in named
    }
    best_end, best_year = max(named, key=lambda row: (agreeing[row[0]], row[0]))
    if agreeing[best_end] * 2 <= len(named):
        return dict(named)
    return {end: best_year + _years_between(best_end, end) for end, _ in named}


def _is_same_year_end(end: str, other_end: str) -> bool:
    days = day_number(other_end) - day_number(end)
    return abs(days - round(days / _YEAR_DAYS) * _YEAR_DAYS) <= _SAME_YEAR_END_DAYS


def _years_between(end: str, other_end: str) -> int:
    return round((day_number(other_end) - day_number(end)) / _YEAR_DAYS)


def day_after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()
