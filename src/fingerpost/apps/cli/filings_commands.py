"""The ``fingerpost filings`` commands: show figures, load files, and fetch companies from EDGAR."""

import asyncio
import re
from collections.abc import Collection, Sequence
from contextlib import closing, suppress
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fingerpost import clock
from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import Json, call_tool, open_application, prepare_settings, print_or_exit
from fingerpost.apps.cli.network_add import show_import_bars
from fingerpost.apps.cli.output import new_console, print_error, print_lines, print_message, show_status
from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import new_client
from fingerpost.errors import FeedUnusable, ToolError
from fingerpost.filings.library import FactLibrary
from fingerpost.filings.loading import LoadOptions, load_files
from fingerpost.filings.period_filter import read_period
from fingerpost.filings.reply import build_source
from fingerpost.filings.store import FactStore
from fingerpost.filings.sync import FORMS_WITH_ITEMS, PACES, Edgar, EdgarSync

_SHOW = "show"
_MAX_FILINGS = 20
_FORM = re.compile(r"(?:\d{1,2}-[A-Z]{1,2}|[SFN]-\d{1,2})(?:/A)?", re.IGNORECASE)
_ACCESSION = re.compile(r"\d{10}-\d{2}-\d{6}", re.ASCII)
_UNKNOWN_REASONS = ("unknown_metric", "not_reported", "unknown_ticker")
_WORDS_HINT = (
    "Write the company, its figures, and then one fiscal year, quarter or range:"
    " fingerpost filings AAPL revenue 2022, or 2022-Q2, or 2019..2022. To list a company's metrics:"
    ' fingerpost call sec_financial_data \'{"query_type": "metrics", "parameters": {"ticker": "TICKER"}}\''
)


class FilingsGroup(TyperGroup):
    """Parses a first word that is not a command as a company: ``filings AAPL revenue 2022`` shows figures."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = [_SHOW, *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(no_args_is_help=True, cls=FilingsGroup)


@app.command("sync", epilog="Example: fingerpost filings sync AAPL")
def sync_filings(
    ctx: typer.Context,
    tickers: Annotated[list[str], typer.Argument(metavar="TICKER...", help="Companies, such as AAPL.")],
    text: Annotated[int, typer.Option("--text", min=0, help="How many of the newest reports to fetch text for.")] = 0,
    forms: Annotated[
        list[str] | None,
        typer.Option(
            "--form", help="Fetch text only for this form, such as 8-K; the default is annual and quarterly reports."
        ),
    ] = None,
    segments: Annotated[
        int, typer.Option(min=0, help="How many of the newest annual and quarterly reports to fetch segments for.")
    ] = 0,
) -> None:
    """Fetch companies' figures and filing lists from EDGAR; FINGERPOST_SEC_CONTACT must be set."""
    if forms and not text:
        raise typer.BadParameter("--form also needs --text")
    settings = prepare_settings(ctx)
    chosen_forms = {form.upper() for form in forms or FORMS_WITH_ITEMS}
    if not asyncio.run(_sync(settings, tickers, text, chosen_forms, segments)):
        raise typer.Exit(TOOL_ERROR)


async def _sync(settings: Settings, tickers: list[str], texts: int, forms: Collection[str], instances: int) -> bool:
    """Fetch each company's data, even if another fetch fails; return whether all succeeded."""
    edgar = Edgar(contact=settings.sec_contact)
    succeeded = True
    async with new_client(settings, PACES) as client:
        sync = EdgarSync(FactStore(settings.filings_file), client, edgar)
        for ticker in tickers:
            try:
                with show_status(f"Fetching {ticker} ..."):
                    lines = await sync.sync(ticker, texts=texts, forms=forms, instances=instances)
            except ToolError as error:
                print_error(error)
                succeeded = False
            else:
                print_lines(lines)
    return succeeded


@app.command("load", epilog="Example: fingerpost filings load companyfacts.zip")
def load_filings(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="companyfacts, submissions, company_tickers (without it, figures have no ticker), the text of filings,"
            " their XBRL instances (NAME_htm.xml) for segments, folders of these, and zips of JSON files.",
        ),
    ],
    ticker: Annotated[str | None, typer.Option(help="The company's ticker; figure files do not contain one.")] = None,
    predecessor_of: Annotated[
        str | None, typer.Option(help="The ticker of the company that filed these older figures under another CIK.")
    ] = None,
    accession: Annotated[str | None, typer.Option(help="For the text of a filing: its accession number.")] = None,
    form: Annotated[str | None, typer.Option(help="For the text of a filing: its form, such as 10-K.")] = None,
    filed: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="For the text of a filing: its filing date, YYYY-MM-DD."),
    ] = None,
) -> None:
    """Load figures, lists of filings, or the text of filings.

    If one file cannot be loaded, the other files are still loaded.

    The text of an inline XBRL filing states its company, form and period, so you need no options if the company's list
    of filings is loaded.
    """
    if accession is not None and not _ACCESSION.fullmatch(accession):
        raise typer.BadParameter(f"'{accession}' is not an accession number; write it like 0000320193-22-000108")
    settings = prepare_settings(ctx)
    store = FactStore(settings.filings_file)
    options = LoadOptions(
        ticker=ticker,
        predecessor_of=predecessor_of,
        accession=accession or "",
        form=form or "",
        filed="" if filed is None else f"{filed:%Y-%m-%d}",
        retrieved_at=clock.now().isoformat(timespec="seconds"),
    )
    succeeded = True
    for file in files:
        try:
            with show_import_bars(new_console(stderr=True)) as show:
                lines = load_files(store, [file], options, show=partial(show, "Companies"))
        except FeedUnusable as error:
            print_error(error)
            succeeded = False
        else:
            print_lines(lines)
    if not succeeded:
        raise typer.Exit(TOOL_ERROR)


