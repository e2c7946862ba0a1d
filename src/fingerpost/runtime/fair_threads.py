"""Names that the plan package still imports; see ``concurrency``."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from fingerpost.runtime.concurrency import CALLER, compute

__all__ = ["CALLER", "LONG_PLANS", "find_machine"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def find_machine() -> str:
    """Return the caller's machine."""
    return CALLER.get().partition(" ")[0]


class _LongPlans:
    async def run(self, function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return await compute(function, *args, **kwargs)


LONG_PLANS = _LongPlans()
