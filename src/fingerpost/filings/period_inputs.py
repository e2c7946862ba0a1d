"""The inputs of a formula for one fiscal period of a company: find them, put them on one basis, and compute."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from typing import Any

from fingerpost.filings.basis import on_one_basis
from fingerpost.filings.company_figures import CompanyFigures
from fingerpost.filings.concepts import Metric
from fingerpost.filings.figure import ORIGINAL, SPLIT_ADJUSTED, Figure
from fingerpost.filings.formula import (
    Evaluation,
    Formula,
    Lookup,
    NotComputable,
    Quantity,
    evaluate,
    plain,
    unit_of,
    unit_text,
)
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import QUARTERS, day_after, day_number
from fingerpost.filings.reasons import NOT_COMPARABLE, Missing, missing_entry, missing_figure, missing_metric
from fingerpost.filings.revisions import is_in_shares, split_factor

_YEAR_DAYS = 365
_MONTHS = 12
# The period before ends on the day before, give or take a week. A balance has no start, and quarters of 12 and of
# 16 weeks end up to 25 days away from a quarter of a year.
_SLACK_DAYS = 7
_QUARTER_SLACK_DAYS = 25
_BY_DAYS = "Ask financial_facts by start_date and end_date"


@dataclass(frozen=True, slots=True)
class Computed:
    """The value of a formula, and the formula as filled in."""

    quantity: Quantity
    filled: str


@dataclass(slots=True)
class PeriodInputs:
    """Find the inputs of a calculation for one fiscal period; collect them, and the reasons for missing ones.

    The calculation is of the period so many (``back``) before ``period``.
    """

    source: CompanyFigures
    period: PeriodFilter
    back: int = 0
    inputs: dict[Lookup, tuple[Metric, Figure]] = field(default_factory=dict)
    missing: Missing = field(default_factory=dict)

    @property
    def figures(self) -> list[Figure]:
        return [figure for _, figure in self.inputs.values()]

    @property
    def wording(self) -> str:
        return self.period.after(-self.back).wording

    @property
    def notes(self) -> list[str]:
        return [f"{metric.name}: {note}" for metric, figure in self.inputs.values() for note in figure.notes]

    def compute(self, formula: Formula, *, check_splits: bool = True) -> Computed | None:
        """Return a formula's value from inputs on one basis; if there is none, store the reasons in ``missing``.

        Raises:
            ParameterError: units do not fit.
        """
        clash = None
        try:
            found = self._evaluate(formula)
        except NotComputable as error:
            found, clash = None, missing_entry(NOT_COMPARABLE, str(error), self._suggest_original(formula))
        if found is not None and check_splits:
            clash = find_split_clash(self.source, self.figures)
        if clash is not None:
            self.missing = {f"{formula.text} {self.period.period}": clash}
        return None if found is None or clash is not None else Computed(*found)

    def _evaluate(self, formula: Formula) -> tuple[Quantity, str] | None:
        periods_a_year = 1 if self.period.quarter is None else QUARTERS
        evaluation = Evaluation(self._find, Fraction(_YEAR_DAYS, periods_a_year), periods_a_year)
        found = evaluate(formula, evaluation, self.back)
        if found is None:
            return None
        stated = {lookup: (metric.name, figure) for lookup, (metric, figure) in self.inputs.items()}
        figures = on_one_basis(stated, self.source.options)
        if all(figures[lookup] is figure for lookup, (_, figure) in self.inputs.items()):
            return found
        self.inputs = {lookup: (metric, figures[lookup]) for lookup, (metric, _) in self.inputs.items()}
        return evaluate(formula, replace(evaluation, asked={}), self.back)

    def _find(self, lookup: Lookup) -> Quantity | None:
        """Return an input's value; if there is none, store the reason."""
        if lookup not in self.inputs:
            metric = self.source.find_metric(lookup.word)
            if metric is None:
                self.missing[lookup.word] = missing_metric(self.source, lookup.word)
                return None
            period = self.period.after(-lookup.back)
            figure, entry = self._find_figure(metric, period, lookup.back)
            if entry is not None:
                self.missing[f"{lookup.word} {period.period}"] = entry
            if figure is None:
                return None
            self.inputs[lookup] = (metric, figure)
        figure = self.inputs[lookup][1]
        return Quantity(Fraction(str(figure.value)), unit_of(figure.unit))

    def _find_figure(
        self, metric: Metric, period: PeriodFilter, back: int
    ) -> tuple[Figure | None, dict[str, Any] | None]:
        found = self.source.select(metric, period).headline
        if not found:
            return None, missing_figure(self.source, metric, period)
        name = f"{metric.name} of {self.source.company.name}"
        current = self.source.select(metric, self.period).headline if back else ()
        if len(current) == 1 and not current[0].is_cover:
            end, slack_days = _day_before(current[0], self.period, back)
            near = _list_near(found, end, slack_days)
            # After a moved year end, the period before may have another name, or be a balance within a year.
            found = near or _list_near(self.source.series(metric).figures, end, slack_days, current[0].period)
            if not found:
                day = date.fromordinal(end).isoformat()
                message = f"{name}: no period like the one to {current[0].end} ends on {day}"
                return None, missing_entry(NOT_COMPARABLE, message, _BY_DAYS)
        if len(found) > 1:
            ends = ", ".join(figure.end for figure in found)
            return None, missing_entry(NOT_COMPARABLE, f"{name} for {period.wording} may be of {ends}", _BY_DAYS)
        return found[0], None

    def _suggest_original(self, formula: Formula) -> str:
        """Return the next step if inputs cannot be combined: the value from the first filings, if it has one basis."""
        first = PeriodInputs(self.source.with_options(vintage=ORIGINAL), self.period, self.back)
        try:
            found = first._evaluate(formula)
        except NotComputable:
            found = None
        if found is None:
            return "Ask financial_facts for the inputs"
        return f"Send vintage: original for {plain(found[0].value)} {unit_text(found[0].unit)}, from the first filings"


def _day_before(current: Figure, period: PeriodFilter, back: int) -> tuple[int, int]:
    """Return the day on which the period so many before a figure's ends, and by how many days it may be off."""
    if back == 1 and current.start:
        return day_number(current.start) - 1, _SLACK_DAYS
    months = back * (_MONTHS if period.quarter is None else _MONTHS // QUARTERS)
    # The first day after a period is in the month whose number is exact; a month's last day is not.
    after = date.fromisoformat(day_after(current.end))
    number = after.year * _MONTHS + after.month - 1 - months
    begin = date(number // _MONTHS, number % _MONTHS + 1, 1).toordinal() + after.day - 1
    return begin - 1, _QUARTER_SLACK_DAYS if months % _MONTHS else _SLACK_DAYS


def _list_near(figures: Iterable[Figure], end: int, slack_days: int, kind: str | None = None) -> tuple[Figure, ...]:
    return tuple(
        figure
        for figure in figures
        if kind in (None, figure.period) and abs(day_number(figure.end) - end) <= slack_days
    )


def find_split_clash(source: CompanyFigures, figures: Iterable[Figure]) -> dict[str, Any] | None:
    """Return why figures in shares cannot be combined: some were filed before a split, some after it."""
    in_shares = [figure for figure in figures if is_in_shares(figure.unit)]
    if not in_shares or source.options.vintage == SPLIT_ADJUSTED:
        return None
    if len({split_factor(source.splits, figure.fact.filed, source.options.as_of) for figure in in_shares}) < 2:
        return None
    message = f"{source.company.name} split its shares between the filings of the inputs"
    return missing_entry(NOT_COMPARABLE, message, "Send vintage: split_adjusted")
