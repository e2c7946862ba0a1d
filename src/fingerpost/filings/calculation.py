"""Arithmetic over a company's figures: the value, the formula as filled in, and every input with its filing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from fingerpost.filings.basis import list_changes, on_one_basis
from fingerpost.filings.concepts import Metric, find_metric
from fingerpost.filings.figure import DERIVED, ORIGINAL, SPLIT_ADJUSTED, Company, Figure, FigureOptions, filing_url
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
from fingerpost.filings.periods import INSTANT, QUARTER
from fingerpost.filings.questions import get_company
from fingerpost.filings.reasons import (
    NOT_COMPARABLE,
    NOT_REPORTED,
    UNKNOWN_METRIC,
    missing_entry,
    missing_figure,
    missing_metric,
)
from fingerpost.filings.recipes import RATIOS, Recipe, find_recipe
from fingerpost.filings.reply import Reply, cited_row, input_of, mode_of, nothing, source_of
from fingerpost.filings.revisions import is_per_share, is_share_count, split_factor

_YEAR_DAYS = 365
_QUARTERS = 4
_RATIO_DIGITS = 6


@dataclass(slots=True)
class PeriodInputs:
    """Find the inputs of a calculation for one fiscal period; collect them, and the reasons for missing ones."""

    library: FactLibrary
    company: Company
    options: FigureOptions
    year: int
    quarter: int | None
    inputs: dict[Lookup, tuple[Metric, Figure]] = field(default_factory=dict)
    missing: dict[str, dict[str, Any]] = field(default_factory=dict)

    def find(self, lookup: Lookup) -> Quantity | None:
        """Return an input's value; where there is none, keep why."""
        if lookup in self.inputs:
            return _quantity(self.inputs[lookup][1])
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
        return _quantity(figure)

    def period_filter(self, back: int) -> PeriodFilter:
        if self.quarter is None:
            return PeriodFilter(year=self.year - back)
        number = self.year * _QUARTERS + self.quarter - 1 - back
        return PeriodFilter(year=number // _QUARTERS, quarter=number % _QUARTERS + 1)

    def evaluate(self, formula: Formula) -> tuple[Quantity, str] | None:
        """Return the value and the formula as filled in, from inputs on one basis; None where an input is missing.

        Raises:
            NotComputable: something is divided by zero, grows from nothing, or the inputs have no common basis.
            ParameterError: units do not fit.
        """
        periods_a_year = 1 if self.quarter is None else _QUARTERS
        evaluation = Evaluation(self.find, Fraction(_YEAR_DAYS, periods_a_year), periods_a_year)
        found = evaluate(formula, evaluation)
        if found is None:
            return None
        stated = {lookup: (metric.name, figure) for lookup, (metric, figure) in self.inputs.items()}
        figures = on_one_basis(stated, self.options)
        if all(figures[lookup] is figure for lookup, (_, figure) in self.inputs.items()):
            return found
        self.inputs = {lookup: (metric, figures[lookup]) for lookup, (metric, _) in self.inputs.items()}
        return evaluate(formula, replace(evaluation, asked={}))


def _quantity(figure: Figure) -> Quantity:
    return Quantity(Fraction(str(figure.value)), unit_of(figure.unit))


def find_split_clash(
    library: FactLibrary, company: Company, figures: Iterable[Figure], options: FigureOptions
) -> dict[str, Any] | None:
    """Return why figures in shares cannot be combined: some were filed before a split, some after it."""
    if options.vintage == SPLIT_ADJUSTED:
        return None
    in_shares = [figure for figure in figures if is_per_share(figure.unit) or is_share_count(figure.unit)]
    splits = library.splits(company) if in_shares else []
    if len({split_factor(splits, figure.fact.filed, options.as_of) for figure in in_shares}) < 2:
        return None
    message = f"{company.name} split its shares between the filings of the inputs"
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
        row = _calculate_one(PeriodInputs(library, company, options, year, quarter), expression, formula, recipe, reply)
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
    period: PeriodInputs, expression: str, formula: Formula, recipe: Recipe | None, reply: Reply
) -> dict[str, Any] | None:
    """Return the row of one period; where an input is missing, say so in the reply."""
    clash: dict[str, Any] | None
    try:
        found = period.evaluate(formula)
    except NotComputable as error:
        found, clash = None, _not_comparable(str(error), _suggest_original(period, formula))
    else:
        figures = (figure for _, figure in period.inputs.values())
        clash = find_split_clash(period.library, period.company, figures, period.options)
    if clash is not None:
        reply.missing[f"{expression} {period.period_filter(0).period}"] = clash
        return None
    if found is None:
        reply.missing |= period.missing
        return None
    quantity, filled = found
    facts = [figure.fact for _, figure in period.inputs.values()]
    newest = max(facts, key=lambda fact: (fact.filed, fact.accession), default=None)
    last = max(
        (figure for _, figure in period.inputs.values()), key=lambda figure: (figure.end, figure.start), default=None
    )
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
        "kind": DERIVED,
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


