"""The timetable store: prepared networks on disk, replaced atomically.

::

    networks/
      HSL.json               the pointer: the current folder, when it was added, its feeds, and the import report
      prepared/HSL-3f…/      the current timetable and, during a change, the next one
      .lock                  locked while a network is being added or removed

A new version is flushed to disk and becomes current through an atomic rename of the pointer. Each change removes every
folder without a pointer.
"""

import errno
import json
import logging
import shutil
import uuid
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.store.atomic_file import flush_file, flush_folder, locked, replace_file, stamp_files
from fingerpost.store.network_records import is_network_name, parse_network_name
from fingerpost.transit.engine.timetable.array_file import open_timetable, save_timetable
from fingerpost.transit.engine.timetable.timetable import Timetable

# Increase this when a prepared file, its meaning or the import rules change.
FORMAT = 15
_SUFFIX = ".json"
_CHUNK_BYTES = 1 << 20
_log = logging.getLogger(__name__)


class StoredTimetable(NamedTuple):
    """The pointer of a stored network; every version has a different ``stamp``.

    ``feeds`` and ``extract`` are the record's values at the time of import; None means unknown feeds, or no extract.
    ``format`` applies to all prepared files; ``checksums`` are their CRC-32 values.
    """

    name: str
    folder: Path
    report_json: str
    added_at: datetime
    stamp: str
    feeds: tuple[str, ...] | None
    extract: str | None
    format: int
    checksums: Mapping[str, int]

    def find_note(self, feeds: Sequence[str], extract: str | None) -> str | None:
        if self.feeds is None or (self.feeds == tuple(feeds) and self.extract == extract):
            return None
        changed = "streets" if self.feeds == tuple(feeds) else "feeds"
        return (
            f"{self.name} was prepared from different {changed} than its record lists; answers use the prepared ones. "
            f"Run `fingerpost network refresh {self.name}`."
        )


class TimetableStore:
    def __init__(self, home: Path) -> None:
        self._root = home / "networks"
        self._prepared = self._root / "prepared"

    def put(
        self,
        name: str,
        timetable: Timetable,
        report_json: str,
        *,
        added_at: datetime,
        feeds: Sequence[str] | None = None,
        extract: str | None = None,
        save_more: Callable[[Path], None] = lambda _folder: None,
    ) -> StoredTimetable:
        """Add or replace a network; after a crash, either version may be current. ``save_more`` adds files."""
        name = parse_network_name(name)
        with locked(self._root / ".lock", self._root, self._remove_unused):
            self._prepared.mkdir(exist_ok=True)
            self._remove_unused()
            folder = self._prepared / f"{name}-{uuid.uuid4().hex}"
            save_timetable(timetable, folder)
            save_more(folder)
            _flush_files(folder)
            pointer = {
                "folder": folder.name,
                "added_at": added_at.isoformat(),
                "report": report_json,
                "format": FORMAT,
                "checksums": list_checksums(folder),
                "feeds": None if feeds is None else list(feeds),
                "extract": extract,
            }
            replace_file(self._locate(name), json.dumps(pointer, ensure_ascii=False).encode())
            return self.get(name)

    def remove(self, name: str) -> None:
        with locked(self._root / ".lock", self._root, self._remove_unused):
            self._locate(parse_network_name(name)).unlink(missing_ok=True)

    def list_names(self) -> list[str]:
        if not self._root.is_dir():
            return []
        stems = (path.stem for path in self._root.glob(f"*{_SUFFIX}"))
        return sorted(stem for stem in stems if is_network_name(stem))

    def get(self, name: str) -> StoredTimetable:
        name = parse_network_name(name)
        try:
            raw = json.loads(self._locate(name).read_text(encoding="utf-8"))
            folder, report_json, added_at = raw["folder"], raw["report"], datetime.fromisoformat(raw["added_at"])
            if not (isinstance(folder, str) and isinstance(report_json, str)):
                raise TypeError("strings expected")
            feeds = None if raw.get("feeds") is None else tuple(map(str, raw["feeds"]))
            extract = None if raw.get("extract") is None else str(raw["extract"])
            # The first versions stored neither a format nor checksums.
            format_ = int(raw.get("format", 0))
            checksums = dict(raw["checksums"] if format_ == FORMAT else {})
        except FileNotFoundError:
            names = ", ".join(self.list_names()) or "none"
            raise ParameterError(f"There is no network {name}. Added networks: {names}", {"field": "name"}) from None
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise SettingsInvalid(
                f"The network {name} cannot be read ({error}). Run `fingerpost network add` again for this network"
            ) from error
        return StoredTimetable(
            name, self._prepared / folder, report_json, added_at, folder, feeds, extract, format_, checksums
        )

    def open(self, name: str) -> tuple[StoredTimetable, Timetable]:
        """Return a network's pointer and its timetable, even while another process is replacing it."""
        while True:
            entry = self.get(name)
            if entry.format != FORMAT:
                raise SettingsInvalid(
                    f"{entry.name} was prepared in format {entry.format}, not {FORMAT}. "
                    f"Run `fingerpost network refresh {entry.name}`."
                )
            try:
                return entry, open_timetable(entry.folder)
            except SettingsInvalid:
                if self.get(name).stamp == entry.stamp:
                    raise

    def find_damage(self, entry: StoredTimetable) -> str | None:
        """Check an entry's files against its checksums; return a message about the first damaged file."""
        try:
            paths = {entry.folder / name: checksum for name, checksum in entry.checksums.items()}
            path = next((p for p, crc in paths.items() if not p.exists() or _compute_checksum(p) != crc), None)
            if path is None or self.get(entry.name).stamp != entry.stamp:
                # No file is damaged, or another process has replaced the network and removed its files.
                return None
            problem = f"The prepared file {path.relative_to(self._root)} is damaged: its checksum has changed."
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                _log.warning("network=%s was not checked for damage: %s", entry.name, error.strerror)
                return None
            problem = f"The prepared files of {entry.name} cannot be read ({error})."
        except (ParameterError, SettingsInvalid) as error:
            problem = error.message
        command = f"refresh {entry.name}" if entry.feeds else f"add {entry.name} FEED..."
        return f"{problem} Run `fingerpost network {command}`"

    def stamp(self) -> object:
        """Return a value that changes whenever a network is added, removed or replaced."""
        return stamp_files(self._root, lambda name: name.endswith(_SUFFIX))

    def _locate(self, name: str) -> Path:
        return self._root / f"{name}{_SUFFIX}"

    def _remove_unused(self) -> None:
        """Remove every folder without a pointer, except those of networks whose pointer cannot be read."""
        current: list[str] = []
        for name in self.list_names():
            try:
                current.append(self.get(name).stamp)
            except SettingsInvalid:
                current.append(f"{name}-")
        for folder in self._prepared.glob("*"):
            if not folder.name.startswith(tuple(current)):
                shutil.rmtree(folder, ignore_errors=True)
        for draft in self._root.glob(".*.draft"):
            draft.unlink(missing_ok=True)


def _flush_files(folder: Path) -> None:
    for path in folder.rglob("*"):
        (flush_folder if path.is_dir() else flush_file)(path)
    flush_folder(folder)
    flush_folder(folder.parent)


def list_checksums(folder: Path) -> dict[str, int]:
    """Return the CRC-32 of every file below a folder, keyed by relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): _compute_checksum(path) for path in files}


def _compute_checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            checksum = zlib.crc32(chunk, checksum)
    return checksum
