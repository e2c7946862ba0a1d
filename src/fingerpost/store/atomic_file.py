"""Replace files atomically, safe from a power cut, and lock them between processes."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Windows and some network file systems refuse to flush a folder.
_NOT_FOR_FOLDERS = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES})
# Some file systems count in microseconds, some in milliseconds, FAT in two seconds.
_TICKS_NS = (1, 1_000, 1_000_000, 1_000_000_000, 2_000_000_000)


def replace_file(path: Path, content: bytes) -> None:
    """Replace the file at ``path`` atomically, with a later modification time than before, within one tick too.

    Call it under a lock: two writers at once would share a draft.
    """
    draft = path.with_name(f".{path.name.lstrip('.')}.draft")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        _date_after(draft, path.stat().st_mtime_ns)
    draft.replace(path)
    flush_folder(path.parent)


def flush_file(path: Path) -> None:
    # Windows flushes only files that are open for writing.
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def flush_folder(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        # Windows opens no folder.
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_FOR_FOLDERS:
            raise
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock ``path`` during the block; the lock is not reentrant, and its file stays."""
    # Only those who change something wait for its import.
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path):
        yield


def _date_after(path: Path, before_ns: int) -> None:
    for tick_ns in _TICKS_NS:
        status = path.stat()
        if status.st_mtime_ns > before_ns:
            return
        os.utime(path, ns=(status.st_atime_ns, before_ns + tick_ns))
