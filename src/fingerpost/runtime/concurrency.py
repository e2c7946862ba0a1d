"""Work beside the event loop: one pool of threads, and several questions at once."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

# Searches keep a processor busy: more at once would be no sooner done.
_POOL = ThreadPoolExecutor(max(2, os.cpu_count() or 1), thread_name_prefix="fingerpost-compute")


async def compute(function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """Run work of more than a few milliseconds in the pool of threads, in the caller's context."""
    work = partial(copy_context().run, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_POOL, work)


class ChildProcess:
    """A process that a thread waits for; another thread may kill it, even before it starts."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_killed = False

    def run(self, command: Sequence[str], sent: bytes, timeout_s: float) -> subprocess.CompletedProcess[bytes]:
        """Send some bytes and return the output; kill the process and raise TimeoutExpired after ``timeout_s``."""
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:  # noqa: S603
            self._process = process
            if self._is_killed:
                process.kill()
            try:
                output, errors = process.communicate(sent, timeout_s)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    def kill(self) -> None:
        # In this order, and the other one above, no process is missed.
        self._is_killed = True
        if self._process is not None:
            self._process.kill()


async def compute_by_process(function: Callable[[ChildProcess], _R]) -> _R:
    """As ``compute``, for work that runs a process, which is killed if the caller is cancelled."""
    child = ChildProcess()
    try:
        return await compute(function, child)
    except asyncio.CancelledError:
        child.kill()
        raise


async def gather_all(questions: Iterable[Coroutine[Any, Any, _R]]) -> list[_R]:
    """Return the results in order; if one raises, cancel the others, which ``asyncio.gather`` would leave running."""
    tasks = [asyncio.ensure_future(question) for question in questions]
    try:
        return await asyncio.gather(*tasks)
    finally:
        left = [task for task in tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.gather(*left, return_exceptions=True)
