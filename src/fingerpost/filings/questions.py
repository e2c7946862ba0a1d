"""Handlers for sec_financial_data's query types about figures, companies and metrics.

A handler that finds no results raises DataNotFound with all reasons.
"""

from dataclasses import asdict, replace
from typing import Any

from fingerpost.errors import DataNotFound
from fingerpost.filings.calculation import ANNUAL, Calculation, Computation, find_figures, mark_basis_changes
from fingerpost.filings.concepts import RATIO, RECIPE, Metric, find_metric, list_metrics, list_recipes
from fingerpost.filings.figure import Company, Figure
from fingerpost.filings.formula import read_formula
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.periods import QUARTER, YEAR
from fingerpost.filings.query_params import (
    CalculateParams,
    CompanyInfoParams,
    CompareParams,
    FactHistoryParams,
    FinancialFactsQuery,
    FinancialRatiosParams,
    MetricsParams,
    TimeSeriesParams,
)
from fingerpost.filings.reasons import open_company
from fingerpost.filings.reply import Reply, build_cited_row, build_missing, build_points, build_source
from fingerpost.filings.revisions import FRAMEWORKS

_RATIO_DIGITS = 6


def financial_facts(library: FactLibrary, params: FinancialFactsQuery) -> Reply:
    not_found = f"No financial facts found for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    reply, window = Reply([], data={}, source=source.provenance), params.period_filter
    for text in dict.fromkeys(params.metrics):
        result = find_figures(source, text, window)
        reply.missing |= result.missing
        reply.results += [source.build_row(result.name, figure) for figure in result.figures]
        if points := build_points(result.headline):
            reply.add_values(text, points, is_series=window.count > 1)
    return reply.require_rows(not_found)


def financial_ratios(library: FactLibrary, params: FinancialRatiosParams) -> Reply:
    """Return a company's rounded ratios for the headline periods; all ratios if none are named."""
    not_found = f"No financial ratios found for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    reply, window = Reply([], data={}, source=source.provenance), params.period_filter
    ratios = [recipe.name for recipe in list_recipes() if recipe.statement == RATIO]
    for text in dict.fromkeys(params.ratios or ratios):
        metric = source.find_metric(text)
        if metric is None or metric.kind != RECIPE:
            next_step = f"The ratios are {', '.join(ratios)}"
            reply.missing[text] = build_missing("unknown_metric", f"{text} is not a ratio", next_step)
            continue
        result = find_figures(source, text, window)
        reply.missing |= result.missing
        figures = [replace(figure, value=round(figure.value, _RATIO_DIGITS)) for figure in result.headline]
        reply.results += [_build_ratio_row(source, result.name, figure) for figure in figures]
        if figures:
            reply.add_values(text, build_points(figures), is_series=window.count > 1)
    return reply.require_rows(not_found)


def _build_ratio_row(source: CompanyFigures, name: str, figure: Figure) -> dict[str, Any]:
    row = source.build_row(name, figure)
    del row["metric_name"], row["xbrl_tag"]
    quarter = figure.fiscal_quarter if figure.period == QUARTER else None
    return row | {"ratio_name": name, "fiscal_quarter": quarter}


def calculate(library: FactLibrary, params: CalculateParams) -> Reply:
    """Return the value of an expression or a recipe for each fiscal period."""
    expression = params.expression
    recipe = find_metric(expression)
    if recipe is None or recipe.kind != RECIPE:
        recipe = Metric(expression, "", RECIPE, expression=expression)
    formula = read_formula(recipe.expression)
    not_found = f"Cannot calculate {expression} for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    reply = Reply([], source=source.provenance)
    periods = source.resolve_period(params.period).list_periods()
    figures: list[Figure] = []
    for period in periods:
        computed = Calculation(source, formula, period, name=expression).compute()
        if isinstance(computed, Computation):
            figures.append(computed.to_figure(recipe))
        else:
            reply.missing |= computed
    figures = mark_basis_changes(sorted(figures, key=lambda figure: (figure.end, figure.period)), source)
    reply.results = [source.build_row(expression, figure) for figure in figures]
    reply.add_values(expression, build_points(figures), is_series=len(periods) > 1)
    return reply.require_rows(not_found)


