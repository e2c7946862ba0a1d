"""Where prepared networks are kept, and how one takes another's place in a single step.

::

    networks/
      HSL.json               the pointer: which folder is current, since when, and the import's report
      prepared/HSL-3f…/      the current timetable, and for a moment the next one
      .lock                  held by whoever adds or removes
      .changes               one byte longer after every change

A network is what its pointer says. A new version is written beside the old, flushed to disk, and becomes current
by one atomic rename of the pointer. Whatever no pointer names is litter, swept by the next change.
"""

import fcntl
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.transit.timetable.disk import open_timetable, save_timetable
from fingerpost.transit.timetable.timetable import Timetable

_NAME = re.compile(r"[A-Z0-9_-]{1,40}")
_RESERVED = "DEMO-"
_SUFFIX = ".json"


class ShelfEntry(NamedTuple):
    """A network on the shelf.

    ``report_json`` is the import's report as its writer gave it; ``stamp`` differs from version to version.
    """

    name: str
    folder: Path
    report_json: str
    added_at: datetime
    stamp: str


class Shelf:
    """The prepared networks below a home folder."""

    def __init__(self, home: Path) -> None:
        self._root = home / "networks"
        self._prepared = self._root / "prepared"
        self._changes = self._root / ".changes"

    def put(self, name: str, timetable: Timetable, report_json: str, *, added_at: datetime) -> ShelfEntry:
        """Add or replace a network. Killed at any instant, it leaves the old one or the new one, whole.

        Raises:
            ParameterError: the name is not allowed.
            SettingsInvalid: the disk refuses; the old network stays.
        """
        name = plain_name(name)
        try:
            with self._locked():
                self._sweep()
                folder = self._prepared / f"{name}-{uuid.uuid4().hex}"
                try:
                    save_timetable(timetable, folder)
                    _flush_folder(folder)
                    pointer = {"folder": folder.name, "added_at": added_at.isoformat(), "report": report_json}
                    self._swap(name, json.dumps(pointer, ensure_ascii=False))
                finally:
                    self._sweep()
        except OSError as error:
            raise SettingsInvalid(self._refusal(error)) from error
        return ShelfEntry(name, folder, report_json, added_at, folder.name)

    def remove(self, name: str) -> None:
        """Take a network from the shelf.

        Raises:
            ParameterError: there is no such network.
            SettingsInvalid: the disk refuses.
        """
        name = plain_name(name)
        if not self._pointer(name).exists():
            raise self._unknown(name)
        try:
            with self._locked():
                self._pointer(name).unlink(missing_ok=True)
                self._count_change()
                self._sweep()
        except OSError as error:
            raise SettingsInvalid(self._refusal(error)) from error

    def list_names(self) -> list[str]:
        """Return the names of all networks, sorted."""
        if not self._root.is_dir():
            return []
        stems = (path.stem for path in self._root.glob(f"*{_SUFFIX}"))
        return sorted(stem for stem in stems if _NAME.fullmatch(stem) and not stem.startswith(_RESERVED))

    def get(self, name: str) -> ShelfEntry:
        """Return one network's entry.

        Raises:
            ParameterError: there is no such network.
            SettingsInvalid: its pointer cannot be read.
        """
        name = plain_name(name)
        try:
            raw = json.loads(self._pointer(name).read_text(encoding="utf-8"))
            folder, report_json, added_at = raw["folder"], raw["report"], datetime.fromisoformat(raw["added_at"])
            if not (isinstance(folder, str) and isinstance(report_json, str)):
                raise TypeError("texts expected")
        except FileNotFoundError:
            raise self._unknown(name) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SettingsInvalid(
                f"The network {name} cannot be read ({error}). Run `fingerpost network add` for it again."
            ) from error
        return ShelfEntry(name, self._prepared / folder, report_json, added_at, folder)

    def open(self, name: str) -> tuple[ShelfEntry, Timetable]:
        """Return one network's entry and its timetable, opened, even while another process replaces it.

        Raises:
            ParameterError: there is no such network.
            SettingsInvalid: it is damaged, or of another format.
        """
        while True:
            entry = self.get(name)
            try:
                return entry, open_timetable(entry.folder)
            except SettingsInvalid:
                if self.get(name).stamp == entry.stamp:
                    raise

    def stamp(self) -> str:
        """Return a value that changes whenever a network comes, goes or is replaced; two ``stat`` calls."""
        return f"{_stat(self._root)[0]}-{_stat(self._changes)[1]}"

    def _pointer(self, name: str) -> Path:
        return self._root / f"{name}{_SUFFIX}"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Wait until no other process or thread changes the shelf. The lock ends with its holder, however that ends."""
        self._prepared.mkdir(parents=True, exist_ok=True)
        with (self._root / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _swap(self, name: str, pointer: str) -> None:
        draft = self._root / f".{name}.draft"
        with draft.open("w", encoding="utf-8") as file:
            file.write(pointer)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._pointer(name))
        _flush(self._root)
        self._count_change()

    def _count_change(self) -> None:
        """Grow the file of changes: its size tells two changes apart that fall into one tick of the file clock."""
        with self._changes.open("ab") as file:
            file.write(b".")

    def _sweep(self) -> None:
        """Remove every folder that no pointer names. A pointer that cannot be read keeps all folders of its name."""
        current = set()
        unread = []
        for name in self.list_names():
            try:
                current.add(self.get(name).stamp)
            except SettingsInvalid:
                unread.append(f"{name}-")
        for folder in self._prepared.iterdir():
            if folder.name not in current and not folder.name.startswith(tuple(unread)):
                shutil.rmtree(folder, ignore_errors=True)
        for draft in self._root.glob(".*.draft"):
            draft.unlink(missing_ok=True)

    def _unknown(self, name: str) -> ParameterError:
        names = ", ".join(self.list_names()) or "none"
        return ParameterError(f"There is no network {name}. Added networks: {names}.", {"field": "name"})

    def _refusal(self, error: OSError) -> str:
        return (
            f"{self._root} cannot be written ({error.strerror or error}). "
            "Free space or mend its rights, or set FINGERPOST_HOME to another folder."
        )


def plain_name(name: str) -> str:
    """Return a network's name in upper case.

    Raises:
        ParameterError: it has other characters than letters, digits, ``_`` and ``-``, is too long, or is a demo's.
    """
    upper = name.strip().upper()
    if not _NAME.fullmatch(upper):
        raise ParameterError(
            f"A network cannot be called {name!r}. Take up to 40 letters A-Z, digits, _ and -.", {"field": "name"}
        )
    if upper.startswith(_RESERVED):
        raise ParameterError(
            f"A network cannot be called {name!r}: names that begin with {_RESERVED} are the demo's.", {"field": "name"}
        )
    return upper


def _stat(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _flush_folder(folder: Path) -> None:
    """Make a folder of files, and its own name, safe from a power cut."""
    for path in (*folder.iterdir(), folder, folder.parent):
        _flush(path)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
