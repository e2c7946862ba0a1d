"""Questions about figures: facts, ratios, series over time, histories, comparisons; companies and metrics."""

from collections.abc import Sequence
from typing import Any

from fingerpost.filings.company_figures import CompanyFigures
from fingerpost.filings.concepts import RATIO, list_metrics, list_recipes
from fingerpost.filings.figure import Company, Figure, FigureOptions
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.lookup import look_up
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import QUARTER
from fingerpost.filings.reasons import (
    NOT_REPORTED,
    UNKNOWN_METRIC,
    missing_entry,
    missing_ticker,
    open_company,
)
from fingerpost.filings.reply import SERIES, Reply, cited_row, join_modes, nothing, points_of, row_of, source_of

_RATIO_DIGITS = 6


def financial_facts(
    library: FactLibrary, ticker: str, metrics: Sequence[str], window: PeriodFilter, options: FigureOptions
) -> Reply:
    """Return the figures of some metrics at a company in a window.

    Raises:
        DataNotFound: none of them was found.
    """
    not_found = f"No financial facts found for {ticker}"
    source = open_company(library, ticker, not_found, options)
    reply = Reply([], data={}, source=source_of(source.company, as_of=options.as_of))
    for text in dict.fromkeys(metrics):
        finding = look_up(source, text, window)
        reply.missing |= finding.missing
        reply.results += [row_of(source.company, finding.name, figure, options) for figure in finding.found.figures]
        if finding.points:
            reply.put(text, finding.points)
    if not reply.results:
        raise nothing(not_found, reply.missing, reply.source)
    return reply


def financial_ratios(
    library: FactLibrary, ticker: str, wanted: Sequence[str] | None, window: PeriodFilter, options: FigureOptions
) -> Reply:
    """Return recipes at a company for the headline periods of a window; without names, the ratios.

    Raises:
        DataNotFound: none of them can be computed.
    """
    not_found = f"No financial ratios found for {ticker}"
    source = open_company(library, ticker, not_found, options)
    reply = Reply([], data={}, source=source_of(source.company, as_of=options.as_of))
    ratios = [recipe.name for recipe in list_recipes() if recipe.statement == RATIO]
    for text in dict.fromkeys(wanted or ratios):
        if source.find_metric(text) not in list_recipes():
            step = f"The ratios are {', '.join(ratios)}"
            reply.missing[text] = missing_entry(UNKNOWN_METRIC, f"{text} is no ratio", step)
            continue
        finding = look_up(source, text, window)
        reply.missing |= finding.missing
        rows = [_ratio_row(source.company, finding.name, figure, options) for figure in finding.found.headline]
        if rows:
            reply.results += rows
            reply.put(text, points_of(rows))
    if not reply.results:
        raise nothing(not_found, reply.missing, reply.source)
    return reply


def _ratio_row(company: Company, name: str, figure: Figure, options: FigureOptions) -> dict[str, Any]:
    row = row_of(company, name, figure, options)
    del row["metric_name"], row["xbrl_tag"]
    quarter = figure.fiscal_quarter if figure.period == QUARTER else None
    return row | {"ratio_name": name, "value": round(row["value"], _RATIO_DIGITS), "fiscal_quarter": quarter}


def time_series(
    library: FactLibrary, ticker: str, text: str, window: PeriodFilter, frequency: str | None, options: FigureOptions
) -> Reply:
    """Return one metric over time; without a frequency, whichever length the window's headline has.

    Raises:
        DataNotFound: there is none.
    """
    not_found = f"No time series data found for {ticker} and metric {text}"
    source = open_company(library, ticker, not_found, options)
    finding = look_up(source, text, window, frequency)
    whose = source_of(source.company, as_of=options.as_of)
    if not finding.found.headline:
        raise nothing(not_found, finding.missing, whose)
    rows = [row_of(source.company, finding.name, figure, options) for figure in finding.found.headline]
    return Reply(rows, {text: points_of(rows)}, SERIES, finding.missing, whose)


