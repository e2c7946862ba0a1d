"""``fingerpost filings load``: load EDGAR files that are already on disk."""

from pathlib import Path
from typing import Annotated

import typer

from fingerpost import clock
from fingerpost.apps.cli.application import read_caller_settings, usage
from fingerpost.apps.cli.import_bars import ImportBars
from fingerpost.apps.cli.output import new_console, plain
from fingerpost.apps.cli.waiting import screen_taken, showing_work


def load(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="companyfacts (a file, or the zip), submissions, company_tickers; or a text."
        ),
    ],
    ticker: Annotated[str | None, typer.Option(help="Whose files they are, where the files do not say.")] = None,
    accession: Annotated[str | None, typer.Option(help="Of a text: which filing.")] = None,
    form: Annotated[str, typer.Option(help="Of a text: its form.")] = "10-K",
    filed: Annotated[str | None, typer.Option(help="Of a text: the day of filing, YYYY-MM-DD.")] = None,
) -> None:
    """Load figures, lists of filings or a filing's text from files."""
    settings = read_caller_settings(ctx.obj)
    # The reader takes longer to import than --help takes to print.
    from fingerpost.filings.loading import FilingText, load_files
    from fingerpost.filings.store import FactStore

    with usage():
        settings.prepare_home()
    text_of = FilingText(accession=accession, form=form, filed=filed) if accession and filed else None
    store = FactStore(settings.filings_file)
    for file in files:
        retrieved_at = clock.now().isoformat(timespec="seconds")
        waiting = screen_taken() if file.suffix == ".zip" else showing_work(f"Loading {plain(file.name)} ...")
        with waiting, ImportBars(new_console(stderr=True)) as bars:
            loaded = load_files(
                store,
                [file],
                ticker=ticker,
                text_of=text_of,
                retrieved_at=retrieved_at,
                show=lambda done, whole: bars.show("Companies", done, whole),
            )
        for done in loaded:
            new_console().print(f"{done.name}: {done.summary}", soft_wrap=True)
