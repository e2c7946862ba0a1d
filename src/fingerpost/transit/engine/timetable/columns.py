"""Columns of text, and helpers for tables, which are named tuples of columns."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from fingerpost.runtime.grouping import group_by_key


def list_starts(sizes: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the offsets of consecutive blocks of the given sizes, and the end of the last block."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


class TextColumn(Sequence[str]):
    """An immutable column of strings.

    ``blob`` is the UTF-8 encoding of the strings (uint8); ``offsets`` holds the start of each string and the end of the
    last.
    """

    __slots__ = ("blob", "offsets")

    def __init__(self, blob: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None:
        self.blob = blob
        self.offsets = offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> "TextColumn":
        parts = [text.encode() for text in texts]
        return cls(np.frombuffer(b"".join(parts), np.uint8).copy(), list_starts([len(part) for part in parts]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:  # type: ignore[override]  # slices are not needed
        if index < 0:
            raise IndexError(index)
        return self.blob[self.offsets[index] : self.offsets[index + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        text = self.blob.tobytes()
        for begin, end in itertools.pairwise(self.offsets.tolist()):
            yield text[begin:end].decode()

    def take(self, rows: npt.NDArray[np.int32]) -> "TextColumn":
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(rows))):
            return self
        begin = self.offsets[:-1][rows]
        length = self.offsets[1:][rows] - begin
        offsets = list_starts(length)
        return TextColumn(self.blob[np.repeat(begin - offsets[:-1], length) + np.arange(offsets[-1])], offsets)

    @classmethod
    def concatenate(cls, columns: "Sequence[TextColumn]") -> "TextColumn":
        lengths = np.concatenate([np.diff(column.offsets) for column in columns])
        return cls(np.concatenate([column.blob for column in columns]), list_starts(lengths))


NO_INT8, NO_UINT8 = np.zeros(0, np.int8), np.zeros(0, np.uint8)
NO_INT32, NO_FLOAT32 = np.zeros(0, np.int32), np.zeros(0, np.float32)
NO_TEXTS = TextColumn.of(())

# The field defaults of a table are empty columns of the right type.
T = TypeVar("T", bound=NamedTuple)
_K = TypeVar("_K")


def to_columns(kind: type[T], values: Mapping[str, Any]) -> T:
    """Build a table with typed columns; keys of ``values`` that match no column are ignored."""
    return kind._make(
        TextColumn.of(values[name]) if isinstance(empty, TextColumn) else np.array(values[name], empty.dtype)
        for name, empty in kind._field_defaults.items()
    )


def group_rows(keys: Sequence[_K], rows: Iterable[int]) -> dict[_K, tuple[int, ...]]:
    """Group the given rows by key; ``keys`` holds the key of each row."""
    return {key: tuple(grouped) for key, grouped in group_by_key((keys[row], row) for row in rows).items()}


def mark_rows(count: int, rows: npt.NDArray[Any] | list[int]) -> npt.NDArray[np.bool_]:
    marks = np.zeros(count, np.bool_)
    marks[rows] = True
    return marks


def list_ranges(
    begin: npt.NDArray[Any], count: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each number in the given ranges, return the index of its range and the number itself."""
    first = list_starts(count)
    range_index = np.repeat(np.arange(len(count)), count)
    return range_index, np.arange(first[-1]) + (begin - first[:-1])[range_index]


def take_rows(table: T, selection: npt.NDArray[Any]) -> T:
    """Return the selected rows of a table without text columns; ``selection`` is a mask or row numbers."""
    return table._make(column[selection] for column in table)


def join_rows(table: T, other_table: T) -> T:
    """Concatenate the rows of two tables, neither of which has text columns."""
    columns: Iterator[tuple[Any, Any]] = zip(table, other_table, strict=True)
    return table._make(np.concatenate(pair) for pair in columns)
