"""Answer queries about figures, companies and metrics.

Each raises DataNotFound, with every reason, if it finds nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from fingerpost.errors import DataNotFound
from fingerpost.filings.concepts import RATIO, Metric, list_metrics, list_recipes
from fingerpost.filings.figure import ORIGINAL, SAMPLE, Company, Fact, Figure
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.lookup import ANNUAL, look_up
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import INSTANT, QUARTER, YEAR
from fingerpost.filings.query_params import (
    CompaniesParams,
    CompanyInfoParams,
    CompareParams,
    FactHistoryParams,
    FinancialFactsQuery,
    FinancialRatiosParams,
    MetricsParams,
    StatementParams,
    TimeSeriesParams,
)
from fingerpost.filings.reasons import load_hint, missing_figure, missing_tag, open_company
from fingerpost.filings.reply import Reply, cited_row, missing_entry, no_result, points_of, source_of
from fingerpost.filings.revisions import FRAMEWORKS, is_rounding

_RATIO_DIGITS = 6
# The totals of each statement, the main one first. A statement without its main total has the other lines.
TOTALS: Mapping[str, tuple[str, ...]] = {
    "income": ("Revenue", "NetIncome"),
    "balance": ("Assets", "StockholdersEquity", "LiabilitiesAndEquity"),
    "cash_flow": ("OperatingCashFlow", "InvestingCashFlow", "FinancingCashFlow"),
}


def financial_facts(library: FactLibrary, params: FinancialFactsQuery) -> Reply:
    not_found = f"No financial facts found for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    reply = Reply([], data={}, source=source.provenance)
    for text in dict.fromkeys(params.metrics):
        finding = look_up(source, text, params.period_filter)
        reply.missing |= finding.missing
        reply.results += [source.row_of(finding.name, figure) for figure in finding.found.figures]
        if finding.points:
            reply.put(text, finding.points, is_series=params.period_filter.count > 1)
    return reply.require_rows(not_found)


def financial_ratios(library: FactLibrary, params: FinancialRatiosParams) -> Reply:
    """Return recipes of a company for the headline periods of a window; without names, all ratios."""
    not_found = f"No financial ratios found for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    reply = Reply([], data={}, source=source.provenance)
    ratios = [recipe.name for recipe in list_recipes() if recipe.statement == RATIO]
    for text in dict.fromkeys(params.ratios or ratios):
        if source.find_metric(text) not in list_recipes():
            step = f"The ratios are {', '.join(ratios)}"
            reply.missing[text] = missing_entry("unknown_metric", f"{text} is not a ratio", step)
            continue
        finding = look_up(source, text, params.period_filter)
        reply.missing |= finding.missing
        rows = [_ratio_row(source, finding.name, figure) for figure in finding.found.headline]
        if rows:
            reply.results += rows
            reply.put(text, points_of(rows), is_series=params.period_filter.count > 1)
    return reply.require_rows(not_found)


def _ratio_row(source: CompanyFigures, name: str, figure: Figure) -> dict[str, Any]:
    row = source.row_of(name, figure)
    del row["metric_name"], row["xbrl_tag"]
    quarter = figure.fiscal_quarter if figure.period == QUARTER else None
    return row | {"ratio_name": name, "value": round(row["value"], _RATIO_DIGITS), "fiscal_quarter": quarter}


def time_series(library: FactLibrary, params: TimeSeriesParams) -> Reply:
    """Return one metric over time; without a frequency, the headline decides the length of period."""
    text = params.metric
    not_found = f"No time series data found for {params.ticker} and metric {text}"
    source = open_company(library, params.ticker, not_found, params.options)
    window = source.locate(params.period_filter)
    finding = look_up(source, text, window)
    if not window.frequency and window.year is None and any(figure.period == YEAR for figure in finding.found.headline):
        finding = look_up(source, text, replace(window, frequency=ANNUAL))
    rows = [source.row_of(finding.name, figure) for figure in finding.found.headline]
    reply = Reply(rows, missing=finding.missing, source=source.provenance)
    reply.put(text, finding.points, is_series=True)
    return reply.require_rows(not_found)


def fact_history(library: FactLibrary, params: FactHistoryParams) -> Reply:
    """Return every stated value for the periods of a window, oldest first, with the kind of each change."""
    text, not_found = params.metric, f"No financial facts found for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    finding = look_up(source, text, params.period_filter)
    reply = Reply([], source=source.provenance, missing=finding.missing)
    for figure in finding.found.figures:
        for revision in figure.values:
            stated = {"value": revision.value, "kind": revision.kind, "xbrl_tag": revision.fact.concept}
            row = cited_row(source.company, figure, revision.fact)
            reply.results.append(row | {"metric_name": finding.name} | stated)
    if not reply.results and not reply.missing:
        step = "Get the history of its inputs"
        reply.missing[text] = missing_entry("not_reported", f"{text} is computed, not filed", step)
    return reply.require_rows(not_found)


def compare(library: FactLibrary, params: CompareParams) -> Reply:
    not_found = f"No financial facts found for {', '.join(params.tickers)}"
    reply = Reply([], data={})
    companies: list[Company] = []
    frameworks: set[str] = set()
    for ticker in dict.fromkeys(params.tickers):
        try:
            source = open_company(library, ticker, not_found, params.options)
            period = source.locate(params.period_filter)
        except DataNotFound as error:
            (reply.missing[ticker],) = error.details["missing"].values()
            continue
        companies.append(source.company)
        own = Reply([])
        for text in dict.fromkeys(params.metrics):
            finding = look_up(source, text, period)
            reply.missing |= {f"{ticker}.{name}": entry for name, entry in finding.missing.items()}
            if finding.points:
                own.put(text, finding.points, is_series=period.count > 1)
                reply.results += [source.row_of(finding.name, figure) for figure in finding.found.headline]
                frameworks |= {name for figure in finding.found.headline for name in figure.taxonomies & FRAMEWORKS}
        if own.data:
            reply.data = {**(reply.data or {}), ticker: own.data}
    if companies:
        reply.source = source_of(*companies, as_of=params.as_of)
    for note, values in (
        ("The periods end on different days", {row["end_date"] for row in reply.results}),
        ("The units differ and were not converted", {row["unit"] for row in reply.results}),
        ("The accounting frameworks differ", frameworks),
    ):
        if len(values) > 1:
            reply.extra.setdefault("notes", []).append(f"{note}: {', '.join(sorted(values))}")
    return reply.require_rows(not_found)


def statement(library: FactLibrary, params: StatementParams) -> Reply:
    """Return the lines of a statement for one period; without a period, for the newest fiscal year.

    A line that is not reported is listed in ``missing``, never computed.
    """
    kind, not_found = params.statement, f"No financial facts found for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    company, window = source.company, source.locate(params.period_filter)
    lines = [metric for metric in list_metrics() if metric.statement == kind]
    headlines = {metric.name: source.select(metric, window).headline for metric in lines}
    newest = _newest(headlines)
    if newest is None:
        anchor = next(metric for metric in lines if metric.name == TOTALS[kind][0])
        raise no_result(not_found, {anchor.name: missing_figure(source, anchor, window)}, source.provenance)
    reply = Reply([], data={}, source=source.provenance, extra={"statement": kind})
    found = {metric.name: _find_line(source, metric, newest) for metric in lines}
    filing = _choose_filing(found, TOTALS[kind], is_original=params.vintage == ORIGINAL)
    for metric in lines:
        line = found[metric.name]
        if line is not None:
            line = _as_stated(source, line, filing)
            reply.results.append(source.row_of(metric.name, line))
            reply.put(metric.name, points_of(reply.results[-1:]))
        elif company.dataset == SAMPLE:
            message = f"the sample does not include {metric.name}"
            reply.missing[metric.name] = missing_entry("outside_sample", message, load_hint(company.ticker))
        else:
            reply.missing[metric.name] = missing_tag(source, metric, PeriodFilter.of(newest))
    stated = [figure for headline in headlines.values() for figure in headline if not figure.is_cover]
    ends = {figure.end for figure in stated if figure.period == newest.period}
    if len(ends) > 1:
        reply.extra["notes"] = [f"{len(ends)} periods lie in the window; this is the newest, to {newest.end}"]
    return reply


def _newest(headlines: Mapping[str, Sequence[Figure]]) -> Figure | None:
    """Return a figure of the newest period that has at least half as many lines as the fullest one."""
    counts = Counter(
        (figure.end, figure.period) for headline in headlines.values() for figure in headline if not figure.is_cover
    )
    if not counts:
        return None
    enough = max(counts.values()) / 2
    chosen = max(period for period, count in counts.items() if count >= enough)
    figures = (figure for headline in headlines.values() for figure in headline)
    return next(figure for figure in figures if (figure.end, figure.period) == chosen)


def _find_line(source: CompanyFigures, metric: Metric, newest: Figure) -> Figure | None:
    """Return the line of a statement's period; a number from the cover page has another date."""
    when = (newest.end, newest.period)
    lines = [figure for figure in source.series(metric).figures if (figure.end, figure.period) == when]
    if not lines and newest.period == INSTANT:
        found = source.select(metric, PeriodFilter.of(newest)).headline
        lines = [figure for figure in found if figure.is_cover]
    return lines[0] if lines else None


