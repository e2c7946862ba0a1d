"""The engine's machine code on disk, as far as it can be seen without loading the engine."""

import os
from pathlib import Path

_VARIABLE = "NUMBA_CACHE_DIR"
_COMPILED = "*.nbi"


def use_kernels_folder(folder: Path) -> None:
    """Keep compiled kernels in a folder, unless the operator has named one. Numba reads this once, when imported."""
    os.environ.setdefault(_VARIABLE, str(folder))


def get_kernels_folder() -> Path:
    """Return the folder in use.

    Raises:
        KeyError: no folder has been chosen yet.
    """
    return Path(os.environ[_VARIABLE])


def count_kernels() -> int:
    """Return how many functions have been compiled; 0 means that the next question waits for it."""
    return sum(1 for _ in get_kernels_folder().rglob(_COMPILED))
