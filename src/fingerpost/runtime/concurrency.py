"""Run work in threads outside the event loop, limit concurrent work, and await several coroutines together."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

_P = ParamSpec("_P")
_R = TypeVar("_R")


class ThreadPool:
    """Threads that run blocking functions for coroutines.

    Separate pools replace asyncio's default thread pool, in which one kind of slow work would delay all other work.
    """

    def __init__(self, name: str, count: int) -> None:
        self._executor = ThreadPoolExecutor(count, thread_name_prefix=f"fingerpost-{name}")

    async def run(self, function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Run a function with the caller's context variables; cancelling a queued call drops it."""
        return await asyncio.wrap_future(self.submit(partial(copy_context().run, function, *args, **kwargs)))

    def submit(self, work: Callable[[], _R]) -> "Future[_R]":
        return self._executor.submit(work)


# A search keeps one core busy, so more threads would not finish sooner.
_COMPUTE = ThreadPool("compute", max(2, os.cpu_count() or 1))
_WAIT = ThreadPool("wait", 16)

compute = _COMPUTE.run
"""Run CPU-bound work, such as a search."""

run_in_thread = _WAIT.run
"""Run work that waits for files, locks or a database; searches do not delay it."""


# Keyed by event loop, because a semaphore belongs to one loop.
_slots: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, str], asyncio.Semaphore] = WeakValueDictionary()


async def enter_slot(stack: AsyncExitStack, name: str, limit: int, max_wait_s: float) -> None:
    """Hold one of ``limit`` slots for ``name`` until the stack closes; raise TimeoutError after ``max_wait_s``."""
    slot = _slots.setdefault((asyncio.get_running_loop(), name), asyncio.Semaphore(limit))
    async with asyncio.timeout(max_wait_s):
        await stack.enter_async_context(slot)


async def gather_all(coroutines: Iterable[Coroutine[Any, Any, _R]]) -> list[_R]:
    """Return all results in order; if a coroutine raises, cancel the others, unlike ``asyncio.gather``."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        running = [task for task in tasks if not task.done()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.gather(*running, return_exceptions=True)
