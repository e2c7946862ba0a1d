"""The operator's commands: ``serve``, ``worker`` and ``doctor``."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import open_application, usage
from fingerpost.apps.interpreter import new_warm_up, start_server_process
from fingerpost.apps.logs import start_logging
from fingerpost.apps.mcp.address import Address, read_networks
from fingerpost.errors import ParameterError

if TYPE_CHECKING:
    from fingerpost.apps.wiring import Application


def serve(
    ctx: typer.Context,
    http: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Serve HTTP at /mcp; else stdio.")] = None,
    tools: Annotated[str | None, typer.Option(metavar="GROUPS", help="Groups of tools, by comma; else all.")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A host name that clients may call this server by; repeatable.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="CIDR", help="A proxy whose X-Forwarded-For names the caller; repeatable."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that serve HTTP at one address.")] = 1,
) -> None:
    """Serve the tools over MCP."""
    if workers > 1 and http is None:
        with usage():
            raise ParameterError(
                "stdio serves one client, so --workers needs --http",
                {"field": "workers"},
                hint="Say --http HOST:PORT as well",
            )
    start_server_process()
    groups = None if tools is None else [group.strip() for group in tools.split(",") if group.strip()]
    application = open_application(ctx.obj, groups)
    start_logging(may_wait=False)
    from fingerpost.apps.start_check import check_database, require_keys

    with usage():
        require_keys(application.settings)
        check_database(application.settings)
    if workers > 1 and http is not None:
        from fingerpost.apps.mcp.workers import serve_workers

        with usage():
            address, proxies = Address.read(http), read_networks(trusted_proxy or ())
            serve_workers(application.settings, address, workers, groups, allow_host or (), proxies)
        return
    # The protocol's own package is a second of imports that no other command needs.
    if http is None:
        from fingerpost.apps.mcp.stdio import serve_stdio

        asyncio.run(serve_stdio(application, new_warm_up(application)))
        return
    from fingerpost.apps.mcp.http import serve_http

    with usage():
        address, proxies = Address.read(http), read_networks(trusted_proxy or ())
        serve_http(application, address, new_warm_up(application), allow_host or (), trusted_proxies=proxies)


def worker(ctx: typer.Context) -> None:
    """Take over the plan runs of servers that died, over the database that they share, until SIGTERM."""
    start_server_process()
    application = open_application(ctx.obj)
    start_logging(may_wait=False)
    from fingerpost.apps.start_check import check_database

    with usage():
        if not application.settings.database_url.get_secret_value():
            raise ParameterError(
                "A worker shares the runs of a database, and none is configured",
                {"field": "FINGERPOST_DATABASE_URL"},
                hint="Set FINGERPOST_DATABASE_URL; see docs/scale.md",
            )
        check_database(application.settings)
    from fingerpost.apps.plan_worker import work_on_plans

    asyncio.run(work_on_plans(application, new_warm_up(application)))


def doctor(ctx: typer.Context) -> None:
    """Say what this installation has and what it lacks."""
    application = open_application(ctx.obj)
    is_well = asyncio.run(_print_and_close(application))
    if not is_well:
        raise typer.Exit(TOOL_ERROR)


async def _print_and_close(application: "Application") -> bool:
    from fingerpost.apps.cli.health import print_health

    try:
        return await print_health(application)
    finally:
        await application.networks.close()
