"""Check that arrays which number rows of other arrays stay within them, before compiled code reads by them."""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any, NamedTuple

import numpy.typing as npt

from fingerpost.transit.engine.timetable.text import TextColumn
from fingerpost.transit.engine.timetable.timetable import Timetable

_NONE = -1


class Rows(NamedTuple):
    """An array of row numbers from ``least`` to ``below`` - 1."""

    name: str
    values: npt.NDArray[Any]
    below: int
    least: int = 0


class Starts(NamedTuple):
    """An array that says where each of consecutive blocks begins, and in the end where the last one ends."""

    name: str
    values: npt.NDArray[Any]
    end: int


def check_bounds(arrays: Iterable[Rows | Starts]) -> None:
    """Check arrays of row numbers.

    Raises:
        ValueError: one leaves its bounds; the message names it.
    """
    for each in arrays:
        values = each.values
        if not len(values):
            continue
        if isinstance(each, Rows):
            is_good = values.min() >= each.least and values.max() < each.below
        else:
            is_good = values[0] == 0 and values[-1] == each.end and not (values[1:] < values[:-1]).any()
        if not is_good:
            raise ValueError(f"the array {each.name} is out of bounds")


# By the array whose rows they number. Those of the second table may be -1 for none.
_ROWS = {
    "stop_lat": ("stop_time_stop", "transfer_from", "transfer_to", "foot_to", "step_free_foot_to", "pathway_from",
                 "pathway_to"),
    "route_feed": ("trip_route",),
    "service_feed": ("trip_service",),
    "trip_route": ("trip_departure_trip",),
    "trip_departure_trip": ("in_seat_from", "in_seat_to"),
}  # fmt: skip
_ROWS_OR_NONE = {
    "stop_lat": ("stop_parent", "specific_transfer_from_stop", "specific_transfer_to_stop"),
    "route_feed": ("specific_transfer_from_route", "specific_transfer_to_route"),
    "service_feed": ("in_seat_service",),
    "trip_route": ("specific_transfer_from_trip", "specific_transfer_to_trip"),
    "headsign": ("trip_headsign", "stop_time_headsign"),
}
_STARTS = {
    "trip_first_stop_time": "stop_time_stop",
    "foot_first": "foot_to",
    "step_free_foot_first": "step_free_foot_to",
    "shape_first": "shape_lat_udeg",
}


def list_timetable_bounds(table: Timetable) -> Iterator[Rows | Starts]:
    """Yield the row numbers of a timetable with their bounds."""
    for least, rows in ((0, _ROWS), (_NONE, _ROWS_OR_NONE)):
        for numbered, names in rows.items():
            count = len(getattr(table, numbered))
            yield from (Rows(name, getattr(table, name), count, least) for name in names)
    yield from (
        Rows(name, getattr(table, name), len(table.feeds)) for name in ("stop_feed", "route_feed", "service_feed")
    )
    yield Rows("trip_shape", table.trip_shape, len(table.shape_first) - 1, _NONE)
    for name, blocks in _STARTS.items():
        yield Starts(name, getattr(table, name), len(getattr(table, blocks)))
    for field in fields(table):
        value = getattr(table, field.name)
        columns = value if isinstance(value, dict) else {"": value}
        for column in columns.values():
            if isinstance(column, TextColumn):
                yield Starts(field.name, column.offsets, len(column.blob))
