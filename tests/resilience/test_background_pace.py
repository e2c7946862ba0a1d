"""Background work makes room for calls."""

import asyncio
import time
from itertools import pairwise
from types import SimpleNamespace

from fingerpost.runtime.background_pace import BackgroundPace


async def begin_all(pace, count, step_s):
    """Begin many steps together, each of which keeps the loop for a while; return when each began."""
    begun = []

    async def step():
        await pace.begin()
        begun.append(time.monotonic())
        while time.monotonic() < begun[-1] + step_s:
            pass

    await asyncio.gather(*(step() for _ in range(count)))
    return [after - before for before, after in pairwise(begun)]


async def test_while_there_are_calls_steps_begin_with_pauses():
    """After a step that kept the loop for 5 ms, the next begins 15 ms after it at the soonest."""
    pace = BackgroundPace()
    pace.note_call("a")

    assert min(await begin_all(pace, 5, 0.005)) >= 0.0149


async def test_without_calls_all_begin_at_once():
    """No pause, and no turn of the loop between them."""
    pace = BackgroundPace()
    turns = []

    async def count():
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await asyncio.sleep(0)
    await begin_all(pace, 20, 0.0)
    counting.cancel()

    assert not pace.is_needed
    assert len(turns) < 10


def test_each_event_loop_has_its_own_turns():
    """A lock belongs to the loop that waited for it."""
    pace = BackgroundPace()

    for _ in range(2):
        pace.note_call("a")
        assert len(asyncio.run(begin_all(pace, 3, 0.001))) == 2


def test_a_thread_rests_twice_as_long_as_it_worked_while_calls_come_in():
    """At most a fifth of a second; without calls not at all."""
    pace = BackgroundPace()
    before = pace.find_rest_s(0.01, "a")
    pace.note_call("a")

    assert (before, pace.find_rest_s(0.01, "a"), pace.find_rest_s(9.0, "a")) == (0.0, 0.02, 0.2)


def find_rests(pace):
    """Return how long the work of either caller is rested after, which took 10 ms."""
    return [pace.find_rest_for_others_s(0.01, caller) for caller in ("a", "b")]


def test_after_a_callers_long_work_a_thread_rests_as_long_while_others_call():
    """A caller alone has every turn; beside another, however often each of them calls, half of the time."""
    pace = BackgroundPace()
    rests = [find_rests(pace)]
    for caller in ("a", "b", "b", "a", "a"):
        pace.note_call(caller)
        rests.append(find_rests(pace))

    alone, beside = [[0.0, 0.0], [0.0, 0.01]], [0.01, 0.01]
    assert rests == [*alone, beside, beside, beside, beside]


def test_another_who_has_not_called_for_long_gives_back_the_time(monkeypatch):
    """A quarter of a second is long."""
    now_s = 100.0
    monkeypatch.setattr("fingerpost.runtime.background_pace.time", SimpleNamespace(monotonic=lambda: now_s))
    pace = BackgroundPace()
    pace.note_call("b")
    rests = []
    for later_s in (0.0, 0.249, 0.25):
        now_s = 100.0 + later_s
        pace.note_call("a")
        rests.append(pace.find_rest_for_others_s(0.01, "a"))

    assert rests == [0.01, 0.01, 0.0]