def fact_history(library: FactLibrary, ticker: str, text: str, window: PeriodFilter, options: FigureOptions) -> Reply:
    """Return each value that was stated for the periods of a window, oldest first, each difference named.

    Raises:
        DataNotFound: there is none.
    """
    not_found = f"No financial facts found for {ticker}"
    source = open_company(library, ticker, not_found, options)
    finding = look_up(source, text, window)
    reply = Reply([], source=source_of(source.company, as_of=options.as_of), missing=finding.missing)
    for figure in finding.found.figures:
        reply.results += [
            cited_row(source.company, figure, revision.fact)
            | {
                "metric_name": finding.name,
                "value": revision.value,
                "kind": revision.kind,
                "xbrl_tag": revision.fact.concept,
            }
            for revision in figure.values
        ]
    if not reply.results:
        computed = missing_entry(NOT_REPORTED, f"{text} is computed, not filed", "Ask for the history of its inputs")
        raise nothing(not_found, reply.missing or {text: computed}, reply.source)
    return reply


def compare(
    library: FactLibrary,
    tickers: Sequence[str],
    metrics: Sequence[str],
    window: PeriodFilter,
    options: FigureOptions,
) -> Reply:
    """Return the figures of some metrics at several companies, ``data`` by ticker.

    Raises:
        DataNotFound: no company has any of them.
    """
    not_found = f"No financial facts found for {', '.join(tickers)}"
    reply = Reply([], data={})
    companies: list[Company] = []
    for ticker in dict.fromkeys(tickers):
        company = library.find_company(ticker)
        if company is None:
            reply.missing[ticker] = missing_ticker(library, ticker)
            continue
        companies.append(company)
        own = Reply([])
        for text in dict.fromkeys(metrics):
            finding = look_up(CompanyFigures(library, company, options), text, window)
            reply.missing |= {f"{ticker}.{name}": entry for name, entry in finding.missing.items()}
            if finding.points:
                own.put(text, finding.points)
                reply.results += [row_of(company, finding.name, figure, options) for figure in finding.found.headline]
        if own.data:
            reply.data = {**(reply.data or {}), ticker: own.data}
            reply.value_mode = join_modes(reply.value_mode, own.value_mode)
    if companies:
        reply.source = source_of(*companies, as_of=options.as_of)
    if not reply.results:
        raise nothing(not_found, reply.missing, reply.source)
    notes = []
    if len(ends := {row["end_date"] for row in reply.results}) > 1:
        notes.append("The periods end on different days: " + ", ".join(sorted(ends)))
    if len(units := {row["unit"] for row in reply.results}) > 1:
        notes.append("The units differ and were not converted: " + ", ".join(sorted(units)))
    if notes:
        reply.extra["notes"] = notes
    return reply


def company_info(library: FactLibrary, ticker: str | None) -> Reply:
    """Return one company, or all of them.

    Raises:
        DataNotFound: there is none of that ticker.
    """
    if ticker is not None:
        companies = [open_company(library, ticker, f"No company info found for {ticker}").company]
    else:
        companies = library.list_companies()
    if not companies:
        raise nothing("No company info found for any company", {})
    return Reply([_company_row(company) for company in companies], source=source_of(*companies))


def metrics(library: FactLibrary, ticker: str, category: str | None, as_of: str | None = None) -> Reply:
    """Return the metric words that a company has figures for, and the tags behind them; then its other tags.

    Raises:
        DataNotFound: there are none in the category.
    """
    not_found = f"No metrics found for {ticker}" if category is None else f"No metrics found for category: {category}"
    source = open_company(library, ticker, not_found)
    filed = source.concepts
    if as_of is not None:
        known = source.list_concepts_known(as_of)
        filed = {concept: label for concept, label in filed.items() if concept in known}
    words: list[tuple[str | None, str, str]] = [
        (metric.name, metric.statement, concept) for metric in list_metrics() for concept in metric.concepts
    ]
    named = {concept for *_, concept in words}
    words += [(None, "other", concept) for concept in filed if concept not in named]
    rows = [
        {"xbrl_tag": concept, "standard_metric_name": name, "category": statement, "description": filed[concept]}
        for name, statement, concept in words
        if concept in filed and category in (None, statement)
    ]
    if not rows:
        raise nothing(not_found, {}, source_of(source.company, as_of=as_of))
    return Reply(rows, source=source_of(source.company, as_of=as_of))


def _company_row(company: Company) -> dict[str, Any]:
    return {
        "ticker": company.ticker,
        "tickers": list(company.tickers),
        "name": company.name,
        "cik": company.padded_cik,
        "sic": company.sic,
        "sector": None,
        "industry": company.industry,
        "exchange": company.exchange,
        "currency": company.currency,
        "dataset": company.dataset,
        "first_period_end": company.first_end,
        "complete_through": company.complete_through,
    }
