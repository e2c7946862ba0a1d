"""Work on what is long in plans: in a thread, because in the event loop it would keep every other call waiting."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from fingerpost.contract.question_size import has_more_values
from fingerpost.resilience.fair_threads import LONG_PLANS

_P = ParamSpec("_P")
_R = TypeVar("_R")

# With more, a thread costs less than what others wait meanwhile.
_QUICK_VALUES = 200


def is_long(value: Any) -> bool:
    """Whether it takes a while to look through a value."""
    return has_more_values(value, _QUICK_VALUES)


async def run_aside(is_long: bool, function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """Return what a function returns, which is called in a thread where its work is long."""
    return await LONG_PLANS.run(function, *args, **kwargs) if is_long else function(*args, **kwargs)
