"""One table of a feed: comma-separated rows, read as often as needed, never kept whole.

Encoding, quoting and header are those of the GTFS Schedule reference, "File requirements"; fields are stripped.
"""

import csv
import itertools
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date
from typing import IO

from fingerpost.errors import FeedUnusable

_CHUNK_ROWS = 65_536
_HOUR_S = 3_600
_MINUTE_S = 60
_HOUR_DIGITS = 3

_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError)


class Table:
    """A table whose header has been read.

    Attributes:
        feed: name of the file or folder that holds the table.
        name: such as ``stops.txt``.
    """

    def __init__(self, feed: str, name: str, open_text: Callable[[], IO[str]]) -> None:
        self.feed = feed
        self.name = name
        self._open_text = open_text
        header = next(self._records(), (0, []))[1]
        self._columns: dict[str, int] = {}
        for index, column in enumerate(header):
            self._columns.setdefault(column.strip(), index)

    def require(self, columns: Collection[str]) -> None:
        """Check that the header has these columns.

        Raises:
            FeedUnusable: one is missing.
        """
        for column in columns:
            if column not in self._columns:
                raise FeedUnusable(
                    f"{self.feed}: {self.name} line 1 has no column {column}, which GTFS requires. "
                    "Ask the publisher for a complete feed."
                )

    def rows(self, *columns: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield (line number, stripped fields) of every row; a column that the table lacks reads as empty."""
        indices = [self._columns.get(column, -1) for column in columns]
        for line, record in self._body():
            width = len(record)
            yield line, tuple([record[i].strip() if 0 <= i < width else "" for i in indices])

    def chunks(self, *columns: str) -> Iterator[list[list[str]]]:
        """Yield the columns of many rows at a time, fields not stripped: the fast way through a large table."""
        indices = [self._columns.get(column, -1) for column in columns]
        widest = max(indices, default=-1) + 1
        body = self._body()
        while chunk := [record for _, record in itertools.islice(body, _CHUNK_ROWS)]:
            if min(map(len, chunk)) < widest:
                chunk = [record + [""] * (widest - len(record)) for record in chunk]
            yield [[record[i] for record in chunk] if i >= 0 else [""] * len(chunk) for i in indices]

    def lines_of(self, rows: Iterable[int]) -> dict[int, int]:
        """Return the line number of each row number (0 is the first row below the header)."""
        wanted = set(rows)
        lines: dict[int, int] = {}
        for row, (line, _) in enumerate(self._body()):
            if len(lines) == len(wanted):
                break
            if row in wanted:
                lines[row] = line
        return lines

    def fault(self, line: int, column: str, text: str, wanted: str) -> FeedUnusable:
        """Return the error that says which field cannot be read."""
        return FeedUnusable(
            f"{self.feed}: {self.name} line {line}: {column} is {text!r}, which is not {wanted}. "
            "Correct that line, or ask the publisher for a sound feed.",
            {"file": self.feed, "table": self.name, "line": line, "column": column},
        )

    def integer(self, line: int, column: str, text: str, empty: int | None = None) -> int:
        """Return a whole number of at most nine digits; ``empty`` is what an empty field means, if it may be empty.

        Raises:
            FeedUnusable: it is not one.
        """
        if not text and empty is not None:
            return empty
        value = find_integer(text)
        if value is None:
            raise self.fault(line, column, text, "a whole number")
        return value

    def decimal(self, line: int, column: str, text: str) -> float:
        """Return a finite number.

        Raises:
            FeedUnusable: it is not one.
        """
        try:
            value = float(text)
        except ValueError:
            raise self.fault(line, column, text, "a number") from None
        if value - value != 0.0:
            raise self.fault(line, column, text, "a number")
        return value

    def day(self, line: int, column: str, text: str) -> date:
        """Return a date that is written YYYYMMDD.

        Raises:
            FeedUnusable: it is not one.
        """
        try:
            if len(text) != len("YYYYMMDD") or not (text.isascii() and text.isdigit()):
                raise ValueError
            return date(int(text[:4]), int(text[4:6]), int(text[6:]))
        except ValueError:
            raise self.fault(line, column, text, "a date written YYYYMMDD") from None

    def time_s(self, line: int, column: str, text: str) -> int:
        """Return seconds from the start of the service day of a time that is written H:MM:SS.

        Raises:
            FeedUnusable: it is not one.
        """
        value = find_time_s(text)
        if value is None:
            raise self.fault(line, column, text, "a time written H:MM:SS")
        return value

    def _body(self) -> Iterator[tuple[int, list[str]]]:
        records = self._records()
        next(records, None)
        return records

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        line = 0
        try:
            with self._open_text() as text:
                reader = csv.reader(text, skipinitialspace=True)
                for record in reader:
                    line = reader.line_num
                    if record:
                        yield line, record
        except UnicodeDecodeError:
            raise FeedUnusable(
                f"{self.feed}: {self.name} after line {line} is not UTF-8. Save the table as UTF-8 and try again."
            ) from None
        except csv.Error as error:
            raise FeedUnusable(
                f"{self.feed}: {self.name} after line {line} is not a comma-separated table ({error}). "
                "Correct that line, or ask the publisher for a sound feed."
            ) from None
        except _UNREADABLE as error:
            raise FeedUnusable(
                f"{self.feed}: {self.name} after line {line} cannot be unpacked ({error}). Download the feed again."
            ) from error


def find_integer(text: str) -> int | None:
    """Return a whole number of at most nine digits, or None."""
    digits = text.removeprefix("-")
    if not (0 < len(digits) <= 9 and digits.isascii() and digits.isdigit()):
        return None
    return int(text)


def find_time_s(text: str) -> int | None:
    """Return the seconds of H:MM:SS (minutes and seconds of two digits, hours past 24 allowed), or None."""
    hours, _, rest = text.partition(":")
    if not (len(rest) == len("MM:SS") and rest[2] == ":" and 0 < len(hours) <= _HOUR_DIGITS):
        return None
    digits = hours + rest[:2] + rest[3:]
    if not (digits.isascii() and digits.isdigit()):
        return None
    minutes, seconds = int(rest[:2]), int(rest[3:])
    if minutes >= _MINUTE_S or seconds >= _MINUTE_S:
        return None
    return int(hours) * _HOUR_S + minutes * _MINUTE_S + seconds
