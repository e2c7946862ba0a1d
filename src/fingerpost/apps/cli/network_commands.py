"""The commands that add, list and remove networks."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from fingerpost.apps.cli.house import TOOL_ERROR, read_caller_settings, usage
from fingerpost.apps.cli.import_bars import ImportBars
from fingerpost.apps.cli.output import complain, new_console, say
from fingerpost.apps.cli.place_views import new_table
from fingerpost.apps.cli.report_view import days_of, print_report
from fingerpost.errors import SettingsInvalid, ToolError

if TYPE_CHECKING:
    from fingerpost.apps.feeds import FeedKeeper
    from fingerpost.apps.settings import Settings
    from fingerpost.transit.timetable.shelf import Shelf

app = typer.Typer(help="The networks that trips are planned in.", no_args_is_help=True)

_R = TypeVar("_R")


@app.command("add")
def add_network(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What to call it, such as HSL; it begins the stop ids.")],
    feeds: Annotated[
        list[str],
        typer.Argument(
            metavar="[FEED=]PATH|URL...", help="GTFS zip files, folders or addresses; a key in one is written ${NAME}."
        ),
    ],
    realtime: Annotated[
        list[str] | None,
        typer.Option(metavar="[FEED=]FILE|URL", help="GTFS-Realtime that speaks of these feeds; repeatable."),
    ] = None,
) -> None:
    """Import GTFS feeds as one network, or replace it with its real time."""
    settings = _read_settings(ctx)
    # numpy and the importer take longer to load than the other commands take to run.
    from fingerpost.apps.feed_origins import read_origin
    from fingerpost.apps.realtime_view import place_of
    from fingerpost.transit.providers.embedded.realtime_sources import RealtimeSources, read_source
    from fingerpost.transit.timetable.shelf import plain_name

    with usage():
        network = plain_name(name)
        origins = [read_origin(feed) for feed in feeds]
        sources = [read_source(source) for source in realtime or ()]
    print_report(_keep_feeds(settings, f"Importing {network} ...", lambda keeper: keeper.add(network, origins)))
    RealtimeSources(settings.home).write(network, sources)
    for source in sources:
        new_console().print(f"Real time: {place_of(source)}", soft_wrap=True)


@app.command("refresh")
def refresh_networks(
    ctx: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Which one; all whose feeds are known, where none is named.")
    ] = None,
) -> None:
    """Fetch the feeds of a network again, and import them where they have changed."""
    settings = _read_settings(ctx)
    from fingerpost.apps.feed_origins import list_networks_with_origins

    failed = False
    for network in [name.strip().upper()] if name else list_networks_with_origins(settings.home):
        try:
            report = _keep_feeds(settings, f"Refreshing {network} ...", lambda keeper: keeper.refresh(network))  # noqa: B023
        except ToolError as error:
            complain(error)
            failed = True
        else:
            if report is None:
                new_console().print(f"{network} is unchanged.")
            else:
                print_report(report)
    if failed:
        raise typer.Exit(TOOL_ERROR)


@app.command("list")
def list_networks(ctx: typer.Context) -> None:
    """Show the networks that were added, and the demos."""
    shelf = _open_shelf(ctx)
    from fingerpost.apps.overview import find_report
    from fingerpost.apps.realtime_view import place_of
    from fingerpost.transit.demo.catalogue import list_demo_names
    from fingerpost.transit.providers.embedded.realtime_sources import RealtimeSources

    sources = RealtimeSources(_read_settings(ctx).home)
    table = new_table("network", "days", "added")
    for name in shelf.list_names():
        report = find_report(shelf, name)
        days = "its import report cannot be read" if report is None else days_of(report)
        try:
            added = f"{shelf.get(name).added_at:%Y-%m-%d}"
        except ToolError:
            added = "unreadable; add it again"
        table.add_row(name, days, added)
    for name in list_demo_names():
        table.add_row(name, "any", "ships with fingerpost")
    new_console().print(table)
    for name in shelf.list_names():
        for source in sources.read(name):
            new_console().print(f"Real time of {name}: {place_of(source)}", soft_wrap=True)


@app.command("show")
def show_network(
    ctx: typer.Context, name: Annotated[str, typer.Argument(help="Which one; list names those that were added.")]
) -> None:
    """Show what the import of a network took over, and what it left out and why."""
    shelf = _open_shelf(ctx)
    from fingerpost.apps.overview import find_report

    entry = shelf.get(name)
    report = find_report(shelf, name)
    if report is None:
        raise SettingsInvalid(
            f"The import report of {entry.name} cannot be read. Run `fingerpost network add` for it again."
        )
    new_console().print(f"Added {entry.added_at:%Y-%m-%d %H:%M}.")
    print_report(report)


@app.command("remove")
def remove_network(ctx: typer.Context, name: Annotated[str, typer.Argument(help="Which one.")]) -> None:
    """Forget a network."""
    shelf, settings = _open_shelf(ctx), _read_settings(ctx)
    from fingerpost.apps.feed_origins import OriginFolder
    from fingerpost.transit.providers.embedded.realtime_sources import RealtimeSources

    shelf.remove(name)
    RealtimeSources(settings.home).remove(name.strip().upper())
    OriginFolder(settings.home, name.strip().upper()).remove()
    new_console().print(f"Removed {name.strip().upper()}.")


def _read_settings(ctx: typer.Context) -> "Settings":
    settings = read_caller_settings(ctx.obj)
    with usage():
        settings.prepare_home()
    return settings


def _open_shelf(ctx: typer.Context) -> "Shelf":
    settings = _read_settings(ctx)
    from fingerpost.transit.timetable.shelf import Shelf

    return Shelf(settings.home)


def _keep_feeds(settings: "Settings", what: str, work: Callable[["FeedKeeper"], Awaitable[_R]]) -> _R:
    """Let a keeper of feeds work, and show on stderr what it does."""
    from fingerpost.apps.feeds import FeedKeeper
    from fingerpost.apps.outbound import new_client

    console = new_console(stderr=True)
    if not console.is_terminal:
        say(what)

    async def run() -> _R:
        with ImportBars(console) as bars:
            async with new_client(settings) as client:
                return await work(
                    FeedKeeper(
                        settings.home,
                        client,
                        tell=lambda shown, size: bars.show(shown, size, None),
                        progress=bars.show,
                    )
                )

    return asyncio.run(run())
