"""Threads that callers share fairly: whoever waits is served in turn, one call of each caller after another's."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ParamSpec, TypeVar

from fingerpost.resilience.background_pace import PACE
from fingerpost.resilience.fair_queue import FairQueue

_P = ParamSpec("_P")
_R = TypeVar("_R")

CALLER: ContextVar[str] = ContextVar("fingerpost_caller", default="")
"""Who calls, as an interface tells callers apart; a context without one belongs to the one caller of its process."""


def find_machine() -> str:
    """Return the machine of who calls: the first word of the caller's name, which may name a connection of it too."""
    return CALLER.get().partition(" ")[0]


@dataclass(frozen=True, slots=True)
class _Work:
    function: Callable[[], Any]
    context: Context = field(default_factory=copy_context)
    future: "Future[Any]" = field(default_factory=Future)


class FairThreads:
    """A few threads, whose next work is that of the caller who has waited longest since its last turn.

    Safe to share by threads and event loops.

    Args:
        most: how many run at once.
        name: of the threads.
        find_rest_s: how long a thread rests after a call that took so many seconds.
    """

    def __init__(self, most: int, name: str, *, find_rest_s: Callable[[float], float] = lambda _took_s: 0.0) -> None:
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=f"fingerpost-{name}")
        self._lock = threading.Lock()
        self._free = most
        self._find_rest_s = find_rest_s
        self._waiting: FairQueue[_Work] = FairQueue()

    async def run(self, function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Return what a function returns, which runs in a thread when its caller's turn has come.

        Where the caller gives up before that, it does not run.
        """
        work = _Work(partial(function, *args, **kwargs))
        with self._lock:
            is_free = self._free > 0
            if is_free:
                self._free -= 1
            else:
                self._waiting.put(CALLER.get(), work)
        if is_free:
            self._start(work)
        result: _R = await asyncio.wrap_future(work.future)
        return result

    def _start(self, work: _Work | None) -> None:
        """Begin a work, or the first that waits whose caller still does; whoever calls gives up a thread for it."""
        while work is not None and not work.future.set_running_or_notify_cancel():
            work = self._next()
        if work is not None:
            begun_s = time.monotonic()
            self._pool.submit(work.context.run, work.function).add_done_callback(partial(self._ended, work, begun_s))

    def _ended(self, work: _Work, begun_s: float, done: "Future[Any]") -> None:
        """Hand on what a work returned or raised, rest, and begin the next; all this in the thread of the work."""
        took_s = time.monotonic() - begun_s
        error = done.exception()
        if error is None:
            work.future.set_result(done.result())
        else:
            work.future.set_exception(error)
        if rest_s := self._find_rest_s(took_s):
            time.sleep(rest_s)
        self._start(self._next())

    def _next(self) -> _Work | None:
        with self._lock:
            work = self._waiting.take()
            if work is None:
                self._free += 1
            return work


_PROCESSORS = max(2, os.cpu_count() or 1)

# What keeps a processor busy: more at once would be no sooner done.
SEARCHING = FairThreads(_PROCESSORS, "searching")
"""For searches of a timetable, which may wait for the engine to be compiled."""

LOOKING_UP = FairThreads(_PROCESSORS, "looking-up")
"""For names in large networks, which are compared outside of the interpreter."""

COMPUTING = FairThreads(1, "computing")
"""For what else takes its time: to check and to write what is large. All of it holds the interpreter, so two at once
are no sooner done, and leave less of it to the event loop, in which all calls are answered."""

LONG_PLANS = FairThreads(1, "long-plans", find_rest_s=PACE.find_rest_s)
"""For plans and outputs that are long: with rests, while others call."""
