"""Check that the row numbers of a saved timetable are in bounds, because compiled code does not check them."""

from dataclasses import fields
from operator import attrgetter
from typing import Any

import numpy.typing as npt

from fingerpost.transit.engine.timetable.columns import TextColumn
from fingerpost.transit.engine.timetable.timetable import Timetable

# Columns of row numbers by the array that they index; in the second table -1 means none.
_ROWS = {
    "stop_lat": ("stop_time_stop", "transfer_from", "transfer_to", "footpaths.to", "step_free_footpaths.to",
                 "pathways.begin", "pathways.end"),
    "route_feed": ("trip_route",),
    "service_feed": ("trip_service",),
    "trip_route": ("trip_departure_trip",),
    "trip_departure_trip": ("in_seat_from", "in_seat_to"),
    "feeds": ("stop_feed", "route_feed", "service_feed"),
}  # fmt: skip
_ROWS_OR_NONE = {
    "stop_lat": ("stop_parent", "specific_transfer_from_stop", "specific_transfer_to_stop"),
    "route_feed": ("specific_transfer_from_route", "specific_transfer_to_route"),
    "service_feed": ("in_seat_service",),
    "trip_route": ("specific_transfer_from_trip", "specific_transfer_to_trip"),
    "headsign": ("trip_headsign", "stop_time_headsign"),
    "shape_first": ("trip_shape",),
}
_STARTS = {
    "trip_first_stop_time": "stop_time_stop",
    "footpaths.first": "footpaths.to",
    "step_free_footpaths.first": "step_free_footpaths.to",
    "shape_first": "shape_lat_udeg",
}


def check_rows(name: str, rows: npt.NDArray[Any], below: int, least: int = 0) -> None:
    """Raise ValueError unless row numbers are at least ``least`` and less than ``below``."""
    if len(rows) and not (rows.min() >= least and rows.max() < below):
        raise ValueError(f"the array {name} is out of bounds")


def check_starts(name: str, starts: npt.NDArray[Any], end: int) -> None:
    """Raise ValueError unless the offsets of consecutive blocks begin at 0 and end at ``end``."""
    if len(starts) and (starts[0] != 0 or starts[-1] != end or (starts[1:] < starts[:-1]).any()):
        raise ValueError(f"the array {name} is out of bounds")


def check_timetable(table: Timetable) -> None:
    for least, tables in ((0, _ROWS), (-1, _ROWS_OR_NONE)):
        for indexed, names in tables.items():
            for name in names:
                check_rows(name, attrgetter(name)(table), len(getattr(table, indexed)), least)
    for name, blocks in _STARTS.items():
        check_starts(name, attrgetter(name)(table), len(attrgetter(blocks)(table)))
    for field in fields(table):
        value = getattr(table, field.name)
        for column in value.values() if isinstance(value, dict) else [value]:
            if isinstance(column, TextColumn):
                check_starts(field.name, column.offsets, len(column.blob))
