"""Several questions at once: none goes on once one has failed."""

import asyncio

import pytest

from fingerpost.errors import SourceFailed
from fingerpost.runtime.concurrency import gather_all


async def answer_after(turns, answer):
    for _ in range(turns):
        await asyncio.sleep(0)
    return answer


async def test_results_stand_in_the_order_of_the_questions():
    assert await gather_all(answer_after(turns, turns) for turns in (3, 1, 2)) == [3, 1, 2]


async def test_nothing_goes_on_once_one_has_failed():
    """A question that waits for ever has ended when the error of the other is heard."""
    ended = []

    async def wait_for_ever():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("waited")

    async def fail():
        await asyncio.sleep(0)
        raise SourceFailed("later")

    before = asyncio.all_tasks()
    with pytest.raises(SourceFailed, match="later"):
        await gather_all([wait_for_ever(), fail()])

    assert (ended, asyncio.all_tasks() - before) == (["waited"], set())


async def test_who_gives_up_leaves_nothing_behind():
    before = asyncio.all_tasks()
    asking = asyncio.ensure_future(gather_all([asyncio.Event().wait(), asyncio.Event().wait()]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])

    assert (asking.cancelled(), asyncio.all_tasks() - before) == (True, set())
