"""The inputs of a formula for one fiscal period of a company: find them, put them on one basis, and compute."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
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
from fingerpost.filings.periods import QUARTERS
from fingerpost.filings.reasons import NOT_COMPARABLE, Missing, missing_entry, missing_figure, missing_metric
from fingerpost.filings.revisions import is_in_shares, split_factor

_YEAR_DAYS = 365


@dataclass(frozen=True, slots=True)
class Computed:
    """The value of a formula, and the formula as filled in."""

    quantity: Quantity
    filled: str


@dataclass(slots=True)
class PeriodInputs:
    """Find the inputs of a calculation for one fiscal period; collect them, and the reasons for missing ones."""

    source: CompanyFigures
    period: PeriodFilter
    inputs: dict[Lookup, tuple[Metric, Figure]] = field(default_factory=dict)
    missing: Missing = field(default_factory=dict)

    @property
    def figures(self) -> list[Figure]:
        return [figure for _, figure in self.inputs.values()]

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
        found = evaluate(formula, evaluation)
        if found is None:
            return None
        stated = {lookup: (metric.name, figure) for lookup, (metric, figure) in self.inputs.items()}
        figures = on_one_basis(stated, self.source.options)
        if all(figures[lookup] is figure for lookup, (_, figure) in self.inputs.items()):
            return found
        self.inputs = {lookup: (metric, figures[lookup]) for lookup, (metric, _) in self.inputs.items()}
        return evaluate(formula, replace(evaluation, asked={}))

    def _find(self, lookup: Lookup) -> Quantity | None:
        """Return an input's value; if there is none, store the reason."""
        if lookup not in self.inputs:
            metric = self.source.find_metric(lookup.word)
            if metric is None:
                self.missing[lookup.word] = missing_metric(self.source, lookup.word)
                return None
            period = self.period.after(-lookup.back)
            figure, entry = self._find_figure(metric, period)
            if entry is not None:
                self.missing[f"{lookup.word} {period.period}"] = entry
            if figure is None:
                return None
            self.inputs[lookup] = (metric, figure)
        figure = self.inputs[lookup][1]
        return Quantity(Fraction(str(figure.value)), unit_of(figure.unit))

    def _find_figure(self, metric: Metric, period: PeriodFilter) -> tuple[Figure | None, dict[str, Any] | None]:
        found = self.source.select(metric, period).headline
        if len(found) == 1:
            return found[0], None
        if not found:
            return None, missing_figure(self.source, metric, period)
        ends = ", ".join(figure.end for figure in found)
        message = f"{metric.name} of {self.source.company.name} for {period.wording} may be of {ends}"
        return None, missing_entry(NOT_COMPARABLE, message, "Ask financial_facts by start_date and end_date")

    def _suggest_original(self, formula: Formula) -> str:
        """Return the next step if inputs cannot be combined: the value from the first filings, if it has one basis."""
        first = PeriodInputs(self.source.with_options(vintage=ORIGINAL), self.period)
        try:
            found = first._evaluate(formula)
        except NotComputable:
            found = None
        if found is None:
            return "Ask financial_facts for the inputs"
        return f"Send vintage: original for {plain(found[0].value)} {unit_text(found[0].unit)}, from the first filings"


def find_split_clash(source: CompanyFigures, figures: Iterable[Figure]) -> dict[str, Any] | None:
    """Return why figures in shares cannot be combined: some were filed before a split, some after it."""
    in_shares = [figure for figure in figures if is_in_shares(figure.unit)]
    if not in_shares or source.options.vintage == SPLIT_ADJUSTED:
        return None
    if len({split_factor(source.splits, figure.fact.filed, source.options.as_of) for figure in in_shares}) < 2:
        return None
    message = f"{source.company.name} split its shares between the filings of the inputs"
    return missing_entry(NOT_COMPARABLE, message, "Send vintage: split_adjusted")
