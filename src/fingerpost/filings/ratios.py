"""Ratios of two reported figures of one period; each names its parts and its formula."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fingerpost.filings.concepts import Metric, find_metric
from fingerpost.filings.fact import Company, filing_url
from fingerpost.filings.figure import Figure, FigureOptions
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import QUARTER
from fingerpost.filings.questions import at_period, get_company
from fingerpost.filings.reasons import NOT_REPORTED, UNKNOWN_METRIC, missing_figure
from fingerpost.filings.reply import Reply, mode_of, nothing, source_of
from fingerpost.filings.rows import fiscal_period, input_of, period_type

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Ratio:
    """One metric over another, by their names; ``note`` is said with it."""

    name: str
    over: str
    under: str
    note: str = ""


RATIOS = (
    Ratio("gross_margin", "GrossProfit", "Revenue"),
    Ratio("operating_margin", "OperatingIncome", "Revenue"),
    Ratio("net_margin", "NetIncome", "Revenue"),
    Ratio("return_on_assets", "NetIncome", "Assets", "assets at the end of the period"),
    Ratio("return_on_equity", "NetIncome", "StockholdersEquity", "equity at the end of the period"),
    Ratio("current_ratio", "CurrentAssets", "CurrentLiabilities"),
    Ratio("debt_to_equity", "Liabilities", "StockholdersEquity", "all liabilities, not borrowings alone"),
    Ratio("interest_coverage", "OperatingIncome", "InterestExpense"),
)
_NAMES = {"roa": "return_on_assets", "roe": "return_on_equity", "gross_profit_margin": "gross_margin"}
_NAMES |= {ratio.name: ratio.name for ratio in RATIOS}


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
    scalars = []
    for text in dict.fromkeys(wanted or [ratio.name for ratio in RATIOS]):
        name = _NAMES.get(text.strip().lower().replace(" ", "_").replace("-", "_"))
        if name is None:
            reply.missing[text] = {
                "reason": UNKNOWN_METRIC,
                "message": f"{text} is no ratio",
                "next_step": f"The ratios are {', '.join(ratio.name for ratio in RATIOS)}",
            }
            continue
        ratio = next(ratio for ratio in RATIOS if ratio.name == name)
        rows = _compute(library, company, ratio, text, period_filter, options, reply)
        reply.results += rows
        if rows:
            assert reply.data is not None
            many = [{"end_date": row["end_date"], "value": row["value"]} for row in rows]
            reply.data[text] = rows[0]["value"] if len(rows) == 1 else many
            scalars.append(len(rows) == 1)
    if not reply.results:
        raise nothing(nobody, reply.missing, reply.source)
    reply.value_mode = mode_of(scalars)
    return reply


def _compute(
    library: FactLibrary,
    company: Company,
    ratio: Ratio,
    text: str,
    period_filter: PeriodFilter,
    options: FigureOptions,
    reply: Reply,
) -> list[dict[str, Any]]:
    over, under = _metric(ratio.over), _metric(ratio.under)
    found = library.select_figures(company, over, period_filter, options)
    if not found.headline:
        reply.missing[text] = missing_figure(library, company, over, period_filter, options)
        return []
    rows = []
    for figure in found.headline:
        divisor = at_period(library, company, under, figure, options)
        if divisor is None:
            at = PeriodFilter(figure.end, figure.end)
            reply.missing[text] = missing_figure(library, company, under, at, options)
            continue
        if divisor.value == 0 or divisor.unit != figure.unit:
            why = "is zero" if divisor.value == 0 else "has another unit"
            reply.missing[text] = {
                "reason": NOT_REPORTED,
                "message": f"{ratio.name} of {company.name} needs {under.name} at {figure.end}, which {why}",
                "next_step": "Ask financial_facts for its parts",
            }
            continue
        rows.append(_row(company, ratio, figure, divisor, options))
    if rows:
        reply.missing.pop(text, None)
    return rows


def _row(company: Company, ratio: Ratio, over: Figure, under: Figure, options: FigureOptions) -> dict[str, Any]:
    newest = max(over.fact, under.fact, key=lambda fact: (fact.filed, fact.accession))
    row: dict[str, Any] = {
        "ticker": company.ticker,
        "cik": company.padded_cik,
        "ratio_name": ratio.name,
        "value": round(over.value / under.value, _DIGITS),
        "unit": "ratio",
        "period_type": period_type(over),
        "start_date": over.start or None,
        "end_date": over.end,
        "fiscal_year": over.fiscal_year,
        "fiscal_period": fiscal_period(over),
        "fiscal_quarter": over.fiscal_quarter if over.period == QUARTER else None,
        "filing_date": newest.filed,
        "filing_type": newest.form,
        "accession_number": newest.accession,
        "filing_url": filing_url(company.cik, newest.accession),
        "kind": "derived",
        "vintage": options.label,
        "formula": f"{ratio.over} / {ratio.under}",
        "inputs": [input_of(over), input_of(under)],
    }
    if ratio.note:
        row["notes"] = [ratio.note]
    return row


def _metric(name: str) -> Metric:
    metric = find_metric(name)
    assert metric is not None
    return metric
