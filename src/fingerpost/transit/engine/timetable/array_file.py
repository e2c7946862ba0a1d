"""Save a timetable's arrays in one file, memory-map them, and check that their row numbers are in bounds."""

import errno
import json
import mmap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from datetime import date
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.engine.timetable.columns import TextColumn
from fingerpost.transit.engine.timetable.timetable import Feed, Footpaths, Pathways, Timetable

ARRAYS = "arrays.bin"
_CONTENTS = "contents.json"
_ALIGNMENT = 64

Directory = Mapping[str, tuple[str, list[int], int]]
Arrays = Mapping[str, npt.NDArray[Any]]
_T = TypeVar("_T")


def _open_arrays(folder: Path, directory: Directory) -> Arrays:
    """Memory-map the arrays in a folder; changes to the arrays are not written to the file."""
    with (folder / ARRAYS).open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    arrays = {
        name: np.ndarray(tuple(shape), np.dtype(dtype), buffer=mapped, offset=offset)
        for name, (dtype, shape, offset) in directory.items()
    }
    end = max((offset + arrays[name].nbytes for name, (_, _, offset) in directory.items()), default=_ALIGNMENT)
    if len(mapped) != end + -end % _ALIGNMENT:
        raise ValueError(f"{ARRAYS} is {len(mapped):,} bytes long, not {end + -end % _ALIGNMENT:,}")
    return arrays


def save_arrays(folder: Path, arrays: Arrays, contents: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    directory = {}
    with (folder / ARRAYS).open("wb") as file:
        # An empty file cannot be mapped.
        file.write(bytes(_ALIGNMENT))
        for name, array in arrays.items():
            directory[name] = (array.dtype.str, list(array.shape), file.tell())
            file.write(np.ascontiguousarray(array).data)
            file.write(bytes(-file.tell() % _ALIGNMENT))
    (folder / _CONTENTS).write_text(json.dumps({**contents, "arrays": directory}), encoding="utf-8")


def find_prepared(folder: Path, subject: str, build: Callable[[Any, Arrays], _T]) -> _T | None:
    """Call ``open_prepared``, or return None if the folder does not exist."""
    return open_prepared(folder, subject, build) if folder.is_dir() else None


def open_prepared(folder: Path, subject: str, build: Callable[[Any, Arrays], _T]) -> _T:
    """Return ``build(contents, arrays)`` for the data that ``save_arrays`` wrote to a folder.

    Raises:
        SettingsInvalid: the data is damaged or cannot be read; the message begins with ``subject``.
    """
    try:
        contents = json.loads((folder / _CONTENTS).read_text(encoding="utf-8"))
        return build(contents, _open_arrays(folder, contents["arrays"]))
    except (
        FileNotFoundError, EOFError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError
    ) as error:  # fmt: skip
        raise SettingsInvalid(
            f"{subject} damaged ({error}). Run `fingerpost network refresh` for the network."
        ) from error
    except OSError as error:
        is_full = error.errno in (errno.EMFILE, errno.ENFILE)
        remedy = "Raise the process's limit (ulimit -n)." if is_full else f"Check the disk and permissions of {folder}."
        raise SettingsInvalid(f"{subject} unavailable ({error.strerror}). {remedy}") from error


_TRANSLATIONS = ("stop_names", "route_names", "headsign_names")
_JSON_FIELDS = frozenset({"feeds", "calendar_start", *_TRANSLATIONS})


def save_timetable(timetable: Timetable, folder: Path) -> None:
    contents = {
        "languages": {name: sorted(getattr(timetable, name)) for name in _TRANSLATIONS},
        "calendar_start": timetable.calendar_start.isoformat(),
        "feeds": [asdict(feed) for feed in timetable.feeds],
    }
    save_arrays(folder, dict(_list_arrays(timetable)), contents)


def open_timetable(folder: Path) -> Timetable:
    """Open a saved timetable, or raise SettingsInvalid if it is damaged."""
    return open_prepared(folder, f"The prepared network in {folder} is", _build_timetable)


def _build_timetable(contents: Mapping[str, Any], arrays: Arrays) -> Timetable:
    columns: dict[str, Any] = {}
    for field in fields(Timetable):
        table: Any = field.type
        if table in (Footpaths, Pathways):
            columns[field.name] = table(*(arrays[f"{field.name}.{name}"] for name in table._fields))
        elif field.name not in _JSON_FIELDS:
            columns[field.name] = _read_column(arrays, field.name) if table is TextColumn else arrays[field.name]
    for name in _TRANSLATIONS:
        languages = contents["languages"][name]
        columns[name] = {language: _read_column(arrays, f"{name}.{language}") for language in languages}
    timetable = Timetable(
        feeds=tuple(Feed(**{name: _to_tuple(value) for name, value in feed.items()}) for feed in contents["feeds"]),
        calendar_start=date.fromisoformat(contents["calendar_start"]),
        **columns,
    )
    _check_timetable(timetable)
    return timetable


def _list_arrays(timetable: Timetable) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    columns = {field.name: getattr(timetable, field.name) for field in fields(timetable)}
    texts = {f"{name}.{language}": column for name in _TRANSLATIONS for language, column in columns[name].items()}
    for name, value in (columns | texts).items():
        if isinstance(value, TextColumn):
            yield f"{name}.blob", value.blob
            yield f"{name}.offsets", value.offsets
        elif isinstance(value, Footpaths | Pathways):
            yield from ((f"{name}.{column}", array) for column, array in value._asdict().items())
        elif name not in _JSON_FIELDS:
            yield name, value


def _read_column(arrays: Arrays, name: str) -> TextColumn:
    return TextColumn(arrays[f"{name}.blob"], arrays[f"{name}.offsets"])


def _to_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


# Compiled code does not check row numbers, so they are checked here.
# Columns of row numbers, keyed by the array that they index; in the second table, -1 means none.
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


def check_rows(name: str, rows: npt.NDArray[Any], limit: int, minimum: int = 0) -> None:
    """Raise ValueError unless all row numbers are at least ``minimum`` and less than ``limit``."""
    if len(rows) and not (rows.min() >= minimum and rows.max() < limit):
        raise ValueError(f"the array {name} is out of bounds")


def check_starts(name: str, starts: npt.NDArray[Any], end: int) -> None:
    """Raise ValueError unless the offsets of consecutive blocks begin at 0, never decrease, and end at ``end``."""
    if len(starts) and (starts[0] != 0 or starts[-1] != end or (starts[1:] < starts[:-1]).any()):
        raise ValueError(f"the array {name} is out of bounds")


def _check_timetable(table: Timetable) -> None:
    for minimum, columns in ((0, _ROWS), (-1, _ROWS_OR_NONE)):
        for target, names in columns.items():
            for name in names:
                check_rows(name, attrgetter(name)(table), len(getattr(table, target)), minimum)
    for name, blocks in _STARTS.items():
        check_starts(name, attrgetter(name)(table), len(attrgetter(blocks)(table)))
    for field in fields(table):
        value = getattr(table, field.name)
        for column in value.values() if isinstance(value, dict) else [value]:
            if isinstance(column, TextColumn):
                check_starts(field.name, column.offsets, len(column.blob))
