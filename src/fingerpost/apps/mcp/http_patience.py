"""How many connections the HTTP server takes, and how long it waits for the headers and the body of a request.

uvicorn waits for ever, and a caller that sends half of a request would keep a connection and its memory until it ends.
"""

import asyncio
from weakref import WeakKeyDictionary

from starlette.types import ASGIApp, Message, Receive
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from fingerpost.apps.mcp.overload import RequestsInHand, counted
from fingerpost.runtime.instruments import REFUSED_CONNECTIONS

HEADERS_S = 10.0
BODY_S = 30.0
# Of one process; systems that were not told otherwise give it 1,024 files.
MOST_CONNECTIONS = 500
_requests: WeakKeyDictionary[ServerState, RequestsInHand] = WeakKeyDictionary()
_SHED = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class PatientProtocol(H11Protocol):
    """uvicorn's protocol, which closes a connection whose headers do not come within ``HEADERS_S``.

    A connection beyond ``MOST_CONNECTIONS`` is refused at once, and told to come again in a second.
    """

    _waiting: asyncio.TimerHandle | None = None

    @property
    def app(self) -> ASGIApp:
        """The application; uvicorn reads it when a request has come."""
        return counted(self._app, _requests.setdefault(self.server_state, RequestsInHand()))

    @app.setter
    def app(self, app: ASGIApp) -> None:
        self._app = app

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            REFUSED_CONNECTIONS.add(1)
            transport.write(_SHED)
            transport.close()
            return
        self._begin_waiting()

    def data_received(self, data: bytes) -> None:
        """Read on; a request whose headers are complete is waited for no more."""
        if not self._is_answering():
            self._begin_waiting()
        super().data_received(data)
        if self._is_answering():
            self._end_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._end_waiting()
        super().connection_lost(exc)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _begin_waiting(self) -> None:
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().call_later(HEADERS_S, self._give_up)

    def _end_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if not self._is_answering():
            self.transport.close()


async def receive_whole(receive: Receive, most_bytes: int) -> list[Message]:
    """Return the messages of a request's body, up to the first that exceeds ``most_bytes`` in all.

    Raises:
        TimeoutError: the body did not come within ``BODY_S``.
    """
    messages: list[Message] = []
    size = 0
    async with asyncio.timeout(BODY_S):
        while True:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if message["type"] != "http.request" or not message.get("more_body", False) or size > most_bytes:
                return messages
