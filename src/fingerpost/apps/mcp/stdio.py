"""Serving one client over standard input and output."""

import asyncio
import logging

import mcp_types as types
from anyio import create_memory_object_stream, create_task_group
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

from fingerpost.apps.mcp.server import new_server
from fingerpost.apps.warming import Warming
from fingerpost.apps.wiring import House

_log = logging.getLogger(__name__)

# A host asks for the tools at once. Importing the engine would hold the interpreter's lock for that while.
_QUIET_START_S = 1.0


async def serve_stdio(house: House) -> None:
    """Serve until the client closes our input; the networks are opened meanwhile."""
    server = new_server(house, user=house.settings.user)
    warming = Warming(house.networks)
    asyncio.get_running_loop().call_later(_QUIET_START_S, warming.start)
    async with stdio_server() as (incoming, outgoing), create_task_group() as tasks:
        send, messages = create_memory_object_stream[SessionMessage | Exception](0)
        tasks.start_soon(_pass_on, incoming, send, outgoing)
        await server.run(messages, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()
    warming.leave()
    await house.networks.close()


async def _pass_on(
    incoming: ReadStream[SessionMessage | Exception],
    send: MemoryObjectSendStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
) -> None:
    """Pass messages on, and answer what is none: the protocol's library would leave its sender waiting."""
    async with send:
        async for item in incoming:
            if isinstance(item, SessionMessage):
                await send.send(item)
                continue
            _log.warning("a line on standard input is no JSON-RPC message: %s", type(item).__name__)
            error = types.ErrorData(code=types.PARSE_ERROR, message="The line is not a JSON-RPC message")
            await outgoing.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))
