"""A request leaves in one write, and nothing that was written is lost."""

import httpcore2
import pytest

from fingerpost.net.joined_writes import JoiningBackend, JoiningStream


class Wire(httpcore2.AsyncNetworkStream):
    """A stream that writes down what reaches it."""

    def __init__(self, *, broken: bool = False) -> None:
        self.written: list[bytes] = []
        self.broken = broken

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        return b"HTTP/1.1 413 Content Too Large\r\n"

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        if self.broken:
            raise httpcore2.WriteError
        self.written.append(buffer)

    async def aclose(self) -> None:
        self.written.append(b"closed")

    async def start_tls(self, *_: object) -> "Wire":
        self.written.append(b"encrypted")
        return self


class Connecting(httpcore2.AsyncNetworkBackend):
    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    async def connect_tcp(self, *_: object) -> Wire:
        return self.wire


async def test_head_and_content_are_one_write() -> None:
    """What is written before the answer is read leaves together."""
    wire = Wire()
    stream = await JoiningBackend(Connecting(wire)).connect_tcp("a.example", 80)
    await stream.write(b"POST / HTTP/1.1\r\n\r\n")
    await stream.write(b"{}")
    await stream.read(100)
    assert wire.written == [b"POST / HTTP/1.1\r\n\r\n{}"]


@pytest.mark.parametrize(("size", "writes"), [(65_535, 1), (65_536, 2)])
async def test_what_is_large_is_not_kept_back(size: int, writes: int) -> None:
    """Up to 64 KiB wait for the read, with the head; one byte more is written after it, in order."""
    wire = Wire()
    stream = JoiningStream(wire)
    await stream.write(b"h")
    await stream.write(b"c" * size)
    await stream.read(100)
    assert len(wire.written) == writes
    assert b"".join(wire.written) == b"h" + b"c" * size


async def test_an_early_answer_can_be_read() -> None:
    """A server that closes while we write may have answered why."""
    stream = JoiningStream(Wire(broken=True))
    await stream.write(b"POST / HTTP/1.1\r\n\r\n")
    assert await stream.read(100) == b"HTTP/1.1 413 Content Too Large\r\n"


async def test_nothing_waits_when_encryption_begins() -> None:
    """What was written in the clear leaves in the clear, and the encrypted stream joins its writes too."""
    wire = Wire()
    stream = JoiningStream(wire)
    await stream.write(b"CONNECT")
    encrypted = await stream.start_tls(None)  # type: ignore[arg-type]
    await encrypted.write(b"GET ")
    await encrypted.write(b"/")
    await encrypted.read(100)
    assert wire.written == [b"CONNECT", b"encrypted", b"GET /"]


async def test_closing_writes_nothing() -> None:
    """Half a request whose caller went away does not leave at the end."""
    wire = Wire()
    stream = JoiningStream(wire)
    await stream.write(b"POST / HTTP/1.1\r\n\r\n")
    await stream.aclose()
    assert wire.written == [b"closed"]
