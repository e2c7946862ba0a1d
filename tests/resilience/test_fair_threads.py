"""Threads that callers share fairly."""

import asyncio
import threading
from concurrent.futures import wait

import pytest

from fingerpost.runtime.fair_threads import CALLER, FairThreads


async def ask(threads, caller, function):
    CALLER.set(caller)
    return await threads.run(function)


async def test_who_waits_is_served_in_turn(tmp_path):
    """One thread: of ten calls of one caller and one of another, the other's is the second that is done after it."""
    threads, gate, done = FairThreads(1, "test"), threading.Event(), []
    held = asyncio.create_task(ask(threads, "held", gate.wait))
    await asyncio.sleep(0)
    many = [asyncio.create_task(ask(threads, "many", lambda at=at: done.append(f"many {at}"))) for at in range(10)]
    await asyncio.sleep(0)
    one = asyncio.create_task(ask(threads, "one", lambda: done.append("one")))
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(held, one, *many)

    assert done == ["many 0", "one", *(f"many {at}" for at in range(1, 10))]


async def test_no_more_run_at_once_than_there_are_threads():
    """Two threads, twenty calls: two are in it at a time, and both are used."""
    threads, lock, seen, inside = FairThreads(2, "test"), threading.Lock(), [], [0]
    both = threading.Barrier(2, timeout=30)

    def work():
        with lock:
            inside[0] += 1
            seen.append(inside[0])
        both.wait()
        with lock:
            inside[0] -= 1

    await asyncio.gather(*(threads.run(work) for _ in range(20)))
    assert max(seen) == 2


async def test_what_a_function_raises_is_raised_and_the_thread_goes_on():
    """The next call is served."""
    threads = FairThreads(1, "test")

    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 // 0)
    assert await threads.run(lambda: CALLER.get()) == ""


async def test_who_gives_up_while_it_waits_is_not_served():
    """And keeps nobody behind it from being served."""
    threads, gate, done = FairThreads(1, "test"), threading.Event(), []
    held = asyncio.create_task(threads.run(gate.wait))
    await asyncio.sleep(0)
    given_up = asyncio.create_task(threads.run(done.append, "given up"))
    behind = asyncio.create_task(threads.run(done.append, "behind"))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(held, behind)

    assert done == ["behind"]


def test_a_second_event_loop_may_ask():
    """Nothing of it belongs to the first."""
    threads = FairThreads(1, "test")

    assert [asyncio.run(threads.run(str, each)) for each in (1, 2)] == ["1", "2"]


async def test_a_thread_may_rest_between_two_calls():
    """Whoever waits for the first has its answer before; the rest depends on whose call it was."""
    rested, ended = [], []

    def find_rest_s(took_s, caller):
        rested.append((caller, list(ended)))
        return 0.0

    threads = FairThreads(1, "test", find_rest_s=find_rest_s)

    async def call(caller, at):
        CALLER.set(caller)
        await threads.run(ended.append, at)

    await asyncio.gather(call("a", 1), call("b", 2))

    assert rested == [("a", [1]), ("b", [1, 2])]


async def test_the_event_loop_never_rests(monkeypatch):
    """Nor where a work has ended before the loop goes on: what holds the interpreter ends so."""
    resting = []

    def find_rest_s(took_s, caller):
        resting.append(threading.current_thread().name)
        return 0.0

    threads = FairThreads(1, "test", find_rest_s=find_rest_s)
    submit = threads._pool.submit

    def submit_and_wait(*args):
        done = submit(*args)
        wait([done])
        return done

    monkeypatch.setattr(threads._pool, "submit", submit_and_wait)
    answer = await threads.run(str, 1)

    assert answer == "1"
    assert [name.startswith("fingerpost-test") for name in resting] == [True]
