"""``fingerpost filings AAPL revenue 2022``: figures as a person asks for them, each with its filing."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fingerpost.apps.cli.application import TOOL_ERROR, ask, open_application
from fingerpost.apps.cli.filings_order import read_period, say_order
from fingerpost.apps.cli.fitting_table import new_table
from fingerpost.apps.cli.output import complain, new_console, plain, print_json
from fingerpost.apps.cli.usage_hints import HintingGroup
from fingerpost.errors import ToolError

if TYPE_CHECKING:
    from fingerpost.apps.wiring import Application
    from fingerpost.contract.published import Answer

_SHOW = "show"
_FIGURES = "sec_financial_data"
_LISTS = "sec_graph_query"
_UNKNOWN = "unknown_ticker"


class FilingsGroup(HintingGroup):
    """Takes a first word that is no command for a company: ``filings AAPL revenue 2022`` shows figures."""

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
    tool, call = _question_of(ticker, words or [])
    if call is None:
        raise typer.BadParameter("several figures need a period: fingerpost filings AAPL revenue, eps 2022")
    application = open_application(ctx.obj)
    answer = ask(application, tool, call)
    if as_json:
        print_json(answer.body)
    if answer.is_error:
        if not as_json:
            _complain(application, answer, [ticker, *(words or [])])
        raise typer.Exit(TOOL_ERROR)
    if not as_json:
        (_print_figures if tool == _FIGURES else _print_filings)(answer.body)


def _complain(application: "Application", answer: "Answer", words: Sequence[str]) -> None:
    """Print why there is no answer, and what to type where the words have another order."""

    def answers(company: str, rest: Sequence[str]) -> bool:
        tool, call = _question_of(company, rest)
        return call is not None and not ask(application, tool, call).is_error

    error = answer.error or ToolError(str(answer.body.get("warning")))
    missing = answer.body.get("missing") or {}
    is_unknown = any(entry.get("reason") == _UNKNOWN for entry in missing.values())
    order = say_order(words, answers, is_unknown=is_unknown)
    # How to load a company is no help with a word that was not meant as one.
    complain(error if order is None else ToolError(error.message, hint=order))


def _question_of(company: str, words: Sequence[str]) -> tuple[str, dict[str, Any] | None]:
    """Return the tool and the call that a company and words behind it mean; no call for figures without a period."""
    metrics, period = _read_words(words)
    if not metrics:
        return _LISTS, _call("company_filings", {"ticker": company, "limit": 20})
    if period is not None:
        return _FIGURES, _call("financial_facts", {"ticker": company, "metrics": metrics, "period": period})
    if len(metrics) == 1:
        return _FIGURES, _call("time_series", {"ticker": company, "metric": metrics[0], "period": "annual"})
    return _FIGURES, None


def _call(query_type: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"query_type": query_type, "parameters": parameters}


def _read_words(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the figures, which commas part, and the period, which is the last word if it is a year or a quarter."""
    rest, period = list(words), read_period(words[-1]) if words else None
    if period is not None:
        rest.pop()
    return [name for name in (" ".join(part.split()) for part in " ".join(rest).split(",")) if name], period


def _print_figures(body: Mapping[str, Any]) -> None:
    console = new_console()
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
        console.print(table)
    _print_below(body)


def _print_filings(body: Mapping[str, Any]) -> None:
    table = new_table("form", "filed", "period", "filing")
    for row in body["results"]:
        period = f"{row['fiscal_year'] or ''} {row['fiscal_period'] or ''}".strip()
        table.add_row(row["filing_type"], row["filing_date"], period, row["accession_number"])
    new_console().print(table)
    _print_below(body)


def _print_below(body: Mapping[str, Any]) -> None:
    console = new_console()
    for name, entry in (body.get("missing") or {}).items():
        meant = f" Did you mean {', '.join(entry['did_you_mean'])}?" if entry.get("did_you_mean") else ""
        console.print(plain(f"{name}: {entry['message']}. {entry['next_step']}.{meant}"), soft_wrap=True)
    for note in body.get("notes") or ():
        console.print(plain(f"{note}."), soft_wrap=True)
    source = body.get("source")
    if source:
        note = f" {source['note']}." if source.get("note") else ""
        text = f"SEC filings, {source['dataset']}, complete through {source['complete_through']}.{note}"
        console.print(plain(text), soft_wrap=True)
