"""Locks of runs: an operating system's lock on a file, which ends with its process, however that ends.

A lease that runs out by the clock would have to guess whether its owner is dead or only slow.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from fingerpost.errors import SettingsInvalid

_OWNER_ONLY = 0o600


class RunLocks:
    """The locks of the runs in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, run_id: str) -> Iterator[bool]:
        """Hold a run for a while; False where somebody else holds it, in this process too.

        Raises:
            SettingsInvalid: the folder cannot be written.
        """
        lock = self._lock(run_id)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            yield False
            return
        except OSError as error:
            raise SettingsInvalid(f"The folder {self._folder.name} cannot be written: {error.strerror}") from error
        try:
            yield True
        finally:
            self._remove(run_id)
            lock.release()

    def is_held(self, run_id: str) -> bool:
        """Whether anybody holds a run at this moment."""
        if not self._path(run_id).exists():
            return False
        lock = self._lock(run_id)
        try:
            lock.acquire()
        except Timeout:
            return True
        # Taken only to look: the file may have been its holder's last moment ago, and is nobody's now.
        self._remove(run_id)
        lock.release()
        return False

    def _lock(self, run_id: str) -> FileLock:
        # Each its own object: a lock of filelock may be taken twice by whoever has it.
        return FileLock(
            self._path(run_id), mode=_OWNER_ONLY, blocking=False, thread_local=False, fallback_to_soft=False
        )

    def _remove(self, run_id: str) -> None:
        """Remove the file while it is still locked: whoever opened it meanwhile sees that it is gone, and opens anew.

        Windows removes no file that is open; there filelock does it when it lets go.
        """
        try:
            self._path(run_id).unlink(missing_ok=True)
        except PermissionError:
            return

    def _path(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.lock"
