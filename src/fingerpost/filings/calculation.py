"""Calculate formulas: find the inputs of a fiscal period, put them on one basis, and compute."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Any

from fingerpost.filings.concepts import PER_SHARE, RECIPE, STOCK, Metric, find_metric
from fingerpost.filings.figure import ORIGINAL, SPLIT_ADJUSTED, Figure, FigureOptions, derive_figure
from fingerpost.filings.formula import (
    Lookup,
    NotComputable,
    Quantity,
    evaluate,
    list_lookups,
    plain,
    read_formula,
    read_recipe,
    unit_of,
    unit_text,
)
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import INSTANT, QUARTERS, YEAR, class_of, day_after, day_number
from fingerpost.filings.query_params import CalculateParams
from fingerpost.filings.reasons import missing_figure, missing_metric, open_company
from fingerpost.filings.reply import Missing, Reply, missing_entry, points_of
from fingerpost.filings.revisions import is_in_shares, on_one_basis, split_factor

_MONTHS = 12
# A period begins about a week around the end of the one before. A balance has no start, and quarters of 12 or
# 16 weeks end up to 25 days away from a quarter of a year.
_SLACK_DAYS = 7
_QUARTER_SLACK_DAYS = 25
_BY_DAYS = "Use financial_facts with start_date and end_date"


Inputs = Mapping[Lookup, tuple[Metric, Figure]]


@dataclass(frozen=True, slots=True)
class Calculation:
    """A formula for a company, ``back`` fiscal periods before ``period``; ``name`` is what the caller wrote."""

    source: CompanyFigures
    formula: ast.expr
    period: PeriodFilter
    back: int = 0
    name: str = ""

    def compute(self, *, check_splits: bool = True) -> "Computed | Missing":
        inputs, missing = self._find_inputs()
        if missing:
            return missing
        try:
            computed = self.evaluate(on_one_basis(inputs, self.source.options))
            clash = find_split_clash(self.source, computed.figures) if check_splits else None
        except NotComputable as error:
            clash = missing_entry("not_comparable", str(error), self._suggest_original())
        return computed if clash is None else {f"{self.name or self.text} {self.period.period}": clash}

    def evaluate(self, inputs: Inputs) -> "Computed":
        quantities = {
            lookup: Quantity(Fraction(str(figure.value)), unit_of(figure.unit))
            for lookup, (_, figure) in inputs.items()
        }
        quantity = evaluate(self.formula, quantities, self.back, self._periods_a_year)
        return Computed(self, inputs, quantity.value, unit_text(quantity.unit))

    @property
    def text(self) -> str:
        return ast.unparse(self.formula)

    @property
    def _periods_a_year(self) -> int:
        return 1 if self.period.is_of_a_year else QUARTERS

    def _find_inputs(self) -> tuple[Inputs, Missing]:
        inputs: dict[Lookup, tuple[Metric, Figure]] = {}
        missing: Missing = {}
        for lookup in list_lookups(self.formula, self.back, self._periods_a_year):
            metric = self.source.find_metric(lookup.word)
            if metric is None:
                missing[lookup.word] = missing_metric(self.source, lookup.word)
                continue
            found = self.find_figure(metric, lookup.back)
            if isinstance(found, Figure):
                inputs[lookup] = (metric, found)
            else:
                missing[f"{lookup.word} {self.period.after(-lookup.back).period}"] = found
        return inputs, missing

    def find_figure(self, metric: Metric, back: int) -> Figure | dict[str, Any]:
        before = self.period.after(-back)
        found = self._select(metric, before)
        if isinstance(found, dict):
            return found
        name = f"{metric.name} of {self.source.company.name}"
        current = self._select(metric, self.period) if back else ()
        current = () if isinstance(current, dict) else current
        if len(current) == 1 and not current[0].is_cover:
            end, slack_days = _day_before(current[0], self.period, back)
            near = _list_near(found, end, slack_days)
            # After a moved year end, the period before may have another name, or be a balance within a year.
            found = near or _list_near(self.source.series(metric).figures, end, slack_days, current[0].period)
            if not found:
                day = date.fromordinal(end).isoformat()
                message = f"{name}: no period like the one to {current[0].end} ends on {day}"
                return missing_entry("not_comparable", message, _BY_DAYS)
        if len(found) > 1:
            ends = ", ".join(figure.end for figure in found)
            return missing_entry("not_comparable", f"{name} for {before.wording} may be of {ends}", _BY_DAYS)
        return found[0]

    def _select(self, metric: Metric, period: PeriodFilter) -> tuple[Figure, ...] | dict[str, Any]:
        """Return the headline of a period, or the reason why it is missing; a trailing year has its last balance."""
        if period.is_trailing and metric.kind != STOCK:
            found = find_trailing(self.source, metric, period)
            return (found,) if isinstance(found, Figure) else found
        return self.source.select(metric, period).headline or missing_figure(self.source, metric, period)

    def _suggest_original(self) -> str:
        if self.source.options.vintage != ORIGINAL:
            first = replace(self, source=self.source.with_options(vintage=ORIGINAL)).compute(check_splits=False)
            if isinstance(first, Computed):
                return f"Send vintage: original for {plain(first.value)} {first.unit}, from the first filings"
        return "Get the inputs with financial_facts"


@dataclass(frozen=True, slots=True)
class Computed:
    calculation: Calculation
    inputs: Inputs
    value: Fraction
    unit: str

    @property
    def source(self) -> CompanyFigures:
        return self.calculation.source

    @property
    def figures(self) -> list[Figure]:
        return [figure for _, figure in self.inputs.values()]

    @property
    def reported(self) -> list[Figure]:
        return [part for figure in self.figures for part in (figure.parts or (figure,))]

    @property
    def wording(self) -> str:
        return self.calculation.period.after(-self.calculation.back).wording

    def to_figure(self, recipe: Metric) -> Figure:
        current = [figure for lookup, (_, figure) in self.inputs.items() if not lookup.back and not figure.is_cover]
        last = max(current or self.figures, key=lambda figure: (figure.end, figure.start))
        notes = [recipe.note] if recipe.note else []
        notes += [f"{metric.name}: {note}" for metric, figure in self.inputs.values() for note in figure.notes]
        figure = derive_figure(last, self.figures, plain(self.value), recipe.expression, notes)
        return replace(figure, unit=self.unit, fact=figure.fact._replace(concept=""), concepts=frozenset())


def find_trailing(source: CompanyFigures, metric: Metric, window: PeriodFilter) -> Figure | dict[str, Any]:
    """Return a metric's fiscal year, or the sum of the four quarters to a quarter; else the reason why not."""
    name, last = f"{metric.name} of {source.company.name}", replace(window, is_trailing=False)
    own = source.select(metric, last).headline
    if metric.kind == STOCK or any(figure.period == INSTANT for figure in own):
        message = f"{name} is a balance on a date; balances are not summed over quarters"
        return missing_entry("not_derivable", message, f"Ask for {last.period}")
    if last.quarter is None:
        return own[0] if len(own) == 1 and own[0].period == YEAR else missing_figure(source, metric, last)
    if metric.kind == PER_SHARE or any(is_in_shares(figure.unit) or figure.unit == "pure" for figure in own):
        message = f"{name} is per share or a count; such values do not add up over quarters"
        return missing_entry("not_derivable", message, "Use latest or latest-annual")
    quarters: list[Figure] = []
    for back in range(QUARTERS):
        found = Calculation(source, read_recipe(None, metric.name), last).find_figure(metric, back)
        if not isinstance(found, Figure):
            return found
        quarters.insert(0, found)
    try:
        quarters = _check_row(
            [one for _, one in on_one_basis(dict(enumerate((metric, q) for q in quarters)), source.options).values()],
            source.options,
        )
    except NotComputable as error:
        return missing_entry("not_comparable", f"{name} for {window.wording}: {error}", "Use latest-annual")
    total = plain(sum((Fraction(str(quarter.value)) for quarter in quarters), Fraction(0)))
    formula = " + ".join(PeriodFilter.of(quarter).period for quarter in quarters)
    notes = [note for quarter in quarters for note in quarter.notes]
    trailing = derive_figure(quarters[-1], quarters, total, formula, notes)
    return replace(trailing, start=quarters[0].start, is_trailing=True)


