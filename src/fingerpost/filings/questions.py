"""Handlers for sec_financial_data's query types about figures, statements, companies and metrics.

A handler raises DataNotFound, with the reasons, if it finds no results.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from fingerpost.errors import DataNotFound
from fingerpost.filings import query_params
from fingerpost.filings.calculation import ANNUAL, find_figures, mark_basis_changes
from fingerpost.filings.concepts import RATIO, Metric, list_metrics
from fingerpost.filings.figure import ORIGINAL, SAMPLE, Company, Fact, Figure
from fingerpost.filings.formula import list_lookups, read_formula
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import YEAR, find_newest_common
from fingerpost.filings.reasons import explain_missing_figure, explain_missing_tag, open_company, suggest_load
from fingerpost.filings.reply import Missing, Reply, build_missing, build_not_found, build_source
from fingerpost.filings.resolver import adjust_for_splits
from fingerpost.filings.revisions import FRAMEWORKS, is_in_shares, is_rounding

# The totals of each statement, with the main total first.
TOTALS: Mapping[str, tuple[str, ...]] = {
    "income": ("Revenue", "NetIncome"),
    "balance": ("Assets", "StockholdersEquity", "LiabilitiesAndEquity"),
    "cash_flow": ("OperatingCashFlow", "InvestingCashFlow", "FinancingCashFlow"),
}
_CompanyParams = query_params.FinancialFactsQuery | query_params.FinancialRatiosParams | query_params.CalculateParams


def financial_facts(library: FactLibrary, params: query_params.FinancialFactsQuery) -> Reply:
    not_found = f"No financial facts found for {params.ticker}"
    return _list_figures(library, params, params.metrics, params.period_filter, not_found)


def financial_ratios(library: FactLibrary, params: query_params.FinancialRatiosParams) -> Reply:
    """Return a company's financial ratios. The default is all ratios."""
    ratios = params.ratios or [recipe.name for recipe in list_metrics(recipes=True) if recipe.statement == RATIO]
    not_found = f"No financial ratios found for {params.ticker}"
    return _list_figures(library, params, ratios, params.period_filter, not_found)


def calculate(library: FactLibrary, params: query_params.CalculateParams) -> Reply:
    """Return the value of an expression or a recipe for each fiscal period."""
    expression = params.expression
    # Reject an invalid expression. Other queries treat it as an unknown metric.
    list_lookups(read_formula(expression))
    not_found = f"Cannot calculate {expression} for {params.ticker}"
    return _list_figures(library, params, [expression], params.period, not_found)


def _list_figures(
    library: FactLibrary, params: _CompanyParams, texts: Iterable[str], window: PeriodFilter, not_found: str
) -> Reply:
    source = open_company(library, params.ticker, not_found, params.options)
    reply = Reply([], data={}, source=source.provenance)
    for text in dict.fromkeys(texts):
        result = find_figures(source, text, window)
        reply.missing |= result.missing
        reply.results += [source.build_row(figure) for figure in result.figures]
        reply.add_values(text, result.headline, is_series=window.count > 1)
    return reply.require_rows(not_found)


def time_series(library: FactLibrary, params: query_params.TimeSeriesParams) -> Reply:
    """Return one metric over time. If the query specifies no frequency, prefer annual values."""
    text = params.metric
    not_found = f"No time series data found for {params.ticker} and metric {text}"
    source = open_company(library, params.ticker, not_found, params.options)
    window = source.resolve_period(params.period_filter)
    result = find_figures(source, text, window)
    has_years = any(figure.period == YEAR for figure in result.headline)
    if not window.frequency and window.year is None and has_years:
        result = find_figures(source, text, replace(window, frequency=ANNUAL))
    rows = [source.build_row(figure) for figure in result.headline]
    reply = Reply(rows, missing=result.missing, source=source.provenance)
    reply.add_values(text, result.headline, is_series=True)
    return reply.require_rows(not_found)


def compare(library: FactLibrary, params: query_params.CompareParams) -> Reply:
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
            company_reply.add_values(text, result.headline, is_series=period.count > 1)
            reply.results += [source.build_row(figure) for figure in result.headline]
            frameworks |= {name for figure in result.headline for name in figure.taxonomies & FRAMEWORKS}
        if company_reply.data:
            reply.data = {**(reply.data or {}), ticker: company_reply.data}
    if companies:
        reply.source = build_source(*companies, as_of=params.as_of)
    ends = {(row["end_date"], row["ticker"]) for row in reply.results}
    end_counts = Counter(end for end, _ in ends)
    ticker_count = len({ticker for _, ticker in ends})
    units = {(row["metric_name"], row["unit"]) for row in reply.results}
    unit_counts = Counter(name for name, _ in units)
    differences = {
        "The periods end on different days": {end for end, count in end_counts.items() if count < ticker_count},
        "The units differ and were not converted": {unit for name, unit in units if unit_counts[name] > 1},
        "The accounting frameworks differ": frameworks,
    }
    reply.notes = [f"{note}: {', '.join(sorted(values))}" for note, values in differences.items() if len(values) > 1]
    return reply.require_rows(not_found)


