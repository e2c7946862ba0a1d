"""What is logged when a call is made again."""

import logging

import pytest
import stamina

from fingerpost.runtime.retry import call_with_retries


class _Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")


@pytest.fixture
def lines():
    """Whatever reaches the root logger."""
    handler, root = _Lines(), logging.getLogger()
    root.addHandler(handler)
    level = logging.getLogger("fingerpost").level
    logging.getLogger("fingerpost").setLevel(logging.INFO)
    yield handler.lines
    logging.getLogger("fingerpost").setLevel(level)
    root.removeHandler(handler)


async def fail_once(attempt):
    """Return the number of the attempt, unless it is the first."""
    if attempt == 1:
        raise ValueError("a secret")
    return attempt


async def test_another_attempt_is_one_line_of_our_own(lines):
    """Below a warning, so that no terminal shows it unasked; not stamina's, and without what the error says."""
    with stamina.set_testing(True, attempts=3):
        assert await call_with_retries(fail_once, ValueError, lambda *_: 0.25, attempts=3) == 2

    assert lines == ["INFO fingerpost.runtime.retry: attempt 1 ended with ValueError, the next one follows in 0.2 s"]


async def test_others_keep_staminas_line(lines):
    """A program that uses stamina too."""
    with stamina.set_testing(True, attempts=3):
        async for attempt in stamina.retry_context(on=ValueError, attempts=3):
            with attempt:
                await fail_once(attempt.num)

    assert lines == ["WARNING stamina: stamina.retry_scheduled"]
