"""Run work in one pool of threads outside the event loop, and await several coroutines together."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

# A search occupies one processor, so more threads would not finish sooner.
_POOL = ThreadPoolExecutor(max(2, os.cpu_count() or 1), thread_name_prefix="fingerpost-compute")


async def compute(function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """Run slow work in the thread pool, with the caller's context variables."""
    work = partial(copy_context().run, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_POOL, work)


async def gather_all(coroutines: Iterable[Coroutine[Any, Any, _R]]) -> list[_R]:
    """Return the results in order; if one raises, cancel the others, which ``asyncio.gather`` would leave running."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        running = [task for task in tasks if not task.done()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.gather(*running, return_exceptions=True)
