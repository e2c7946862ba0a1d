"""Explain missing figures, companies and metrics: reason code, sentence and next step."""

import re
from typing import Any

from fingerpost.filings.concepts import PER_SHARE, Metric, suggest
from fingerpost.filings.figure import LATEST_FIGURES, ORIGINAL, SAMPLE, Figure, FigureOptions
from fingerpost.filings.library import CompanyFigures, FactLibrary
from fingerpost.filings.period_filter import BY_PERIOD, FIRST_DAY, PeriodFilter
from fingerpost.filings.periods import INSTANT, QUARTER, QUARTERS, YEAR
from fingerpost.filings.reply import Reason, missing_entry, no_result
from fingerpost.filings.store import plain_ticker

# A reason lists only the newest spans of periods.
_MAX_SPANS = 4
# A ticker, a class of shares (BRK.B, BF-A) or a CIK, without characters that a shell interprets.
_TICKER = re.compile(r"[A-Za-z0-9][A-Za-z0-9.\-]{0,14}")


def load_hint(ticker: str) -> str:
    """Return the commands that load a company's figures; an invalid ticker is left out, because they may be run."""
    named = ticker if _TICKER.fullmatch(ticker) else "TICKER"
    return f"Run: fingerpost filings sync {named}, or fingerpost filings load FILE with its companyfacts file"


def missing_ticker(library: FactLibrary, ticker: str) -> dict[str, Any]:
    listed = library.find_listed(ticker)
    if listed is not None:
        return missing_entry("not_loaded", f"No figures of {listed[2]} have been loaded yet", load_hint(listed[0]))
    companies, near = library.list_companies(), library.suggest_tickers(ticker)
    message = f"No company here is called {ticker}"
    unnamed = [company.ticker for company in companies if company.ticker == f"CIK{company.padded_cik}"]
    if unnamed and plain_ticker(ticker) not in unnamed:
        message = f"{message}; the tickers of {len(unnamed)} are not known"
        step = f"Run: fingerpost filings load company_tickers.json, or ask by CIK, such as {unnamed[0]}"
        return missing_entry("unknown_ticker", message, step, near)
    if not near:
        message = f"{message}; there are {', '.join(company.ticker for company in companies[:10])}"
    return _missing_or_near("unknown_ticker", message, near, load_hint(ticker))


def open_company(
    library: FactLibrary, ticker: str, message: str, options: FigureOptions = LATEST_FIGURES
) -> CompanyFigures:
    """Return the figures of a ticker's company, or raise DataNotFound; ``message`` begins its sentence."""
    company = library.find_company(ticker)
    if company is None:
        raise no_result(message, {ticker: missing_ticker(library, ticker)})
    return CompanyFigures(library, company, options)


def missing_metric(source: CompanyFigures, text: str) -> dict[str, Any]:
    message = f"{text} is not a metric, and {source.company.name} files no such tag"
    step = 'The query type "metrics" lists the words; or name a us-gaap: tag'
    return _missing_or_near("unknown_metric", message, suggest(text, source.concepts), step)


def missing_figure(source: CompanyFigures, metric: Metric, period: PeriodFilter) -> dict[str, Any]:
    company, options = source.company, source.options

    def finds(**changes: None) -> bool:
        return bool(source.with_options(**changes).select(metric, period).headline)

    refused = source.select(metric, period).refused
    if refused and (period.quarter is not None or period.is_short):
        return refused_quarter(source, metric, refused[-1])
    what = f"{metric.name} of {company.name} for {period.wording}"
    if options.as_of is not None and finds(as_of=None):
        message = f"{what} was filed after {options.as_of}"
        return missing_entry("hidden_by_as_of", message, "Use a later as_of, or none")
    if options.unit is not None and finds(unit=None):
        units = ", ".join(sorted(source.series(metric).units))
        return missing_entry("other_unit", f"{what} is not reported in {options.unit}", f"Its units are {units}")
    if options.filing_type is not None and finds(filing_type=None):
        return missing_entry("other_form", f"no {options.filing_type} states {what}", "Leave filing_type out")
    if company.dataset == SAMPLE:
        message = f"the sample that ships with fingerpost does not include {what}"
        return missing_entry("outside_sample", message, load_hint(company.ticker))
    year = PeriodFilter(year=period.year)
    if metric.kind == PER_SHARE and period.quarter == QUARTERS and source.select(metric, year).figures:
        message = f"{what} is not reported, and per-share figures do not add up over quarters"
        return missing_entry("not_derivable", message, "Use the fiscal year")
    if _is_later(source, period):
        message = f"{what} is not in the SEC's aggregate as of {company.complete_through}"
        step = f"Run: fingerpost filings sync {company.ticker}; a report filed since may not be aggregated yet"
        return missing_entry("not_in_aggregate_yet", message, step)
    if period.basis == BY_PERIOD and _is_before(source, period):
        message = f"{company.name} files figures as data since {company.first_end}"
        return missing_entry("before_xbrl", message, "Use a later period")
    return missing_tag(source, metric, period)


