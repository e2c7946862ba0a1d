"""Columns that grow while a GTFS table is being read, and hash indices of its ids."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.gtfs.csv.findings import Mask
from fingerpost.transit.engine.gtfs.csv.kernel import fill_slots, look_up_ids
from fingerpost.transit.engine.gtfs.csv.table import Block
from fingerpost.transit.engine.timetable.columns import TextColumn
from fingerpost.transit.engine.timetable.timetable import Int32, UInt8


class ColumnBuffer:
    """Named columns of equal length, collected block by block."""

    def __init__(self, types: Mapping[str, Any]) -> None:
        self._types = types
        self._parts: dict[str, list[npt.NDArray[Any]]] = {name: [np.empty(0, dtype)] for name, dtype in types.items()}

    def append(self, values: Mapping[str, npt.NDArray[Any]], selected_rows: Mask) -> None:
        for name, dtype in self._types.items():
            self._parts[name].append(values[name][selected_rows].astype(dtype, copy=False))

    def finish(self) -> dict[str, Any]:
        # Each column's parts are freed before the next column is joined.
        return {name: np.concatenate(self._parts.pop(name)) for name in self._types}


_MIN_SLOTS = 64
_Spans = tuple[UInt8, Int32, Int32]


class IdIndex:
    """A growing index of strings, numbered from 0 in order of first appearance."""

    def __init__(self, texts: TextColumn | Iterable[str] = ()) -> None:
        self._count = 0
        self._keys = np.zeros(1024, np.uint8)
        self._offsets = np.zeros(_MIN_SLOTS, np.int64)
        self._slots = np.full(_MIN_SLOTS, -1, np.int32)
        # For each row, the row last found right after it, or -1.
        self._successors = np.zeros(0, np.int32)
        column = texts if isinstance(texts, TextColumn) else TextColumn.of(texts)
        if len(column):
            begin, end = column.offsets[:-1], column.offsets[1:]
            self._intern_spans((column.blob, begin.astype(np.int32), end.astype(np.int32)))

    def __len__(self) -> int:
        return self._count

    def intern(self, block: Block, column: int) -> Int32:
        """Return the row of each value in a column, ``kernel.BLANK`` if it is empty; add new values."""
        return self._intern_spans((block.blob, block.starts[column], block.ends[column]))

    def find(self, block: Block, column: int) -> Int32:
        """Return the row of each value in a column, ``kernel.BLANK`` if it is empty, ``UNKNOWN`` if it is not indexed.

        A lookup updates the index's guesses about the next id, so only one thread may call this at a time.
        """
        rows = np.empty(len(block.lines), np.int32)
        if len(self._successors) != self._count:
            self._successors = np.full(self._count, -1, np.int32)
        self._look_up((block.blob, block.starts[column], block.ends[column]), rows, 0, is_adding=False)
        return rows

    def to_texts(self) -> TextColumn:
        return TextColumn(self._keys[: self._offsets[self._count]].copy(), self._offsets[: self._count + 1].copy())

    def _intern_spans(self, spans: _Spans) -> Int32:
        _, starts, ends = spans
        rows = np.empty(len(starts), np.int32)
        begin = self._look_up(spans, rows, 0, is_adding=True)
        while begin < len(starts):
            self._grow(int(ends[begin] - starts[begin]))
            begin = self._look_up(spans, rows, begin, is_adding=True)
        return rows

    def _look_up(self, spans: _Spans, rows: Int32, begin: int, *, is_adding: bool) -> int:
        index = self._keys, self._offsets, self._slots, self._successors
        self._count, begin = look_up_ids(*spans, *index, self._count, begin, is_adding, rows)
        return begin

    def _grow(self, new_bytes: int) -> None:
        used = int(self._offsets[self._count])
        if used + new_bytes > len(self._keys):
            self._keys = np.resize(self._keys, 2 * len(self._keys) + new_bytes)
        if self._count + 2 > len(self._offsets):
            self._offsets = np.resize(self._offsets, 2 * len(self._offsets))
        if 2 * (self._count + 1) > len(self._slots):
            self._slots = np.full(2 * len(self._slots), -1, np.int32)
            fill_slots(self._keys, self._offsets, self._count, self._slots)
