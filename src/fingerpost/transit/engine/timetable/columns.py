"""Tables as named tuples of columns, whose defaults are empty columns of the right type."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.text import TextColumn

NO_INT8, NO_UINT8 = np.zeros(0, np.int8), np.zeros(0, np.uint8)
NO_INT32, NO_FLOAT32 = np.zeros(0, np.int32), np.zeros(0, np.float32)
NO_TEXTS = TextColumn.of(())

T = TypeVar("T", bound=NamedTuple)


def to_columns(kind: type[T], values: Mapping[str, Any]) -> T:
    """Return a table of columns in their types; other values are ignored."""
    return kind._make(
        TextColumn.of(values[name]) if isinstance(empty, TextColumn) else np.array(values[name], empty.dtype)
        for name, empty in kind._field_defaults.items()
    )


def rows_to_columns(kind: type[T], rows: Sequence[Any]) -> T:
    return to_columns(kind, {name: [getattr(row, name) for row in rows] for name in kind._fields})


def starts_of(sizes: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the offsets of consecutive blocks of some sizes, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def mark_rows(count: int, rows: npt.NDArray[Any] | list[int]) -> npt.NDArray[np.bool_]:
    marks = np.zeros(count, np.bool_)
    marks[rows] = True
    return marks


def list_ranges(
    begin: npt.NDArray[Any], count: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return all numbers of consecutive ranges: the position of each one's range, and the numbers."""
    first = starts_of(count)
    owner = np.repeat(np.arange(len(count)), count)
    return owner, np.arange(first[-1]) + (begin - first[:-1])[owner]


def take_rows(table: T, chosen: npt.NDArray[Any]) -> T:
    """Return some rows (marks or numbers) of a table without texts."""
    return table._make(column[chosen] for column in table)
