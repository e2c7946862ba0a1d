"""The folder of compiled engine kernels; usable without importing the engine."""

import hashlib
import os
from pathlib import Path

_VARIABLE = "NUMBA_CACHE_DIR"
_COMPILED = "*.nbi"


def use_kernels_folder(folder: Path) -> None:
    """Keep compiled kernels below a folder, unless the operator has named one. Numba reads this once, when imported.

    Each state of the engine has a folder of its own: numba unpickles what an older one left there before it looks at
    its age, and fails where a type has another name by now.
    """
    os.environ.setdefault(_VARIABLE, str(folder / _digest_engine()))


def _digest_engine() -> str:
    """Return a short digest of the engine's source code."""
    transit = Path(__file__).parents[1] / "transit"
    digest = hashlib.blake2b(digest_size=6)
    for package in ("raptor", "streets"):
        for path in sorted((transit / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def get_kernels_folder() -> Path:
    """Return the folder in use.

    Raises:
        KeyError: no folder has been chosen yet.
    """
    return Path(os.environ[_VARIABLE])


def count_kernels() -> int:
    """Return how many kernels are compiled; 0 means that the next query compiles them first."""
    return sum(1 for _ in get_kernels_folder().rglob(_COMPILED))
