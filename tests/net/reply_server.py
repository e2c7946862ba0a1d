"""A server with replies computed by a test, optionally faulty, and a client that finds it at port 80."""

import asyncio
from contextlib import asynccontextmanager

import httpcore2

from fingerpost.net.request import RequestLimits
from fingerpost.net.streams import StreamBackend
from tests.conformance.suite import ServerFault
from tests.net import local_server
from tests.net.local_server import LocalServer, answer, anywhere, listening

ENVIRON = {"TOWN_KEY": "s3cr3t-k3y"}
# A busy machine may be slow, but a test shows one request.
LIMITS = RequestLimits(read_s=60.0, total_s=60.0, attempts=1)
FAULTY_REPLIES = {
    ServerFault.FAILING: answer("500 Oh"),
    ServerFault.LIMITING: answer("429 Slow Down", Retry_After="60"),
    ServerFault.MALFORMED: answer(body=b"<html>Maintenance</html>"),
}


class Port(StreamBackend):
    """Finds the server at port 80, wherever it listens; None for nowhere."""

    def __init__(self, port):
        self.number = port

    async def connect_tcp(self, host, port, *rest):
        if self.number is None:
            raise httpcore2.ConnectError("refused")
        return await super().connect_tcp(host, self.number, *rest)


class ReplyServer(LocalServer):
    def __init__(self, reply, fault):
        super().__init__([])
        self._reply, self._fault = reply, fault

    async def next_answer(self, asked):
        if self._fault is ServerFault.SILENT:
            await asyncio.Event().wait()
        return FAULTY_REPLIES.get(self._fault) or await self._reply(asked)


@asynccontextmanager
async def serving_replies(reply, fault=None):
    """Serve on a free port; ``reply`` turns a request into the bytes of an answer. Yield how to connect."""
    async with listening(ReplyServer(reply, fault)) as server:
        yield Port(None if fault is ServerFault.UNREACHABLE else server.port)


def new_town_client(port):
    return local_server.new_client(private_hosts=["town.example"], resolve=anywhere, inner=port, environ=ENVIRON)
