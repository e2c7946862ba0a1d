"""Read the objects of an OpenStreetMap extract with osmium."""

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fingerpost.errors import FeedUnusable, SettingsInvalid
from fingerpost.runtime.extras import format_install_command
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point

ReadProgress = Callable[[str, int, int | None], None]
"""Called with the work, how much of it is done, and how much there is (None: unknown)."""

Holds = Callable[[float, float], bool]
"""Whether a latitude and longitude, in degrees, are in the area that is read."""

# Larger files keep the positions of their nodes in a file, not in memory.
_LARGE_BYTES = 300_000_000
_PROGRESS_EVERY = 50_000
_INDEX = "node-positions"


def read_objects(
    path: Path, keys: Sequence[str], area_keys: Sequence[str], scratch: Path, what: str, progress: ReadProgress
) -> Iterator[Any]:
    """Yield nodes, then ways with positions, then relations and areas that have one of ``keys``; each until the next.

    Areas are built from objects with one of ``area_keys``. ``what`` is the work's name for ``progress``. A large file
    stores the positions of its nodes in ``scratch``.
    """
    osmium = load_osmium()
    index = scratch / _INDEX
    try:
        storage = f"sparse_file_array,{index}" if path.stat().st_size > _LARGE_BYTES else "flex_mem"
        objects = (
            osmium.FileProcessor(str(path))
            .with_locations(storage)
            .with_areas(osmium.filter.KeyFilter(*area_keys))
            .with_filter(osmium.filter.KeyFilter(*keys))
        )
        progress(what, 0, None)
        for count, osm_object in enumerate(objects, 1):
            yield osm_object
            if count % _PROGRESS_EVERY == 0:
                progress(what, count, None)
        progress(what, 1, 1)
    except (OSError, RuntimeError) as error:
        # osmium raises plain RuntimeErrors for files that it cannot read.
        raise FeedUnusable(
            f"The extract {path} cannot be read: {_reason(error)}",
            hint="Fetch it again, sort it with `osmium sort`, or use another",
        ) from error
    finally:
        index.unlink(missing_ok=True)


def load_osmium() -> Any:
    try:
        import osmium
    except ImportError as error:
        raise SettingsInvalid(
            "Walks on streets need osmium, which reads OpenStreetMap's files",
            hint=f"Install it: {format_install_command('streets')}",
        ) from error
    return osmium


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    text = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return text.rstrip(".")


def apart_m(a: Point, b: Point) -> float:
    east = (a[1] - b[1]) * math.cos(math.radians(a[0]))
    return math.hypot(a[0] - b[0], east) * METRES_PER_DEGREE
