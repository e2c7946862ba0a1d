"""Decode the bytes of a GTFS table to UTF-8 block by block, and prefetch blocks in a thread."""

import codecs
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, TypeVar

BLOCK_BYTES = 1_048_576
# The maximum number of bytes in a line; files with longer lines are not tables.
LINE_LIMIT = 1_048_576

_CARRIAGE_RETURN = 13


class LineTooLong(ValueError):
    """A line is longer than LINE_LIMIT."""


def decode_blocks(binary: IO[bytes], block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[bytes, bool]]:
    """Yield blocks of complete lines as UTF-8, and whether any line was not UTF-8 but Windows-1252.

    A byte order mark is removed. A thread reads and unpacks the next block while the caller works on the current one.
    """
    remainder = b""
    for raw in _read_raw(binary, block_bytes):
        block = remainder + raw
        cut = max(block.rfind(b"\n"), block.rfind(b"\r")) + 1
        # A carriage return at the very end may be the first half of a CRLF.
        if block and cut == len(block) and block[-1] == _CARRIAGE_RETURN:
            cut = max(block.rfind(b"\n", 0, cut - 1), block.rfind(b"\r", 0, cut - 1)) + 1
        block, remainder = block[:cut], block[cut:]
        if len(remainder) > LINE_LIMIT + len(raw):
            raise LineTooLong
        if block:
            yield _convert_block(block)
    if len(remainder) > LINE_LIMIT:
        raise LineTooLong
    if remainder:
        yield _convert_block(remainder)


def _read_raw(binary: IO[bytes], block_bytes: int) -> Iterator[bytes]:
    first = binary.read(block_bytes)
    following = iter(lambda: binary.read(block_bytes), b"")
    yield first.removeprefix(codecs.BOM_UTF8)
    if len(first) == block_bytes:
        yield from prefetch(following, "unpack")


def _convert_block(block: bytes) -> tuple[bytes, bool]:
    if block.isascii():
        return block, False
    try:
        block.decode()
    except UnicodeDecodeError:
        return b"".join(map(_convert_line, block.splitlines(keepends=True))), True
    return block, False


_DIRECTION_MARKS = re.compile(rb"\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")


def remove_direction_marks(block: bytes) -> tuple[bytes, list[int]]:
    """Remove bidirectional control characters (U+202A..E, U+2066..9); return the lines that had any."""
    if block.isascii() or not _DIRECTION_MARKS.search(block):
        return block, []
    marked = [line for line, text in enumerate(block.splitlines(), 1) if _DIRECTION_MARKS.search(text)]
    return _DIRECTION_MARKS.sub(b"", block), marked


def _convert_line(line: bytes) -> bytes:
    try:
        line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", errors="replace").encode()
    return line


T = TypeVar("T")


def prefetch(items: Iterator[T], name: str) -> Iterator[T]:
    """Yield the items of an iterator (none may be None), and compute the next one in a thread."""
    with ThreadPoolExecutor(1, thread_name_prefix=f"fingerpost-{name}") as pool:
        following = pool.submit(next, items, None)
        while (item := following.result()) is not None:
            following = pool.submit(next, items, None)
            yield item
