"""A feed as it lies on disk: a zip file, or a folder of tables."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fingerpost.errors import FeedUnusable
from fingerpost.transit.gtfs.table import Table


class Archive:
    """The tables of one feed, by name.

    Attributes:
        name: of the file or folder, for messages.
    """

    def __init__(self, path: Path, packed: zipfile.ZipFile | None) -> None:
        self.name = path.name
        self._path = path
        self._packed = packed
        self._files = frozenset(
            packed.namelist() if packed else (entry.name for entry in path.iterdir() if entry.is_file())
        )

    def list_tables(self) -> list[str]:
        """Return the names of all tables, GeoJSON included, sorted."""
        return sorted(name for name in self._files if name.endswith((".txt", ".geojson")) and "/" not in name)

    def find_table(self, name: str, *required: str) -> Table | None:
        """Return a table, or None where the feed has none of that name.

        Raises:
            FeedUnusable: the table lacks a required column or cannot be unpacked.
        """
        if name not in self._files:
            return None
        table = Table(self.name, name, lambda: self._open_text(name))
        table.require(required)
        return table

    def get_table(self, name: str, *required: str) -> Table:
        """Return a table.

        Raises:
            FeedUnusable: as ``find_table``, or there is no such table.
        """
        table = self.find_table(name, *required)
        if table is None:
            raise FeedUnusable(
                f"{self.name} holds no {name}, which GTFS requires at the top level of a feed. "
                "Check that this is a GTFS feed, and ask its publisher for a complete one."
            )
        return table

    def _open_text(self, name: str) -> IO[str]:
        binary = self._packed.open(name) if self._packed else (self._path / name).open("rb")
        return io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a feed for reading.

    Raises:
        FeedUnusable: there is no such file or folder, or it is not a sound zip file.
    """
    if path.is_dir():
        yield Archive(path, None)
        return
    try:
        packed = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise FeedUnusable(f"There is no file or folder {path}. Check the path of the feed.") from None
    except zipfile.BadZipFile:
        raise FeedUnusable(f"{path.name} is not a zip file, or only a part of one. Download the feed again.") from None
    except OSError as error:
        raise FeedUnusable(f"{path.name} cannot be read ({error.strerror}). Check the file and its rights.") from error
    with packed:
        yield Archive(path, packed)