def time_series(library: FactLibrary, params: TimeSeriesParams) -> Reply:
    """Return one metric over time; if no frequency is given, the headline figures decide the period length."""
    text = params.metric
    not_found = f"No time series data found for {params.ticker} and metric {text}"
    source = open_company(library, params.ticker, not_found, params.options)
    window = source.resolve_period(params.period_filter)
    result = find_figures(source, text, window)
    has_years = any(figure.period == YEAR for figure in result.headline)
    if not window.frequency and window.year is None and has_years:
        result = find_figures(source, text, replace(window, frequency=ANNUAL))
    rows = [source.build_row(result.name, figure) for figure in result.headline]
    reply = Reply(rows, missing=result.missing, source=source.provenance)
    reply.add_values(text, build_points(result.headline), is_series=True)
    return reply.require_rows(not_found)


def fact_history(library: FactLibrary, params: FactHistoryParams) -> Reply:
    """Return all stated values of a metric, oldest first, with the kind of each change."""
    text, not_found = params.metric, f"No financial facts found for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    result = find_figures(source, text, params.period_filter)
    reply = Reply([], source=source.provenance, missing=result.missing)
    for figure in result.figures:
        for revision in figure.values:
            stated = {"value": revision.value, "kind": revision.kind, "xbrl_tag": revision.fact.concept}
            row = build_cited_row(source.company, figure, revision.fact)
            reply.results.append(row | {"metric_name": result.name} | stated)
    if not reply.results and not reply.missing:
        next_step = "Get the history of its inputs"
        reply.missing[text] = build_missing("not_reported", f"{text} is computed, not filed", next_step)
    return reply.require_rows(not_found)


def compare(library: FactLibrary, params: CompareParams) -> Reply:
    not_found = f"No financial facts found for {', '.join(params.tickers)}"
    reply = Reply([], data={})
    companies: list[Company] = []
    frameworks: set[str] = set()
    for ticker in dict.fromkeys(params.tickers):
        try:
            source = open_company(library, ticker, not_found, params.options)
            period = source.resolve_period(params.period_filter)
        except DataNotFound as error:
            (reply.missing[ticker],) = error.details["missing"].values()
            continue
        companies.append(source.company)
        company_reply = Reply([])
        for text in dict.fromkeys(params.metrics):
            result = find_figures(source, text, period)
            reply.missing |= {f"{ticker}.{name}": entry for name, entry in result.missing.items()}
            if points := build_points(result.headline):
                company_reply.add_values(text, points, is_series=period.count > 1)
                reply.results += [source.build_row(result.name, figure) for figure in result.headline]
                frameworks |= {name for figure in result.headline for name in figure.taxonomies & FRAMEWORKS}
        if company_reply.data:
            reply.data = {**(reply.data or {}), ticker: company_reply.data}
    if companies:
        reply.source = build_source(*companies, as_of=params.as_of)
    for note, values in (
        ("The periods end on different days", {row["end_date"] for row in reply.results}),
        ("The units differ and were not converted", {row["unit"] for row in reply.results}),
        ("The accounting frameworks differ", frameworks),
    ):
        if len(values) > 1:
            reply.extra.setdefault("notes", []).append(f"{note}: {', '.join(sorted(values))}")
    return reply.require_rows(not_found)


def company_info(library: FactLibrary, params: CompanyInfoParams) -> Reply:
    companies = library.list_companies()
    if params.ticker is not None:
        companies = [open_company(library, params.ticker, f"No company info found for {params.ticker}").company]
    reply = Reply([_build_company_row(company) for company in companies], source=build_source(*companies))
    if params.as_of is not None:
        reply.extra["notes"] = ["Company information has no vintages, so as_of was ignored"]
    return reply


def metrics(library: FactLibrary, params: MetricsParams) -> Reply:
    category, as_of = params.category, params.as_of
    subject = params.ticker if category is None else f"category: {category}"
    not_found = f"No metrics found for {subject}"
    source = open_company(library, params.ticker, not_found)
    filed = source.list_concepts(as_of)
    concept_rows: list[tuple[str | None, str, str]] = [
        (metric.name, metric.statement, concept) for metric in list_metrics() for concept in metric.concepts
    ]
    standard_concepts = {concept for *_, concept in concept_rows}
    concept_rows += [(None, "other", concept) for concept in filed if concept not in standard_concepts]
    rows = [
        {"xbrl_tag": concept, "standard_metric_name": name, "category": statement, "description": filed[concept]}
        for name, statement, concept in concept_rows
        if concept in filed and category in (None, statement)
    ]
    return Reply(rows, source=build_source(source.company, as_of=as_of)).require_rows(not_found)


def _build_company_row(company: Company) -> dict[str, Any]:
    row = asdict(company) | {"cik": company.padded_cik, "tickers": list(company.tickers), "sector": None}
    row["first_period_end"] = row.pop("first_end")
    del row["retrieved_at"], row["is_quarterly"]
    return row
