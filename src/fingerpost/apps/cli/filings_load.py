"""``fingerpost filings load`` and ``sync``: load EDGAR files from disk, and fetch companies from EDGAR."""

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fingerpost import clock
from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import read_caller_settings, usage
from fingerpost.apps.cli.filings_show import FilingsGroup
from fingerpost.apps.cli.import_bars import show_import_bars
from fingerpost.apps.cli.output import complain, new_console, plain, print_line, say, showing_work
from fingerpost.errors import ToolError
from fingerpost.filings.edgar import PACES, Edgar

if TYPE_CHECKING:
    from fingerpost.apps.settings import Settings
    from fingerpost.filings.sync import Synced

app = typer.Typer(
    help="Figures of companies that file with the SEC: fingerpost filings AAPL revenue 2022.",
    no_args_is_help=True,
    cls=FilingsGroup,
)

_OUTCOMES = {
    "new": "figures fetched, complete through {day}",
    "unchanged": "figures unchanged, complete through {day}",
    "not_in_aggregate": "EDGAR's collection holds no figures of it",
}


@app.command("sync")
def sync_filings(
    ctx: typer.Context,
    tickers: Annotated[list[str], typer.Argument(metavar="TICKER...", help="Which companies, such as AAPL.")],
    text: Annotated[
        int, typer.Option("--text", min=0, help="Of how many of the newest reports to fetch the text.")
    ] = 0,
) -> None:
    """Fetch companies' figures and lists of filings from EDGAR; FINGERPOST_SEC_CONTACT must be set."""
    settings = read_caller_settings(ctx.obj)
    with usage():
        settings.prepare_home()
    if not asyncio.run(_sync(settings, tickers, text)):
        raise typer.Exit(TOOL_ERROR)


async def _sync(settings: "Settings", tickers: list[str], texts: int) -> bool:
    """Fetch companies one after the other, going on after a failure; return whether all were fetched."""
    from fingerpost.apps.outbound import new_client
    from fingerpost.filings.store import FactStore
    from fingerpost.filings.sync import EdgarSync

    edgar = Edgar(contact=settings.sec_contact)
    console = new_console(stderr=True)
    all_came = True
    async with new_client(settings, PACES) as client:
        sync = EdgarSync(FactStore(settings.filings_file), client, edgar)
        for ticker in tickers:
            if not console.is_terminal:
                say(f"Fetching {ticker} ...")
            try:
                with showing_work(f"Fetching {ticker} ..."):
                    done = await sync.sync(ticker, texts=texts)
            except ToolError as error:
                complain(error)
                all_came = False
            else:
                for one in done:
                    print_line(_line(one))
    return all_came


def _line(done: "Synced") -> str:
    outcome = _OUTCOMES[done.facts].format(day=done.complete_through)
    texts = f"; {done.texts} texts" if done.texts else ""
    return f"{done.ticker} {done.name} (CIK {done.cik}): {outcome}; {done.filings:,} filings listed{texts}"


@app.command("load")
def load_filings(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="companyfacts (a file, or the zip), submissions, company_tickers, a folder of them; or a text.",
        ),
    ],
    ticker: Annotated[
        str | None,
        typer.Option(help="Whose files they are; figures do not name a ticker."),
    ] = None,
    predecessor_of: Annotated[
        str | None, typer.Option(help="Whose older figures they are, filed under another CIK: that company's ticker.")
    ] = None,
    accession: Annotated[str | None, typer.Option(help="Of a text: which filing.")] = None,
    form: Annotated[str, typer.Option(help="Of a text: its form.")] = "10-K",
    filed: Annotated[str | None, typer.Option(help="Of a text: the day of filing, YYYY-MM-DD.")] = None,
) -> None:
    """Load figures, lists of filings or a filing's text from files."""
    if (accession is None) != (filed is None):
        raise typer.BadParameter("a filing's text needs both --accession and --filed")
    settings = read_caller_settings(ctx.obj)
    # The reader takes longer to import than --help takes to print.
    from fingerpost.filings.loading import FilingText, load_files
    from fingerpost.filings.store import FactStore

    with usage():
        settings.prepare_home()
    text_of = FilingText(accession=accession or "", form=form, filed=filed or "")
    store = FactStore(settings.filings_file)
    for file in files:
        retrieved_at = clock.now().isoformat(timespec="seconds")
        load = partial(
            load_files,
            store,
            [file],
            ticker=ticker,
            predecessor_of=predecessor_of,
            text_of=text_of,
            retrieved_at=retrieved_at,
        )
        if file.suffix == ".zip":
            with show_import_bars(new_console(stderr=True)) as show:
                loaded = load(show=partial(show, "Companies"))
        else:
            with showing_work(f"Loading {plain(file.name)} ..."):
                loaded = load()
        for done in loaded:
            print_line(f"{done.name}: {done.summary}")
