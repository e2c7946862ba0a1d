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
from fingerpost.apps.mcp.http_limits import MOST_BYTES, Admission, BodyTooLarge, receive_body

_STREAM = "text/event-stream"
_TOKEN = b'"progressToken"'
_INVALID_REQUEST = -32600
_CLOSING = {"Connection": "close"}


class McpTransport:
    """ASGI application that passes each request to a JSON or a streaming session manager."""

    def __init__(self, server: Server[Any], security: TransportSecuritySettings, admission: Admission) -> None:
        self._admission = admission
        self._in_one, self._streaming = (
            StreamableHTTPSessionManager(app=server, json_response=is_json, stateless=True, security_settings=security)
            for is_json in (True, False)
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with self._in_one.run(), self._streaming.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; only POST is allowed, because no session is kept."""
        if scope["method"] != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        try:
            body = await receive_body(receive, int(length) if length.isdecimal() else 0)
        except TimeoutError:
            await Response(status_code=408, headers=_CLOSING)(scope, receive, send)
            return
        except BodyTooLarge:
            message = f"The request has more than {MOST_BYTES:,} bytes; send a shorter call"
            await _refuse(413, message, _CLOSING)(scope, receive, send)
            return
        host, _port = scope.get("client") or ("", 0)
        with self._admission.enter(name_machine(host)) as is_admitted:
            if is_admitted:
                await self._pass_on(body, scope, receive, send)
            else:
                refusal = _refuse(429, "Too many requests at a time; retry in a second", {"Retry-After": "1"})
                await refusal(scope, receive, send)

    async def _pass_on(self, body: list[Message], scope: Scope, receive: Receive, send: Send) -> None:
        wants_progress = _STREAM in Headers(scope=scope).get("accept", "") and any(
            _TOKEN in message.get("body", b"") for message in body
        )
        manager = self._streaming if wants_progress else self._in_one

        async def replay() -> Message:
            return body.pop(0) if body else await receive()

        await manager.handle_request(scope, replay, send)


def _refuse(status: int, message: str, headers: dict[str, str]) -> JSONResponse:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": _INVALID_REQUEST, "message": message}}
    return JSONResponse(error, status_code=status, headers=headers)
