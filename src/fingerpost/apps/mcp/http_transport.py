"""The ``/mcp`` endpoint: answers in one JSON body, or as an event stream where the client asks for progress.

A stream costs more, and a server that keeps no session has nothing to send on it but progress.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from fingerpost.apps.mcp.address import name_machine
from fingerpost.apps.mcp.http_patience import receive_whole
from fingerpost.apps.mcp.request_size import MOST_BYTES, find_declared_excess, find_excess
from fingerpost.runtime.fair_threads import CALLER

_STREAM = "text/event-stream"
_TOKEN = b'"progressToken"'
_INVALID_REQUEST = -32600


class McpTransport:
    """ASGI application that passes each request to a JSON or a streaming session manager."""

    def __init__(self, server: Server[Any], security: TransportSecuritySettings) -> None:
        self._in_one, self._streaming = (
            StreamableHTTPSessionManager(app=server, json_response=is_json, stateless=True, security_settings=security)
            for is_json in (True, False)
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Run both session managers until the block ends."""
        async with self._in_one.run(), self._streaming.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; only POST is allowed, because no session is kept."""
        if scope["method"] != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        # A machine's name first: what its plans do is told apart by that alone.
        host, port = scope.get("client") or ("", "")
        CALLER.set(f"{name_machine(host)} {port}")
        excess = find_declared_excess(Headers(scope=scope).get("content-length"))
        received: list[Message] = []
        if excess is None:
            try:
                received = await receive_whole(receive, MOST_BYTES)
            except TimeoutError:
                await Response(status_code=408, headers={"Connection": "close"})(scope, receive, send)
                return
            excess = await find_excess(received)
        if excess is not None:
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": _INVALID_REQUEST, "message": excess}}
            await JSONResponse(error, status_code=413, headers={"Connection": "close"})(scope, receive, send)
            return

        async def again() -> Message:
            return received.pop(0) if received else await receive()

        await self._choose(scope, again, send)

    async def _choose(self, scope: Scope, receive: Receive, send: Send) -> None:
        first: Message | None = await receive()
        assert first is not None
        wants_progress = _TOKEN in first.get("body", b"") and _STREAM in Headers(scope=scope).get("accept", "")

        async def again() -> Message:
            nonlocal first
            if first is None:
                return await receive()
            message, first = first, None
            return message

        manager = self._streaming if wants_progress else self._in_one
        await manager.handle_request(scope, again, send)
