"""A figure as a row of an answer: the original's fields, and where the number comes from."""

from typing import Any

from fingerpost.filings.fact import Company, filing_url
from fingerpost.filings.figure import Figure, FigureOptions
from fingerpost.filings.periods import HALF, INSTANT, NINE_MONTHS, QUARTER, YEAR

_PERIOD_TYPES = {
    YEAR: "annual",
    QUARTER: "quarter",
    HALF: "half_year",
    NINE_MONTHS: "nine_months",
    INSTANT: "instant",
}


def row_of(company: Company, metric_name: str, figure: Figure, options: FigureOptions) -> dict[str, Any]:
    """Return a figure's row; what there is nothing to say of is left out, the original's fields never."""
    fact = figure.fact
    row: dict[str, Any] = {
        "ticker": company.ticker,
        "cik": company.padded_cik,
        "metric_name": metric_name,
        "value": figure.value,
        "unit": figure.unit,
        "period_type": period_type(figure),
        "start_date": figure.start or None,
        "end_date": figure.end,
        "fiscal_year": figure.fiscal_year,
        "fiscal_period": fiscal_period(figure),
        "fiscal_quarter": figure.fiscal_quarter if figure.period in (QUARTER, INSTANT) else None,
        "filing_date": fact.filed,
        "filing_type": fact.form,
        "accession_number": fact.accession,
        "filing_url": filing_url(company.cik, fact.accession),
        "xbrl_tag": fact.concept,
        "kind": figure.kind,
        "vintage": options.label,
    }
    if figure.parts:
        row["formula"] = figure.formula
        row["inputs"] = [input_of(part) for part in figure.parts]
    if len(figure.values) > 1:
        row["revisions"] = [revision.to_json() for revision in figure.values]
    if figure.alternatives:
        row["confidence"] = "low"
        row["alternatives"] = [
            {"xbrl_tag": other.concept, "value": other.value, "accession_number": other.accession}
            for other in figure.alternatives
        ]
    if figure.notes:
        row["notes"] = list(figure.notes)
    return row


def input_of(figure: Figure) -> dict[str, Any]:
    """Return one part of a computed value."""
    return {
        "value": figure.value,
        "unit": figure.unit,
        "start_date": figure.start or None,
        "end_date": figure.end,
        "xbrl_tag": figure.fact.concept,
        "accession_number": figure.fact.accession,
        "filing_date": figure.fact.filed,
    }


def period_type(figure: Figure) -> str:
    """Return the class of a figure's period in words."""
    return _PERIOD_TYPES.get(figure.period, "other")


def fiscal_period(figure: Figure) -> str | None:
    """Return FY, Q1 to Q4, H1 or 9M; None for another length."""
    if figure.period in (QUARTER, INSTANT):
        return f"Q{figure.fiscal_quarter}"
    return figure.period if figure.period in (YEAR, HALF, NINE_MONTHS) else None
