"""Run the engine's kernels: compiled by numba, or as plain Python until the compiled code is there.

A kernel is a function of arrays and numbers. ``looping`` and ``allocating`` mark kernels, which stay plain functions
and may call each other across files. ``entry`` makes a kernel callable from elsewhere; each call uses the mode of that
moment. Both modes write the same arrays and return the same types, so a search may begin plain and end compiled.
A process does not import numba, which takes half a second, before it compiles.
"""

import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FunctionType
from typing import Any

_VARIABLE = "NUMBA_CACHE_DIR"
_COMPLETE = "compiled"
_PACKAGES = ("engine/raptor", "osm/streets")


def use_kernels_folder() -> Path:
    """Return the folder of this engine's compiled kernels, and have numba use it; all homes share it."""
    from platformdirs import user_cache_path

    named = os.environ.get(_VARIABLE)
    folder = Path(named) if named else user_cache_path("fingerpost", appauthor=False) / "kernels"
    # A child process has inherited the variable.
    if folder.name != _digest_engine():
        folder /= _digest_engine()
    os.environ[_VARIABLE] = str(folder)
    return folder


@functools.cache
def _digest_engine() -> str:
    # numba notices changes to a function's own file, but not to those of the functions that it calls.
    # Here and below: importing these takes longer than a command may need that does not search.
    from importlib.metadata import version

    digest = hashlib.blake2b(f"{sys.implementation.cache_tag} {version('numba')}".encode(), digest_size=6)
    here = Path(__file__)
    for path in [here, *(path for package in _PACKAGES for path in sorted((here.parent / package).rglob("*.py")))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def are_compiled() -> bool:
    """Whether every kernel of this engine is compiled on disk."""
    return (use_kernels_folder() / _COMPLETE).exists()


def note_compiled() -> None:
    folder = use_kernels_folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _COMPLETE).touch()


class _Mode:
    # Unknown until the first call of a kernel.
    is_plain: bool | None = None
    is_ready = False
    compiling_thread: int | None = None
    decide: Callable[[], bool] = bool


_mode = _Mode()
_lock = threading.Lock()


def decide_at_first_call(decide: Callable[[], bool]) -> None:
    """Let a function decide at the first call of a kernel whether kernels run plain; by default they run compiled."""
    _mode.decide = decide


def is_plain() -> bool:
    """Whether kernels that this thread calls run as plain Python; decided at the first call."""
    with _lock:
        if _mode.is_plain is None:
            _mode.is_plain = _mode.decide()
    return _mode.is_plain and threading.get_ident() != _mode.compiling_thread


def is_ready() -> bool:
    """Whether every kernel is compiled and loaded, so that a call takes milliseconds at most."""
    return _mode.is_ready


def is_compiling() -> bool:
    """Whether this process is compiling kernels, and calls wait for that."""
    return _mode.compiling_thread is not None and not _mode.is_plain


@contextmanager
def compiling() -> Iterator[None]:
    """Run kernels compiled in this thread while the block calls every one of them, and in all threads after it."""
    _mode.compiling_thread = threading.get_ident()
    try:
        yield
        _mode.is_plain, _mode.is_ready = False, True
        # The note only saves other processes time.
        with suppress(OSError):
            note_compiled()
    finally:
        _mode.compiling_thread = None


# Kernels with numba's options for each.
_options: dict[FunctionType, dict[str, Any]] = {}
_compiled: dict[FunctionType, Any] = {}


def allocating(function: Any) -> Any:
    """Mark a kernel that creates arrays."""
    _options[function] = {}
    return function


def looping(function: Any) -> Any:
    """Mark a kernel that creates no array, so that numba need not count references, which took most of a search."""
    _options[function] = {"_nrt": False}
    return function


class entry:  # noqa: N801  (a decorator)
    """Make a kernel callable from outside the kernels."""

    def __init__(self, function: Any) -> None:
        self.function: FunctionType = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        if not _mode.is_ready and is_plain():
            return _call_plain(self.function, args)
        return self.compiled(*args)

    @functools.cached_property
    def compiled(self) -> Any:
        # Its machine code is made or loaded at its first call.
        with _lock:
            return _compile(self.function)


def _call_plain(function: FunctionType, args: tuple[Any, ...]) -> Any:
    """Call a kernel as plain Python with the overflows and the result types of compiled code."""
    import numpy as np

    # Integers wrap around silently, and hashes rely on it.
    with np.errstate(over="ignore"):
        result = function(*args)
    return result.item() if isinstance(result, np.generic) else result


def _compile(function: FunctionType) -> Any:
    """Return a kernel for numba to compile, and every kernel that it calls."""
    if function not in _compiled:
        use_kernels_folder()
        import numba

        # numba may have been imported before the folder was chosen.
        numba.core.config.reload_config()  # type: ignore[no-untyped-call]
        names = dict(function.__globals__)
        for name in function.__code__.co_names:
            called = names.get(name)
            called = called.function if isinstance(called, entry) else called
            if isinstance(called, FunctionType) and called in _options:
                names[name] = _compile(called)
        copy = FunctionType(function.__code__, names, function.__name__)
        _compiled[function] = numba.njit(cache=True, nogil=True, **_options[function])(copy)
    return _compiled[function]