def _suggest_original(period: PeriodInputs, formula: Formula) -> str:
    """Return the next step where inputs cannot be combined: the value from the first filings, if it has one basis."""
    first = replace(period, options=replace(period.options, vintage=ORIGINAL), inputs={}, missing={})
    try:
        found = first.evaluate(formula)
    except NotComputable:
        found = None
    if found is None:
        return "Ask financial_facts for the inputs"
    return f"Send vintage: original for {plain(found[0].value)} {unit_text(found[0].unit)}, from the first filings"


def _not_comparable(message: str, next_step: str) -> dict[str, Any]:
    return missing_entry(NOT_COMPARABLE, message, next_step)


def _input(period: PeriodInputs, lookup: Lookup, metric: Metric, figure: Figure) -> dict[str, Any]:
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


def financial_ratios(
    library: FactLibrary, ticker: str, wanted: Sequence[str] | None, period_filter: PeriodFilter, options: FigureOptions
) -> Reply:
    """Return ratios at a company for the headline periods of a window; all of them where none is named.

    Raises:
        DataNotFound: none of them can be computed.
    """
    nobody = f"No financial ratios found for {ticker}"
    company = get_company(library, ticker, nobody)
    reply = Reply([], data={}, source=source_of(company))
    assert reply.data is not None
    scalars = []
    for text in dict.fromkeys(wanted or [ratio.name for ratio in RATIOS]):
        ratio = find_recipe(text)
        if ratio not in RATIOS:
            known = ", ".join(ratio.name for ratio in RATIOS)
            reply.missing[text] = missing_entry(UNKNOWN_METRIC, f"{text} is no ratio", f"The ratios are {known}")
            continue
        rows = _compute_ratio(library, company, ratio, text, period_filter, options, reply)
        reply.results += rows
        if rows:
            many = [{"end_date": row["end_date"], "value": row["value"]} for row in rows]
            reply.data[text] = rows[0]["value"] if len(rows) == 1 else many
            scalars.append(len(rows) == 1)
    if not reply.results:
        raise nothing(nobody, reply.missing, reply.source)
    reply.value_mode = mode_of(scalars)
    return reply


def _compute_ratio(
    library: FactLibrary,
    company: Company,
    ratio: Recipe,
    text: str,
    period_filter: PeriodFilter,
    options: FigureOptions,
    reply: Reply,
) -> list[dict[str, Any]]:
    over, under = (metric for word in read_formula(ratio.expression).words if (metric := find_metric(word)))
    found = library.select_figures(company, over, period_filter, options)
    if not found.headline:
        reply.missing[text] = missing_figure(library, company, over, period_filter, options)
    rows = []
    for figure in found.headline:
        series = library.series(company, under, options)
        at_end = (each for each in series.by_end.get(figure.end, ()) if each.period in (figure.period, INSTANT))
        divisor = next(at_end, None)
        if divisor is None:
            at = PeriodFilter(figure.end, figure.end)
            reply.missing[text] = missing_figure(library, company, under, at, options)
        elif divisor.value == 0 or divisor.unit != figure.unit:
            why = "is zero" if divisor.value == 0 else "has another unit"
            message = f"{ratio.name} of {company.name} needs {under.name} at {figure.end}, which {why}"
            reply.missing[text] = missing_entry(NOT_REPORTED, message, "Ask financial_facts for its parts")
        else:
            try:
                parts = on_one_basis({0: (over.name, figure), 1: (under.name, divisor)}, options)
            except NotComputable as error:
                reply.missing[text] = _not_comparable(str(error), "Ask financial_facts for its parts")
            else:
                row = _ratio_row(company, ratio, parts[0], parts[1], options)
                changes = list_changes([figure, divisor], [parts[0], parts[1]])
                rows.append(row | ({"notes": [*row.get("notes", ()), *changes]} if changes else {}))
    if rows:
        reply.missing.pop(text, None)
    return rows


def _ratio_row(company: Company, ratio: Recipe, over: Figure, under: Figure, options: FigureOptions) -> dict[str, Any]:
    newest = max(over.fact, under.fact, key=lambda fact: (fact.filed, fact.accession))
    row = {
        "ratio_name": ratio.name,
        **cited_row(company, over, newest),
        "cik": company.padded_cik,
        "value": round(over.value / under.value, _RATIO_DIGITS),
        "unit": "ratio",
        "fiscal_quarter": over.fiscal_quarter if over.period == QUARTER else None,
        "kind": DERIVED,
        "vintage": options.label,
        "formula": ratio.expression,
        "inputs": [input_of(over), input_of(under)],
    }
    return row | {"notes": [ratio.note]} if ratio.note else row
