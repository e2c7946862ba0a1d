"""Await several questions at once, so that none goes on once one of them has failed."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

_T = TypeVar("_T")


async def gather_all(questions: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """Return the results in the order of the questions.

    Where one raises, or the caller is cancelled, the others are cancelled, and have ended before anybody hears of it:
    ``asyncio.gather`` leaves them running.

    Raises:
        BaseException: the first error of any.
    """
    tasks = [asyncio.ensure_future(each) for each in questions]
    try:
        return await asyncio.gather(*tasks)
    finally:
        left = [task for task in tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.gather(*left, return_exceptions=True)
