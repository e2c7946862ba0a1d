"""Serving one client over standard input and output."""

import asyncio

from mcp.server.stdio import stdio_server

from fingerpost.apps.mcp.server import new_server
from fingerpost.apps.warming import Warming
from fingerpost.apps.wiring import House

# A host asks for the tools at once. Importing the engine would hold the interpreter's lock for that while.
_QUIET_START_S = 1.0


async def serve_stdio(house: House) -> None:
    """Serve until the client closes our input; the networks are opened meanwhile."""
    server = new_server(house, user=house.settings.user)
    warming = Warming(house.networks)
    asyncio.get_running_loop().call_later(_QUIET_START_S, warming.start)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
    warming.leave()
