"""A statement: what a company reports of income, balance sheet or cash flows for one fiscal period.

It comes from the newest filing that states its totals. A line that this filing lacks is marked.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from fingerpost.filings.company_figures import CompanyFigures
from fingerpost.filings.concepts import Metric, list_metrics
from fingerpost.filings.figure import ORIGINAL, SAMPLE, Fact, Figure, FigureOptions
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
from fingerpost.filings.revisions import is_rounding

# The totals of a statement. It is known by the first; if a company does not tag it, the other lines make a statement.
TOTALS: Mapping[str, tuple[str, ...]] = {
    "income": ("Revenue", "NetIncome"),
    "balance": ("Assets", "StockholdersEquity", "LiabilitiesAndEquity"),
    "cash_flow": ("OperatingCashFlow", "InvestingCashFlow", "FinancingCashFlow"),
}


def statement(library: FactLibrary, ticker: str, kind: str, window: PeriodFilter, options: FigureOptions) -> Reply:
    """Return the lines of a statement for one period; without a period, the newest fiscal year.

    A line that is not reported is counted in ``missing``, never computed.

    Raises:
        DataNotFound: the period has none of the lines.
    """
    not_found = f"No financial facts found for {ticker}"
    source = open_company(library, ticker, not_found, options)
    company = source.company
    lines = [metric for metric in list_metrics() if metric.statement == kind]
    headlines = {metric.name: source.select(metric, window).headline for metric in lines}
    newest = _newest(headlines)
    if newest is None:
        anchor = next(metric for metric in lines if metric.name == TOTALS[kind][0])
        raise nothing(
            not_found, {anchor.name: missing_figure(source, anchor, window)}, source_of(company, as_of=options.as_of)
        )
    reply = Reply([], data={}, source=source_of(company, as_of=options.as_of), extra={"statement": kind})
    found = {metric.name: _find_line(source, metric, newest) for metric in lines}
    filing = _choose_filing(found, TOTALS[kind], is_original=options.vintage == ORIGINAL)
    for metric in lines:
        line = found[metric.name]
        if line is not None:
            line = _as_stated(source, line, filing)
            reply.results.append(row_of(company, metric.name, line, options))
            reply.put(metric.name, points_of(reply.results[-1:]))
        elif company.dataset == SAMPLE:
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


def _choose_filing(lines: Mapping[str, Figure | None], totals: Sequence[str], *, is_original: bool) -> Fact | None:
    """Return a fact of the newest filing that states most of the totals, or of the first that stated most of them.

    A later filing with few of the other lines repeats the totals in a table of quarters or of several years.
    """
    facts = {
        name: figure.headlines[:1] if is_original else figure.headlines
        for name, figure in lines.items()
        if figure is not None
    }
    of_totals = [fact for name in totals for fact in facts.get(name, ())]
    if not is_original:
        stated = Counter(fact.accession for line in facts.values() for fact in line)
        whole = [fact for fact in of_totals if stated[fact.accession] >= max(stated.values()) / 2]
        of_totals = whole or of_totals
    counts = Counter(fact.accession for fact in of_totals)
    complete = [fact for fact in of_totals if counts[fact.accession] == max(counts.values())]
    choose = min if is_original else max
    return choose(complete, key=lambda fact: (fact.filed, fact.accession)) if complete else None


def _as_stated(source: CompanyFigures, line: Figure, filing: Fact | None) -> Figure:
    """Return a line as the statement's filing has it, or marked if it is from another one.

    An original line stays as its first filing has it.
    """
    if filing is None or line.is_cover or not line.headlines:
        return line
    stated = (line.as_filed or line).value
    own = next((fact for fact in line.headlines if fact.accession == filing.accession), None)
    if own is None:
        lacking = f"{filing.form} {filing.accession} states the totals but not this line"
        return line.with_note(f"from another filing: {lacking}")
    if own.value == stated or is_rounding(stated, own.value):
        return line
    if source.options.vintage == ORIGINAL:
        return line.with_note(f"from an earlier filing: {own.form} {own.accession} states {own.value}")
    return source.restate(line, own)
