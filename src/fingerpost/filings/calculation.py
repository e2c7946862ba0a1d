"""Arithmetic over a company's figures: the value, the formula as filled in, and every input with its filing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from fingerpost.filings.concepts import Metric
from fingerpost.filings.fact import Company, filing_url
from fingerpost.filings.figure import SPLIT_ADJUSTED, Figure, FigureOptions
from fingerpost.filings.formula import (
    Evaluation,
    Formula,
    Lookup,
    NotComputable,
    Quantity,
    evaluate,
    plain,
    read_formula,
    unit_of,
    unit_text,
)
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import PeriodFilter, read_period
from fingerpost.filings.questions import get_company
from fingerpost.filings.reasons import NOT_COMPARABLE, missing_figure, missing_metric
from fingerpost.filings.recipes import Recipe, find_recipe
from fingerpost.filings.reply import Reply, mode_of, nothing, source_of
from fingerpost.filings.rows import input_of
from fingerpost.filings.splits import is_per_share, is_share_count, split_factor

_YEAR_DAYS = 365
_QUARTERS = 4


@dataclass(slots=True)
class _Period:
    """One fiscal period of a calculation: finds inputs, and keeps them and what is missing."""

    library: FactLibrary
    company: Company
    options: FigureOptions
    year: int
    quarter: int | None
    inputs: dict[Lookup, tuple[Metric, Figure]] = field(default_factory=dict)
    missing: dict[str, dict[str, Any]] = field(default_factory=dict)

    def find(self, lookup: Lookup) -> Quantity | None:
        """Return an input's value; where there is none, keep why."""
        metric = self.library.find_metric(self.company, lookup.word)
        if metric is None:
            self.missing[lookup.word] = missing_metric(self.library, self.company, lookup.word)
            return None
        period_filter = self.period_filter(lookup.back)
        found = self.library.select_figures(self.company, metric, period_filter, self.options)
        if not found.headline:
            entry = missing_figure(self.library, self.company, metric, period_filter, self.options)
            self.missing[f"{lookup.word} {period_filter.period}"] = entry
            return None
        if not found.is_scalar:
            ends = ", ".join(figure.end for figure in found.headline)
            message = f"{metric.name} of {self.company.name} for {period_filter.wording} may be of {ends}"
            entry = _not_comparable(message, "Ask financial_facts by start_date and end_date")
            self.missing[f"{lookup.word} {period_filter.period}"] = entry
            return None
        figure = found.headline[0]
        self.inputs[lookup] = (metric, figure)
        return Quantity(Fraction(str(figure.value)), unit_of(figure.unit))

    def period_filter(self, back: int) -> PeriodFilter:
        """Return the period that lies so many periods before this one."""
        if self.quarter is None:
            return PeriodFilter(year=self.year - back)
        number = self.year * _QUARTERS + self.quarter - 1 - back
        return PeriodFilter(year=number // _QUARTERS, quarter=number % _QUARTERS + 1)

    def find_clash(self) -> dict[str, Any] | None:
        """Return why inputs in shares cannot stand together: some were filed before a split, some after it."""
        if self.options.vintage == SPLIT_ADJUSTED:
            return None
        splits = self.library.splits(self.company)
        shares = [
            figure for _, figure in self.inputs.values() if is_per_share(figure.unit) or is_share_count(figure.unit)
        ]
        if len({split_factor(splits, figure.fact.filed, self.options.as_of) for figure in shares}) < 2:
            return None
        message = f"{self.company.name} split its shares between the filings of the inputs"
        return _not_comparable(message, "Send vintage: split_adjusted")


def calculate(
    library: FactLibrary, ticker: str, expression: str, periods: Sequence[str], options: FigureOptions
) -> Reply:
    """Return an expression's value for each fiscal period; a recipe's name is an expression too.

    Raises:
        DataNotFound: no period has all of the inputs; ``missing`` names those that are not there.
        ParameterError: the expression or a period cannot be read, or its units do not fit.
    """
    recipe = find_recipe(expression)
    formula = read_formula(recipe.expression if recipe is not None else expression)
    nobody = f"Cannot calculate {expression} for {ticker}"
    company = get_company(library, ticker, nobody)
    reply = Reply([], data={}, source=source_of(company))
    assert reply.data is not None
    asked = list(dict.fromkeys(read_period(text) for text in periods))
    for year, quarter in asked:
        row = _calculate_one(_Period(library, company, options, year, quarter), expression, formula, recipe, reply)
        if row is not None:
            reply.results.append(row)
    if not reply.results:
        raise nothing(nobody, reply.missing, reply.source)
    reply.results.sort(key=lambda row: (row["end_date"], row["fiscal_period"]))
    many = [{"end_date": row["end_date"], "value": row["value"]} for row in reply.results]
    is_scalar = len(many) == 1 and len(asked) == 1
    reply.data[expression] = many[0]["value"] if is_scalar else many
    reply.value_mode = mode_of([is_scalar])
    return reply


def _calculate_one(
    period: _Period, expression: str, formula: Formula, recipe: Recipe | None, reply: Reply
) -> dict[str, Any] | None:
    """Return the row of one period; where an input is missing, say so in the reply."""
    periods_a_year = 1 if period.quarter is None else _QUARTERS
    clash: dict[str, Any] | None
    try:
        found = evaluate(formula, Evaluation(period.find, Fraction(_YEAR_DAYS, periods_a_year), periods_a_year))
    except NotComputable as error:
        found, clash = None, _not_comparable(str(error), "Ask financial_facts for the inputs")
    else:
        clash = period.find_clash()
    if clash is not None:
        reply.missing[f"{expression} {period.period_filter(0).period}"] = clash
        return None
    if found is None:
        reply.missing |= period.missing
        return None
    quantity, filled = found
    figures = [figure for _, figure in period.inputs.values()]
    newest = max((figure.fact for figure in figures), key=lambda fact: (fact.filed, fact.accession), default=None)
    last = max((figure for figure in figures), key=lambda figure: (figure.end, figure.start), default=None)
    row: dict[str, Any] = {
        "ticker": period.company.ticker,
        "cik": period.company.padded_cik,
        "expression": expression,
        "value": plain(quantity.value),
        "unit": unit_text(quantity.unit),
        "fiscal_year": period.year,
        "fiscal_period": "FY" if period.quarter is None else f"Q{period.quarter}",
        "end_date": last.end if last is not None else None,
        "filing_date": newest.filed if newest is not None else None,
        "kind": "derived",
        "vintage": period.options.label,
        "formula": formula.text,
        "filled_in": f"{filled} = {plain(quantity.value)}",
        "inputs": [_input(period, lookup, metric, figure) for lookup, (metric, figure) in period.inputs.items()],
    }
    notes = [recipe.note] if recipe is not None and recipe.note else []
    notes += [f"{metric.name}: {note}" for metric, figure in period.inputs.values() for note in figure.notes]
    if notes:
        row["notes"] = list(dict.fromkeys(notes))
    return row


def _not_comparable(message: str, next_step: str) -> dict[str, Any]:
    return {"reason": NOT_COMPARABLE, "message": message, "next_step": next_step}


def _input(period: _Period, lookup: Lookup, metric: Metric, figure: Figure) -> dict[str, Any]:
    period_filter = period.period_filter(lookup.back)
    fact = figure.fact
    return {
        "metric_name": metric.name,
        "fiscal_period": period_filter.period,
        **input_of(figure),
        "filing_type": fact.form,
        "filing_url": filing_url(period.company.cik, fact.accession),
        "kind": figure.kind,
    }
