"""The commands that add, list and remove networks."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fingerpost import clock
from fingerpost.apps.cli.house import read_caller_settings, usage
from fingerpost.apps.cli.output import new_console, say
from fingerpost.apps.cli.place_views import new_table
from fingerpost.apps.cli.report_view import days_of, print_report

if TYPE_CHECKING:
    from fingerpost.transit.gtfs.importer import FeedSource
    from fingerpost.transit.timetable.shelf import Shelf

app = typer.Typer(help="The networks that trips are planned in.", no_args_is_help=True)

_NAMED_FEED = re.compile(r"([A-Za-z0-9_-]+)=(.+)", re.DOTALL)


@app.command("add")
def add_network(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What to call it, such as HSL; it begins the stop ids.")],
    feeds: Annotated[list[str], typer.Argument(metavar="[FEED=]PATH...", help="GTFS zip files or folders.")],
) -> None:
    """Import GTFS feeds as one network, or replace it."""
    shelf = _open_shelf(ctx)
    # numpy and the importer take longer to load than the other commands take to run.
    from fingerpost.transit.gtfs.importer import import_feeds
    from fingerpost.transit.timetable.shelf import plain_name

    with usage():
        network = plain_name(name)
    console = new_console(stderr=True)
    if not console.is_terminal:
        say(f"Importing {network} ...")
    with console.status(f"Importing {network} ..."):
        imported = import_feeds(network, [_source(feed) for feed in feeds])
    with console.status(f"Writing {network} ..."):
        shelf.put(network, imported.timetable, imported.report.to_json(), added_at=clock.now())
    print_report(imported.report)


@app.command("list")
def list_networks(ctx: typer.Context) -> None:
    """Show the networks that were added, and the demos."""
    shelf = _open_shelf(ctx)
    from fingerpost.apps.overview import find_report
    from fingerpost.transit.demo.catalogue import list_demo_names

    table = new_table("network", "days", "added")
    for name in shelf.list_names():
        report = find_report(shelf, name)
        days = "its import report cannot be read" if report is None else days_of(report)
        table.add_row(name, days, f"{shelf.get(name).added_at:%Y-%m-%d}")
    for name in list_demo_names():
        table.add_row(name, "any", "ships with fingerpost")
    new_console().print(table)


@app.command("remove")
def remove_network(ctx: typer.Context, name: Annotated[str, typer.Argument(help="Which one.")]) -> None:
    """Forget a network."""
    shelf = _open_shelf(ctx)
    shelf.remove(name)
    new_console().print(f"Removed {name.strip().upper()}.")


def _open_shelf(ctx: typer.Context) -> "Shelf":
    settings = read_caller_settings(ctx.obj)
    from fingerpost.transit.timetable.shelf import Shelf

    with usage():
        settings.prepare_home()
    return Shelf(settings.home)


def _source(text: str) -> "FeedSource":
    """Return the feed that ``FEED=PATH`` or ``PATH`` names; a path that is there is taken whole."""
    from fingerpost.transit.gtfs.importer import FeedSource

    named = _NAMED_FEED.fullmatch(text)
    if named is None or Path(text).exists():
        return FeedSource(Path(text))
    return FeedSource(Path(named[2]), named[1])
