"""Classify a period by its length, and find its fiscal year and quarter.

EDGAR's ``fy`` and ``fp`` are not used, because they describe the filing, not the period (docs/filings.md).
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import TypeVar

YEAR, QUARTER, HALF, NINE_MONTHS, INSTANT, OTHER = "FY", "Q", "H1", "9M", "instant", "other"
YEAR_TO_DATE = (HALF, NINE_MONTHS)
# How to derive the quarter that only one of two periods contains: from the longer one, subtract the shorter one.
SUBTRACTIONS = ((YEAR, NINE_MONTHS, "FY - 9M"), (NINE_MONTHS, HALF, "9M - H1"), (HALF, QUARTER, "H1 - Q1"))
# Trailing twelve months: four consecutive quarters that are not a fiscal year.
TRAILING = "TTM"
QUARTERS = 4

_LENGTH_CLASSES = ((75, 105, QUARTER), (165, 200, HALF), (255, 290, NINE_MONTHS), (350, 380, YEAR))
YEAR_DAYS = 365.25
_QUARTER_DAYS = YEAR_DAYS / 4
# The end of a 52/53-week year varies by up to six days, and tagged dates may be off by one more day.
_SLACK_DAYS = 7
# A year that ends in the first days of January is named after the previous year.
_NEW_YEAR_DAYS = 10
_MAX_YEAR_DAYS = 380
# A quarter has 90 to 92 days, or 13 weeks.
_QUARTER_SLACK_DAYS = 3
# If the time between year ends differs from whole years by more than this many days, the company changed its year end.
_SAME_YEAR_END_DAYS = 10

_T = TypeVar("_T", str, tuple[str, str])


@lru_cache(maxsize=4096)
def day_number(day: str) -> int:
    return date.fromisoformat(day).toordinal()


@lru_cache(maxsize=4096)
def classify_period(start: str, end: str) -> str:
    if not start:
        return INSTANT
    days = day_number(end) - day_number(start)
    return next((name for low, high, name in _LENGTH_CLASSES if low <= days <= high), OTHER)


def find_newest_common(counts: Counter[_T], min_fraction: float = 0.2) -> _T:
    """Return the newest period whose count is at least ``min_fraction`` of the most common period's count.

    Rarer periods are errors, or relate to single events or joint ventures.
    """
    min_count = max(counts.values()) * min_fraction
    return max(period for period, count in counts.items() if count >= min_count)


class FiscalCalendar:
    """A company's fiscal years and their last days.

    Year ends outside the reported years are extrapolated by whole years. After a change of year end, quarters of the
    transition period are counted back from the later year end.
    """

    def __init__(self, years: Iterable[tuple[str, int]]) -> None:
        self._anchors = sorted((day_number(end), year) for end, year in years)
        self._days = [day for day, _ in self._anchors]

    def find_period(self, end: str) -> tuple[int, int]:
        """Return the fiscal year of a date, and the quarter (1 to 4) whose end is nearest."""
        day = day_number(end)
        if not self._anchors:
            shifted = date.fromordinal(day - _NEW_YEAR_DAYS)
            return shifted.year, (shifted.month + 2) // 3
        year_end, year = self._find_enclosing_year(day)
        return year, max(1, min(4, 4 - round((year_end - day) / _QUARTER_DAYS)))

    def is_year_end(self, end: str) -> bool:
        day = day_number(end)
        # Year ends are unknown without annual reports.
        return bool(self._anchors) and abs(self._find_enclosing_year(day)[0] - day) <= _SLACK_DAYS

    def is_in_known_year(self, day: str) -> bool:
        return bool(self._anchors) and self._find_enclosing_year(day_number(day)) in self._anchors

    def find_report_period(self, filed: str, *, is_annual: bool) -> tuple[int, int]:
        """Return the fiscal year and quarter that had most recently ended when a report was filed."""
        year, quarter = self.find_quarter(filed)
        return (year - 1, QUARTERS) if is_annual or quarter == 1 else (year, quarter - 1)

    def find_quarter(self, day: str) -> tuple[int, int]:
        """Return the fiscal year and quarter that contain a day."""
        number = day_number(day)
        if not self._anchors:
            return date.fromordinal(number).year, (date.fromordinal(number).month + 2) // 3
        index = bisect_left(self._days, number)
        if 0 < index < len(self._days) and self._days[index] - self._days[index - 1] <= _MAX_YEAR_DAYS:
            year_end, year = self._anchors[index]
        else:
            year_end, year = self._find_enclosing_year(number + _SLACK_DAYS)
        remaining_quarters = int((year_end - number - _QUARTER_SLACK_DAYS) / _QUARTER_DAYS)
        return year, max(1, QUARTERS - remaining_quarters)

    def is_transition_start(self, start: str) -> bool:
        """Whether a date starts a transition period between the old and the new year end."""
        index = bisect_left(self._days, day_number(start))
        starts_year = index > 0 and day_number(start) - self._days[index - 1] <= _SLACK_DAYS
        return starts_year and (index == len(self._days) or self._days[index] - self._days[index - 1] > _MAX_YEAR_DAYS)

    def measure_offset(self, end: str) -> int:
        if not self._anchors:
            return 0
        day = day_number(end)
        remaining_quarters = (self._find_enclosing_year(day)[0] - day) / _QUARTER_DAYS
        return round(abs(remaining_quarters - round(remaining_quarters)) * _QUARTER_DAYS)

    def _find_enclosing_year(self, day: int) -> tuple[int, int]:
        index = bisect_left(self._days, day - _SLACK_DAYS)
        if index == len(self._anchors):
            anchor_end, anchor_year = self._anchors[-1]
            years = -int(-(day - _SLACK_DAYS - anchor_end) // YEAR_DAYS)
            return anchor_end + round(years * YEAR_DAYS), anchor_year + years
        anchor_end, anchor_year = self._anchors[index]
        years = int((anchor_end - day + _SLACK_DAYS) // YEAR_DAYS)
        return anchor_end - round(years * YEAR_DAYS), anchor_year - years


def assign_fiscal_years(reported: Iterable[tuple[str, str, int | None]]) -> dict[str, int]:
    """Return the fiscal year of each annual period end, given tuples of end, filing date and the filing's ``fy``.

    The earliest filing decides the year of a period end. A year that most other period ends contradict is corrected as
    a tagging error (four NVIDIA annual reports are tagged one year too early). Only period ends near the same day of
    the year are compared, because numbering restarts after a change of year end.
    """
    year_by_end: dict[str, int] = {}
    for end, _filed, year in sorted(reported, key=lambda row: (row[1], row[0])):
        if year is not None:
            year_by_end.setdefault(end, year)
    groups: list[list[str]] = []
    for end in sorted(year_by_end):
        group = next((ends for ends in groups if _is_same_year_end(ends[-1], end)), None)
        if group is None:
            groups.append([end])
        else:
            group.append(end)
    fiscal_years: dict[str, int] = {}
    for ends in groups:
        fiscal_years |= _correct_by_majority([(end, year_by_end[end]) for end in ends])
    return fiscal_years


def _correct_by_majority(years: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Correct fiscal years to agree with the majority; without a majority, return them unchanged."""
    first_day = day_number(years[0][0])
    positions = {end: round((day_number(end) - first_day) / YEAR_DAYS) for end, _ in years}
    ((first_year, count),) = Counter(year - positions[end] for end, year in years).most_common(1)
    if count * 2 <= len(years):
        return dict(years)
    return {end: first_year + position for end, position in positions.items()}


def _is_same_year_end(end: str, other_end: str) -> bool:
    days = day_number(other_end) - day_number(end)
    return abs(days - round(days / YEAR_DAYS) * YEAR_DAYS) <= _SAME_YEAR_END_DAYS


def day_after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()
