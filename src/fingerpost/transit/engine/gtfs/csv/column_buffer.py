"""Growable numpy columns for a table whose number of rows is not known in advance."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


class ColumnBuffer:
    """Columns of one length, by name. Capacity that is never written to costs no memory."""

    def __init__(self, types: Mapping[str, Any], expected_rows: int) -> None:
        self._columns: dict[str, npt.NDArray[Any]] = {
            name: np.empty(expected_rows, kind) for name, kind in types.items()
        }
        self._capacity = expected_rows
        self._count = 0

    def append(self, count: int, values: Mapping[str, npt.NDArray[Any]]) -> None:
        """Append so many rows, given as columns."""
        end = self._count + count
        if end > self._capacity:
            self._capacity = 2 * end
            for name, column in self._columns.items():
                self._columns[name] = np.empty(self._capacity, column.dtype)
                self._columns[name][: self._count] = column[: self._count]
        for name, column in self._columns.items():
            column[self._count : end] = values[name]
        self._count = end

    def finish(self) -> dict[str, Any]:
        """Return the columns as long as they have become."""
        return {name: column[: self._count] for name, column in self._columns.items()}