def _check_row(quarters: list[Figure], options: FigureOptions) -> list[Figure]:
    """Return four quarters if they follow each other and are on one basis."""
    if class_of(quarters[0].start, quarters[-1].end) != YEAR:
        raise NotComputable("its last four quarters do not form a year")
    changed = [part for quarter in quarters if quarter.parts for part in quarter.parts if part.restated]
    if len({quarter.tier for quarter in quarters}) > 1 or (changed and options.vintage != ORIGINAL):
        raise NotComputable("its last four quarters are not on one basis")
    return quarters


def _day_before(current: Figure, period: PeriodFilter, back: int) -> tuple[int, int]:
    """Return the end of the period ``back`` periods before a figure's, and its tolerance in days."""
    if back == 1 and current.start:
        return day_number(current.start) - 1, _SLACK_DAYS
    months = back * (_MONTHS if period.is_of_a_year else _MONTHS // QUARTERS)
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
    in_shares = [figure for figure in figures if is_in_shares(figure.unit)]
    if not in_shares or source.options.vintage == SPLIT_ADJUSTED:
        return None
    if len({split_factor(source.splits, figure.fact.filed, source.options.as_of) for figure in in_shares}) < 2:
        return None
    message = f"{source.company.name} split its shares between the filings of the inputs"
    return missing_entry("not_comparable", message, "Send vintage: split_adjusted")


def calculate(library: FactLibrary, params: CalculateParams) -> Reply:
    """Return an expression's value for each fiscal period; a recipe's name is an expression too."""
    expression = params.expression
    recipe = find_metric(expression)
    if recipe is None or recipe.kind != RECIPE:
        recipe = Metric(expression, "", RECIPE, expression=expression)
    formula = read_formula(recipe.expression)
    not_found = f"Cannot calculate {expression} for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    reply = Reply([], source=source.provenance)
    periods = list(dict.fromkeys(map(source.locate, params.all_periods)))
    for period in periods:
        computed = Calculation(source, formula, period, name=expression).compute()
        if isinstance(computed, Computed):
            reply.results.append(source.row_of(expression, computed.to_figure(recipe)))
        else:
            reply.missing |= computed
    reply.require_rows(not_found).results.sort(key=lambda row: (row["end_date"], row["fiscal_period"] or ""))
    reply.put(expression, points_of(reply.results), is_series=len(periods) > 1)
    return reply
