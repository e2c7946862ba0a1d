"""Questions about figures: facts, series over time, histories, comparisons; and which companies and metrics exist."""

from collections.abc import Callable, Sequence
from typing import Any

from fingerpost.filings.concepts import Metric, list_metrics
from fingerpost.filings.figure import Company, Figure, FigureOptions
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import PeriodFilter, Selection
from fingerpost.filings.periods import INSTANT, QUARTER, YEAR, YEAR_TO_DATE
from fingerpost.filings.reasons import missing_figure, missing_metric, missing_ticker, refused_quarter
from fingerpost.filings.reply import Reply, cited_row, mode_of, nothing, row_of, source_of

ANNUAL, QUARTERLY, TO_DATE, INSTANTS = "annual", "quarterly", "ytd", "instant"
_CLASSES = {ANNUAL: (YEAR,), QUARTERLY: (QUARTER,), TO_DATE: YEAR_TO_DATE, INSTANTS: (INSTANT,)}


def get_company(library: FactLibrary, ticker: str, message: str) -> Company:
    """Return a ticker's company.

    Raises:
        DataNotFound: there is none; ``message`` begins the sentence.
    """
    company = library.find_company(ticker)
    if company is None:
        raise nothing(message, {ticker: missing_ticker(library, ticker)})
    return company


def financial_facts(
    library: FactLibrary, ticker: str, metrics: Sequence[str], period_filter: PeriodFilter, options: FigureOptions
) -> Reply:
    """Return the figures of some metrics at a company in a window.

    Raises:
        DataNotFound: none of them was found.
    """
    nobody = f"No financial facts found for {ticker}"
    company = get_company(library, ticker, nobody)
    reply = Reply([], data={}, source=source_of(company))
    scalars = []
    for text in dict.fromkeys(metrics):
        metric, found = _look_up(library, company, text, period_filter, options, reply)
        if metric is None or found is None:
            continue
        reply.results += [row_of(company, metric.name, figure, options) for figure in found.figures]
        if found.headline:
            assert reply.data is not None
            reply.data[text] = value_of(found)
            scalars.append(found.is_scalar)
    if not reply.results:
        raise nothing(nobody, reply.missing, reply.source)
    reply.value_mode = mode_of(scalars)
    return reply


def value_of(found: Selection) -> Any:
    """Return one headline as a number, several as a list (rule F3)."""
    if found.is_scalar:
        return found.headline[0].value
    return [{"end_date": figure.end, "value": figure.value} for figure in found.headline]


def time_series(
    library: FactLibrary,
    ticker: str,
    text: str,
    period_filter: PeriodFilter,
    frequency: str | None,
    options: FigureOptions,
) -> Reply:
    """Return one metric over time; without a frequency, whichever length the window's headline has.

    Raises:
        DataNotFound: there is none.
    """
    nobody = f"No time series data found for {ticker} and metric {text}"
    company = get_company(library, ticker, nobody)
    reply = Reply([], source=source_of(company))
    metric, found = _look_up(library, company, text, period_filter, options, reply)
    if metric is None or found is None:
        raise nothing(nobody, reply.missing, reply.source)
    chosen = found.headline if frequency is None else _of_frequency(library, company, found, frequency)
    if not chosen:
        reply.missing = {text: missing_figure(library, company, metric, period_filter, options)}
        raise nothing(nobody, reply.missing, reply.source)
    reply.missing = {}
    if chosen[0].period == QUARTER:
        reply.missing = _refused_quarters(library, company, metric, text, found, options)
    reply.results = [row_of(company, metric.name, figure, options) for figure in chosen]
    reply.data = {text: [{"end_date": figure.end, "value": figure.value} for figure in chosen]}
    reply.value_mode = mode_of([False])
    return reply


def fact_history(
    library: FactLibrary, ticker: str, text: str, period_filter: PeriodFilter, options: FigureOptions
) -> Reply:
    """Return each value that was stated for the periods of a window, oldest first, each difference named.

    Raises:
        DataNotFound: there is none.
    """
    nobody = f"No financial facts found for {ticker}"
    company = get_company(library, ticker, nobody)
    reply = Reply([], source=source_of(company))
    metric, found = _look_up(library, company, text, period_filter, options, reply)
    if metric is None or found is None:
        raise nothing(nobody, reply.missing, reply.source)
    for figure in found.figures:
        reply.results += _history_of(company, metric, figure)
    if not reply.results:
        missing = {text: missing_figure(library, company, metric, period_filter, options)}
        raise nothing(nobody, missing, reply.source)
    return reply


