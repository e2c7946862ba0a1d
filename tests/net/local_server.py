"""A real local server whose answers the test writes byte by byte."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fingerpost.net.client import Client
from fingerpost.net.limiter import Limiter
from fingerpost.net.request import RequestLimits
from fingerpost.net.transport import CheckedBackend, WirePool

HOST = "feeds.example"
LOOPBACK = "127.0.0.1"
# Small enough to be waited out by no test, large enough for a machine that is busy.
LIMITS = RequestLimits(connect_s=5.0, read_s=5.0, total_s=10.0, max_bytes=100_000, attempts=3)


@dataclass(frozen=True)
class Asked:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""


Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class LocalServer:
    """Answers requests in turn with ``answers``; the last one for ever. An answer is bytes, or a way to write them."""

    answers: list[Answer]
    asked: list[Asked] = field(default_factory=list)
    port: int = 0
    connections: int = 0
    scheme: str = "http"
    tasks: set[asyncio.Task] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"{self.scheme}://{HOST}:{self.port}"

    async def next_answer(self, asked):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    async def serve(self, reader, writer):
        self.connections += 1
        self.tasks.add(asyncio.current_task())
        try:
            while True:
                asked = await read_request(reader)
                if asked is None:
                    return
                self.asked.append(asked)
                answer = await self.next_answer(asked)
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                else:
                    await answer(writer)
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # Cancelled at the end of the test: the stream's own callback cannot bear it.
            return
        finally:
            writer.close()


async def read_request(reader):
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, target, headers, body)


def serving(*answers, tls=None):
    return listening(LocalServer(list(answers), scheme="http" if tls is None else "https"), tls)


@asynccontextmanager
async def listening(local, tls=None):
    server = await asyncio.start_server(local.serve, LOOPBACK, 0, ssl=tls)
    local.port = server.sockets[0].getsockname()[1]
    try:
        yield local
    finally:
        server.close()
        for task in local.tasks:
            task.cancel()
        await asyncio.gather(*local.tasks)


class FakeTime:
    """Milliseconds that pass only while somebody sleeps; ``slept`` lists each wait in seconds."""

    def __init__(self):
        self.now_ms = 1_000_000_000_000
        self.slept = []

    def clock_ms(self):
        return self.now_ms

    def clock_s(self):
        return self.now_ms / 1000

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.now_ms += round(seconds * 1000)


def names(**addresses):
    table = {HOST: [LOOPBACK], **{name.replace("_", "."): found for name, found in addresses.items()}}

    async def resolve(host, port):
        return table[host]

    return resolve


async def anywhere(host, port):
    return [LOOPBACK]


def new_client(*, resolve=None, private_hosts=(HOST,), time=None, inner=None, tls=None, **given):
    """Return a client that finds ``feeds.example`` on this machine and never really sleeps at its limiter.

    ``inner`` connects, ``tls`` says whom to trust.
    """
    time = time or FakeTime()
    backend = CheckedBackend(private_hosts, resolve=resolve or names(), inner=inner)
    given.setdefault("limiter", Limiter(clock_ms=time.clock_ms, sleep=time.sleep))
    return Client(pool=WirePool(backend, tls=tls), **given)


def html(status):
    return answer(status, b"<html><body>Bad gateway</body></html>", Content_Type="text/html")


def answer(status="200 OK", body=b"", **headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
