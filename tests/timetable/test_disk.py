"""A timetable on disk."""

import errno
import mmap
import os
from dataclasses import fields, replace
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.engine.timetable.array_file import ARRAYS, open_timetable, save_timetable
from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.columns import TextColumn
from fingerpost.transit.engine.timetable.draft import TimetableDraft
from fingerpost.transit.engine.timetable.timetable import Feed, Footpaths, Pathways, Timetable
from tests.feeds import timetable_from_drawing

DESCRIPTORS = Path("/proc/self/fd")
DRAWING = """
line Ä | Alpha 08:00 | Bêta 08:10
tram 4 | Bêta 08:15  | Delta 25:30
walk   | Alpha       | Delta 240
"""


def plain(timetable):
    values = {}
    for field in fields(Timetable):
        value = getattr(timetable, field.name)
        if isinstance(value, np.ndarray):
            value = (value.dtype.str, value.shape, value.tolist())
        elif isinstance(value, TextColumn):
            value = (value.blob.dtype.str, value.offsets.dtype.str, list(value))
        elif isinstance(value, Footpaths | Pathways):
            value = [(column.dtype.str, column.tolist()) for column in value]
        elif isinstance(value, dict):
            value = {language: list(column) for language, column in value.items()}
        values[field.name] = value
    return values


def test_every_field_is_returned_as_saved(tmp_path):
    drawn = timetable_from_drawing(DRAWING)
    feed = replace(drawn.feeds[0], language="fi", agencies=("Ä", "B"), publisher="P", version="1", source="x.zip")
    names = {"sv": TextColumn.of(["a", "", "å"]), "pt-BR": TextColumn.of("xyz")}
    told = replace(drawn, feeds=(feed,), stop_names=names)
    save_timetable(told, tmp_path)

    assert plain(open_timetable(tmp_path)) == plain(told)


def test_empty_arrays_and_every_day_feeds_are_stored(tmp_path):
    empty = assemble(TimetableDraft(feeds=[Feed(name="F", zone="UTC")]))
    save_timetable(empty, tmp_path)

    assert plain(open_timetable(tmp_path)) == plain(empty)


def test_arrays_are_plain_and_writable(tmp_path):
    """Compiled code sees the array type that it sees in memory; writing changes the opened copy, never the disk."""
    save_timetable(timetable_from_drawing(DRAWING), tmp_path)
    opened = open_timetable(tmp_path)
    opened.stop_time_stop[0] = 2

    array = opened.stop_time_stop
    assert type(array) is np.ndarray
    assert (array.flags.writeable, array.flags.aligned, array.flags.c_contiguous) == (True, True, True)
    assert open_timetable(tmp_path).stop_time_stop.tolist() == [0, 1, 1, 2]


def complaint(folder):
    with pytest.raises(SettingsInvalid) as caught:
        open_timetable(folder)
    return caught.value.message


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        (ARRAYS, None),
        (ARRAYS, lambda _: b""),
        (ARRAYS, lambda data: data[:-4]),
        (ARRAYS, lambda data: data + b"more"),
        ("contents.json", None),
        ("contents.json", lambda data: data[:-1]),
        ("contents.json", lambda _: b"[]"),
        ("contents.json", lambda _: b"{}"),
        ("contents.json", lambda data: data.replace(b'"stop_name.blob"', b'"other.blob"')),
    ],
)
def test_lost_or_foreign_parts_are_called_damage(tmp_path, name, damage):
    save_timetable(timetable_from_drawing(DRAWING), tmp_path)
    path = tmp_path / name
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage(path.read_bytes()))

    assert complaint(tmp_path).startswith(f"The prepared network in {tmp_path} is damaged (")


@pytest.mark.parametrize("name", ["footpaths.to", "trip_first_stop_time", "stop_parent", "trip_headsign"])
@pytest.mark.parametrize("value", [-2, 1 << 30])
def test_a_row_out_of_bounds_is_damage(tmp_path, name, value):
    """Compiled code reads by these rows without a check of its own."""
    timetable = timetable_from_drawing(DRAWING)
    attrgetter(name)(timetable)[0] = value
    save_timetable(timetable, tmp_path)

    assert complaint(tmp_path).startswith(
        f"The prepared network in {tmp_path} is damaged (the array {name} is out of bounds)"
    )


@pytest.mark.skipif(not DESCRIPTORS.exists(), reason="the system does not list descriptors in /proc")
def test_a_timetable_uses_one_descriptor(tmp_path):
    """So that a home of many networks opens under a low limit of open files."""
    save_timetable(timetable_from_drawing(DRAWING), tmp_path)
    opened = open_timetable(tmp_path)

    open_files = [link.resolve() for link in DESCRIPTORS.iterdir()]
    assert [file.name for file in open_files if file.parent == tmp_path.resolve()] == [ARRAYS]
    assert len(opened.stop_time_stop) == 4


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.EMFILE, "(Too many open files). Raise the process's limit (ulimit -n)."),
        (errno.EACCES, "(Permission denied). Check the disk and permissions of {folder}."),
    ],
)
def test_a_refusal_of_the_system_is_not_called_damage(tmp_path, monkeypatch, code, advice):
    save_timetable(timetable_from_drawing(DRAWING), tmp_path)

    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(mmap, "mmap", refuse)

    advice = advice.format(folder=tmp_path)
    assert complaint(tmp_path) == f"The prepared network in {tmp_path} is unavailable {advice}"
