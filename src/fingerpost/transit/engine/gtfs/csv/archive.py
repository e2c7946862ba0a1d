"""Open a GTFS feed (a zip file or a folder of tables) without unpacking it to disk."""

import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

from fingerpost.errors import FeedUnusable
from fingerpost.runtime.zip_members import open_member
from fingerpost.transit.engine.gtfs.csv.findings import Findings, Reason
from fingerpost.transit.engine.gtfs.csv.table import Table

# The table that identifies a feed's folder inside an archive.
_MARKER_TABLE = "stops.txt"
_SUFFIXES = (".txt", ".geojson")
_MEGABYTE = 1_000_000


# The limit on the total size of a feed's files after unpacking.
MAX_BYTES = 16_000 * _MEGABYTE
# These tables may exceed MAX_TABLE_BYTES, because they are read in blocks into numeric arrays.
_LARGE_TABLES = frozenset({"stop_times.txt", "shapes.txt", "trips.txt"})
MAX_TABLE_BYTES = 512 * _MEGABYTE
# The compression ratio is limited for tables larger than this; timetables reach 30, and zip bombs 1000.
MIN_CHECKED_BYTES = 64 * _MEGABYTE
MAX_RATIO = 250


class Archive:
    """One feed's tables, keyed by name; ``advance`` is called with the number of bytes read since its last call."""

    def __init__(
        self, path: Path, members: Mapping[str, str], zip_file: zipfile.ZipFile | None, findings: Findings
    ) -> None:
        self.name = path.name
        self.findings = findings
        self.advance: Callable[[int], None] = lambda _bytes: None
        self._path = path
        self._zip_file = zip_file
        self._zip_names = sorted(member for member in members if member.lower().endswith(".zip"))
        self._files = _find_feed_files(path.name, members, findings)

    def list_tables(self) -> list[str]:
        return sorted(name for name in self._files if name.endswith(_SUFFIXES))

    def measure(self, names: Collection[str]) -> int:
        return sum(self._get_sizes(name)[0] for name in names if name in self._files)

    def find_table(self, name: str, *required: str) -> Table | None:
        if name not in self._files:
            return None
        size = self._check_size(name)
        table = Table(self.name, name, lambda: self._open(name), self.findings, size, self.advance)
        table.require(required)
        return table

    def find_optional_table(self, name: str, *required: str) -> Table | None:
        """Return an optional table, or None if it is missing or lacks a required column (which is reported)."""
        table = self.find_table(name)
        if table is None or all(column in table.columns for column in required):
            return table
        if table.columns:
            self.findings.add(Reason.TABLE_WITHOUT_COLUMN, name, 1, next(c for c in required if c not in table.columns))
        return None

    def get_table(self, name: str, *required: str) -> Table:
        table = self.find_table(name, *required)
        if table is None:
            hint = "Check that this is a GTFS feed, and ask its publisher for a complete one"
            if self._zip_names:
                hint = f"It contains {', '.join(self._zip_names[:5])}; add each by its own path"
                hint = f"Unpack it. {hint}" if self._zip_file else hint
            raise FeedUnusable(f"{self.name} has no {name}, which GTFS requires", hint=hint)
        return table

    def _open(self, name: str) -> IO[bytes]:
        member = self._files[name]
        return open_member(self._zip_file, member) if self._zip_file else (self._path / member).open("rb")

    def _get_sizes(self, name: str) -> tuple[int, int]:
        """Return the unpacked and the packed size of a file."""
        if self._zip_file is None:
            size = (self._path / self._files[name]).stat().st_size
            return size, size
        info = self._zip_file.getinfo(self._files[name])
        return info.file_size, info.compress_size

    def _check_size(self, name: str) -> int:
        size, packed_size = self._get_sizes(name)
        ratio = size / max(packed_size, 1)
        if name not in _LARGE_TABLES and size > MAX_TABLE_BYTES:
            problem = f"is {size // _MEGABYTE:,} MB, but no feed needs more than {MAX_TABLE_BYTES // _MEGABYTE:,} MB"
        elif size > MIN_CHECKED_BYTES and ratio > MAX_RATIO:
            problem = f"unpacks to {int(ratio):,} times its size, but no timetable compresses that well"
        else:
            return size
        raise FeedUnusable(f"{self.name}: {name} {problem}", hint="Check where the file came from")


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    findings = Findings()
    with _open_zip(path) or nullcontext() as zip_file:
        members = _list_zip_members(path, zip_file, findings) if zip_file else _list_folder_members(path)
        yield Archive(path, members, zip_file, findings)


