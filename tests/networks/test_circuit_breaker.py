"""The circuit breaker of remote networks: after failures in a row, a network is paused and then probed (rule A13)."""

import asyncio
import gc

import pytest

from fingerpost import clock
from fingerpost.errors import SourceFailed, SourceTimeout
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.wrappers import CircuitBreakerNetwork, NetworkBreaker
from tests.net.local_server import FakeTime
from tests.networks.limits import HangingNetwork, MeetingNetwork, board, live, plan_in_turn, run

LIVE_STOP = "LIVE:1"


def test_a_network_is_paused_after_three_failures_and_then_used_again():
    time = FakeTime()
    failing = live(departures=SourceFailed("503"))
    guarded = CircuitBreakerNetwork(failing, NetworkBreaker(clock_s=time.clock_s), "LIVE")
    outcomes = []

    async def ask():
        try:
            await guarded.list_departures(board(LIVE_STOP))
        except SourceFailed as error:
            outcomes.append(error.message)
        else:
            outcomes.append("answered")

    for _ in range(4):
        run(ask())
    asked_while_resting = len(failing.asked)
    failing.departures = ()
    time.now_ms += 29_999
    run(ask())
    time.now_ms += 1
    run(ask())

    resting = "LIVE failed 3 times in a row and will be queried again in {} s; last error: 503"
    assert outcomes == ["503"] * 3 + [resting.format(30), resting.format(1), "answered"]
    assert asked_while_resting == 3


async def test_one_probe_in_the_background_ends_the_pause():
    """The caller waits for a part of the deadline only; the server may take all of it."""
    time, warm, left_s = FakeTime(), asyncio.Event(), []

    class Cold(HangingNetwork):
        async def list_departures(self, query):
            if isinstance(self.departures, Exception):
                raise self.departures
            left_s.append(clock.find_remaining_s())
            await warm.wait()
            return await super().list_departures(query)

    network = Cold(name="LIVE", departures=SourceFailed("503"), deadline_s=8.0)
    guarded = CircuitBreakerNetwork(network, NetworkBreaker(clock_s=time.clock_s), "LIVE")
    for _ in range(3):
        with pytest.raises(SourceFailed):
            await guarded.list_departures(board(LIVE_STOP))
    network.departures = ()
    time.now_ms += 30_000
    with pytest.raises(TimeoutError):
        async with clock.time_limit(0):
            await guarded.list_departures(board(LIVE_STOP))
    with pytest.raises(SourceFailed, match="will be queried again in 1 s"):
        await guarded.list_departures(board(LIVE_STOP))
    warm.set()
    await asyncio.gather(*guarded._probes)

    assert (await guarded.list_departures(board(LIVE_STOP))).provenance.network == "LIVE"
    assert left_s == [pytest.approx(8.0, abs=5), None]


async def test_a_failure_in_the_background_is_not_logged(caplog):
    """Failures are logged by asyncio with a traceback if nobody retrieves them."""
    failing, time = asyncio.Event(), FakeTime()

    class Late(HangingNetwork):
        async def list_departures(self, query):
            await failing.wait()
            raise SourceFailed("503")

    breaker = NetworkBreaker(threshold=1, clock_s=time.clock_s)
    guarded = CircuitBreakerNetwork(Late(name="LIVE", deadline_s=None), breaker, "LIVE")
    breaker.record_failure("LIVE", SourceFailed("503"))
    time.now_ms += 30_000
    with pytest.raises(TimeoutError):
        async with clock.time_limit(0):
            await guarded.list_departures(board(LIVE_STOP))
    failing.set()
    await asyncio.wait(guarded._probes)
    await asyncio.sleep(0)
    gc.collect()

    assert caplog.records == []


def test_a_network_that_hangs_three_times_is_paused():
    hanging = HangingNetwork(name="LIVE")
    guarded = CircuitBreakerNetwork(hanging, NetworkBreaker(clock_s=FakeTime().clock_s), "LIVE")
    for _ in range(4):
        with pytest.raises(SourceTimeout):
            run(plan_in_turn(guarded))

    assert len(hanging.asked) == 3


def test_a_cancelled_query_is_not_a_failure():
    hanging = HangingNetwork(name="LIVE", deadline_s=None)
    guarded = CircuitBreakerNetwork(hanging, NetworkBreaker(clock_s=FakeTime().clock_s), "LIVE")

    async def cancel():
        task = asyncio.ensure_future(plan_in_turn(guarded))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    for _ in range(4):
        run(cancel())

    assert len(hanging.asked) == 4


def test_names_and_trips_have_separate_circuits():
    down = MeetingNetwork(name="LIVE", failure=SourceFailed("the geocoder is down"))
    guarded = CircuitBreakerNetwork(down, NetworkBreaker(clock_s=FakeTime().clock_s), "LIVE")
    for _ in range(3):
        with pytest.raises(SourceFailed):
            run(guarded.find_places("Kamppi"))

    assert run(guarded.list_departures(board(LIVE_STOP))).provenance.network == "LIVE"
    assert guarded.profile.can(Ability.NAMES)


def test_the_smaller_of_nested_limits_applies():
    async def ask():
        outside = clock.find_remaining_s()
        async with clock.time_limit(100):
            async with clock.time_limit(None):
                outer = clock.find_remaining_s()
            async with clock.time_limit(200):
                within = clock.find_remaining_s()
        return outside, outer, within, clock.find_remaining_s()

    outside, outer, within, after = run(ask())
    assert (outside, after) == (None, None)
    assert (outer, within) == (pytest.approx(100, abs=5), pytest.approx(100, abs=5))


def test_a_success_starts_the_count_again():
    breaker = NetworkBreaker(threshold=2, clock_s=FakeTime().clock_s)
    breaker.record_failure("LIVE", SourceFailed("503"))
    breaker.record_success("LIVE")
    breaker.record_failure("LIVE", SourceFailed("503"))

    assert breaker.acquire("LIVE") is None
