"""``fingerpost filings AAPL revenue 2022``: figures as a person asks for them, each with its filing."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fingerpost.apps.cli.application import Json, ask, open_application, print_or_end
from fingerpost.apps.cli.output import say

_SHOW = "show"
_JSON = "--json"
_MOST_FILINGS = 20
_PERIOD = re.compile(r"(?:FY ?)?(\d{4})(?:[- ]?(Q[1-4]))?|(Q[1-4])[- ]?(?:FY ?)?(\d{4})", re.IGNORECASE)
_MOST_WORDS_OF_A_PERIOD = 3
_FORM = re.compile(r"(?:\d{1,2}-[A-Z]{1,2}|[SFN]-\d{1,2})(?:/A)?", re.IGNORECASE)
_ORDER = (
    "A company comes first, then its figures, then one fiscal year or quarter: fingerpost filings AAPL revenue 2022, "
    "or 2022-Q2. Without a period it is every year."
)


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
    tool, query_type, parameters = _read_question(words or [])
    question = {"query_type": query_type, "parameters": {"ticker": ticker, **parameters}}
    answer = ask(open_application(ctx.obj), tool, question)
    try:
        print_or_end(answer, as_json=as_json)
    except typer.Exit:
        if words and not as_json:
            say(_ORDER)
        raise


def _read_question(words: Sequence[str]) -> tuple[str, str, dict[str, Any]]:
    """Return the tool, the query type and the parameters that the words behind a company mean."""
    if all(_FORM.fullmatch(word.rstrip(",")) for word in words):
        forms = [word.rstrip(",").upper() for word in words] or None
        return "sec_graph_query", "company_filings", {"filing_types": forms, "limit": _MOST_FILINGS}
    metrics, period = read_figures(words)
    if not metrics:
        raise typer.BadParameter("a period needs a figure: fingerpost filings AAPL revenue 2022")
    if period is not None:
        return "sec_financial_data", "financial_facts", {"metrics": metrics, "period": period}
    if len(metrics) > 1:
        raise typer.BadParameter("several figures need a period: fingerpost filings AAPL revenue, eps 2022")
    return "sec_financial_data", "time_series", {"metric": metrics[0], "period": "annual"}


def read_figures(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the figures, which commas part, and the fiscal year or quarter of the last words, as ``2022-Q2``."""
    rest, period = list(words), None
    for count in range(min(_MOST_WORDS_OF_A_PERIOD, len(words)), 0, -1):
        found = _PERIOD.fullmatch(" ".join(words[-count:]))
        if found is not None:
            year, quarter = found[1] or found[4], found[2] or found[3]
            rest, period = rest[:-count], f"{year}-{quarter.upper()}" if quarter else year
            break
    names = (" ".join(name.split()) for name in " ".join(rest).split(","))
    return [name for name in names if name], period