def statement(library: FactLibrary, params: query_params.StatementParams) -> Reply:
    """Return the lines of a statement for one or more periods, by default the newest fiscal year.

    Lines that the company did not report are listed in ``missing``; they are not computed.
    """
    kind = params.statement
    not_found = f"No financial facts found for {params.ticker}"
    source = open_company(library, params.ticker, not_found, params.options)
    periods = source.resolve_period(params.period).list_periods()
    metrics = [metric for metric in list_metrics() if metric.statement == kind]
    columns = [_build_column(source, metrics, TOTALS[kind], period) for period in periods]
    if not any(lines for lines, _ in columns):
        raise build_not_found(not_found, columns[-1][1], source.provenance)
    reply = Reply([], data={}, source=source.provenance, extra={"statement": kind})
    for metric in metrics:
        row_figures = mark_basis_changes([lines[metric.name] for lines, _ in columns if metric.name in lines], source)
        reply.results += [source.build_row(line) for line in row_figures]
        reply.add_values(metric.name, row_figures, is_series=len(periods) > 1)
    common = set.intersection(*(set(missing) for _, missing in columns))
    for period, (_, missing) in zip(periods, columns, strict=True):
        # A line that is missing from all periods gets a single entry.
        names = {name: name if name in common else f"{name} {period.period}" for name in missing}
        reply.missing |= {names[name]: entry for name, entry in missing.items()}
    return reply


def _build_column(
    source: CompanyFigures, metrics: Sequence[Metric], totals: Sequence[str], period: PeriodFilter
) -> tuple[dict[str, Figure], Missing]:
    """Return a period's lines, and the reasons for its missing lines or, without any lines, for the main total."""
    headlines = [figure for metric in metrics for figure in source.select(metric, period).headline]
    # Choose the newest period with at least half as many lines as the fullest period.
    counts = Counter((figure.end, figure.period) for figure in headlines)
    period_key = find_newest_common(counts, 0.5) if counts else None
    newest = next((figure for figure in headlines if (figure.end, figure.period) == period_key), None)
    if newest is None:
        anchor = next(metric for metric in metrics if metric.name == totals[0])
        return {}, {anchor.name: explain_missing_figure(source, anchor, period)}
    candidates: dict[str, Figure | None] = {}
    for metric in metrics:
        same_period = (figure for figure in source.series(metric).figures if (figure.end, figure.period) == period_key)
        candidates[metric.name] = next(same_period, None)
    filing = _choose_filing(candidates, totals, is_original=source.options.vintage == ORIGINAL)
    lines: dict[str, Figure] = {}
    missing: Missing = {}
    for metric in metrics:
        line = candidates[metric.name]
        if line is not None:
            lines[metric.name] = _match_filing(source, line, filing)
        elif source.company.dataset == SAMPLE:
            message = f"the sample does not include {metric.name}"
            missing[metric.name] = build_missing("outside_sample", message, suggest_load(source.company.ticker))
        else:
            missing[metric.name] = explain_missing_tag(source, metric, PeriodFilter.from_figure(newest))
    return lines, missing


def _choose_filing(lines: Mapping[str, Figure | None], totals: Sequence[str], *, is_original: bool) -> Fact | None:
    """Return a fact of the newest filing that states the most totals (for original values, the oldest).

    Unless ``is_original``, skip filings with fewer than half the lines of the fullest filing, because they only repeat
    totals.
    """
    facts = {
        name: figure.headlines[:1] if is_original else figure.headlines
        for name, figure in lines.items()
        if figure is not None
    }
    total_facts = [fact for name in totals for fact in facts.get(name, ())]
    if not is_original:
        sizes = Counter(fact.accession for line in facts.values() for fact in line)
        full_filing_facts = [fact for fact in total_facts if sizes[fact.accession] >= max(sizes.values()) / 2]
        total_facts = full_filing_facts or total_facts
    counts = Counter(fact.accession for fact in total_facts)
    complete = [fact for fact in total_facts if counts[fact.accession] == max(counts.values())]
    choose = min if is_original else max
    return choose(complete, key=lambda fact: (fact.filed, fact.accession)) if complete else None


def _match_filing(source: CompanyFigures, line: Figure, filing: Fact | None) -> Figure:
    """Return a line with the value from the statement's filing, or with a note if that filing does not state it.

    For the vintage ``original``, the value never changes; a note reports the filing's value.
    """
    if filing is None or not line.headlines:
        return line
    filed_value = (line.as_filed or line).value
    fact = next((fact for fact in line.headlines if fact.accession == filing.accession), None)
    if fact is None:
        return line.with_note(
            f"from another filing: {filing.form} {filing.accession} states the totals but not this line"
        )
    if fact.taxonomy == line.fact.taxonomy and (fact.value == filed_value or is_rounding(filed_value, fact.value)):
        return line
    if source.options.vintage == ORIGINAL:
        return line.with_note(f"from an earlier filing: {fact.form} {fact.accession} states {fact.value}")
    splits = source.splits if is_in_shares(line.unit) else ()
    return adjust_for_splits((line.as_filed or line).with_fact(fact), splits, source.options)


def company_info(library: FactLibrary, params: query_params.CompanyInfoParams) -> Reply:
    companies = library.list_companies()
    if params.ticker is not None:
        companies = [open_company(library, params.ticker, f"No company info found for {params.ticker}").company]
    notes = ["Company information has no vintages, so as_of was ignored"] if params.as_of else []
    rows = []
    for company in companies:
        row = asdict(company) | {"cik": company.padded_cik, "tickers": list(company.tickers), "sector": None}
        row["first_period_end"] = row.pop("first_end")
        del row["retrieved_at"], row["is_quarterly"]
        rows.append(row)
    return Reply(rows, source=build_source(*companies), notes=notes)


def metrics(library: FactLibrary, params: query_params.MetricsParams) -> Reply:
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
