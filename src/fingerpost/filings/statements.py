"""A statement: what a company reports of income, balance sheet or cash flows for one fiscal period."""

from collections.abc import Mapping

from fingerpost.filings.concepts import find_metric, list_metrics
from fingerpost.filings.figure import View
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.questions import get_company
from fingerpost.filings.reasons import NOT_REPORTED, OUTSIDE_SAMPLE, load_hint, missing_figure
from fingerpost.filings.reply import Reply, mode_of, nothing, source_of
from fingerpost.filings.rows import row_of
from fingerpost.filings.window import Window

STATEMENTS: Mapping[str, str] = {
    "income": "Revenue",
    "balance": "Assets",
    "cash_flow": "OperatingCashFlow",
}


def statement(library: FactLibrary, ticker: str, kind: str, window: Window, view: View) -> Reply:
    """Return the lines of a statement for one period; without a period, the newest fiscal year.

    A line that is not reported is counted in ``missing``, never computed.

    Raises:
        DataNotFound: the period has none of the lines.
    """
    nobody = f"No financial facts found for {ticker}"
    company = get_company(library, ticker, nobody)
    source = source_of(company)
    anchor = find_metric(STATEMENTS[kind])
    assert anchor is not None
    headline = library.look(company, anchor, window, view).headline
    if not headline:
        raise nothing(nobody, {anchor.name: missing_figure(library, company, anchor, window, view)}, source)
    newest = headline[-1]
    reply = Reply([], data={}, source=source)
    reply.extra["statement"] = kind
    assert reply.data is not None
    for metric in list_metrics():
        if metric.statement != kind:
            continue
        series = library.series(company, metric, view)
        lines = [figure for figure in series.by_end.get(newest.end, ()) if figure.period == newest.period]
        if lines:
            reply.results.append(row_of(company, metric.name, lines[0], view))
            reply.data[metric.name] = lines[0].value
        elif company.dataset == "sample":
            reply.missing[metric.name] = {
                "reason": OUTSIDE_SAMPLE,
                "message": f"the sample does not hold {metric.name}",
                "next_step": load_hint(company.ticker),
            }
        else:
            reply.missing[metric.name] = {
                "reason": NOT_REPORTED,
                "message": f"{company.name} reports no {metric.name} for the period that ends on {newest.end}",
                "next_step": "Nothing: it is not reported under a tag that stands for it",
            }
    reply.value_mode = mode_of([True])
    if len(headline) > 1:
        reply.extra["notes"] = [f"{len(headline)} periods lie in the window; this is the newest, to {newest.end}"]
    return reply
