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
            fill_slots(self._keys, self._offsets, self._count, self._slots)
