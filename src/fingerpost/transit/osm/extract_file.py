"""Read the objects in an OpenStreetMap extract with osmium."""

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fingerpost.errors import FeedUnusable, SettingsInvalid
from fingerpost.runtime.extras import format_install_command
from fingerpost.transit.model.geodesy import METRES_PER_DEGREE, Point

ReadProgress = Callable[[str, int, int | None], None]
"""Called with the name of the task, the amount done, and the total (None if unknown)."""


def ignore_progress(_task: str, _done: int, _total: int | None) -> None:
    """Report nothing."""


IsInArea = Callable[[float, float], bool]
"""Whether a latitude and longitude, in degrees, are in the imported area."""

# For larger extracts, node positions are stored in a file instead of in memory.
_LARGE_BYTES = 300_000_000
_PROGRESS_EVERY = 50_000


def read_objects(
    path: Path, keys: Sequence[str], area_keys: Sequence[str], task: str, progress: ReadProgress
) -> Iterator[Any]:
    """Yield nodes, ways with positions, relations and areas that have a tag key in ``keys``.

    Each object is valid only until the next one. Areas are built from objects that have a tag key in ``area_keys``.
    """
    osmium = load_osmium()
    with TemporaryDirectory() as scratch:
        try:
            storage = f"sparse_file_array,{scratch}/nodes" if path.stat().st_size > _LARGE_BYTES else "flex_mem"
            objects = (
                osmium.FileProcessor(str(path))
                .with_locations(storage)
                .with_areas(osmium.filter.KeyFilter(*area_keys))
                .with_filter(osmium.filter.KeyFilter(*keys))
            )
            progress(task, 0, None)
            for count, osm_object in enumerate(objects, 1):
                yield osm_object
                if count % _PROGRESS_EVERY == 0:
                    progress(task, count, None)
            progress(task, 1, 1)
        except (OSError, RuntimeError, ValueError, LookupError, ArithmeticError, osmium.InvalidLocationError) as error:
            # osmium raises almost any error for files that it cannot read.
            reason = getattr(error, "strerror", None) or str(error).rstrip(".")
            raise FeedUnusable(
                f"The extract {path} cannot be read: {reason}",
                hint="Fetch it again, sort it with `osmium sort`, or use another one",
            ) from error


def load_osmium() -> Any:
    try:
        import osmium
    except ImportError as error:
        raise SettingsInvalid(
            "Walks on streets need osmium, which reads OpenStreetMap files",
            hint=f"Install it: {format_install_command('streets')}",
        ) from error
    return osmium


def distance_m(a: Point, b: Point) -> float:
    east = (a[1] - b[1]) * math.cos(math.radians(a[0]))
    return math.hypot(a[0] - b[0], east) * METRES_PER_DEGREE
