"""Read one delimited table of a GTFS feed, block by block, into columns and hash indices of ids.

Tables that violate the GTFS Schedule reference, "File requirements", are read as far as possible; faults are counted.
"""

import codecs
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.csv.field_values import INTEGER_LIMIT
from fingerpost.transit.engine.gtfs.csv.findings import Findings, Reason
from fingerpost.transit.engine.gtfs.csv.kernel import look_up_ids, parse_decimals, parse_times, split_rows
from fingerpost.transit.engine.timetable.columns import TextColumn
from fingerpost.transit.engine.timetable.timetable import Bool, Float64, Int32, UInt8

_BLOCK_BYTES = 1_048_576
_HEADER_BLOCK_BYTES = 32_768
_BUFFER_ROWS = 65_536
# Limits on the bytes in a line, and in a row with quoted line breaks; a file that exceeds them is not a table.
_LINE_LIMIT = 1_048_576
_ROW_LIMIT = 4_194_304
_LINE_FEED = ord("\n")

_ROW_FAULTS = (Reason.ROW_LONGER_THAN_HEADER_ASSUMED, Reason.QUOTE_WITHOUT_END_ASSUMED)
# zipfile raises UnicodeDecodeError for names that are not UTF-8.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, UnicodeDecodeError)
# Control characters are removed, because they can manipulate terminals and forge lines; the parser handles NUL.
_CONTROLS = bytes([*range(1, 9), 11, 12, *range(14, 32), 127])
# In UTF-8: U+0080 to U+009F, and the bidirectional marks U+202A to U+202E and U+2066 to U+2069.
_WIDE_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")


class Block(NamedTuple):
    """Consecutive rows of a table, valid until the next block overwrites them.

    ``starts`` and ``ends`` are the bounds of fields in ``blob``, by column and row; ``lines`` are line numbers.
    """

    blob: UInt8
    starts: Int32
    ends: Int32
    lines: Int32

    def read_integers(self, column: int, empty: int) -> tuple[Int32, Bool]:
        """Return a column of integers and a mask of the unreadable values, which become ``empty``.

        Integers such as 3.0 are allowed, because spreadsheets write them; 2,000 is unreadable.
        """
        values = self.read_decimals(column, allows_comma=False)
        is_integer = (np.rint(values) == values) & (np.abs(values) < INTEGER_LIMIT)
        return np.where(is_integer, values, empty).astype(np.int32), self.is_filled(column) & ~is_integer

    def read_times_s(self, column: int) -> Int32:
        values = np.empty(len(self.lines), np.int32)
        parse_times(self.blob, self.starts[column], self.ends[column], values)
        return values

    def read_decimals(self, column: int, *, allows_comma: bool = True) -> Float64:
        values = np.empty(len(self.lines), np.float64)
        parse_decimals(self.blob, self.starts[column], self.ends[column], values, allows_comma)
        return values

    def is_filled(self, column: int) -> Bool:
        filled: Bool = self.ends[column] > self.starts[column]
        return filled

    def read_texts(self, column: int) -> list[str]:
        data = self.blob.tobytes()
        spans = zip(self.starts[column].tolist(), self.ends[column].tolist(), strict=True)
        # Quoted fields may contain line breaks.
        return [" ".join(data[start:end].decode(errors="replace").splitlines()) for start, end in spans]


