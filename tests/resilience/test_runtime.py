"""Retries, circuit breakers, and concurrent calls."""

import asyncio
import logging

import pytest

from fingerpost.errors import SourceFailed
from fingerpost.runtime import retry
from fingerpost.runtime.circuit_breaker import CircuitBreaker
from fingerpost.runtime.concurrency import gather_all
from fingerpost.runtime.retry import RetryPolicy, call_with_retries
from tests.net.local_server import FakeTime

POLICY = RetryPolicy(attempts=4, initial_s=1.0, longest_s=5.0)


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    waits = []
    monkeypatch.setattr(retry, "sleep", lambda seconds: asyncio.sleep(waits.append(seconds) or 0))
    return waits


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
    assert POLICY.find_wait_s(attempt, spread=spread, requested_s=requested_s) == expected


def failing(times, error):
    seen = []

    async def call(number):
        seen.append(number)
        if len(seen) <= times:
            raise error
        return "answer"

    return call, seen


@pytest.mark.parametrize("times", [0, 1, 2])
async def test_a_call_is_made_again_until_it_answers(times):
    call, seen = failing(times, SourceFailed("down"))
    asked = []
    got = await call_with_retries(call, SourceFailed, lambda _error, n: asked.append(n) or 0.0)

    assert (got, seen, asked) == ("answer", [1, 2, 3][: times + 1], [1, 2][:times])


@pytest.mark.parametrize(
    ("error", "wait_s", "attempts"),
    [(SourceFailed("down"), 0.0, 3), (SourceFailed("no"), None, 1), (KeyError(1), 0.0, 1)],
)
async def test_the_last_error_is_raised(error, wait_s, attempts):
    call, seen = failing(9, error)
    with pytest.raises(type(error)):
        await call_with_retries(call, SourceFailed, lambda _error, n: wait_s if n < 3 else None)

    assert len(seen) == attempts


async def test_another_attempt_is_one_line_of_the_log(waits, caplog):
    """Below a warning, so that no terminal shows it unasked, and without what the error says."""
    caplog.set_level(logging.INFO, "fingerpost")
    call, _ = failing(1, ValueError("a secret"))
    await call_with_retries(call, ValueError, lambda *_: 0.25)

    assert caplog.record_tuples == [
        ("fingerpost.runtime.retry", logging.INFO, "attempt 1 ended with ValueError, the next one follows in 0.2 s")
    ]
    assert waits == [0.25]


async def tripped(time):
    breaker = CircuitBreaker(threshold=3, cooldown_s=10, clock_s=time.clock_s)
    for _ in range(3):
        breaker.acquire("a.example")
        breaker.record_failure("a.example")
    return breaker


def is_refused(breaker, host="a.example"):
    return breaker.acquire(host) is not None


async def test_a_success_between_starts_the_count_again():
    breaker = CircuitBreaker(threshold=2, clock_s=FakeTime().clock_s)
    breaker.record_failure("a.example")
    breaker.record_success("a.example")
    breaker.record_failure("a.example")

    assert is_refused(breaker) is False


@pytest.mark.parametrize(("later_s", "expected"), [(0, True), (9.9, True), (10, False)])
async def test_a_circuit_breaker_opens_for_its_host_until_the_pause_ends(later_s, expected):
    time = FakeTime()
    breaker = await tripped(time)
    await time.sleep(later_s)

    assert (is_refused(breaker), is_refused(breaker, "b.example")) == (expected, False)


@pytest.mark.parametrize(
    ("outcome", "expected"), [("record_failure", True), ("record_success", False), ("release", False)]
)
async def test_one_request_tries_the_host(outcome, expected):
    time = FakeTime()
    breaker = await tripped(time)
    await time.sleep(10)
    breaker.acquire("a.example")
    meanwhile = is_refused(breaker)
    getattr(breaker, outcome)("a.example")

    assert (meanwhile, is_refused(breaker)) == (True, expected)


async def answer_after(turns, answer):
    for _ in range(turns):
        await asyncio.sleep(0)
    return answer


async def test_results_are_in_the_order_of_the_queries():
    assert await gather_all(answer_after(turns, turns) for turns in (3, 1, 2)) == [3, 1, 2]


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