def _open_zip(path: Path) -> zipfile.ZipFile | None:
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            return None
        if stat.S_ISREG(kind):
            return zipfile.ZipFile(path)
    except FileNotFoundError:
        raise FeedUnusable(f"There is no file or folder {path}", hint="Check the path of the feed") from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError):
        # zipfile raises ValueError and EOFError for truncated or inconsistent zip directories, and NotImplementedError
        # for newer versions of the format.
        raise FeedUnusable(
            f"{path.name} is not a complete zip file, or is of an unsupported kind",
            hint="Download the feed again, or unpack it and add the folder",
        ) from None
    except OSError as error:
        raise _new_unreadable_error(path, error) from error
    raise FeedUnusable(f"{path.name} is neither a file nor a folder", hint="Check the path of the feed")


def _new_unreadable_error(path: Path, error: OSError) -> FeedUnusable:
    return FeedUnusable(f"{path.name} cannot be read ({error.strerror})", hint="Check the file and its permissions")


def _list_zip_members(path: Path, zip_file: zipfile.ZipFile, findings: Findings) -> dict[str, str]:
    """Return the members that could be tables; their names are used only inside the archive, never as paths."""
    # A damaged zip directory may contain empty names.
    members = [info for info in zip_file.infolist() if info.filename and not info.is_dir()]
    if sum(info.file_size for info in members) > MAX_BYTES:
        raise FeedUnusable(
            f"{path.name} unpacks to more than {MAX_BYTES // _MEGABYTE:,} MB", hint="Check where the file came from"
        )
    for name, count in Counter(info.filename for info in members).items():
        if count > 1:
            findings.add(Reason.TABLE_REPEATED_ASSUMED, name, 0)
    return {info.filename.replace("\\", "/"): info.filename for info in members}


def _list_folder_members(path: Path) -> dict[str, str]:
    """Return the regular files in a folder and its subfolders; links that point outside it are skipped."""
    members: dict[str, str] = {}
    try:
        root = path.resolve()
        for file in (*path.iterdir(), *path.glob("*/*")):
            if file.is_file() and file.resolve().is_relative_to(root):
                name = file.relative_to(path).as_posix()
                members[name] = name
    except OSError as error:
        raise _new_unreadable_error(path, error) from error
    return members


def _find_feed_files(feed: str, members: Mapping[str, str], findings: Findings) -> dict[str, str]:
    """Return {lower-case table name: member} of the feed at the top level or, if there is none, in the only folder."""
    folders: dict[str, dict[str, str]] = {}
    for path_name, member in members.items():
        folder, _, name = path_name.rpartition("/")
        if not name.startswith(".") and "__MACOSX" not in folder:
            folders.setdefault(folder, {}).setdefault(name.lower(), member)
    feed_folders = [folder for folder, files in folders.items() if _MARKER_TABLE in files]
    if not feed_folders:
        return folders.get("", {})
    if "" not in feed_folders and len(feed_folders) > 1:
        raise FeedUnusable(
            f"{feed} contains several feeds ({', '.join(sorted(feed_folders)[:5])})",
            hint="Unpack it, and add each feed by its own path",
        )
    chosen, *others = sorted(feed_folders)
    for folder in others:
        findings.add(Reason.FOLDER_UNAPPLIED, f"{folder}/{_MARKER_TABLE}", 0)
    return folders[chosen]
