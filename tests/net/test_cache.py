"""Cached answers, merged concurrent requests, and conditional requests."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from fingerpost import clock
from fingerpost.errors import SourceFailed, SourceLimited
from fingerpost.net.cache import Cache
from fingerpost.net.limiter import Limiter
from fingerpost.net.request import Request
from fingerpost.net.response import Response
from fingerpost.store.limits import Pace
from tests.net.local_server import HOST, LIMITS, FakeTime, answer, new_client, serving

TAGGED = answer(body=b"one", ETag='"1"', Last_Modified="Wed, 21 Oct 2026 07:28:00 GMT")

KEPT = Request(url="http://a.example/", fresh_s=60)


def asking(server, **given):
    return Request(url=server.url, limits=LIMITS, **{"fresh_s": 60, **given})


def response(body=b"x"):
    return Response(
        status=200,
        headers={},
        body=body,
        redacted_url="http://a.example/",
        retrieved_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("given", "later_s", "times"),
    [
        ({}, 59, 1),
        ({}, 60, 2),
        # An answer that is not asked to be kept, and other questions: by query, language or body.
        ({"fresh_s": 0}, 0, 2),
        ({"params": {"q": "2"}}, 0, 2),
        ({"headers": {"accept-language": "fi"}}, 0, 2),
        ({"content": b"q"}, 0, 2),
    ],
)
async def test_a_fresh_answer_comes_from_memory(given, later_s, times):
    time = FakeTime()
    cache = Cache(clock_s=time.clock_s)
    async with serving(answer(body=b"one")) as server, new_client(cache=cache) as client:
        await client.fetch(asking(server))
        await time.sleep(later_s)
        again = await client.fetch(asking(server, **given))

    assert (len(server.asked), again.from_cache) == (times, times == 1)


async def test_simultaneous_identical_queries_are_one_request():
    async with serving(answer(body=b"one")) as server, new_client() as client:
        got = await asyncio.gather(*(client.fetch(asking(server)) for _ in range(20)))

    assert (len(server.asked), {one.body for one in got}) == (1, {b"one"})


async def test_a_caller_that_leaves_does_not_cancel_the_shared_answer():
    arrived, go = asyncio.Event(), asyncio.Event()

    async def fetch(older):
        arrived.set()
        await go.wait()
        return response()

    cache = Cache()
    first = asyncio.create_task(cache.get(KEPT, fetch))
    second = asyncio.create_task(cache.get(KEPT, fetch))
    await arrived.wait()
    first.cancel()
    go.set()

    assert (await second).body == b"x"


async def test_a_joining_caller_has_its_own_deadline():
    """The limiter lets the next request through in 100 s: too late for the first caller, not for the second."""
    time, pace = FakeTime(), Pace(name="slow", per_second=0.01, burst=1)
    limiter = Limiter(paces={HOST: pace}, clock_ms=time.clock_ms, sleep=time.sleep)

    async def ask(client, server, limit_s):
        async with clock.time_limit(limit_s):
            request = Request(url=server.url, limits=replace(LIMITS, total_s=1000), fresh_s=60)
            return (await client.fetch(request)).body

    async with serving(answer(body=b"one")) as server, new_client(limiter=limiter) as client:
        await client.fetch(asking(server, fresh_s=0))
        both = (ask(client, server, limit_s) for limit_s in (50, None))
        first, second = await asyncio.gather(*both, return_exceptions=True)

    assert (type(first), second, len(server.asked), time.slept) == (SourceLimited, b"one", 2, [100.0])


async def test_without_waiters_no_further_network_is_queried():
    cancelled = asyncio.Event()

    async def hang(older):
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def fetch(older):
        return response()

    cache = Cache()
    only = asyncio.create_task(cache.get(KEPT, hang))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    only.cancel()
    await cancelled.wait()

    assert (await cache.get(KEPT, fetch)).body == b"x"


async def test_a_failure_is_not_cached():
    async with serving(answer("404 Not Found"), answer(body=b"one")) as server, new_client() as client:
        both = await asyncio.gather(*(client.fetch(asking(server)) for _ in range(2)), return_exceptions=True)
        got = await client.fetch(asking(server))

    assert ([type(one) for one in both], got.body, len(server.asked)) == ([SourceFailed] * 2, b"one", 2)


async def test_an_old_answer_is_confirmed_rather_than_fetched():
    time = FakeTime()
    async with (
        serving(TAGGED, answer("304 Not Modified")) as server,
        new_client(cache=Cache(clock_s=time.clock_s)) as client,
    ):
        await client.fetch(asking(server))
        await time.sleep(60)
        confirmed = await client.fetch(asking(server))
        fresh = await client.fetch(asking(server))

    conditions = {name: server.asked[1].headers.get(name) for name in ("if-none-match", "if-modified-since")}
    assert conditions == {"if-none-match": '"1"', "if-modified-since": "Wed, 21 Oct 2026 07:28:00 GMT"}
    assert (confirmed.body, confirmed.from_cache, fresh.body, len(server.asked)) == (b"one", True, b"one", 2)


async def test_a_poller_requests_only_news():
    async with serving(TAGGED, answer("304 Not Modified"), answer(body=b"two")) as server, new_client() as client:
        first = await client.fetch(asking(server, fresh_s=0))
        same = await client.fetch(asking(server, fresh_s=0), known=first)
        news = await client.fetch(asking(server, fresh_s=0), known=same)

    assert (same.body is first.body, same.from_cache, news.body, news.from_cache) == (True, True, b"two", False)


async def test_memory_drops_the_least_recently_used():
    asked = []

    def fetching(key, size):
        async def fetch(older):
            asked.append(key)
            return response(b"x" * size)

        return fetch

    cache = Cache(max_bytes=10)
    for key, size in [("a", 5), ("b", 5), ("a", 5), ("c", 5), ("a", 5), ("b", 5), ("huge", 11), ("huge", 11)]:
        await cache.get(replace(KEPT, url=f"http://a.example/{key}"), fetching(key, size))

    assert asked == ["a", "b", "c", "b", "huge", "huge"]
