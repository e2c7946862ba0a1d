"""Many arrays in one file, opened by one memory map and so with one file descriptor.

Each array begins at a multiple of 64 bytes. The caller stores the directory: dtype, shape and offset of each array.
"""

import errno
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ARRAYS = "arrays.bin"
_ALIGNMENT = 64

Directory = dict[str, tuple[str, list[int], int]]
Arrays = dict[str, npt.NDArray[Any]]


def write_arrays(folder: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> Directory:
    """Write arrays into a folder's array file and return their directory.

    Raises:
        OSError: the disk refuses.
    """
    directory: Directory = {}
    with (folder / ARRAYS).open("wb") as file:
        # An empty file cannot be mapped.
        file.write(bytes(_ALIGNMENT))
        for name, array in arrays.items():
            directory[name] = (array.dtype.str, list(array.shape), file.tell())
            file.write(np.ascontiguousarray(array).data)
            file.write(bytes(-file.tell() % _ALIGNMENT))
    return directory


def open_arrays(folder: Path, directory: Mapping[str, tuple[str, list[int], int]]) -> Arrays:
    """Open the arrays of a folder's array file; writing to them changes this copy only, never the disk.

    Raises:
        OSError, ValueError, TypeError: the file cannot be opened, or does not fit its directory.
    """
    with (folder / ARRAYS).open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    arrays = {
        name: np.ndarray(tuple(shape), np.dtype(dtype), buffer=mapped, offset=offset)
        for name, (dtype, shape, offset) in directory.items()
    }
    end = max((offset + arrays[name].nbytes for name, (_, _, offset) in directory.items()), default=_ALIGNMENT)
    if len(mapped) != end + -end % _ALIGNMENT:
        raise ValueError(f"{ARRAYS} has {len(mapped):,} bytes, not {end + -end % _ALIGNMENT:,}")
    return arrays


def explain_failure(subject: str, error: Exception, remedy: str) -> str:
    """Explain why prepared data cannot be opened: the limit of open files, or damage.

    Args:
        subject: what cannot be opened, with its verb: ``The prepared network in X is``.
        error: what was raised.
        remedy: the sentence that follows damage.
    """
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{subject} not opened: too many open files. Raise the limit of the process (ulimit -n)."
    return f"{subject} damaged ({error}). {remedy}"
