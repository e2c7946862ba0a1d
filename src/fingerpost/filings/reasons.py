"""Explain missing figures, companies and metrics with a reason code, a sentence and a next step."""

import re
from typing import Any

from fingerpost.filings.concepts import PER_SHARE, Metric, suggest_metrics
from fingerpost.filings.figure import LATEST_FIGURES, ORIGINAL, SAMPLE, Figure, FigureOptions
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.period_filter import FIRST_DAY, PeriodFilter
from fingerpost.filings.periods import INSTANT, QUARTER, QUARTERS, YEAR
from fingerpost.filings.reply import Reason, build_missing, build_not_found
from fingerpost.filings.revisions import is_renamed_between
from fingerpost.filings.store import normalize_ticker

# A reason lists only the newest ranges of periods.
_MAX_SPANS = 4
# A ticker (with share class: BRK.B, BF-A) or a CIK, without shell metacharacters.
_TICKER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.\-]{0,14}")


def suggest_load(ticker: str) -> str:
    """Return the commands that load a company's figures, with a placeholder for a ticker that is unsafe in a shell."""
    argument = ticker if _TICKER.fullmatch(ticker) else "TICKER"
    return f"Run: fingerpost filings sync {argument}, or fingerpost filings load FILE with its companyfacts file"


def explain_missing_ticker(library: FactLibrary, ticker: str) -> dict[str, Any]:
    listed = library.find_listed_company(ticker)
    if listed is not None:
        return build_missing("not_loaded", f"No figures for {listed[2]} have been loaded yet", suggest_load(listed[0]))
    companies = library.list_companies()
    suggestions = library.suggest_tickers(ticker)
    message = f"No loaded company matches {ticker}"
    without_ticker = [company.ticker for company in companies if company.ticker == f"CIK{company.padded_cik}"]
    if without_ticker and normalize_ticker(ticker) not in without_ticker:
        message = f"{message}; loaded companies without a known ticker: {len(without_ticker)}"
        step = f"Run: fingerpost filings load company_tickers.json, or use a CIK, such as {without_ticker[0]}"
        return build_missing("unknown_ticker", message, step, suggestions)
    if not suggestions:
        message = f"{message}; loaded companies include {', '.join(company.ticker for company in companies[:10])}"
    return _suggest_or_advise("unknown_ticker", message, suggestions, suggest_load(ticker))


def open_company(
    library: FactLibrary, ticker: str, message: str, options: FigureOptions = LATEST_FIGURES
) -> CompanyFigures:
    """Return a company's figures, or raise DataNotFound with an error message that starts with ``message``."""
    company = library.find_company(ticker)
    if company is None:
        raise build_not_found(message, {ticker: explain_missing_ticker(library, ticker)})
    return CompanyFigures(library, company, options)


def explain_missing_metric(source: CompanyFigures, text: str) -> dict[str, Any]:
    message = f"{text} is not a metric, and {source.company.name} has filed no such tag"
    step = 'Use the query type "metrics" to list the names, or use a us-gaap: tag'
    return _suggest_or_advise("unknown_metric", message, suggest_metrics(text, source.list_concepts()), step)


def explain_missing_figure(source: CompanyFigures, metric: Metric, period: PeriodFilter) -> dict[str, Any]:
    company, options = source.company, source.options

    def has_figure(**changes: None) -> bool:
        return bool(source.with_options(**changes).select(metric, period).headline)

    rejected = source.select(metric, period).rejected
    if rejected and (period.quarter is not None or period.is_short):
        return explain_rejected_quarter(source, metric, rejected[-1])
    subject = f"{metric.name} of {company.name} for {period.label}"
    if options.as_of is not None and has_figure(as_of=None):
        message = f"{subject} was filed after {options.as_of}"
        return build_missing("hidden_by_as_of", message, "Use a later as_of, or omit it")
    if options.filing_type is not None and has_figure(filing_type=None):
        return build_missing("other_form", f"no {options.filing_type} states {subject}", "Omit filing_type")
    if company.dataset == SAMPLE:
        message = f"the bundled sample does not include {subject}"
        return build_missing("outside_sample", message, suggest_load(company.ticker))
    year = PeriodFilter(year=period.year)
    if metric.kind == PER_SHARE and period.quarter == QUARTERS and source.select(metric, year).figures:
        message = f"{subject} is not reported, and per-share figures cannot be summed across quarters"
        return build_missing("not_derivable", message, "Use the fiscal year")
    if _is_after_newest_report(source, period):
        message = f"{subject} is not in the SEC's aggregate as of {company.complete_through}"
        step = f"Run: fingerpost filings sync {company.ticker}; newer reports may not be aggregated yet"
        return build_missing("not_in_aggregate_yet", message, step)
    is_early = period.last < company.first_end
    if period.year is not None:
        is_early = period.year < int(company.first_end[:4]) - 1
    if is_early:
        message = f"{company.name} has filed machine-readable figures since {company.first_end}"
        return build_missing("before_xbrl", message, "Use a later period")
    return explain_missing_tag(source, metric, period)