def _choose_filing(lines: Mapping[str, Figure | None], totals: Sequence[str], *, is_original: bool) -> Fact | None:
    """Return a fact of the newest filing (for originals, the first) that states most of the totals.

    A later filing with few of the other lines only repeats totals in a table of several periods.
    """
    facts = {
        name: figure.headlines[:1] if is_original else figure.headlines
        for name, figure in lines.items()
        if figure is not None
    }
    of_totals = [fact for name in totals for fact in facts.get(name, ())]
    if not is_original:
        stated = Counter(fact.accession for line in facts.values() for fact in line)
        of_full_filings = [fact for fact in of_totals if stated[fact.accession] >= max(stated.values()) / 2]
        of_totals = of_full_filings or of_totals
    counts = Counter(fact.accession for fact in of_totals)
    complete = [fact for fact in of_totals if counts[fact.accession] == max(counts.values())]
    choose = min if is_original else max
    return choose(complete, key=lambda fact: (fact.filed, fact.accession)) if complete else None


def _as_stated(source: CompanyFigures, line: Figure, filing: Fact | None) -> Figure:
    """Return a line as the statement's filing has it, or with a note if it is from another filing.

    An original line has its first value.
    """
    if filing is None or line.is_cover or not line.headlines:
        return line
    stated = (line.as_filed or line).value
    own = next((fact for fact in line.headlines if fact.accession == filing.accession), None)
    if own is None:
        return line.with_note(
            f"from another filing: {filing.form} {filing.accession} states the totals but not this line"
        )
    if own.taxonomy == line.fact.taxonomy and (own.value == stated or is_rounding(stated, own.value)):
        return line
    if source.options.vintage == ORIGINAL:
        return line.with_note(f"from an earlier filing: {own.form} {own.accession} states {own.value}")
    return source.restate(line, own)


def company_info(library: FactLibrary, params: CompanyInfoParams | CompaniesParams) -> Reply:
    companies = library.list_companies()
    if isinstance(params, CompanyInfoParams) and params.ticker is not None:
        companies = [open_company(library, params.ticker, f"No company info found for {params.ticker}").company]
    reply = Reply([_company_row(company) for company in companies], source=source_of(*companies))
    if params.as_of is not None:
        reply.extra["notes"] = ["Company information has no vintages, so as_of was ignored"]
    return reply


def metrics(library: FactLibrary, params: MetricsParams) -> Reply:
    category, as_of = params.category, params.as_of
    of = params.ticker if category is None else f"category: {category}"
    not_found = f"No metrics found for {of}"
    source = open_company(library, params.ticker, not_found)
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
    return Reply(rows, source=source_of(source.company, as_of=as_of)).require_rows(not_found)


def _company_row(company: Company) -> dict[str, Any]:
    row = asdict(company) | {"cik": company.padded_cik, "tickers": list(company.tickers), "sector": None}
    row["first_period_end"] = row.pop("first_end")
    del row["retrieved_at"]
    return row
