"""Replace files atomically and durably, and lock files across processes."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fingerpost.errors import new_unwritable_error

# Windows and some network file systems refuse to flush a folder.
_FOLDER_FLUSH_ERRORS = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES})
# The coarsest timestamp resolution of any file system (FAT).
_COARSEST_NS = 2_000_000_000


def replace_file(path: Path, content: bytes) -> None:
    """Replace the file at ``path`` atomically, and ensure that its modification time increases.

    The caller must hold a lock, because concurrent writers would use the same draft file.
    """
    draft = path.with_name(f".{path.name.lstrip('.')}.draft")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        before_ns = path.stat().st_mtime_ns
        status = draft.stat()
        if status.st_mtime_ns <= before_ns:
            os.utime(draft, ns=(status.st_atime_ns, before_ns + _COARSEST_NS))
    draft.replace(path)
    flush_folder(path.parent)


def stamp_files(folder: Path, is_included: Callable[[str], bool]) -> object:
    """Return a value that changes whenever a file in a folder changes."""
    try:
        with os.scandir(folder) as files:
            found = [(file.name, file.stat()) for file in files if is_included(file.name)]
    except OSError:
        # The folder is missing, or a file was removed in the meantime; the next call will return a new value.
        return ()
    return tuple(sorted((name, status.st_mtime_ns, status.st_size, status.st_ino) for name, status in found))


def flush_file(path: Path) -> None:
    # Windows flushes only files that are open for writing.
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def flush_folder(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        # Windows cannot open folders.
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _FOLDER_FLUSH_ERRORS:
            raise
    finally:
        os.close(descriptor)


@contextmanager
def locked(lock: Path, folder: Path, clean_up: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Lock a folder during a change, then call ``clean_up``.

    The lock is not reentrant, and the lock file is not removed.

    Raises:
        NotAccessible: the change fails with an OSError.
    """
    # A local import, because readers do not need it.
    from filelock import FileLock

    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock):
            try:
                yield
            finally:
                clean_up()
    except OSError as error:
        raise new_unwritable_error(folder, error) from error
