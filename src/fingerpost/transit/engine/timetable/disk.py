"""Save a timetable as a folder, and open it by memory map.

The folder holds one file of arrays (two arrays per column of texts) and ``contents.json``: the format, the directory
of the arrays, the feeds and the first day of the calendar. The contents are written last.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from datetime import date
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.engine.timetable.array_file import explain_failure, open_arrays, write_arrays
from fingerpost.transit.engine.timetable.text import TextColumn
from fingerpost.transit.engine.timetable.timetable import Feed, Timetable

# Raise it when the meaning of a stored array changes; names and types are compared by themselves.
FORMAT = 9

_CONTENTS = "contents.json"
_REMEDY = "Run `fingerpost network add` for it again."
_TRANSLATED = ("stop_names", "route_names", "headsign_names")
_IN_CONTENTS = frozenset({"feeds", "calendar_start", *_TRANSLATED})


class TimetableOutdated(SettingsInvalid):
    """A prepared timetable is of an older format; it can be prepared anew from its feeds."""


def save_timetable(timetable: Timetable, folder: Path) -> None:
    """Write a timetable into a folder, which is made if need be.

    Raises:
        OSError: the disk refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "format": FORMAT,
        "arrays": write_arrays(folder, dict(_arrays(timetable))),
        "languages": {name: sorted(getattr(timetable, name)) for name in _TRANSLATED},
        "calendar_start": timetable.calendar_start.isoformat(),
        "feeds": [asdict(feed) for feed in timetable.feeds],
    }
    (folder / _CONTENTS).write_text(json.dumps(contents, default=date.isoformat), encoding="utf-8")


def open_timetable(folder: Path) -> Timetable:
    """Open a saved timetable by memory map; arrays can be written to, which changes this copy only, never the disk.

    Raises:
        TimetableOutdated: it is of an older format.
        SettingsInvalid: the folder is damaged, or of a newer format.
    """
    try:
        contents = json.loads((folder / _CONTENTS).read_text(encoding="utf-8"))
        if contents["format"] != FORMAT:
            kind = TimetableOutdated if contents["format"] < FORMAT else SettingsInvalid
            raise kind(f"{_name(folder)} of format {contents['format']}, not {FORMAT}. {_REMEDY}")
        return _opened(contents, folder)
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsInvalid(explain_failure(_name(folder), error, _REMEDY)) from error


def _opened(contents: Mapping[str, Any], folder: Path) -> Timetable:
    arrays = open_arrays(folder, contents["arrays"])
    columns: dict[str, Any] = {}
    for field in fields(Timetable):
        if field.name not in _IN_CONTENTS:
            columns[field.name] = _column(arrays, field.name) if field.type is TextColumn else arrays[field.name]
    for name in _TRANSLATED:
        languages = contents["languages"][name]
        columns[name] = {language: _column(arrays, f"{name}.{language}") for language in languages}
    return Timetable(
        feeds=tuple(_feed(raw) for raw in contents["feeds"]),
        calendar_start=date.fromisoformat(contents["calendar_start"]),
        **columns,
    )


def _arrays(timetable: Timetable) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield every array of a timetable with its name in the directory."""
    for field in fields(timetable):
        value = getattr(timetable, field.name)
        if isinstance(value, TextColumn):
            yield from _halves(field.name, value)
        elif field.name not in _IN_CONTENTS:
            yield field.name, value
    for name in _TRANSLATED:
        for language, column in getattr(timetable, name).items():
            yield from _halves(f"{name}.{language}", column)


def _halves(name: str, column: TextColumn) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    yield f"{name}.blob", column.blob
    yield f"{name}.offsets", column.offsets


def _column(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> TextColumn:
    return TextColumn(arrays[f"{name}.blob"], arrays[f"{name}.offsets"])


def _feed(raw: Mapping[str, Any]) -> Feed:
    days = {key: date.fromisoformat(raw[key]) if raw[key] else None for key in ("first_day", "last_day")}
    lists = {key: tuple(raw[key]) for key in ("agencies", "agency_ids", "licences")}
    return Feed(**{**raw, **days, **lists})


def _name(folder: Path) -> str:
    return f"The prepared network in {folder} is"
