"""A dead or hanging network delays no other, and a fallback reports what it cannot answer (rules A8, A13)."""

import asyncio
import gc
from dataclasses import dataclass, field, replace

import pytest

from fingerpost import clock
from fingerpost.errors import SourceFailed, SourceTimeout, SourceUnreachable
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.circuit_breaker import CircuitBreakerNetwork, NetworkBreaker
from fingerpost.transit.networks.fallback import FallbackNetwork
from fingerpost.transit.networks.querying import Deadline, query_all, try_in_order
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from tests.contracts.conftest import stop_place
from tests.fakes import FakeNetwork
from tests.net.local_server import FakeTime
from tests.networks.limits import MeetingNetwork

LIVE_STOP = "LIVE:1"
PLACE = {"Kamppi": [stop_place("OFF:1", "Kamppi")]}


@dataclass(kw_only=True)
class HangingNetwork(FakeNetwork):
    """Never answers while ``hangs``; a deadline of 0 has passed before anybody waits."""

    hangs: bool = True
    deadline_s: float | None = 0.0
    left_s: list = field(default_factory=list)

    @property
    def profile(self):
        return replace(super().profile, answer_deadline_s=self.deadline_s, names_deadline_s=self.deadline_s)

    async def plan_journeys(self, query):
        self.left_s.append(clock.find_remaining_s())
        if self.hangs:
            self.asked.append(query)
            await asyncio.Event().wait()
        return await super().plan_journeys(query)


def board(*stop_ids):
    return DepartureQuery(stop_ids=stop_ids, instant=0, window_s=60, wanted=1)


def trip(*, stop_ids=()):
    end = Location(coordinate=Coordinate(60, 25), source=LocationSource.INPUT, stop_ids=stop_ids)
    return JourneyQuery(origin=end, destination=replace(end, coordinate=Coordinate(60.1, 25), stop_ids=()), instant=0)


def live(**given):
    return FakeNetwork(name="LIVE", feed_names=frozenset({"LIVE"}), **given)


def offline(**given):
    return FakeNetwork(name="OFFLINE", places=PLACE, **given)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


# ---------------------------------------------------------------------- ids that the fallback does not know


def test_a_board_of_stops_unknown_to_the_fallback_is_not_empty():
    both = FallbackNetwork(live(departures=SourceUnreachable("LIVE is down")), offline())

    with pytest.raises(SourceUnreachable) as raised:
        run(both.list_departures(board(LIVE_STOP)))

    assert raised.value.message == "LIVE is down; its fallback OFFLINE does not know LIVE:1"
    assert raised.value.hint == "Try again later, or give the stop's name, which OFFLINE may know"


def test_a_place_of_which_the_fallback_knows_a_part():
    down = FakeNetwork(name="LIVE", feed_names=frozenset({"OFF"}), departures=SourceFailed("LIVE is down"))
    fallback = offline()
    answer = run(FallbackNetwork(down, fallback).list_departures(board("OFF:1", "OFF:2")))

    assert fallback.asked == [board("OFF:1")]
    assert answer.provenance.lost == (
        "LIVE could not be queried (LIVE is down); its fallback OFFLINE answered.",
        "OFFLINE does not know OFF:2, whose departures are left out.",
    )


def test_a_trip_from_a_stop_unknown_to_the_fallback_begins_at_its_position():
    fallback = offline()
    both = FallbackNetwork(live(journeys=[SourceFailed("LIVE is down")]), fallback)
    answer = run(both.plan_journeys(trip(stop_ids=(LIVE_STOP,))))

    assert fallback.journeys_asked[-1] == trip()
    assert (
        answer.provenance.lost[-1]
        == f"OFFLINE does not know {LIVE_STOP}; the stop's coordinates were used as the origin instead."
    )


def test_an_unknown_id_during_an_outage_is_not_called_unknown():
    class Down(FakeNetwork):
        async def find_stop(self, stop_id, *, language=None):
            raise SourceUnreachable("LIVE is down")

    both = FallbackNetwork(Down(name="LIVE", feed_names=frozenset({"LIVE"})), offline())
    with pytest.raises(SourceUnreachable, match=r"^LIVE is down; its fallback OFFLINE does not know LIVE:1$"):
        run(both.find_stop(LIVE_STOP))


