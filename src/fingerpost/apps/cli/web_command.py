"""``fingerpost web``: the web page, on this machine."""

from typing import Annotated

import typer

from fingerpost.apps.cli.application import open_application, usage
from fingerpost.apps.cli.output import say
from fingerpost.apps.demo_disruption import DemoDisruption
from fingerpost.apps.interpreter import new_warm_up, start_server_process
from fingerpost.apps.logs import start_logging
from fingerpost.apps.mcp.address import Address
from fingerpost.apps.web.site import MapTiles, list_files, list_headers

DISRUPTED_AFTER_S = 20.0


def web(
    ctx: typer.Context,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Where to listen; 0 takes a free one.")] = 8000,
    host: Annotated[str, typer.Option(help="An address of this machine; beyond loopback no places are saved.")] = (
        "127.0.0.1"
    ),
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A host name that browsers may call this server by; repeatable.")
    ] = None,
    tiles: Annotated[
        str | None, typer.Option(metavar="URL", help="Map tiles, with {z}, {x} and {y}; else FINGERPOST_TILES.")
    ] = None,
    tiles_attribution: Annotated[
        str | None, typer.Option(help="Whose tiles they are; else FINGERPOST_TILES_ATTRIBUTION.")
    ] = None,
    disrupt: Annotated[
        bool, typer.Option("--disrupt", help="After 20 seconds, let the simulator close a line of the demo.")
    ] = False,
) -> None:
    """Serve the web page: trips with a map, departure boards, saved places."""
    start_server_process()
    application = open_application(ctx.obj)
    start_logging(may_wait=False)
    # The protocol's own package is a second of imports that no other command needs.
    from fingerpost.apps.mcp.http import Site, serve_http
    from fingerpost.apps.start_check import require_keys

    with usage():
        settings = application.settings
        require_keys(settings)
        source = MapTiles.read(
            settings.tiles if tiles is None else tiles,
            settings.tiles_attribution if tiles_attribution is None else tiles_attribution,
        )
        site = Site(
            files=list_files(source),
            headers=list_headers(source),
            work=DemoDisruption(application, DISRUPTED_AFTER_S if disrupt else None).keep_up,
            announce=_announce,
        )
        serve_http(application, Address(host, port), new_warm_up(application), allow_host or (), site)


def _announce(url: str) -> None:
    say(f"fingerpost is at {url}/ until you press Ctrl-C.")
