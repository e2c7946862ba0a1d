"""The ``fingerpost serve``, ``web``, ``doctor`` and ``demo`` commands."""

import asyncio
from collections.abc import Collection
from typing import Annotated

import typer

from fingerpost import clock
from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import Json, call_tool, open_application, print_or_exit, run_and_close
from fingerpost.apps.cli.doctor_report import print_health
from fingerpost.apps.cli.output import print_line, print_message
from fingerpost.apps.logs import start_logging
from fingerpost.apps.mcp.listener import Access, Address, parse_ip_networks
from fingerpost.apps.source_kinds import require_keys
from fingerpost.apps.storage import check_database
from fingerpost.apps.warm_up import new_warm_up, start_server_process
from fingerpost.apps.wiring import Application
from fingerpost.errors import ParameterError
from fingerpost.runtime.concurrency import compute

_NETWORK = "DEMO-HELSINKI"
# Two lines connect these stops; the simulator closes one of them.
_ORIGIN, _DESTINATION = f"{_NETWORK}:KAMPPI", f"{_NETWORK}:TAPIOLA"


def serve(
    ctx: typer.Context,
    http: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Serve HTTP at /mcp instead of stdio.")] = None,
    tools: Annotated[
        str | None, typer.Option(metavar="GROUPS", help="Tool groups, separated by commas; the default is all.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A host name that clients may use for this server; repeatable.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="CIDR", help="A proxy whose X-Forwarded-For header identifies the caller; repeatable."),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Let anyone who can reach the address call the tools, without a token.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="The number of processes that serve HTTP at one address.")
    ] = 1,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where to serve /metrics; other workers use the next ports. The default is 127.0.0.1:9464.",
        ),
    ] = None,
) -> None:
    if workers > 1 and http is None:
        raise ParameterError(
            "stdio serves one client, so --workers needs --http", {"field": "workers"}, hint="Add --http HOST:PORT"
        )
    groups = None if tools is None else [group.strip() for group in tools.split(",") if group.strip()]
    application = _open_server(ctx, groups)
    # A local import, because importing the protocol takes a second.
    if http is None:
        from fingerpost.apps.mcp.server import serve_stdio

        asyncio.run(serve_stdio(application, new_warm_up(application)))
        return
    from fingerpost.apps.mcp.http import serve_http, serve_workers
    from fingerpost.apps.mcp.metrics_page import list_metrics_addresses

    address, proxies = Address.parse(http), parse_ip_networks(trusted_proxy or ())
    access = Access(allowed_hosts=allow_host or (), trusted_proxies=proxies, is_public=public)
    metrics_addresses = list_metrics_addresses(None if metrics is None else Address.parse(metrics), workers)
    if workers > 1:
        serve_workers(application.settings, address, workers, groups, access, metrics_addresses)
    else:
        serve_http(application, address, new_warm_up(application), access, metrics=metrics_addresses)


def web(
    ctx: typer.Context,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port to listen on; 0 chooses a free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help="An address of this machine; places can be saved only on a loopback address.")
    ] = ("127.0.0.1"),
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A host name that browsers may use for this server; repeatable.")
    ] = None,
    feed: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH|URL", help="First add or update this GTFS feed as the network CITY; repeatable."),
    ] = None,
) -> None:
    if feed:
        from fingerpost.apps.cli.network_commands import add_city

        add_city(ctx, feed)
    application = _open_server(ctx)
    from fingerpost.apps.mcp.http import serve_http
    from fingerpost.apps.views.page import Site

    # --host determines who can reach the page.
    access = Access(allowed_hosts=allow_host or (), is_public=True)
    serve_http(
        application,
        Address(host, port),
        new_warm_up(application),
        access,
        Site(),
        announce=lambda url: print_message(f"fingerpost is running at {url}/; press Ctrl-C to stop."),
    )


def _open_server(ctx: typer.Context, groups: Collection[str] | None = None) -> Application:
    start_server_process()
    application = open_application(ctx, groups)
    start_logging(can_block=False, as_json=application.settings.log == "json")
    check_database(application.settings)
    require_keys(application.settings.home)
    return application


def doctor(
    ctx: typer.Context,
    deep: Annotated[
        bool, typer.Option("--deep", help="Read every stored file completely, and report damaged ones.")
    ] = False,
) -> None:
    application = open_application(ctx)
    if not run_and_close(application, print_health(application, deep=deep)):
        raise typer.Exit(TOOL_ERROR)


def demo(
    ctx: typer.Context,
    disrupt: Annotated[
        bool, typer.Option("--disrupt", help="Have the simulator close a line and delay trips on others.")
    ] = False,
    as_json: Json = False,
) -> None:
    application = open_application(ctx)
    places = {"origin": {"type": "label", "value": _ORIGIN}, "destination": {"type": "label", "value": _DESTINATION}}
    answer = call_tool(application, "plan_trip", {**places, "limit": 3}, publish_disruption if disrupt else None)
    if disrupt and not as_json and not answer.is_error:
        print_line("The simulator has closed a line. A rider now gets this answer.\n")
    print_or_exit(answer, as_json=as_json)


async def publish_disruption(application: Application) -> None:
    """Publish a simulated disruption on the demo network, as a realtime source would."""
    # A local import, because importing the engine would slow down all other commands.
    from fingerpost.transit.embedded.source import publish_simulation

    for network in (await application.networks.open()).list_owners(_ORIGIN):
        await compute(publish_simulation, network, int(clock.now().timestamp()))
