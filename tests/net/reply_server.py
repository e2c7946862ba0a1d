"""A server with replies computed by a test, optionally faulty, and a client that finds it at port 80."""

import asyncio
from contextlib import asynccontextmanager

import httpcore2

from fingerpost.testing.networks.suite import ServerFault
from tests.net import local_server
from tests.net.local_server import LOOPBACK, answer, anywhere, read_request

ENVIRON = {"TOWN_KEY": "s3cr3t-k3y"}
FAULTY_REPLIES = {
    ServerFault.FAILING: answer("500 Oh"),
    ServerFault.LIMITING: answer("429 Slow Down", Retry_After="60"),
    ServerFault.MALFORMED: answer(body=b"<html>Maintenance</html>"),
}


class Port(httpcore2.AnyIOBackend):
    """Finds the server at port 80, wherever it listens; None for nowhere."""

    def __init__(self, port):
        self.number = port

    async def connect_tcp(self, host, port, *rest):
        if self.number is None:
            raise httpcore2.ConnectError("refused")
        return await super().connect_tcp(host, self.number, *rest)


@asynccontextmanager
async def serving_replies(reply, fault=None):
    """Serve on a free port; ``reply`` turns a request into the bytes of an answer. Yield how to connect."""
    if fault is ServerFault.UNREACHABLE:
        yield Port(None)
        return
    tasks = set()

    async def serve(reader, writer):
        tasks.add(asyncio.current_task())
        try:
            while (asked := await read_request(reader)) is not None:
                if fault is ServerFault.SILENT:
                    await asyncio.Event().wait()
                writer.write(FAULTY_REPLIES.get(fault) or await reply(asked))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    try:
        yield Port(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


def new_town_client(port):
    return local_server.new_client(private_hosts=["town.example"], resolve=anywhere, inner=port, environ=ENVIRON)
