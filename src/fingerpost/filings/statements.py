"""A statement: what a company reports of income, balance sheet or cash flows for one fiscal period."""

from collections import Counter
from collections.abc import Mapping, Sequence

from fingerpost.filings.company_figures import CompanyFigures
from fingerpost.filings.concepts import Metric, list_metrics
from fingerpost.filings.figure import Figure, FigureOptions
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.period_filter import PeriodFilter
from fingerpost.filings.periods import INSTANT
from fingerpost.filings.reasons import (
    OUTSIDE_SAMPLE,
    load_hint,
    missing_entry,
    missing_figure,
    open_company,
    untagged,
)
from fingerpost.filings.reply import Reply, nothing, points_of, row_of, source_of

# The line that a statement is known by; where a company does not tag it, the others still make a statement.
STATEMENTS: Mapping[str, str] = {
    "income": "Revenue",
    "balance": "Assets",
    "cash_flow": "OperatingCashFlow",
}


def statement(library: FactLibrary, ticker: str, kind: str, window: PeriodFilter, options: FigureOptions) -> Reply:
    """Return the lines of a statement for one period; without a period, the newest fiscal year.

    A line that is not reported is counted in ``missing``, never computed.

    Raises:
        DataNotFound: the period has none of the lines.
    """
    nobody = f"No financial facts found for {ticker}"
    source = open_company(library, ticker, nobody, options)
    company = source.company
    lines = [metric for metric in list_metrics() if metric.statement == kind]
    headlines = {metric.name: source.select(metric, window).headline for metric in lines}
    newest = _newest(headlines)
    if newest is None:
        anchor = next(metric for metric in lines if metric.name == STATEMENTS[kind])
        raise nothing(nobody, {anchor.name: missing_figure(source, anchor, window)}, source_of(company))
    reply = Reply([], data={}, source=source_of(company), extra={"statement": kind})
    for metric in lines:
        line = _find_line(source, metric, newest)
        if line is not None:
            reply.results.append(row_of(company, metric.name, line, options))
            reply.put(metric.name, points_of(reply.results[-1:]))
        elif company.dataset == "sample":
            message = f"the sample does not hold {metric.name}"
            reply.missing[metric.name] = missing_entry(OUTSIDE_SAMPLE, message, load_hint(company.ticker))
        else:
            reply.missing[metric.name] = untagged(source, metric, PeriodFilter.of(newest))
    stated = [figure for headline in headlines.values() for figure in headline if not figure.is_cover]
    ends = {figure.end for figure in stated if figure.period == newest.period}
    if len(ends) > 1:
        reply.extra["notes"] = [f"{len(ends)} periods lie in the window; this is the newest, to {newest.end}"]
    return reply


def _newest(headlines: Mapping[str, Sequence[Figure]]) -> Figure | None:
    """Return a figure of the newest period that the statement's own line has, or else most of the lines."""
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
    """Return a line of the statement of a period; a number on its report's cover page bears a day of its own."""
    lines = [figure for figure in source.series(metric).by_end.get(newest.end, ()) if figure.period == newest.period]
    if not lines and newest.period == INSTANT:
        found = source.select(metric, PeriodFilter.of(newest)).headline
        lines = [figure for figure in found if figure.is_cover]
    return lines[0] if lines else None
