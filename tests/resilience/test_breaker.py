"""A source or tool that keeps failing is left alone for a while."""

import pytest

from fingerpost.runtime.circuit_breaker import Breaker
from tests.net.local_server import FakeTime


async def tripped(time):
    """Return a breaker after three failures of a.example, with a rest of ten seconds."""
    breaker = Breaker(threshold=3, rest_s=10, clock_s=time.clock_s)
    for _ in range(3):
        breaker.enter("a.example")
        breaker.failed("a.example")
    return breaker


def is_refused(breaker, host="a.example"):
    return breaker.enter(host) is not None


async def test_a_success_between_starts_the_count_again():
    breaker = Breaker(threshold=2, clock_s=FakeTime().clock_s)
    breaker.failed("a.example")
    breaker.succeeded("a.example")
    breaker.failed("a.example")

    assert is_refused(breaker) is False


@pytest.mark.parametrize(("later_s", "expected"), [(0, True), (9.9, True), (10, False)])
async def test_it_opens_for_its_host_alone_until_its_rest_is_over(later_s, expected):
    """At the third failure in a row, and not a moment less; another host is not concerned."""
    time = FakeTime()
    breaker = await tripped(time)
    await time.sleep(later_s)

    assert (is_refused(breaker), is_refused(breaker, "b.example")) == (expected, False)


@pytest.mark.parametrize(("outcome", "expected"), [("failed", True), ("succeeded", False), ("left", False)])
async def test_one_request_tries_the_host(outcome, expected):
    """While it is under way all others are refused; what becomes of it decides, and one that left lets another try."""
    time = FakeTime()
    breaker = await tripped(time)
    await time.sleep(10)
    breaker.enter("a.example")
    meanwhile = is_refused(breaker)
    getattr(breaker, outcome)("a.example")

    assert (meanwhile, is_refused(breaker)) == (True, expected)
