"""``fingerpost filings AAPL revenue 2022``: figures as a person asks for them, each with its filing."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from fingerpost.apps.cli.application import ask_once
from fingerpost.apps.cli.fitting_table import new_table
from fingerpost.apps.cli.output import new_console, plain
from fingerpost.apps.cli.usage_hints import HintingGroup

_PERIOD = re.compile(r"(?:[fF][yY])?(\d{4})(?:-?[qQ]([1-4]))?")
_SHOW = "show"


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
    metrics, period = _read_words(words or [])
    if not metrics:
        answer = ask_once(
            ctx, "sec_graph_query", _call("company_filings", {"ticker": ticker, "limit": 20}), as_json=as_json
        )
        if not as_json:
            _print_filings(answer.body)
        return
    if period is not None:
        call = _call("financial_facts", {"ticker": ticker, "metrics": metrics, "period": period})
    elif len(metrics) == 1:
        call = _call("time_series", {"ticker": ticker, "metric": metrics[0], "period": "annual"})
    else:
        raise typer.BadParameter("several figures need a period: fingerpost filings AAPL revenue, eps 2022")
    answer = ask_once(ctx, "sec_financial_data", call, as_json=as_json)
    if not as_json:
        _print_figures(answer.body)


def _call(query_type: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"query_type": query_type, "parameters": parameters}


def _read_words(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the figures, which commas part, and the period, which is the last word if it is a year or a quarter."""
    rest, period = list(words), None
    found = _PERIOD.fullmatch(rest[-1]) if rest else None
    if found is not None:
        period = f"{found[1]}-Q{found[2]}" if found[2] else found[1]
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
