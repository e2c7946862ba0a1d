"""When a call is made again, and after what wait."""

import asyncio
import logging

import pytest

from fingerpost.errors import SourceFailed
from fingerpost.runtime import retry
from fingerpost.runtime.retry import RetryPolicy, call_with_retries

POLICY = RetryPolicy(attempts=4, initial_s=1.0, longest_s=5.0)


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """The waits, in seconds, which are left out."""
    waits = []
    monkeypatch.setattr(retry, "sleep", lambda seconds: asyncio.sleep(waits.append(seconds) or 0))
    return waits


@pytest.mark.parametrize(
    ("attempt", "spread", "asked_s", "expected"),
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
def test_the_wait_doubles_within_its_bounds(attempt, spread, asked_s, expected):
    """Spread by half, never longer than allowed; a longer wait that was asked for is not waited for."""
    assert POLICY.find_wait_s(attempt, spread=spread, asked_s=asked_s) == expected


def failing(times, error):
    """Return a call that raises some times, and the numbers of the attempts that it sees."""
    seen = []

    async def call(number):
        seen.append(number)
        if len(seen) <= times:
            raise error
        return "answer"

    return call, seen


@pytest.mark.parametrize("times", [0, 1, 2])
async def test_a_call_is_made_again_until_it_answers(times):
    """Attempts are counted from 1, and each failed one is asked about once."""
    call, seen = failing(times, SourceFailed("down"))
    asked = []
    got = await call_with_retries(call, SourceFailed, lambda _error, n: asked.append(n) or 0.0)

    assert (got, seen, asked) == ("answer", [1, 2, 3][: times + 1], [1, 2][:times])


@pytest.mark.parametrize(
    ("error", "wait_s", "attempts"),
    [(SourceFailed("down"), 0.0, 3), (SourceFailed("no"), None, 1), (KeyError(1), 0.0, 1)],
)
async def test_the_last_error_is_raised(error, wait_s, attempts):
    """After the last attempt, where the policy says no, and at once where the error is of another kind."""
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
