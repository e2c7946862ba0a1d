"""Waits between retries, and concurrent calls."""

import asyncio

import pytest

from fingerpost.errors import SourceFailed
from fingerpost.runtime.concurrency import gather_all
from fingerpost.runtime.retry import find_wait_s


@pytest.mark.parametrize(
    ("attempt", "spread", "requested_s", "expected"),
    [
        (1, 0.5, 0.0, 1.0),
        (2, 0.5, 0.0, 2.0),
        (1, 0.0, 0.0, 0.5),
        (1, 1.0, 0.0, 1.5),
        (3, 1.0, 0.0, 5.0),
        (4, 0.5, 0.0, None),
        (1, 0.5, 5.0, 5.0),
        (1, 0.5, 5.1, None),
        (3, 0.5, 0.1, 4.0),
    ],
)
def test_the_wait_doubles_within_its_bounds(attempt, spread, requested_s, expected):
    bounds = {"initial_s": 1.0, "max_wait_s": 5.0}
    assert find_wait_s(attempt, 4, spread=spread, requested_s=requested_s, **bounds) == expected


async def test_no_step_starts_after_a_failure():
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


async def test_a_cancelled_build_leaves_nothing():
    before = asyncio.all_tasks()
    asking = asyncio.ensure_future(gather_all([asyncio.Event().wait(), asyncio.Event().wait()]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])

    assert (asking.cancelled(), asyncio.all_tasks() - before) == (True, set())
