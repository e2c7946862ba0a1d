"""``fingerpost filings AAPL revenue 2022``: figures as a person asks for them, each with its filing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fingerpost.apps.cli.application import TOOL_ERROR, ask, open_application
from fingerpost.apps.cli.filings_order import say_order
from fingerpost.apps.cli.filings_view import print_figures, print_filings
from fingerpost.apps.cli.filings_words import (
    REPORTS,
    find_last_day,
    find_reports,
    join_periods,
    read_words,
    say_period,
    say_unseen,
)
from fingerpost.apps.cli.output import complain, new_console, plain, print_json
from fingerpost.apps.cli.typed_commands import typed
from fingerpost.apps.cli.usage_hints import HintingGroup
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


class FilingsGroup(HintingGroup):
    """Takes a first word that is no command for a company: ``filings AAPL revenue 2022`` shows figures."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; ``--json`` may stand before the company too."""
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
    as_json: Annotated[bool, typer.Option("--json", help="Print the contract's envelope and nothing else.")] = False,
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
            _complain(application, answer, [ticker, *rest])
        raise typer.Exit(TOOL_ERROR)
    if as_json:
        raise typer.Exit(TOOL_ERROR if tool == _LISTS and not body["results"] else 0)
    if tool == _FIGURES:
        print_figures(body)
        hint = say_period(ticker, rest) if body.get("missing") else None
        if hint is not None:
            new_console().print(plain(f"{hint}."), soft_wrap=True)
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


def _complain(application: "Application", answer: "Answer", words: Sequence[str]) -> None:
    """Print why there is no answer, and what to type where the words have another order."""

    def answers(company: str, rest: Sequence[str]) -> bool:
        tool, call = _question_of(company, rest)
        return call is not None and not ask(application, tool, call).is_error

    error = answer.error or ToolError(str(answer.body.get("warning")))
    missing = answer.body.get("missing") or {}
    is_unknown = any(entry.get("reason") == _UNKNOWN for entry in missing.values())
    order = say_order(words, answers, is_unknown=is_unknown)
    hint = order or (None if is_unknown else say_period(words[0], words[1:]))
    # How to load a company is no help with a word that was not meant as one.
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
