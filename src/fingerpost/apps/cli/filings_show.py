"""``fingerpost filings AAPL revenue 2022``: figures as a person asks for them, each with its filing."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import Json, ask, open_application
from fingerpost.apps.cli.filings_words import (
    REPORTS,
    find_last_day,
    find_reports,
    is_fiscal_known,
    join_periods,
    read_words,
    say_period,
    say_unseen,
)
from fingerpost.apps.cli.output import complain, new_console, new_table, plain, print_json, print_line, typed
from fingerpost.apps.cli.terminal_words import in_terminal_words
from fingerpost.errors import ToolError

if TYPE_CHECKING:
    from fingerpost.apps.wiring import Application
    from fingerpost.contract.published import Answer

_SHOW = "show"
_JSON = "--json"
# A period has fewer reports; without one, the newest are shown.
_MOST_FILINGS = 20
_ALL = 1000
_FIGURES = "sec_financial_data"
_LISTS = "sec_graph_query"
_UNKNOWN = "unknown_ticker"
_ORDER = "A company comes first, then its figures, then the period: fingerpost filings AAPL revenue 2022"


class FilingsGroup(TyperGroup):
    """Takes a first word that is no command for a company: ``filings AAPL revenue 2022`` shows figures."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if len(args) > 1 and args[0] == _JSON:
            args = [*args[1:], _JSON]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of some words, ``show`` where the first names none."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = [_SHOW, *args]
        return super().resolve_command(ctx, args)


def show(
    ctx: typer.Context,
    ticker: Annotated[str, typer.Argument(metavar="COMPANY", help="A ticker such as AAPL, a CIK, or a name.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIGURE...] [PERIOD]", help="Such as revenue 2022, or eps, net income 2023-Q2."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a company's figures with their filings; its filings where no figure is named."""
    ticker, *rest = join_periods([ticker, *(words or [])])
    tool, call = _question_of(ticker, rest)
    if call is None:
        raise typer.BadParameter("several figures need a period: fingerpost filings AAPL revenue, eps 2022")
    application = open_application(ctx.obj)
    answer = ask(application, tool, call)
    period = read_words(rest).period
    body = answer.body
    if tool == _LISTS and period is not None and not answer.is_error:
        body = _list_reports(application, call, body, period)
    if as_json:
        print_json(body)
    if answer.is_error:
        if not as_json:
            _complain(answer, [ticker, *rest])
        raise typer.Exit(TOOL_ERROR)
    if as_json:
        raise typer.Exit(TOOL_ERROR if tool == _LISTS and not body["results"] else 0)
    if tool == _FIGURES:
        print_figures(body)
        hint = say_period(ticker, rest) if body.get("missing") else None
        if hint is not None:
            print_line(plain(f"{hint}."))
    elif not body["results"]:
        hint = say_unseen(body, period or "") or f"All: {typed('filings', ticker)}"
        complain(ToolError(f"No report of {ticker} for {period} is known here", hint=hint))
        raise typer.Exit(TOOL_ERROR)
    else:
        print_filings(body, ticker, period)


def _list_reports(
    application: "Application", call: dict[str, Any], body: dict[str, Any], period: str
) -> dict[str, Any]:
    """Return a list of filings with the reports of a period alone; one that was cut is asked for up to them."""
    if body.get("left_out"):
        parameters = {**call["parameters"], "as_of": find_last_day(period)}
        older = ask(application, _LISTS, {**call, "parameters": parameters})
        body = {**body, "results": [], "left_out": []} if older.is_error else older.body
    reports = find_reports(body["results"], period)
    return {**body, "results": reports, "total_results": len(reports)}


def _complain(answer: "Answer", words: Sequence[str]) -> None:
    """Print why there is no answer, and the order of the words or how a period is written if that may be why."""
    error = answer.error or ToolError(str(answer.body.get("warning")))
    missing = answer.body.get("missing") or {}
    is_unknown = any(entry.get("reason") == _UNKNOWN for entry in missing.values())
    hint = None if is_unknown else say_period(words[0], words[1:])
    if is_unknown and len(words) > 2 and not words[0].isupper():
        # Capitals are a ticker, which may only not have been loaded.
        hint = _ORDER
    complain(error if hint is None else ToolError(error.message, hint=hint))


def _question_of(company: str, words: Sequence[str]) -> tuple[str, dict[str, Any] | None]:
    """Return the tool and the call that a company and words behind it mean; no call for figures without a period."""
    metrics, forms, period = read_words(words)
    if not metrics:
        wanted = forms or (list(REPORTS) if period else None)
        asked = {"ticker": company, "limit": _ALL if period else _MOST_FILINGS}
        return _LISTS, _call("company_filings", asked if wanted is None else {**asked, "filing_types": wanted})
    if period is not None:
        return _FIGURES, _call("financial_facts", {"ticker": company, "metrics": metrics, "period": period})
    if len(metrics) == 1:
        return _FIGURES, _call("time_series", {"ticker": company, "metric": metrics[0], "period": "annual"})
    return _FIGURES, None


def _call(query_type: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"query_type": query_type, "parameters": parameters}


def print_figures(body: Mapping[str, Any]) -> None:
    """Print an answer of financial_facts or time_series."""
    table = new_table("figure", "period", "value", "filing", "filed")
    for column in table.columns[1:]:
        # A number or an accession number that is cut is none.
        column.no_wrap = True
    for row in body["results"]:
        period = f"{row['fiscal_year']} {row['fiscal_period'] or ''}".strip()
        how = "" if row["kind"] == "reported" else f" ({row['kind']})"
        value = f"{row['value']:,} {row['unit']}"
        filing = f"{row['filing_type']} {row['accession_number']}"
        table.add_row(*map(plain, (row["metric_name"] + how, period, value, filing)), row["filing_date"])
    if body["results"]:
        new_console().print(table)
    _print_below(body)


def print_filings(body: Mapping[str, Any], company: str, period: str | None) -> None:
    """Print an answer of company_filings, or what it has of a period."""
    rows = body["results"]
    table = new_table("form", "filed", "period", "filing")
    for row in rows:
        told = f"{row['fiscal_year'] or ''} {row['fiscal_period'] or ''}".strip()
        table.add_row(row["filing_type"], row["filing_date"], told, row["accession_number"])
    new_console().print(table)
    if period is not None and not is_fiscal_known(rows):
        told = f"Filed in the calendar year {period[:4]}: their fiscal periods are not known here"
        print_line(plain(f"{told}; `{typed('filings', 'sync', company)}` fetches them."))
    elif period is None and len(rows) < body["total_results"]:
        reports = typed("filings", company, rows[-1]["filing_date"][:4])
        told = f"The newest {len(rows)} of {body['total_results']} are shown; the reports of one year: {reports}"
        print_line(plain(told))
    unseen = None if period is None else say_unseen(body, period)
    if unseen is not None:
        print_line(plain(f"{unseen}."))
    _print_below(body)


def _print_below(body: Mapping[str, Any]) -> None:
    for name, entry in (body.get("missing") or {}).items():
        meant = f" Did you mean {', '.join(entry['did_you_mean'])}?" if entry.get("did_you_mean") else ""
        print_line(plain(in_terminal_words(f"{name}: {entry['message']}. {entry['next_step']}.{meant}")))
    for note in body.get("notes") or ():
        print_line(plain(f"{note}."))
    source = body.get("source")
    if source:
        note = f" {source['note']}." if source.get("note") else ""
        text = f"SEC filings, {source['dataset']}, complete through {source['complete_through']}.{note}"
        print_line(plain(text))
