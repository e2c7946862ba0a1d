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

from fingerpost.runtime.background_pace import PACE
from fingerpost.runtime.fair_queue import FairQueue

_P = ParamSpec("_P")
_R = TypeVar("_R")

CALLER: ContextVar[str] = ContextVar("fingerpost_caller", default="")
"""Who calls, as an interface tells callers apart; a context without one belongs to the one caller of its process."""


def find_machine() -> str:
    """Return the machine of who calls: the first word of the caller's name, which may name a connection of it too."""
    return CALLER.get().partition(" ")[0]


def _rest_never(_took_s: float, _caller: str) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class _Work:
    function: Callable[[], Any]
    caller: str
    context: Context = field(default_factory=copy_context)
    future: "Future[Any]" = field(default_factory=Future)


class _RaisedBy:
    """Hands what a block raises to a future, whatever it is, so that it is raised where the call waits."""

    def __init__(self, future: "Future[Any]") -> None:
        self._future = future

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if error is not None:
            self._future.set_exception(error)
        return True


class FairThreads:
    """A few threads, whose next work is that of the caller who has waited longest since its last turn.

    Safe to share by threads and event loops.

    Args:
        most: how many run at once.
        name: of the threads.
        find_rest_s: how long a thread rests after a call that took so many seconds, and whose call it was.
    """

    def __init__(self, most: int, name: str, *, find_rest_s: Callable[[float, str], float] = _rest_never) -> None:
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=f"fingerpost-{name}")
        self._lock = threading.Lock()
        self._free = most
        self._find_rest_s = find_rest_s
        self._waiting: FairQueue[_Work] = FairQueue()

    async def run(self, function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Return what a function returns, which runs in a thread when its caller's turn has come.

        Where the caller gives up before that, it does not run.
        """
        work = _Work(partial(function, *args, **kwargs), CALLER.get())
        with self._lock:
            is_free = self._free > 0
            if is_free:
                self._free -= 1
            else:
                self._waiting.put(work.caller, work)
        if is_free:
            self._start(work)
        result: _R = await asyncio.wrap_future(work.future)
        return result

    def _start(self, work: _Work | None) -> None:
        """Begin a work, or the first that waits whose caller still does; whoever calls gives up a thread for it."""
        while work is not None and not work.future.set_running_or_notify_cancel():
            work = self._next()
        if work is not None:
            self._pool.submit(self._carry_out, work)

    def _carry_out(self, work: _Work) -> None:
        """Run a work, hand on what it returns or raises, rest, and begin the next; all this in the thread of the work.

        Nothing of it is a callback: added to what has ended already, one runs in the event loop, and so would the rest.
        """
        begun_s = time.monotonic()
        with _RaisedBy(work.future):
            work.future.set_result(work.context.run(work.function))
        if rest_s := self._find_rest_s(time.monotonic() - begun_s, work.caller):
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

COMPUTING = FairThreads(1, "computing", find_rest_s=PACE.find_rest_for_others_s)
"""For what else takes its time: to check, to choose and to write what is large. All of it holds the interpreter, so two
at once are no sooner done, and leave less of it to the event loop, in which all calls are answered; it rests between
one and the next, while others call."""

LONG_PLANS = FairThreads(1, "long-plans", find_rest_s=PACE.find_rest_s)
"""For plans and outputs that are long: with rests, while others call."""
