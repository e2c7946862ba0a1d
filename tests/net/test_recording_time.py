"""What depended on the time when a call was recorded does not depend on it in the replay: nothing waits."""

import asyncio
from dataclasses import replace

import pytest

from fingerpost.errors import SourceTimeout
from fingerpost.net.cache import Cache
from fingerpost.net.limiter import Limiter
from fingerpost.net.pace import Pace
from fingerpost.runtime import retry
from fingerpost.runtime.circuit_breaker import Breaker
from tests.net.local_server import LIMITS, FakeTime, answer, serving
from tests.net.test_client import ONCE, hang
from tests.net.test_recording import asking, outcome, record_and_replay, recording, replaying


async def test_nothing_waits_in_a_replay(tmp_path, monkeypatch):
    """Live, the limiter and the pauses between attempts cost time; from the recording they cost none."""
    slept, time = [], FakeTime()
    answers = [answer("503 Busy"), answer("429 Slow Down", Retry_After="2"), answer(body=b"x")]
    real_sleep = asyncio.sleep

    async def sleep(seconds, result=None):
        slept.append(seconds)
        await real_sleep(0)

    async with serving(*answers) as server:
        request = asking(limits=LIMITS)(server)
        async with recording(tmp_path, time=time) as client:
            live = await outcome(client, request)
    monkeypatch.setattr(retry, "sleep", sleep)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    replay_time = FakeTime()
    async with replaying(tmp_path, time=replay_time) as client:
        replayed = await outcome(client, request)

    assert (replayed, live[1], time.slept) == (live, b"x", [2.0])
    assert (sum(slept), replay_time.slept) == (0, [])


async def test_memory_serves_what_it_served_whatever_the_clock_does(tmp_path):
    """From the source, from memory, unchanged after it grew old, and new: time stands still in the replay."""
    time = FakeTime()
    request = asking(fresh_s=60)
    waits = [0, 59, 2, 61]

    async def run(client, asked, sleep):
        seen = []
        for wait_s in waits:
            await sleep(wait_s)
            got = await client.fetch(asked)
            seen.append((got.body, got.from_cache))
        return seen

    tagged = [answer(body=b"1", ETag='"a"'), answer("304 Not Modified"), answer(body=b"2")]
    async with serving(*tagged) as server:
        asked = request(server)
        async with recording(tmp_path, cache=Cache(clock_s=time.clock_s)) as client:
            live = await run(client, asked, time.sleep)
    async with replaying(tmp_path) as client:
        replayed = await run(client, asked, FakeTime().sleep)

    assert live == [(b"1", False), (b"1", True), (b"1", True), (b"2", False)]
    assert replayed == live


@pytest.mark.parametrize("status", ["200 OK", "500 Oh"])
async def test_who_joined_a_call_gets_what_it_brought(tmp_path, status):
    """Three ask at once and the source is asked once; from the recording they may also ask one after the other."""
    async with serving(answer(status, b"x")) as server:
        request = asking(fresh_s=60)(server)
        async with recording(tmp_path) as client:
            live = await asyncio.gather(*(outcome(client, request) for _ in range(3)))
    async with replaying(tmp_path) as client:
        at_once = await asyncio.gather(*(outcome(client, request) for _ in range(3)))
    async with replaying(tmp_path) as client:
        in_turn = [await outcome(client, request) for _ in range(3)]

    assert (len(server.asked), at_once) == (1, live)
    assert [one[:3] for one in in_turn] == [one[:3] for one in live]


async def test_a_host_that_was_left_in_peace_is_so_again(tmp_path):
    """The breaker's refusal is part of the recording; the replay's own breaker hears nothing."""
    live, replayed = await record_and_replay(
        tmp_path, [asking()] * 2, answer("500 Oh"), breaker=Breaker(threshold=1, clock_s=FakeTime().clock_s)
    )

    assert replayed == live
    told, details = live[1][1:3]
    assert told.startswith("feeds.example:")
    assert told.endswith(" failed 1 times in a row and is left alone for a while")
    assert details == {"retry_after_s": 30.0}


async def test_a_refusal_of_our_own_limiter_is_replayed(tmp_path):
    """One a second, and the second call has no second to wait."""
    time = FakeTime()
    limiter = Limiter(
        clock_ms=time.clock_ms, sleep=time.sleep, paces={"feeds.example": Pace(name="x", per_second=1, burst=1)}
    )
    request = asking(limits=replace(ONCE, total_s=0.9))
    live, replayed = await record_and_replay(tmp_path, [request] * 2, answer(body=b"x"), limiter=limiter)

    assert (replayed, live[1][0].__name__, live[1][2]) == (live, "SourceLimited", {"retry_after_s": 1.0})


async def test_a_call_whose_time_was_used_up_ends_so_again_at_once(tmp_path):
    """The server never answers and the call has a bound: the replay does not wait for it."""
    live, replayed = await record_and_replay(tmp_path, [asking(limits=replace(ONCE, total_s=0.05))], hang)

    assert (replayed, live[0][1]) == (live, "feeds.example did not answer in time")


async def test_a_call_whose_caller_waited_no_longer_is_a_timeout_to_everybody(tmp_path):
    """An error of the tree, and an expired time limit as well: a composite says the same of both."""
    asked = asyncio.Event()

    async def note_and_hang(writer):
        asked.set()
        await hang(writer)

    async with serving(note_and_hang) as server, recording(tmp_path) as client:
        request = asking()(server)
        task = asyncio.create_task(client.fetch(request))
        await asked.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    async with replaying(tmp_path) as client:
        replayed = await outcome(client, request)

    assert (task.cancelled(), issubclass(replayed[0], SourceTimeout), issubclass(replayed[0], TimeoutError)) == (
        True,
        True,
        True,
    )
    assert "its caller waited no longer" in (tmp_path / "index.txt").read_text()