@app.command("read", epilog="Example: fingerpost filings read AAPL 1A --form 10-K")
def read_text(
    ctx: typer.Context,
    company: Annotated[str, typer.Argument(help="A ticker, a CIK, a name, or an accession number.")],
    item: Annotated[
        str | None, typer.Argument(help="An item such as 1A, 2.02 or mdna; the default is all items.")
    ] = None,
    form: Annotated[
        str | None, typer.Option(help="The form, such as 10-Q; the default is the annual report, if there is one.")
    ] = None,
    page: Annotated[int, typer.Option(min=1, help="The page of a long text.")] = 1,
    as_json: Json = False,
) -> None:
    """Read the text of a filing, or one of its items."""
    filing = {"accession_number" if _ACCESSION.fullmatch(company) else "ticker": company}
    arguments = {"query_type": "filing_text", "parameters": {**filing, "item": item, "form": form, "page": page}}
    print_or_exit(call_tool(open_application(ctx), "sec_graph_query", arguments), as_json=as_json)


@app.command("list", epilog="Example: fingerpost filings list")
def list_companies(ctx: typer.Context) -> None:
    """List the loaded companies, each with its periods and the age of its newest filing."""
    print_lines(describe_companies(prepare_settings(ctx).filings_file))


def describe_companies(file: Path) -> list[str]:
    """Return a line for each loaded company, then a note on any overdue annual reports."""
    with closing(FactLibrary(file)) as library:
        companies = library.list_companies()
    today = clock.now().date()
    lines = []
    for company in companies:
        days = (today - date.fromisoformat(company.complete_through)).days
        # Omit a negative age: the clock may be wrong, or fixed at a time before the newest filing.
        age = f" ({days:,} days ago)" if days >= 0 else ""
        newest = f"newest filing {company.complete_through}{age}"
        name = f"{company.ticker}: {company.name} (CIK {company.padded_cik})"
        lines.append(f"{name}, {company.dataset}, periods from {company.first_end}, {newest}")
    note = build_source(*companies).get("note")
    return [*lines, f"{note}."] if note else lines


@app.command(_SHOW, epilog="Example: fingerpost filings AAPL revenue 2022")
def show(
    ctx: typer.Context,
    ticker: Annotated[str, typer.Argument(metavar="COMPANY", help="A ticker such as AAPL, a CIK, or a name.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIGURE...] [PERIOD]", help="For example, revenue 2022, or eps, net income 2023-Q2."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Break one figure down by segment, product, region, customer, or another XBRL axis."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a company's figures, each with its filing; if no figure is requested, list the company's filings."""
    tool, query_type, parameters = _parse_query(words or [], by)
    arguments = {"query_type": query_type, "parameters": {"ticker": ticker, **parameters}}
    answer = call_tool(open_application(ctx), tool, arguments)
    try:
        print_or_exit(answer, as_json=as_json)
    finally:
        missing = (answer.body.get("missing") or {}).values()
        if words and not as_json and any(entry["reason"] in _UNKNOWN_REASONS for entry in missing):
            print_message(_WORDS_HINT)


def _parse_query(words: Sequence[str], axis: str | None) -> tuple[str, str, dict[str, Any]]:
    """Return the tool, the query type, and all parameters except the company."""
    metrics, period = read_figures(words)
    if axis is not None:
        if len(metrics) != 1:
            raise typer.BadParameter("--by needs one figure: fingerpost filings show AAPL revenue 2023 --by product")
        return "sec_financial_data", "segments", {"metric": metrics[0], "period": period or "latest", "axis": axis}
    if all(_FORM.fullmatch(word.rstrip(",")) for word in words):
        forms = [word.rstrip(",").upper() for word in words] or None
        return "sec_graph_query", "company_filings", {"filing_types": forms, "limit": _MAX_FILINGS}
    if all(_FORM.fullmatch(word) for name in metrics for word in name.split()):
        raise typer.BadParameter("a period needs a figure: fingerpost filings AAPL revenue 2022")
    if period is not None:
        return "sec_financial_data", "financial_facts", {"metrics": metrics, "period": period}
    if len(metrics) > 1:
        raise typer.BadParameter("several figures need a period: fingerpost filings AAPL revenue, eps 2022")
    return "sec_financial_data", "time_series", {"metric": metrics[0], "period": "annual"}


def read_figures(words: Sequence[str]) -> tuple[list[str], str | None]:
    """Parse comma-separated figure names, optionally followed by a fiscal period such as ``2022-Q2``."""
    rest, period = list(words), None
    with suppress(ValueError):
        if words and (".." in words[-1] or read_period(words[-1])):
            rest, period = rest[:-1], words[-1]
    # A comma in parentheses is part of an expression.
    names = (" ".join(name.split()) for name in re.split(r",(?![^(]*\))", " ".join(rest)))
    return [name for name in names if name], period
