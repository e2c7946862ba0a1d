"""``fingerpost filings bulk``: load the SEC's whole archive of figures."""

from pathlib import Path
from typing import Annotated

import typer

from fingerpost import clock
from fingerpost.apps.cli.application import read_caller_settings, usage
from fingerpost.apps.cli.import_bars import ImportBars
from fingerpost.apps.cli.output import new_console
from fingerpost.apps.cli.waiting import screen_taken

_NAMED = 3


def bulk(
    ctx: typer.Context,
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="companyfacts.zip, as the SEC publishes it.")],
) -> None:
    """Load the figures of every company from the SEC's archive; needs the extra of that name, `bulk`."""
    settings = read_caller_settings(ctx.obj)
    # The reader takes longer to import than --help takes to print.
    from fingerpost.filings.bulk_loading import load_archive
    from fingerpost.filings.store import FactStore

    with usage():
        settings.prepare_home()
    retrieved_at = clock.now().isoformat(timespec="seconds")
    with screen_taken(), ImportBars(new_console(stderr=True)) as bars:
        loaded = load_archive(
            FactStore(settings.filings_file),
            archive,
            retrieved_at=retrieved_at,
            show=lambda done, whole: bars.show("Companies", done, whole),
        )
    console = new_console()
    console.print(f"{archive.name}: {loaded.companies:,} companies, {loaded.facts:,} figures", soft_wrap=True)
    if loaded.skipped:
        reasons = "; ".join(list(loaded.skipped.values())[:_NAMED])
        more = f"; and {len(loaded.skipped) - _NAMED} more" if len(loaded.skipped) > _NAMED else ""
        console.print(f"{len(loaded.skipped):,} left out: {reasons}{more}", soft_wrap=True)
    console.print("Tickers come from company_tickers.json: fingerpost filings load FILE", soft_wrap=True)
