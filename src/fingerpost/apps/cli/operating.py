"""The commands of whoever runs fingerpost: the server, and a look at its health."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from fingerpost.apps.cli.house import TOOL_ERROR, open_house, usage
from fingerpost.apps.interpreter import keep_what_is_loaded, start_without_collecting, take_short_turns
from fingerpost.apps.logs import start_logging

if TYPE_CHECKING:
    from fingerpost.apps.wiring import House


def serve(
    ctx: typer.Context,
    http: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Serve HTTP at /mcp; else stdio.")] = None,
    tools: Annotated[str | None, typer.Option(metavar="GROUPS", help="Groups of tools, by comma; else all.")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A host name that clients may call this server by; repeatable.")
    ] = None,
) -> None:
    """Serve the tools over MCP."""
    start_without_collecting()
    take_short_turns()
    groups = None if tools is None else [group.strip() for group in tools.split(",") if group.strip()]
    house = open_house(ctx.obj, groups)
    start_logging()
    # The protocol's own package is a second of imports that no other command needs.
    if http is None:
        from fingerpost.apps.mcp.stdio import serve_stdio

        keep_what_is_loaded()
        asyncio.run(serve_stdio(house))
        return
    from fingerpost.apps.mcp.http import Address, serve_http

    with usage():
        keep_what_is_loaded()
        serve_http(house, Address.read(http), allow_host or ())


def doctor(ctx: typer.Context) -> None:
    """Say what this installation has and what it lacks."""
    house = open_house(ctx.obj)
    is_well = asyncio.run(_print_and_close(house))
    if not is_well:
        raise typer.Exit(TOOL_ERROR)


async def _print_and_close(house: "House") -> bool:
    from fingerpost.apps.cli.health import print_health

    try:
        return await print_health(house)
    finally:
        await house.networks.close()
