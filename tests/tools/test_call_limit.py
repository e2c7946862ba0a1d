"""A tool's own rate limit (rule E2)."""

import asyncio

import pytest

from fingerpost.errors import SourceLimited, StorageUnavailable
from fingerpost.store.limits import CallLimit, Limits

NOW_MS = 1_780_000_000_000


@pytest.fixture(params=["in memory", "in a file"])
def limits(request, tmp_path):
    return Limits() if request.param == "in memory" else Limits(tmp_path / "limits.sqlite")


async def passed(limits, times_ms, per_second=2):
    now = iter(times_ms)
    limit = CallLimit("t", per_second, limits, lambda: NOW_MS + next(now))
    outcomes = []
    for _ in times_ms:
        try:
            await limit.enter()
            outcomes.append(True)
        except SourceLimited:
            outcomes.append(False)
    return outcomes


@pytest.mark.parametrize(
    ("times_ms", "expected"),
    [
        ([0, 0, 0], [True, True, False]),
        ([0, 500, 999], [True, True, False]),
        ([0, 500, 1000], [True, True, True]),
        ([0, 900, 1000, 1100, 2000], [True, True, True, False, True]),
        ([5000, 5000, 0, 0, 0], [True, True, True, True, False]),
    ],
)
async def test_no_second_has_more_calls_than_the_limit(limits, times_ms, expected):
    assert await passed(limits, times_ms) == expected


async def test_simultaneous_calls_do_not_exceed_the_limit(limits):
    limit = CallLimit("t", 5, limits, lambda: NOW_MS)
    outcomes = await asyncio.gather(*(limit.enter() for _ in range(50)), return_exceptions=True)

    assert outcomes.count(None) == 5
    assert {outcome.retry_after_s for outcome in outcomes if outcome is not None} == {1.0}


async def test_where_the_file_fails_the_process_counts_for_itself(caplog):
    class Failing:
        def take(self, pace, now_ms):
            raise StorageUnavailable("limits.sqlite is busy")

    assert await passed(Failing(), [0, 0, 0]) == [True, True, False]
    assert "is counting its calls in this process only: limits.sqlite is busy" in caplog.text
