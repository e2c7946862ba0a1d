"""Two servers on one host, each on a port of its own: what one does is not held against the other."""

import pytest

from fingerpost.errors import SourceFailed, SourceLimited
from fingerpost.net.limiter import Limiter, Pace
from fingerpost.net.request import Request, host_of, server_of
from fingerpost.runtime.circuit_breaker import Breaker
from tests.net.local_server import FakeTime, answer, new_client, serving
from tests.net.test_client import asking

OK = answer(body=b"hello")


async def test_a_server_that_keeps_failing_rests_alone():
    """Five failures close the first; the one beside it, which may be its fallback, is asked."""
    breaker = Breaker(threshold=1, rest_s=30, clock_s=FakeTime().clock_s)
    async with serving(answer("500 No")) as failing, serving(OK) as healthy, new_client(breaker=breaker) as client:
        with pytest.raises(SourceFailed):
            await client.fetch(asking(failing))

        assert (await client.fetch(asking(healthy))).body == b"hello"


async def test_a_server_that_asks_for_a_wait_is_waited_for_alone():
    """Ten minutes for the first, none for the second."""
    async with serving(answer("429 Slow", Retry_After="600")) as busy, serving(OK) as idle, new_client() as client:
        with pytest.raises(SourceLimited):
            await client.fetch(asking(busy))

        assert (await client.fetch(asking(idle))).body == b"hello"


@pytest.mark.parametrize(
    ("url", "server", "host"),
    [
        ("https://otp.example/a", "otp.example", "otp.example"),
        ("https://otp.example:443/a", "otp.example", "otp.example"),
        ("http://otp.example:443/a", "otp.example:443", "otp.example"),
        ("http://[::1]/a", "::1", "::1"),
        ("http://[::1]:8080/a", "[::1]:8080", "::1"),
    ],
)
def test_a_server_is_its_host_and_a_port_that_is_not_the_schemes_own(url, server, host):
    """And its host is found in it again."""
    named = server_of(Request(url=url).split())

    assert (named, host_of(named)) == (server, host)


def test_a_stated_pace_is_its_hosts_on_every_port():
    """An operator who states a pace states it for all that answers under the name; the operator's own are fast."""
    stated = Pace(name="a", per_second=2, burst=2)
    limiter = Limiter(paces={"a.example": stated}, own_hosts=["otp.lan"])

    assert limiter.pace("a.example:8080/path") == stated
    assert limiter.pace("otp.lan:8080/path") == Pace(name="otp.lan:8080", per_second=50, burst=100)
