"""HTTP responses from sources, and decompression of their bodies in bounded chunks."""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fingerpost.errors import SourceChanged, SourceUnreachable
from fingerpost.net.redaction import HIDDEN

ACCEPT_ENCODING = "gzip"
NOT_MODIFIED = 304

_CHUNK_BYTES = 1 << 18
_PLAIN = frozenset({"", "identity"})
_GZIP = frozenset({"gzip", "x-gzip"})
_GZIP_WINDOW = zlib.MAX_WBITS | 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """The validators of a response, for conditional requests (RFC 9110, section 8.8)."""

    etag: str | None = None
    last_modified: str | None = None

    @property
    def conditions(self) -> dict[str, str]:
        headers = {"if-none-match": self.etag, "if-modified-since": self.last_modified}
        return {name: value for name, value in headers.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """The result of a download; ``sha256`` is the file's hex digest, and ``validators`` are for the next request."""

    changed: bool
    sha256: str
    size_bytes: int
    validators: Validators


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A complete HTTP response, decompressed.

    ``headers`` have lower-case names; ``retrieved_at`` (UTC) is when the source sent or last confirmed the response.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    redacted_url: str
    retrieved_at: datetime
    from_cache: bool = False

    @property
    def host(self) -> str:
        return self.redacted_url.split("/")[2] if "//" in self.redacted_url else self.redacted_url

    @property
    def validators(self) -> Validators:
        """The validators, except those that contain a redacted key."""
        etag, modified = (
            None if value is None or HIDDEN in value else value
            for value in (self.headers.get("etag"), self.headers.get("last-modified"))
        )
        return Validators(etag=etag, last_modified=modified)


class Body(Protocol):
    """A sink for content; ``restart`` discards everything written so far."""

    def restart(self) -> None: ...

    def write(self, chunk: bytes) -> None: ...


class MemoryBody:
    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def restart(self) -> None:
        self._chunks.clear()

    def write(self, chunk: bytes) -> None:
        self._chunks.append(chunk)

    def content(self) -> bytes:
        return b"".join(self._chunks)


class Decompression:
    """Decompresses one body; a gzip body may have several members (RFC 1952, section 2.2)."""

    def __init__(self, content_encoding: str) -> None:
        coding = content_encoding.strip().lower()
        if coding not in _PLAIN | _GZIP:
            raise SourceChanged(f"The source used the encoding {coding[:40]!r}, which was not requested")
        self._is_plain = coding in _PLAIN
        self._member: zlib._Decompress | None = None

    def feed(self, wire: bytes) -> Iterator[bytes]:
        """Decompress received bytes in bounded chunks; raise SourceChanged if the bytes are invalid."""
        if self._is_plain:
            yield wire
            return
        if self._member is not None and self._member.eof:
            # Members may be padded with zeros.
            wire = wire.lstrip(b"\0")
        while wire:
            if self._member is None or self._member.eof:
                self._member = zlib.decompressobj(_GZIP_WINDOW)
            try:
                # After a full chunk, more output may be buffered even if all input was consumed.
                while chunk := self._member.decompress(wire, _CHUNK_BYTES):
                    yield chunk
                    wire = self._member.unconsumed_tail
            except zlib.error as error:
                raise SourceChanged("The source's response cannot be decompressed") from error
            wire = self._member.unused_data.lstrip(b"\0")

    def end(self) -> None:
        if self._member is not None and not self._member.eof:
            raise SourceUnreachable("The source's response is incomplete")
