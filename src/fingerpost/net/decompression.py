"""Decompress a response body in bounded pieces, and detect truncation."""

import zlib
from collections.abc import Iterator

from fingerpost.errors import SourceChanged, SourceUnreachable

_PIECE_BYTES = 1 << 18
_PLAIN = frozenset({"", "identity"})
_GZIP = frozenset({"gzip", "x-gzip"})
_GZIP_WINDOW = zlib.MAX_WBITS | 16

ACCEPT_ENCODING = "gzip"


class Decompression:
    """Decompressor of one body; a gzip body may have several members (RFC 1952, section 2.2).

    Raises:
        SourceChanged: the body is in an encoding that was not asked for.
    """

    def __init__(self, content_encoding: str) -> None:
        coding = content_encoding.strip().lower()
        if coding not in _PLAIN | _GZIP:
            raise SourceChanged(f"The source answered in the encoding {coding[:40]!r}, which was not asked for")
        self._member = zlib.decompressobj(_GZIP_WINDOW) if coding in _GZIP else None
        self._begun = False
        self._held = False

    def feed(self, wire: bytes) -> Iterator[bytes]:
        """Yield the decompressed content of some received bytes in bounded pieces.

        Raises:
            SourceChanged: it is not what its header says.
        """
        if self._member is None:
            yield wire
            return
        if self._member.eof:
            wire = self._next_member(wire)
        while wire or self._held:
            try:
                piece = self._member.decompress(wire, _PIECE_BYTES)
            except zlib.error as error:
                raise SourceChanged("The source's answer cannot be decompressed") from error
            self._begun = True
            if piece:
                yield piece
            # A full piece may leave more inside, even where all of the wire was taken in.
            self._held = len(piece) == _PIECE_BYTES and not self._member.eof
            wire = self._next_member(self._member.unused_data) if self._member.eof else self._member.unconsumed_tail

    def _next_member(self, wire: bytes) -> bytes:
        """Begin another gzip member, if there is one behind the padding."""
        wire = wire.lstrip(b"\0")
        if wire:
            self._member = zlib.decompressobj(_GZIP_WINDOW)
        return wire

    def end(self) -> None:
        """Check that the body is complete.

        Raises:
            SourceUnreachable: it broke off.
        """
        if self._member is not None and self._begun and not self._member.eof:
            raise SourceUnreachable("The source's answer broke off")
