"""How the engine's kernels run: compiled, or as plain Python while they are compiled elsewhere, and the change over.

A process that starts interpreted answers at once, several times to a hundred times slower; it never loads numba until
it changes over. The kernels' entry functions run in a *turn*, so that no question is begun one way and ended the other:
the types that interpreted code hands on would have numba compile kernels anew.
"""

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

import numpy as np

_P = ParamSpec("_P")
_R = TypeVar("_R")

Compile = Callable[[Any], Any]

_PACKAGE = "fingerpost."


class _Mode:
    """The mode of this process, and the kernels that wait to be compiled."""

    def __init__(self) -> None:
        self.is_interpreted = False
        self.is_compiling = False
        self.waiting: list[tuple[FunctionType, Compile]] = []
        self.turns = 0
        self.is_closed = False
        self.changed = threading.Condition()
        self.depth = threading.local()


_mode = _Mode()


def start_interpreted() -> None:
    """Let kernels that are imported from now on run as plain Python; those that were imported before stay compiled."""
    _mode.is_interpreted = True


def is_interpreted() -> bool:
    """Whether kernels run as plain Python."""
    return _mode.is_interpreted


def is_compiling() -> bool:
    """Whether this process is compiling kernels now, so that questions wait."""
    return _mode.is_compiling


@contextmanager
def compiling() -> Iterator[None]:
    """Say that this process compiles kernels, as long as the block lasts."""
    _mode.is_compiling = True
    try:
        yield
    finally:
        _mode.is_compiling = False


def kernel(function: Any, compile_it: Compile) -> Any:
    """Return a kernel as this process runs it: compiled at its first call, or the function as it is."""
    if not _mode.is_interpreted:
        return compile_it(function)
    _mode.waiting.append((function, compile_it))
    return function


def in_one_mode(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Have a function that calls kernels run from beginning to end in one mode."""

    @functools.wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if not _mode.is_interpreted:
            return function(*args, **kwargs)
        # Compiled code wraps around without a word, and hashes rely on it.
        with _turn(), np.errstate(over="ignore"):
            return function(*args, **kwargs)

    return run


def change_over() -> None:
    """Put the compiled kernel in the place of each interpreted one, once no question runs; those that come then wait.

    Without compiled code on disk the next question compiles it.
    """
    with _mode.changed:
        _mode.is_closed = True
        _mode.changed.wait_for(lambda: _mode.turns == 0)
        try:
            _replace({id(function): compile_it(function) for function, compile_it in _mode.waiting})
            _mode.waiting.clear()
            _mode.is_interpreted = False
        finally:
            _mode.is_closed = False
            _mode.changed.notify_all()


def _replace(compiled: dict[int, Any]) -> None:
    """Rebind the names of our modules that mean an interpreted kernel."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGE):
            names = vars(module)
            for key, value in list(names.items()):
                if isinstance(value, FunctionType) and id(value) in compiled:
                    names[key] = compiled[id(value)]


@contextmanager
def _turn() -> Iterator[None]:
    depth = getattr(_mode.depth, "now", 0)
    with _mode.changed:
        if depth == 0:
            _mode.changed.wait_for(lambda: not _mode.is_closed)
            _mode.turns += 1
    _mode.depth.now = depth + 1
    try:
        yield
    finally:
        _mode.depth.now = depth
        if depth == 0:
            with _mode.changed:
                _mode.turns -= 1
                _mode.changed.notify_all()
