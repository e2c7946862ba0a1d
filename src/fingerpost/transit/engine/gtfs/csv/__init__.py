"""Reads the tables of a feed: archives, encodings, rows and columns of text.

This is the interface of the package: the readers of single GTFS tables import from here only, and nothing in the
package imports them.
"""

from fingerpost.transit.engine.gtfs.csv.archive import Archive, open_archive
from fingerpost.transit.engine.gtfs.csv.columns import LEFT_OUT, ColumnBuffer, IdIndex, RowIndex
from fingerpost.transit.engine.gtfs.csv.findings import Findings, Mask, Reason
from fingerpost.transit.engine.gtfs.csv.kernel import (
    BLANK,
    SHORT_TIME_BYTES,
    UNKNOWN,
    UNREADABLE,
    check_trips,
    is_in_order,
)
from fingerpost.transit.engine.gtfs.csv.table import Block, Table, find_day, find_decimal, find_integer, find_time_s

__all__ = [  # noqa: RUF022  # plain order, as in every package
    "Archive",
    "BLANK",
    "Block",
    "ColumnBuffer",
    "Findings",
    "IdIndex",
    "LEFT_OUT",
    "Mask",
    "Reason",
    "RowIndex",
    "SHORT_TIME_BYTES",
    "Table",
    "UNKNOWN",
    "UNREADABLE",
    "check_trips",
    "find_day",
    "find_decimal",
    "find_integer",
    "find_time_s",
    "is_in_order",
    "open_archive",
]
