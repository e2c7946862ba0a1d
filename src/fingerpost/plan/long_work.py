"""Work on what is long in plans: in a thread, because in the event loop it would keep every other call waiting."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from fingerpost.runtime.fair_threads import LONG_PLANS

_P = ParamSpec("_P")
_R = TypeVar("_R")

# With more, a thread costs less than what others wait meanwhile.
_QUICK_CHARS = 20_000
# A value takes as long as so many characters of a text.
_CHARS_A_VALUE = 100


def is_long(whole: Any) -> bool:
    """Whether it takes a while to look through a JSON value, or to write it."""
    left, waiting = _QUICK_CHARS, [whole]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            left -= len(value)
        elif isinstance(value, dict):
            left -= _CHARS_A_VALUE * len(value)
            waiting += value.values() if left >= 0 else ()
        elif isinstance(value, list | tuple):
            left -= _CHARS_A_VALUE * len(value)
            waiting += value if left >= 0 else ()
        if left < 0:
            return True
    return False


async def run_aside(is_long: bool, function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """Return what a function returns, which is called in a thread where its work is long."""
    return await LONG_PLANS.run(function, *args, **kwargs) if is_long else function(*args, **kwargs)
