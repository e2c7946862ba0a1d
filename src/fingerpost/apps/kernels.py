"""The folder of compiled engine kernels, and how a process without any begins; usable without importing the engine."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

_VARIABLE = "NUMBA_CACHE_DIR"
_COMPILED = "*.nbi"
_ALL_COMPILED = "compiled"
_LOCK = "compiling.lock"
FEW_BYTES = 25_000_000
"""Networks whose timetables take no more are answered uncompiled while the engine is compiled."""

_LOW_PRIORITY = 15
# Folders that this process has chosen, and no operator.
_own_folders: set[str] = set()
# Homes for which this process has begun uncompiled.
_uncompiled_homes: set[Path] = set()
_ENGINE = "fingerpost.transit.engine.raptor.kernel.compiling"


def use_kernels_folder(folder: Path) -> None:
    """Keep compiled kernels below a folder, unless the operator has named one. Numba reads this once, when imported.

    Each state of the engine has a folder of its own: numba unpickles what an older one left there before it looks at
    its age, and fails where a type has another name by now.
    """
    own = str(folder / _digest_engine())
    # A process that serves beside its parent has inherited the variable.
    if os.environ.setdefault(_VARIABLE, own) == own:
        _own_folders.add(own)


def _digest_engine() -> str:
    """Return a short digest of the engine's source code."""
    transit = Path(__file__).parents[1] / "transit"
    digest = hashlib.blake2b(digest_size=6)
    for package in ("engine/raptor", "osm/streets"):
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


def are_compiled() -> bool:
    """Whether every kernel is compiled; a folder that the operator has named is taken to be ready."""
    folder = os.environ.get(_VARIABLE)
    return folder is None or folder not in _own_folders or (Path(folder) / _ALL_COMPILED).exists()


def note_compiled() -> None:
    """Note that every kernel is compiled, for the processes to come."""
    if os.environ.get(_VARIABLE) in _own_folders:
        folder = get_kernels_folder()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _ALL_COMPILED).touch()


def begin_uncompiled(home: Path, *, waits: bool = False) -> subprocess.Popen[bytes] | None:
    """Let this process answer uncompiled if nothing is compiled yet, and have another one compile meanwhile.

    Returns that process; None where the kernels are compiled, the engine is imported already, or the networks are so
    large that compiling is sooner done than an uncompiled search.
    ``waits`` has the process end only when the kernels are compiled, also by an earlier one.
    """
    if are_compiled() or _ENGINE in sys.modules or _count_bytes(home) > FEW_BYTES:
        return None
    # Here: the package is a part of the engine, and most commands do without it.
    from fingerpost.transit.changeover import start_interpreted

    start_interpreted()
    _uncompiled_homes.add(home)
    return subprocess.Popen(  # noqa: S603  (this Python, and a constant)
        [sys.executable, "-c", f"from fingerpost.apps.kernels import compile_here; compile_here(waits={waits})"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def is_uncompiled(home: Path) -> bool:
    """Whether this process has begun uncompiled, so that it waits for no compiler."""
    return home in _uncompiled_homes


def is_being_compiled() -> bool:
    """Whether some process has begun to compile the kernels."""
    return (get_kernels_folder() / _LOCK).exists()


def compile_here(*, waits: bool) -> None:
    """Compile every kernel in this process, at low priority; it takes a minute or two.

    Where another process does so already, this one ends at once, or ``waits`` for that one.
    """
    from filelock import FileLock, Timeout

    if hasattr(os, "nice"):
        os.nice(_LOW_PRIORITY)
    folder = get_kernels_folder()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / _LOCK, timeout=-1 if waits else 0):
            if (folder / _ALL_COMPILED).exists():
                return
            from fingerpost.transit.engine.raptor.warming import warm_kernels

            warm_kernels()
            (folder / _ALL_COMPILED).touch()
    except Timeout:
        return


def _count_bytes(home: Path) -> int:
    """Return how large the imported timetables of a home are, which are searched without a server."""
    return sum(path.stat().st_size for path in (home / "networks" / "prepared").rglob("*") if path.is_file())
