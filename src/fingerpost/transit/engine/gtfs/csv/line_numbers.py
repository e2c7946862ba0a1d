"""Line numbers of a table's rows, run-length encoded."""

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.timetable import Int32


class LineNumbers:
    """Line numbers of rows, appended in the order of the file."""

    def __init__(self) -> None:
        self._count = 0
        self._next = -1
        self._rows: list[int] = []
        self._lines: list[int] = []

    def add(self, lines: Int32) -> None:
        """Append the line numbers of some rows."""
        if not len(lines):
            return
        # Line numbers only rise, so first and last show whether any is missing.
        is_unbroken = int(lines[-1]) - int(lines[0]) == len(lines) - 1
        breaks = np.flatnonzero(np.diff(lines) != 1) + 1 if not is_unbroken else np.zeros(0, np.int64)
        starts = [0, *breaks.tolist()] if int(lines[0]) != self._next else breaks.tolist()
        self._rows += [self._count + start for start in starts]
        self._lines += lines[starts].tolist()
        self._count += len(lines)
        self._next = int(lines[-1]) + 1

    def of(self, rows: npt.NDArray[np.integer]) -> Int32:
        """Return the line numbers of some rows."""
        if not len(rows):
            return np.zeros(0, np.int32)
        starts, lines = np.array(self._rows), np.array(self._lines)
        at = np.searchsorted(starts, rows, "right") - 1
        found: Int32 = (lines[at] + rows - starts[at]).astype(np.int32)
        return found
