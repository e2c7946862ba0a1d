"""Arithmetic over a company's figures: the value, the formula as filled in, and every input with its filing."""

import re
from collections.abc import Sequence
from typing import Any

from fingerpost.filings.concepts import RECIPE, Metric, find_metric
from fingerpost.filings.figure import DERIVED, FigureOptions, filing_url
from fingerpost.filings.formula import formula_of, plain, read_formula
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import read_period
from fingerpost.filings.period_inputs import Calculation, Computed
from fingerpost.filings.reasons import open_company
from fingerpost.filings.reply import Reply, input_of, nothing, points_of, source_of

_NAME = re.compile(r"[\w\s&-]+")


def calculate(
    library: FactLibrary, ticker: str, expression: str, periods: Sequence[str], options: FigureOptions
) -> Reply:
    """Return an expression's value for each fiscal period; a recipe's name is an expression too.

    Raises:
        DataNotFound: no period has all of the inputs; ``missing`` names those that are not there.
        ParameterError: the expression or a period cannot be read, or its units do not fit.
    """
    recipe = find_metric(expression) if _NAME.fullmatch(expression) else None
    if recipe is not None and recipe.kind != RECIPE:
        recipe = None
    formula = read_formula(expression) if recipe is None else formula_of(recipe, expression)
    not_found = f"Cannot calculate {expression} for {ticker}"
    source = open_company(library, ticker, not_found, options)
    reply = Reply([], source=source_of(source.company, as_of=options.as_of))
    asked = list(dict.fromkeys(read_period(text) for text in periods))
    for period in asked:
        computed = Calculation(source, formula, period, name=expression).compute()
        if isinstance(computed, Computed):
            reply.results.append(_row_of(computed, expression, recipe))
        else:
            reply.missing |= computed
    if not reply.results:
        raise nothing(not_found, reply.missing, reply.source)
    reply.results.sort(key=lambda row: (row["end_date"], row["fiscal_period"]))
    reply.put(expression, points_of(reply.results), is_series=len(asked) > 1)
    return reply


def _row_of(computed: Computed, expression: str, recipe: Metric | None) -> dict[str, Any]:
    figures, company, period = computed.figures, computed.source.company, computed.calculation.period
    newest = max((figure.fact for figure in figures), key=lambda fact: (fact.filed, fact.accession), default=None)
    last = max(figures, key=lambda figure: (figure.end, figure.start), default=None)
    value = plain(computed.value)
    row: dict[str, Any] = {
        "ticker": company.ticker,
        "cik": company.padded_cik,
        "expression": expression,
        "value": value,
        "unit": computed.unit,
        "fiscal_year": period.year,
        "fiscal_period": f"Q{period.quarter}" if period.quarter else "FY",
        "end_date": last.end if last is not None else None,
        "filing_date": newest.filed if newest is not None else None,
        "kind": DERIVED,
        "vintage": computed.source.options.label,
        "formula": computed.calculation.formula.text,
        "filled_in": f"{computed.filled} = {value}",
        "inputs": [
            {
                "metric_name": metric.name,
                "fiscal_period": period.after(-lookup.back).period,
                **input_of(figure),
                "filing_type": figure.fact.form,
                "filing_url": filing_url(company.cik, figure.fact.accession),
                "kind": figure.kind,
            }
            for lookup, (metric, figure) in computed.inputs.items()
        ],
    }
    notes = [recipe.note] if recipe is not None and recipe.note else []
    notes += computed.notes
    return row | ({"notes": list(dict.fromkeys(notes))} if notes else {})
