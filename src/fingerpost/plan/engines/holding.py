"""Who carries a run on: an operating system's lock on a file, which ends with its process, however that ends.

A lease that runs out by the clock would have to guess whether its owner is dead or only slow.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fingerpost.errors import SettingsInvalid

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class Holds:
    """The locks of the runs in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, run_id: str) -> Iterator[bool]:
        """Hold a run for a while; False where somebody else holds it.

        Raises:
            SettingsInvalid: the folder cannot be written.
        """
        handle = self._take(run_id)
        try:
            yield handle is not None
        finally:
            if handle is not None:
                # Removed while it is still locked: whoever opened it meanwhile sees that it is gone, and opens anew.
                self._path(run_id).unlink(missing_ok=True)
                os.close(handle)

    def is_held(self, run_id: str) -> bool:
        """Whether anybody holds a run at this moment."""
        try:
            handle = os.open(self._path(run_id), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not _try_lock(handle)
        finally:
            os.close(handle)

    def _take(self, run_id: str) -> int | None:
        path = self._path(run_id)
        while True:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            except OSError as error:
                raise SettingsInvalid(f"The folder {self._folder.name} cannot be written: {error.strerror}") from error
            if not _try_lock(handle):
                os.close(handle)
                return None
            if _is_still_there(path, handle):
                return handle
            os.close(handle)

    def _path(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.lock"


def _is_still_there(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