def refused_quarter(source: CompanyFigures, metric: Metric, refused: Figure) -> dict[str, Any]:
    period = PeriodFilter.of(refused)
    parts = " and ".join(
        f"{part.period} {part.value} {part.unit} ({part.fact.concept} in {part.fact.form} {part.fact.accession}"
        f" of {part.fact.filed})"
        for part in refused.parts
    )
    message = (
        f"{metric.name} of {source.company.name} for {period.wording} is not derived as {refused.formula}:"
        f" {parts} are not on one basis, and no filing states both"
    )
    first = source.with_options(vintage=ORIGINAL).select(metric, period).headline
    values = [f"{figure.value} {figure.unit}" for figure in first if figure.end == refused.end]
    step = f"Send vintage: original for {values[0]}, from the first filings" if values else "Use the fiscal year"
    return missing_entry("not_comparable", message, step)


def missing_tag(source: CompanyFigures, metric: Metric, period: PeriodFilter) -> dict[str, Any]:
    """Return the reason for a metric without a tag in a period, and the periods that have one."""
    what = f"{metric.name} of {source.company.name} for {period.wording}"
    message = f"{what} is not under a standard tag in this data set; the filing may state it"
    if there := _list_periods(source, metric, by_quarter=period.quarter is not None):
        message = f"{what} is not in this data set, which has it for {there}; the filing may state it"
    return missing_entry("not_reported", message, 'The query type "metrics" lists its tags; or read the filing')


def _list_periods(source: CompanyFigures, metric: Metric, *, by_quarter: bool) -> str:
    """Return the fiscal years or quarters with a figure, as spans: "2009 to 2014, 2017"."""
    figures = [figure for figure in source.series(metric).figures if not figure.is_cover]
    periods = {PeriodFilter.of(figure) for figure in figures if figure.period in (YEAR, QUARTER, INSTANT)}
    wanted = {period for period in periods if (period.quarter is not None) == by_quarter} or periods
    spans: list[list[PeriodFilter]] = []
    for period in sorted(wanted, key=lambda period: period.period):
        if spans and spans[-1][-1].after(1) == period:
            spans[-1] = [spans[-1][0], period]
        else:
            spans.append([period])
    named = [" to ".join(period.period for period in span) for span in spans]
    return f"fiscal {', '.join(named[-_MAX_SPANS:])}" if named else ""


def _is_later(source: CompanyFigures, period: PeriodFilter) -> bool:
    newest = source.with_options(as_of=None).find_newest()
    if newest is None or newest.year is None:
        return False
    covered = newest.year, newest.quarter or QUARTERS
    if period.year is None:
        return period.first != FIRST_DAY and source.calendar.quarter_of(period.first) > covered
    return (period.year, period.quarter or QUARTERS) > covered


def _is_before(source: CompanyFigures, period: PeriodFilter) -> bool:
    if period.year is None:
        return period.last < source.company.first_end
    return period.year < int(source.company.first_end[:4]) - 1


def _missing_or_near(reason: Reason, message: str, near: list[str], step: str) -> dict[str, Any]:
    return missing_entry(reason, message, f"Did you mean {', '.join(near)}?" if near else step, near)
