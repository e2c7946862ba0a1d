"""Serve MCP over standard input and output, for one client."""

import asyncio
import logging
import os
import signal

import mcp_types as types
from anyio import create_memory_object_stream, create_task_group
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

from fingerpost.apps.mcp.server import Caller, new_server
from fingerpost.apps.warm_up import WarmUp
from fingerpost.apps.wiring import Application

_log = logging.getLogger(__name__)

# Importing the engine holds the GIL, and would delay the host's first requests, such as ``tools/list``.
_WARM_UP_DELAY_S = 1.0
# The shell's exit status for a process ended by SIGINT.
_INTERRUPTED = 130


async def serve_stdio(application: Application, warm_up: WarmUp) -> None:
    server = new_server(application, lambda _ctx: Caller(application.settings.user))
    asyncio.get_running_loop().call_later(_WARM_UP_DELAY_S, warm_up.start)
    _exit_on_interrupt()
    async with (
        application.runs.recovering(),
        stdio_server() as (incoming, outgoing),
        create_task_group() as tasks,
    ):
        send, messages = create_memory_object_stream[SessionMessage | Exception](0)
        tasks.start_soon(_forward_messages, incoming, send, outgoing)
        await server.run(messages, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()
    warm_up.exit_if_running()
    await application.networks.close()


def _exit_on_interrupt() -> None:
    """End the process at the first interrupt, because Python would wait for the thread that reads stdin."""
    loop = asyncio.get_running_loop()

    def exit_now() -> None:
        _log.info("interrupted")
        logging.shutdown()
        os._exit(_INTERRUPTED)

    signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(exit_now))


async def _forward_messages(
    incoming: ReadStream[SessionMessage | Exception],
    send: MemoryObjectSendStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
) -> None:
    """Forward messages to the server; answer malformed messages with an error, because the SDK ignores them."""
    async with send:
        async for item in incoming:
            if isinstance(item, SessionMessage):
                await send.send(item)
                continue
            _log.warning("a line on standard input is not a JSON-RPC message: %s", type(item).__name__)
            error = types.ErrorData(code=types.PARSE_ERROR, message="The line is not a JSON-RPC message")
            await outgoing.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))
