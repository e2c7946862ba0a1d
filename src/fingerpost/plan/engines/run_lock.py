"""Run locks: file locks of the operating system, released when their process ends for any reason.

A lease that runs out by the clock would have to guess whether its owner is dead or only slow.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

from fingerpost.errors import SettingsInvalid

_OWNER_ONLY = 0o600


class RunLocks:
    """The locks of the runs in one folder.

    Only the lock itself is filelock's: its FileLock objects cost a short run a quarter of its time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, run_id: str) -> Iterator[bool]:
        """Lock a run for a block; False where another process or task holds it.

        Raises:
            SettingsInvalid: the folder cannot be written.
        """
        handle = self._take(run_id)
        try:
            yield handle is not None
        finally:
            if handle is not None:
                self._let_go(run_id, handle)

    def is_held(self, run_id: str) -> bool:
        try:
            handle = os.open(self._path(run_id), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not lock_descriptor(handle, blocking=False)
        finally:
            os.close(handle)

    def _take(self, run_id: str) -> int | None:
        path = self._path(run_id)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            while True:
                handle = os.open(path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
                is_ours = False
                try:
                    if not lock_descriptor(handle, blocking=False):
                        return None
                    is_ours = _is_still_there(path, handle)
                finally:
                    if not is_ours:
                        os.close(handle)
                if is_ours:
                    return handle
        except OSError as error:
            raise SettingsInvalid(f"The folder {self._folder.name} cannot be written: {error.strerror}") from error

    def _let_go(self, run_id: str, handle: int) -> None:
        path = self._path(run_id)
        if sys.platform == "win32":
            # Windows removes no file that is open: where somebody has opened it meanwhile, it stays for them.
            os.close(handle)
            with suppress(PermissionError):
                path.unlink(missing_ok=True)
        else:
            # Removed while it is still locked: whoever opened it meanwhile sees that it is gone, and opens anew.
            path.unlink(missing_ok=True)
            os.close(handle)

    def _path(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.lock"


def _is_still_there(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