def compare(
    library: FactLibrary,
    tickers: Sequence[str],
    metrics: Sequence[str],
    period_filter: PeriodFilter,
    options: FigureOptions,
) -> Reply:
    """Return the figures of some metrics at several companies, ``data`` by ticker.

    Raises:
        DataNotFound: no company has any of them.
    """
    nobody = f"No financial facts found for {', '.join(tickers)}"
    reply = Reply([], data={})
    scalars, companies, ends = [], [], set()
    for ticker in dict.fromkeys(tickers):
        company = library.find_company(ticker)
        if company is None:
            reply.missing[ticker] = missing_ticker(library, ticker)
            continue
        companies.append(company)
        values: dict[str, Any] = {}
        own = Reply([])
        for text in dict.fromkeys(metrics):
            metric, found = _look_up(library, company, text, period_filter, options, own)
            if metric is not None and found is not None and found.headline:
                values[text] = value_of(found)
                scalars.append(found.is_scalar)
                reply.results += [row_of(company, metric.name, figure, options) for figure in found.headline]
                ends |= {figure.end for figure in found.headline}
        reply.missing |= {f"{ticker}.{text}": entry for text, entry in own.missing.items()}
        if values:
            assert reply.data is not None
            reply.data[ticker] = values
    if companies:
        reply.source = source_of(*companies)
    if not reply.results:
        raise nothing(nobody, reply.missing, reply.source)
    reply.value_mode = mode_of(scalars)
    notes = []
    if len(ends) > 1:
        notes.append("The periods end on different days: " + ", ".join(sorted(ends)))
    if len(units := {row["unit"] for row in reply.results}) > 1:
        notes.append("The units differ and were not converted: " + ", ".join(sorted(units)))
    if notes:
        reply.extra["notes"] = notes
    return reply


def _look_up(
    library: FactLibrary, company: Company, text: str, period_filter: PeriodFilter, options: FigureOptions, reply: Reply
) -> tuple[Metric | None, Selection | None]:
    """Return a word's metric and what is found of it; say in the reply what is missing."""
    metric = library.find_metric(company, text)
    if metric is None:
        reply.missing[text] = missing_metric(library, company, text)
        return None, None
    found = library.select_figures(company, metric, period_filter, options)
    if not found.headline:
        reply.missing[text] = missing_figure(library, company, metric, period_filter, options)
    elif found.headline[0].period == QUARTER:
        reply.missing |= _refused_quarters(library, company, metric, text, found, options)
    return metric, found


def _refused_quarters(
    library: FactLibrary, company: Company, metric: Metric, text: str, found: Selection, options: FigureOptions
) -> dict[str, dict[str, Any]]:
    return {
        f"{text} {figure.fiscal_year}-Q{figure.fiscal_quarter}": refused_quarter(
            library, company, metric, figure, options
        )
        for figure in found.refused
    }


def _of_frequency(library: FactLibrary, company: Company, found: Selection, frequency: str) -> list[Figure]:
    calendar = library.calendar(company)
    wanted = _CLASSES[frequency]
    keeps: Callable[[Figure], bool] = lambda figure: figure.period in wanted  # noqa: E731
    if all(figure.period == INSTANT for figure in found.figures):
        # A balance has no length: its year is the one that ends there.
        keeps = (lambda figure: calendar.is_year_end(figure.end)) if frequency == ANNUAL else (lambda _figure: True)
    return sorted((figure for figure in found.figures if keeps(figure)), key=lambda figure: (figure.end, figure.start))


def _history_of(company: Company, metric: Metric, figure: Figure) -> list[dict[str, Any]]:
    return [
        cited_row(company, figure, revision.fact)
        | {
            "metric_name": metric.name,
            "value": revision.value,
            "kind": revision.kind,
            "xbrl_tag": revision.fact.concept,
        }
        for revision in figure.values
    ]


def company_info(library: FactLibrary, ticker: str | None) -> Reply:
    """Return one company, or all of them.

    Raises:
        DataNotFound: there is none of that ticker.
    """
    if ticker is not None:
        company = get_company(library, ticker, f"No company info found for {ticker}")
        return Reply([_company_row(company)], source=source_of(company))
    companies = library.list_companies()
    if not companies:
        raise nothing("No company info found for any company", {})
    return Reply([_company_row(company) for company in companies], source=source_of(*companies))


def metrics(library: FactLibrary, ticker: str, category: str | None, as_of: str | None = None) -> Reply:
    """Return the metric words that a company has figures for, and the tags behind them; then its other tags.

    Raises:
        DataNotFound: there are none in the category.
    """
    nobody = f"No metrics found for {ticker}" if category is None else f"No metrics found for category: {category}"
    company = get_company(library, ticker, nobody)
    filed = library.list_concepts(company)
    if as_of is not None:
        known = library.list_concepts_known(company, as_of)
        filed = {concept: label for concept, label in filed.items() if concept in known}
    rows: list[dict[str, Any]] = []
    named = set()
    for metric in list_metrics():
        for concept in metric.concepts:
            if concept in filed and category in (None, metric.statement):
                rows.append(
                    {
                        "xbrl_tag": concept,
                        "standard_metric_name": metric.name,
                        "category": metric.statement,
                        "description": filed[concept],
                    }
                )
            named.add(concept)
    if category in (None, "other"):
        rows += [
            {"xbrl_tag": concept, "standard_metric_name": None, "category": "other", "description": label}
            for concept, label in filed.items()
            if concept not in named
        ]
    if not rows:
        raise nothing(nobody, {}, source_of(company))
    return Reply(rows, source=source_of(company))


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