def test_names_that_a_fallback_gave_are_labelled():
    down = MeetingNetwork(name="LIVE", failure=SourceUnreachable("LIVE is down"))
    answers = run(query_all([FallbackNetwork(down, offline())], lambda network: network.find_places("Kamppi")))

    assert [match.place.id for match in answers.by_network[0][1]] == ["OFF:1"]
    assert [each.warning.message for each in answers.left_out] == [
        "LIVE could not be queried for names (LIVE is down); its fallback OFFLINE answered."
    ]


# ------------------------------------------------------------------------------------------ deadlines


def test_the_deadlines_of_a_chain_nest():
    """Of 8 s the first has 4, its fallback 2, and theirs all of the 2 s that are then left."""

    class Late(HangingNetwork):
        async def plan_journeys(self, query):
            self.left_s.append(round(clock.find_remaining_s(), 3))
            loop = asyncio.get_running_loop()
            passed = self.left_s[-1]
            before = loop.time
            loop.time = lambda: before() + passed
            await asyncio.Event().wait()

    chain = [Late(name=name, deadline_s=8.0) for name in ("A", "B")]
    last = HangingNetwork(name="C", hangs=False, deadline_s=8.0)
    whole = FallbackNetwork(chain[0], FallbackNetwork(chain[1], last))

    answer = run(_in_turn([whole])).value
    assert [each.left_s[0] for each in chain] == pytest.approx([4.0, 2.0], abs=0.2)
    assert last.left_s[0] == pytest.approx(2.0, abs=0.2)
    assert [sentence.partition(" (")[0] for sentence in answer.provenance.lost] == [
        "A could not be queried",
        "B could not be queried",
    ]


def test_a_hanging_network_is_queried_once_per_call():
    hanging = HangingNetwork(name="LIVE")
    both = FallbackNetwork(hanging, HangingNetwork(name="LOCAL", hangs=False, deadline_s=None))

    async def ask(times):
        deadline = Deadline()
        for _ in range(times):
            await _in_turn([both], deadline)

    run(ask(2))
    assert len(hanging.asked) == 1
    run(ask(1))
    assert len(hanging.asked) == 2


# ------------------------------------------------------------------------------------------ what fails again and again


async def _in_turn(networks, deadline=None):
    return await try_in_order(networks, lambda network: network.plan_journeys(trip()), deadline or Deadline())


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


async def test_one_request_in_the_background_decides_whether_a_network_is_back():
    """The caller waits for a part of the deadline only; a cold server that answers within the whole one is back."""
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
    breaker.record_failure("LIVE")
    time.now_ms += 30_000
    with pytest.raises(TimeoutError):
        async with clock.time_limit(0):
            await guarded.list_departures(board(LIVE_STOP))
    failing.set()
    await asyncio.wait(guarded._probes)
    await asyncio.sleep(0)
    gc.collect()

    assert caplog.records == []


def test_a_network_that_hangs_three_times_rests():
    hanging = HangingNetwork(name="LIVE")
    guarded = CircuitBreakerNetwork(hanging, NetworkBreaker(clock_s=FakeTime().clock_s), "LIVE")
    for _ in range(4):
        with pytest.raises(SourceTimeout):
            run(_in_turn([guarded]))

    assert len(hanging.asked) == 3


def test_a_caller_that_leaves_is_no_failure_of_the_network():
    hanging = HangingNetwork(name="LIVE", deadline_s=None)
    guarded = CircuitBreakerNetwork(hanging, NetworkBreaker(clock_s=FakeTime().clock_s), "LIVE")

    async def break_off():
        task = asyncio.ensure_future(_in_turn([guarded]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    for _ in range(4):
        run(break_off())

    assert len(hanging.asked) == 4


def test_names_rest_apart_from_trips():
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