@dataclass(eq=False)
class Table:
    """A table whose header has been read; ``columns`` are in lower case, and ``size`` is in bytes (0: unknown)."""

    feed: str
    name: str
    _open_binary: Callable[[], IO[bytes]]
    findings: Findings
    size: int = 0
    _advance: Callable[[int], None] = lambda _bytes: None

    def __post_init__(self) -> None:
        self._is_encoding_reported = False
        self.columns = self._read_header()

    def require(self, columns: Collection[str]) -> None:
        for column in columns:
            if column not in self.columns:
                hint = "Ask the publisher for a complete feed"
                if not all(name.isidentifier() for name in self.columns if name):
                    hint = "Check that the file is in UTF-8, and that commas separate its columns"
                raise FeedUnusable(f"{self.feed}: {self.name} has no column {column}, which GTFS requires", hint=hint)

    def read_blocks(self, *columns: str) -> Iterator[Block]:
        """Yield blocks of rows with the given columns; missing columns are empty."""
        split = self._split(columns)
        for size, block in prefetch(split, "split") if self.size > _BLOCK_BYTES else split:
            self._advance(size)
            if len(block.lines):
                yield block

    def _split(self, columns: Sequence[str]) -> Iterator[tuple[int, Block]]:
        """Yield (bytes read, block); blocks may be empty, and are overwritten two blocks later."""
        slots = np.full(len(self.columns), -1, np.int32)
        for slot, column in enumerate(columns):
            if column in self.columns:
                slots[self.columns.index(column)] = slot
        buffers = cycle(np.zeros((2, 2 * len(columns) + 1, _BUFFER_ROWS), np.int32))
        line, skip = 0, 1
        remainder = b""
        for block, is_last in self._decode():
            cleaned, marked = _remove_controls(block)
            if marked:
                self.findings.add(Reason.TEXT_DIRECTION_REMOVED, self.name, line + marked[0], count=len(marked))
            data = remainder + cleaned
            blob = np.empty(len(data) + 1, np.uint8)
            blob[:-1] = np.frombuffer(data, np.uint8)
            blob[-1] = _LINE_FEED
            used, size = 0, len(block)
            while used < len(data):
                buffer = next(buffers)
                starts, ends, lines = buffer[: len(columns)], buffer[len(columns) : -1], buffer[-1]
                faults = np.zeros((2, 2), np.int32)
                rows, row_bytes, line = split_rows(
                    blob[used:], len(data) - used, is_last, slots, starts, ends, lines, line, faults
                )
                for reason, (count, first_line) in zip(_ROW_FAULTS, faults.tolist(), strict=True):
                    if count:
                        self.findings.add(reason, self.name, first_line, count=count)
                data_rows = slice(skip, max(skip, rows))
                yield size, Block(blob[used:], starts[:, data_rows], ends[:, data_rows], lines[data_rows])
                skip = max(0, skip - rows)
                used += row_bytes
                size = 0
                # The next block completes the last row, which is then split again from the original bytes.
                if rows < _BUFFER_ROWS:
                    break
            remainder = data[used:]
            if len(remainder) > _ROW_LIMIT:
                raise self._new_not_a_table_error()

    def read_rows(self, *columns: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield (line number, stripped fields) of every row; missing columns are empty."""
        for block in self.read_blocks(*columns):
            fields = [block.read_texts(column) for column in range(len(columns))]
            yield from zip(block.lines.tolist(), zip(*fields, strict=True), strict=True)

    def note(self, reason: Reason, line: int, column: str) -> None:
        self.findings.add(reason, self.name, line, column)

    def note_rows(self, reason: Reason, lines: Int32, column: str = "") -> None:
        self.findings.add_many(reason, self.name, lines, column)

    def drop_faulty(self, lines: Int32, usable: Bool, faults: Iterable[tuple[Reason, str, Bool]]) -> Bool:
        return self.findings.drop_faulty(self.name, lines, usable, faults)

    def read_choices(self, block: Block, slot: int, column: str, empty: int, values: range, is_reported: Bool) -> Int32:
        """Return a column of choices with invalid values set to ``empty``; report those in ``is_reported`` rows."""
        column_values, faulty = block.read_integers(slot, empty)
        faulty |= ((column_values < values[0]) | (column_values > values[-1])) & block.is_filled(slot)
        self.note_rows(Reason.VALUE_UNREADABLE_ASSUMED, block.lines[is_reported & faulty], column)
        column_values[faulty] = empty
        return column_values

    def _decode(self, block_bytes: int = _BLOCK_BYTES) -> Iterator[tuple[bytes, bool]]:
        """Yield (block of complete UTF-8 lines, whether it is the last); a byte order mark is removed."""
        remainder = b""
        try:
            with self._open_binary() as binary:
                for raw in _read_raw(binary, block_bytes):
                    block = remainder + raw
                    # A carriage return at the very end may be the first half of a CRLF.
                    cut = max(block.rfind(b"\n"), block.rfind(b"\r", 0, -1)) + 1
                    remainder = block[cut:]
                    if len(remainder) > _LINE_LIMIT:
                        raise self._new_not_a_table_error()
                    if cut:
                        yield self._convert_block(block[:cut]), False
        except _UNREADABLE as error:
            raise FeedUnusable(
                f"{self.feed}: {self.name} cannot be unpacked ({error})", hint="Download the feed again"
            ) from error
        yield self._convert_block(remainder), True

    def _convert_block(self, block: bytes) -> bytes:
        """Convert lines that are not UTF-8 from Windows-1252 to UTF-8."""
        if _is_utf8(block):
            return block
        if not self._is_encoding_reported:
            self._is_encoding_reported = True
            self.findings.add(Reason.TABLE_ENCODING_ASSUMED, self.name, 1)
        return b"".join(
            line if _is_utf8(line) else line.decode("cp1252", errors="replace").encode()
            for line in block.splitlines(keepends=True)
        )

    def _new_not_a_table_error(self) -> FeedUnusable:
        return FeedUnusable(f"{self.feed}: {self.name} is not a text table", hint="Ask the publisher for a valid feed")

    def _read_header(self) -> list[str]:
        block, _ = next(self._decode(_HEADER_BLOCK_BYTES))
        text_block, _ = _remove_controls(block)
        for line in text_block.splitlines():
            text = line.decode(errors="replace").strip()
            if text:
                return [name.strip().strip('"').strip().lower() for name in text.split(",")]
        return []


def _read_raw(binary: IO[bytes], block_bytes: int) -> Iterator[bytes]:
    """Yield the bytes of a file; a thread reads and unpacks the next block while the caller is using this one."""
    first = binary.read(block_bytes)
    following = iter(lambda: binary.read(block_bytes), b"")
    yield first.removeprefix(codecs.BOM_UTF8)
    if len(first) == block_bytes:
        yield from prefetch(following, "unpack")


_T = TypeVar("_T")


def prefetch(items: Iterator[_T], name: str) -> Iterator[_T]:
    """Yield the items of an iterator, while a thread computes the next one; no item may be None."""
    with ThreadPoolExecutor(1, thread_name_prefix=f"fingerpost-{name}") as pool:
        following = pool.submit(next, items, None)
        while (item := following.result()) is not None:
            following = pool.submit(next, items, None)
            yield item


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _remove_controls(block: bytes) -> tuple[bytes, list[int]]:
    """Remove control characters and marks that reverse the text direction; return the lines that contained any."""
    cleaned = _strip_controls(block)
    if len(cleaned) == len(block):
        return block, []
    return cleaned, [number for number, line in enumerate(block.splitlines(), 1) if _strip_controls(line) != line]


def _strip_controls(text: bytes) -> bytes:
    stripped = text.translate(None, _CONTROLS)
    return stripped if stripped.isascii() else _WIDE_CONTROLS.sub(b"", stripped)


class ColumnBuffer:
    """Named columns of equal length, collected block by block."""

    def __init__(self, types: Mapping[str, Any]) -> None:
        self._types = types
        self._parts: dict[str, list[npt.NDArray[Any]]] = {name: [np.empty(0, dtype)] for name, dtype in types.items()}

    def append(self, values: Mapping[str, npt.NDArray[Any]], selected_rows: Bool) -> None:
        for name, dtype in self._types.items():
            self._parts[name].append(values[name][selected_rows].astype(dtype, copy=False))

    def finish(self) -> dict[str, Any]:
        # Each column's parts are freed before the next column is joined.
        return {name: np.concatenate(self._parts.pop(name)) for name in self._types}


class IdIndex:
    """A growing index of strings, numbered from 0 in order of first appearance."""

    def __init__(self, texts: TextColumn | Iterable[str] = ()) -> None:
        self._count = 0
        self._keys = np.zeros(0, np.uint8)
        self._offsets = np.zeros(1, np.int64)
        self._slots = np.full(1, -1, np.int32)
        column = texts if isinstance(texts, TextColumn) else TextColumn.of(texts)
        if len(column):
            begin, end = column.offsets[:-1], column.offsets[1:]
            self._look_up(column.blob, begin.astype(np.int32), end.astype(np.int32), is_adding=True)

    def __len__(self) -> int:
        return self._count

    def intern(self, block: Block, column: int) -> Int32:
        """Return the row of each value in a column, or ``kernel.BLANK`` for empty values; add new values."""
        return self._look_up(block.blob, block.starts[column], block.ends[column], is_adding=True)

    def find(self, block: Block, column: int) -> Int32:
        """Return the row of each value in a column; ``kernel.BLANK`` if empty, ``kernel.UNKNOWN`` if not indexed."""
        return self._look_up(block.blob, block.starts[column], block.ends[column], is_adding=False)

    def to_texts(self) -> TextColumn:
        return TextColumn(self._keys[: self._offsets[self._count]].copy(), self._offsets[: self._count + 1].copy())

    def _look_up(self, blob: UInt8, starts: Int32, ends: Int32, *, is_adding: bool) -> Int32:
        if is_adding:
            self._reserve(len(starts), int((ends - starts).sum()))
        rows = np.empty(len(starts), np.int32)
        index = self._keys, self._offsets, self._slots, self._count
        self._count = look_up_ids(blob, starts, ends, *index, is_adding, rows)
        return rows

    def _reserve(self, id_count: int, byte_count: int) -> None:
        """Make room for ``id_count`` more ids with ``byte_count`` bytes in total."""
        keys_end, count = int(self._offsets[self._count]) + byte_count, self._count + id_count
        if keys_end > len(self._keys):
            self._keys = np.resize(self._keys, 2 * keys_end)
        if count >= len(self._offsets):
            self._offsets = np.resize(self._offsets, 2 * count)
        if 2 * count > len(self._slots):
            self._slots = np.full(1 << (2 * count).bit_length(), -1, np.int32)
            # Add the ids again, in place.
            bounds = self._offsets[: self._count + 1].astype(np.int32)
            index = self._keys, bounds[:-1], bounds[1:], self._keys, self._offsets, self._slots
            look_up_ids(*index, 0, True, np.empty(self._count, np.int32))
