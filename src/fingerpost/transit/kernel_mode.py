"""Run the engine's kernels as plain Python until numba has compiled them.

A kernel is a function that takes only arrays and numbers. ``kernel`` and ``allocating_kernel`` mark kernels, which
remain plain functions and can call each other across files. ``entry`` makes a kernel callable from other code; each
call uses the current mode. Both modes write the same arrays and return the same types, so the mode may change during a
search. numba takes half a second to import, so a process imports it only if it needs to compile.
"""

import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

_CACHE_VARIABLE = "NUMBA_CACHE_DIR"
_MARKER = "compiled"
# The source files that define the kernels and their argument types.
_SOURCES = ("engine/raptor/arrays.py", "engine/raptor/kernel", "osm/streets")


def use_kernels_folder() -> Path:
    """Make numba store the compiled kernels in a folder that all home folders share, and return that folder."""
    from platformdirs import user_cache_path

    configured = os.environ.get(_CACHE_VARIABLE)
    folder = Path(configured) if configured else user_cache_path("fingerpost", appauthor=False) / "kernels"
    # The variable that a child process inherits already contains the digest.
    if folder.name != _digest_engine():
        folder /= _digest_engine()
    os.environ[_CACHE_VARIABLE] = str(folder)
    return folder


@functools.cache
def _digest_engine() -> str:
    # numba notices changes to a function's own file, but not to the files of functions that it calls. It looks up
    # compiled code by the path and modification time of the file, so each installation compiles its own.
    digest = hashlib.blake2b(f"{sys.implementation.cache_tag}".encode(), digest_size=6)
    this_file = Path(__file__)
    # Reading the file takes a tenth of the time that ``importlib.metadata.version`` does.
    numba_version = Path(str(getattr(find_spec("numba"), "origin", ""))).with_name("_version.py")
    for source in [numba_version, this_file, *(this_file.parent / name for name in _SOURCES)]:
        for path in sorted(source.rglob("*.py")) if source.is_dir() else [source]:
            digest.update(f"{path} {path.stat().st_mtime_ns}".encode() + path.read_bytes())
    return digest.hexdigest()


def are_compiled() -> bool:
    """Whether the compiled code of all kernels is on disk."""
    return (use_kernels_folder() / _MARKER).exists()


def mark_compiled() -> None:
    folder = use_kernels_folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARKER).touch()


class _Mode:
    # None until the first kernel call.
    is_plain: bool | None = None
    is_ready = False
    compiling_thread: int | None = None
    decide: Callable[[], bool] = bool


_mode = _Mode()
_lock = threading.Lock()
# Cleared to make kernel calls wait while another process compiles, if plain Python would take longer.
may_call = threading.Event()
may_call.set()


def decide_at_first_call(decide: Callable[[], bool]) -> None:
    """Set the function that decides at the first kernel call whether kernels run as plain Python (default: no)."""
    _mode.decide = decide


def _decide() -> None:
    if _mode.is_plain is None:
        with _lock:
            if _mode.is_plain is None:
                # This is numba's own variable for debugging.
                is_disabled = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
                is_plain = is_disabled or _mode.decide()
                _mode.is_ready, _mode.is_plain = not is_plain and are_compiled(), is_plain


def is_plain() -> bool:
    """Whether kernels called by this thread run as plain Python; the mode is chosen at the first call."""
    _decide()
    if threading.get_ident() == _mode.compiling_thread:
        return False
    may_call.wait()
    return bool(_mode.is_plain)


def is_ready() -> bool:
    """Whether all kernels are compiled, in memory or on disk, so that no call has to wait for the compiler."""
    return _mode.is_ready


def is_compiling() -> bool:
    """Whether kernel calls have to wait for the compiler."""
    return not may_call.is_set() or (_mode.compiling_thread is not None and not _mode.is_plain)


def must_wait() -> bool:
    """Whether a query has to wait for the compiler; the first call starts the compiler if needed."""
    _decide()
    return is_compiling()


@contextmanager
def compiling() -> Iterator[None]:
    """Compile kernels in this thread while the block calls each of them; then all threads use compiled code."""
    _mode.compiling_thread = threading.get_ident()
    try:
        yield
        _mode.is_plain, _mode.is_ready = False, True
        # The marker file is optional: it only saves time in other processes.
        with suppress(OSError):
            mark_compiled()
    finally:
        _mode.compiling_thread = None


# The numba options of each kernel.
_options: dict[FunctionType, dict[str, Any]] = {}
_compiled: dict[FunctionType, Any] = {}


def allocating_kernel(function: Any) -> Any:
    """Mark a kernel that creates arrays."""
    _options[function] = {"no_cpython_wrapper": True, "_nrt": True}
    return function


def kernel(function: Any) -> Any:
    """Mark a kernel that creates no arrays: numba skips reference counting, which would dominate a search's time."""
    _options[function] = {"no_cpython_wrapper": True, "_nrt": False}
    return function


class entry:  # noqa: N801  (a decorator)
    """Make a kernel callable from code that is not a kernel."""

    def __init__(self, function: Any) -> None:
        self.function: FunctionType = function
        # An entry's cached code includes the code of the kernels that it calls.
        _options[function] |= {"no_cpython_wrapper": False, "cache": True}
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        if not _mode.is_ready and is_plain():
            return _call_plain(self.function, args)
        return self.compiled(*args)

    @property
    def is_ready(self) -> bool:
        """Whether the next call runs machine code that is already loaded."""
        compiled = self.__dict__.get("compiled")
        return _mode.is_plain is False and compiled is not None and bool(compiled.overloads)

    @functools.cached_property
    def compiled(self) -> Any:
        # numba compiles or loads the machine code at the first call.
        with _lock:
            return _compile(self.function)


def _call_plain(function: FunctionType, args: tuple[Any, ...]) -> Any:
    """Call a kernel as plain Python with the overflow behaviour and result types of compiled code."""
    import numpy as np

    # Integers wrap around silently, which the hashes rely on.
    with np.errstate(over="ignore"):
        result = function(*args)
    return result.item() if isinstance(result, np.generic) else result


def _compile(function: FunctionType) -> Any:
    """Wrap a kernel, and every kernel that it calls, with numba."""
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
        options = {"nogil": True, "no_cfunc_wrapper": True, **_options[function]}
        compiled: Any = numba.njit(**options)(copy)
        if hasattr(compiled._cache, "_load_overload"):  # noqa: SLF001
            compiled._cache.load_overload = functools.partial(_load_machine_code, compiled._cache)  # noqa: SLF001
        find_signature = compiled.get_call_template
        # Otherwise, numba would recompile a kernel for each constant and each integer type that is passed to it.
        compiled.get_call_template = lambda args, kws: find_signature([_widen(arg) for arg in args], kws)
        _compiled[function] = compiled
    return _compiled[function]


def _load_machine_code(cache: Any, signature: Any, context: Any) -> Any:
    """Load a kernel from disk without numba's typing and lowering rules, whose import takes a tenth of a second."""
    from numba.core.runtime.nrt import rtsys

    rtsys.initialize(context)
    with cache._guard_against_spurious_io_errors():  # noqa: SLF001
        return cache._load_overload(signature, context)  # noqa: SLF001


def _widen(argument: Any) -> Any:
    """Return an argument's numba type without its literal value, and with int32 widened to int64."""
    from numba.core import types

    argument = types.unliteral(argument)  # type: ignore[no-untyped-call]
    return types.int64 if argument == types.int32 else argument
