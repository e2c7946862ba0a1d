"""Select the figures for a query's period, and the headline figures among them (rule F3)."""

import re
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from fingerpost.filings.figure import ANNUAL_FORMS, Figure, MetricFigures
from fingerpost.filings.periods import INSTANT, QUARTER, QUARTERS, TRAILING, YEAR, YEAR_TO_DATE, FiscalCalendar

FIRST_DAY, LAST_DAY = "0001-01-01", "9999-12-31"

_FISCAL = re.compile(r"(?:FY)?([0-9]{4})(?:[- ]?(FY|Q[1-4]))?", re.IGNORECASE)
NEWEST, NEWEST_YEAR, NEWEST_TTM = "latest", "latest-annual", "ttm"
_RANGE_SEPARATOR = ".."
MAX_PERIODS = 40
_QUARTER_SLACK_DAYS = 14
_MIN_YEAR_DAYS = 300
_PERIOD_ORDER = {period: position for position, period in enumerate((YEAR, QUARTER, INSTANT, *YEAR_TO_DATE))}


@dataclass(frozen=True, slots=True)
class PeriodFilter:
    """A range of period ends (inclusive), or a fiscal year with an optional quarter.

    ``newest`` selects the newest fiscal period or year, or the last four quarters (``CompanyFigures.resolve_period``).
    ``is_trailing`` selects the four quarters up to ``quarter``, or a year if ``quarter`` is None.
    ``count`` is the number of consecutive fiscal periods in a range that starts with ``year`` and ``quarter``.
    ``frequency`` selects periods of one length, such as ``annual``; if empty, ``select_figures`` chooses the length.
    """

    first: str = FIRST_DAY
    last: str = LAST_DAY
    year: int | None = None
    quarter: int | None = None
    newest: str = ""
    count: int = 1
    is_trailing: bool = False
    frequency: str = ""

    @property
    def period(self) -> str:
        """The fiscal period as a query parameter; empty for a range of dates."""
        if self.year is None:
            return ""
        trailing = f"{TRAILING} to " if self.is_trailing and self.quarter else ""
        return f"{trailing}{self.year}-Q{self.quarter}" if self.quarter else str(self.year)

    @property
    def periods_per_year(self) -> int:
        return 1 if self.quarter is None or self.is_trailing else QUARTERS

    @property
    def is_short(self) -> bool:
        if self.year is not None or (self.first, self.last) == (FIRST_DAY, LAST_DAY):
            return False
        return (date.fromisoformat(self.last) - date.fromisoformat(self.first)).days + 1 < _MIN_YEAR_DAYS

    @classmethod
    def from_figure(cls, figure: Figure) -> "PeriodFilter":
        """Return the fiscal period of a figure; a year-end balance belongs to the year."""
        is_year = figure.period == YEAR or (figure.period == INSTANT and figure.fiscal_quarter == QUARTERS)
        return cls(year=figure.fiscal_year, quarter=None if is_year else figure.fiscal_quarter)

    def shift(self, steps: int) -> "PeriodFilter":
        """Return the fiscal period ``steps`` periods later; negative steps go back."""
        year = self.year or 0
        if self.quarter is None or self.is_trailing:
            return PeriodFilter(year=year + steps, quarter=self.quarter, is_trailing=self.is_trailing)
        number = year * QUARTERS + self.quarter - 1 + steps
        return PeriodFilter(year=number // QUARTERS, quarter=number % QUARTERS + 1)

    def list_periods(self) -> "list[PeriodFilter]":
        """Expand a range into its periods."""
        if self.count == 1:
            return [self]
        periods = [self.shift(step) for step in range(self.count)]
        return [replace(self, year=period.year, quarter=period.quarter, count=1) for period in periods]

    @property
    def label(self) -> str:
        if self.year is not None:
            prefix = "the four quarters to " if self.is_trailing and self.quarter else ""
            return f"{prefix}fiscal {self.year}" + (f" Q{self.quarter}" if self.quarter else "")
        if (self.first, self.last) == (FIRST_DAY, LAST_DAY):
            return "any period"
        return f"{self.first} to {self.last}"


@lru_cache(maxsize=256)
def read_period(text: str) -> PeriodFilter:
    """Parse a fiscal year, a quarter, a range, or a keyword such as ``latest``; raise ValueError for other text."""
    if text.count(_RANGE_SEPARATOR) == 1:
        return _read_range(text)
    if (word := text.strip().lower()) in (NEWEST, NEWEST_YEAR, NEWEST_TTM):
        return PeriodFilter(newest=word)
    matched = _FISCAL.fullmatch(text.strip())
    if matched is None:
        expected = "a fiscal year or quarter (2022, 2022-Q2), a range (2019..2022), or latest, latest-annual or ttm"
        raise ValueError(f"must be {expected}; you sent {text!r}")
    quarter_name = (matched[2] or "FY").upper()
    return PeriodFilter(year=int(matched[1]), quarter=None if quarter_name == "FY" else int(quarter_name[1]))


def _read_range(text: str) -> PeriodFilter:
    first, last = (read_period(end) for end in text.split(_RANGE_SEPARATOR, 1))
    if first.newest or last.newest or (first.quarter is None) != (last.quarter is None):
        raise ValueError(f"must be a range of two years, or of two quarters; you sent {text!r}")
    years = (last.year or 0) - (first.year or 0)
    count = years * first.periods_per_year + (last.quarter or 0) - (first.quarter or 0) + 1
    if not 1 <= count <= MAX_PERIODS:
        reason = "ends before it begins" if count < 1 else f"has {count} periods; at most {MAX_PERIODS} are allowed"
        raise ValueError(f"the range {text!r} {reason}")
    return replace(first, count=count)


def select_figures(all_figures: MetricFigures, period_filter: PeriodFilter, calendar: FiscalCalendar) -> MetricFigures:
    """Return the figures that fall in a period: years, then quarters, balances, and other periods.

    The headline figures are the first of these kinds that the period contains: fiscal years, year-end balances,
    quarters, other balances.
    """
    matching = [figure for figure in all_figures.figures if _matches(figure, period_filter, calendar)]
    years, quarters, balances = (
        [figure for figure in matching if figure.period == period_class] for period_class in (YEAR, QUARTER, INSTANT)
    )
    if period_filter.quarter is not None:
        headline_figures = quarters + balances
    elif period_filter.is_short and len(balances) < len(matching):
        # A range shorter than a year does not refer to the fiscal year that happens to end in it.
        headline_figures = quarters
    else:
        year_ends = [figure for figure in balances if calendar.is_year_end(figure.end)]
        headline_figures = years or year_ends or quarters or balances
    if len(headline_figures) > 1 and period_filter.year is not None:
        # Prefer reported years to years that were recast after a change of year end.
        known = [figure for figure in headline_figures if calendar.is_in_known_year(figure.end)]
        headline_figures = known or headline_figures
        # Prefer the cover page of a report to that of its amendment.
        unamended = [figure for figure in headline_figures if not (figure.is_cover and figure.fact.form.endswith("/A"))]
        headline_figures = unamended or headline_figures
    headline = tuple(sorted(headline_figures, key=lambda figure: (figure.end, figure.start)))
    rejected = tuple(figure for figure in all_figures.rejected if _matches(figure, period_filter, calendar))
    matching.sort(key=lambda figure: (_PERIOD_ORDER.get(figure.period, len(_PERIOD_ORDER)), figure.end, figure.start))
    return MetricFigures(tuple(matching), rejected, headline)


def _matches(figure: Figure, period_filter: PeriodFilter, calendar: FiscalCalendar) -> bool:
    if not period_filter.first <= figure.end <= period_filter.last:
        return False
    if period_filter.year is None:
        return True
    if period_filter.quarter is None:
        is_year_end = figure.fact.form in ANNUAL_FORMS if figure.is_cover else calendar.is_year_end(figure.end)
        is_annual = figure.period == YEAR or (figure.period == INSTANT and is_year_end)
        return is_annual and figure.fiscal_year == period_filter.year
    is_quarter_end = (
        figure.period != INSTANT or figure.is_cover or calendar.measure_offset(figure.end) <= _QUARTER_SLACK_DAYS
    )
    period = figure.fiscal_year, figure.fiscal_quarter
    return figure.period != YEAR and is_quarter_end and period == (period_filter.year, period_filter.quarter)