def explain_rejected_quarter(source: CompanyFigures, metric: Metric, rejected: Figure) -> dict[str, Any]:
    period = PeriodFilter.from_figure(rejected)
    parts = " and ".join(
        f"{part.period} {part.value} {part.unit} ({part.fact.concept} in {part.fact.form} {part.fact.accession}"
        f" of {part.fact.filed})"
        for part in rejected.parts
    )
    is_renamed = is_renamed_between(rejected.parts, source.name_changes)
    renamed = " (the company changed its name between these filings)" if is_renamed else ""
    message = (
        f"{metric.name} of {source.company.name} for {period.label} cannot be derived as {rejected.formula}:"
        f" {parts} are not on the same basis{renamed}, and no filing states both"
    )
    original = source.with_options(vintage=ORIGINAL).select(metric, period).headline
    values = [f"{figure.value} {figure.unit}" for figure in original if figure.end == rejected.end]
    step = f"Set vintage to original to get {values[0]}, as first filed" if values else "Use the fiscal year"
    return build_missing("not_comparable", message, step)


def explain_missing_tag(source: CompanyFigures, metric: Metric, period: PeriodFilter) -> dict[str, Any]:
    """Explain that a metric is missing for a period, and list the periods that have a value."""
    subject = f"{metric.name} of {source.company.name} for {period.label}"
    message = f"{subject} has no standard tag in this data set; the filing may state it"
    if periods := _list_periods(source, metric, by_quarter=period.quarter is not None):
        message = f"{subject} is not in this data set, which has this metric for {periods}; the filing may state it"
    return build_missing("not_reported", message, 'Use the query type "metrics" to list its tags, or read the filing')


def _list_periods(source: CompanyFigures, metric: Metric, *, by_quarter: bool) -> str:
    """List the fiscal years or quarters that have a figure, as ranges: "2009 to 2014, 2017"."""
    figures = [figure for figure in source.series(metric).figures if figure.period in (YEAR, QUARTER, INSTANT)]
    periods = {PeriodFilter.from_figure(figure) for figure in figures}
    matching = {period for period in periods if (period.quarter is not None) == by_quarter} or periods
    spans: list[list[PeriodFilter]] = []
    for period in sorted(matching, key=lambda period: period.period):
        if spans and spans[-1][-1].shift(1) == period:
            spans[-1] = [spans[-1][0], period]
        else:
            spans.append([period])
    span_names = [" to ".join(period.period for period in span) for span in spans]
    return f"fiscal {', '.join(span_names[-_MAX_SPANS:])}" if span_names else ""


def _is_after_newest_report(source: CompanyFigures, period: PeriodFilter) -> bool:
    newest = source.with_options(as_of=None).find_newest()
    if newest is None or newest.year is None:
        return False
    newest_period = newest.year, newest.quarter or QUARTERS
    if period.year is None:
        return period.first != FIRST_DAY and source.calendar.find_quarter(period.first) > newest_period
    return (period.year, period.quarter or QUARTERS) > newest_period


def _suggest_or_advise(reason: Reason, message: str, suggestions: list[str], step: str) -> dict[str, Any]:
    step = f"Did you mean {', '.join(suggestions)}?" if suggestions else step
    return build_missing(reason, message, step, suggestions)
