"""A network's fallback answers for it, and reports what is missing (rule A13)."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from fingerpost import clock
from fingerpost.errors import NoItinerary, RegionUnsupported, SourceChanged, SourceFailed, SourceUnreachable
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.querying import Deadline, query_all
from fingerpost.transit.networks.wrappers import FallbackNetwork
from tests.contracts.conftest import stop_place
from tests.fakes import FakeNetwork
from tests.networks.limits import HangingNetwork, Limits, MeetingNetwork, board, live, plan_in_turn, run, trip

FEEDS, LIVE_STOP = frozenset({"T"}), "LIVE:1"
PLACE = {"Kamppi": [stop_place("OFF:1", "Kamppi")]}
BASIC = frozenset(Ability) - {Ability.REALTIME, Ability.GEOMETRY}
OFFLINE = FakeNetwork(name="OFFLINE", abilities=BASIC, places={"Kamppi": [stop_place("T:K", "Kamppi")]})


def offline(**given):
    return FakeNetwork(name="OFFLINE", places=PLACE, **given)


def test_the_first_network_answers_while_it_can():
    fallback = FakeNetwork(name="OFFLINE")
    answer = run(FallbackNetwork(FakeNetwork(name="LIVE"), fallback).list_departures(board("T:K")))

    assert (answer.provenance.network, answer.provenance.lost, fallback.asked) == ("LIVE", (), [])


@pytest.mark.parametrize("error", [SourceFailed, SourceChanged, RegionUnsupported])
def test_a_failing_network_is_replaced(error):
    live = FakeNetwork(name="LIVE", feed_names=FEEDS, departures=error("The source answered 503"))
    answer = run(FallbackNetwork(live, OFFLINE).list_departures(board("T:K")))

    assert answer.provenance.network == "LIVE"
    assert answer.provenance.lost == (
        (
            "LIVE could not be queried (The source answered 503); its fallback OFFLINE answered, "
            "without geometry, real time."
        ),
    )


def test_a_fallback_in_this_process_has_no_deadline():
    profile = replace(OFFLINE.profile, answer_deadline_s=None, names_deadline_s=None)
    both = FallbackNetwork(FakeNetwork(name="LIVE"), SimpleNamespace(profile=profile)).profile

    assert (both.answer_deadline_s, both.names_deadline_s) == (None, None)


def test_a_slow_network_is_replaced_after_half_the_time(monkeypatch):
    limits = Limits(monkeypatch)
    slow = MeetingNetwork(name="LIVE", places=OFFLINE.places, limits=limits)
    found = run(FallbackNetwork(slow, OFFLINE).find_places("Kamppi"))

    assert ([match.place.id for match in found], limits.seconds) == (["T:K"], [1.5])


def test_an_empty_result_is_an_answer():
    live = FakeNetwork(name="LIVE", journeys=[NoItinerary("none")])

    with pytest.raises(NoItinerary):
        run(FallbackNetwork(live, OFFLINE).plan_journeys(trip(arrive_by=False)))


def test_if_both_fail_the_fallbacks_error_is_raised():
    down = {name: {"name": name, "departures": SourceFailed(name)} for name in ("LIVE", "OFFLINE")}
    both = FakeNetwork(**down["LIVE"], feed_names=FEEDS), FakeNetwork(**down["OFFLINE"], places=OFFLINE.places)

    with pytest.raises(SourceFailed, match=r"^OFFLINE$"):
        run(FallbackNetwork(*both).list_departures(board("T:K")))


def test_only_the_fallback_has_the_ability():
    live = FakeNetwork(name="LIVE", abilities=frozenset({Ability.PLANS}))
    both = FallbackNetwork(live, OFFLINE)
    near = run(both.list_stops_near(Coordinate(60, 25), 500))

    assert both.profile.can(Ability.PLANS, Ability.STOPS)
    assert (near.provenance.network, near.provenance.lost) == ("OFFLINE", ())


@pytest.mark.parametrize(
    "ask", [lambda both: both.list_departures(board("T:K")), lambda both: both.plan_journeys(trip(arrive_by=True))]
)
def test_a_fallback_without_the_ability_is_not_queried(ask):
    down = SourceFailed("live is down")
    live = FakeNetwork(name="LIVE", departures=down, journeys=[down])
    other = FakeNetwork(name="OFFLINE", abilities=frozenset({Ability.PLANS}))

    with pytest.raises(SourceFailed, match=r"^live is down$"):
        run(ask(FallbackNetwork(live, other)))


@pytest.mark.parametrize(("arrive_by", "asked"), [(False, "LIVE"), (True, "OFFLINE")])
def test_a_latest_arrival_is_requested_from_networks_that_support_it(arrive_by, asked):
    """A network without arrive-by would treat the latest arrival as a departure, so its fallback answers."""
    live = FakeNetwork(name="LIVE", abilities=frozenset({Ability.PLANS}))
    both = FallbackNetwork(live, OFFLINE)
    answer = run(both.plan_journeys(trip(arrive_by=arrive_by)))

    assert answer.provenance.network == asked


def test_a_fallback_without_a_trip_does_not_end_the_search():
    class Elsewhere(FakeNetwork):
        async def plan_journeys(self, query):
            return replace(await super().plan_journeys(query), is_final=True)

    network = FallbackNetwork(offline(), Elsewhere())
    assert not run(network.plan_journeys(trip())).is_final


def test_a_board_of_stops_unknown_to_the_fallback_is_not_empty():
    both = FallbackNetwork(live(departures=SourceUnreachable("LIVE is down")), offline())

    with pytest.raises(SourceUnreachable) as raised:
        run(both.list_departures(board(LIVE_STOP)))

    assert raised.value.message == "LIVE is down; its fallback OFFLINE does not recognize LIVE:1"
    assert raised.value.hint == "Try again later, or give the stop's name, which OFFLINE may recognize"


def test_stops_unknown_to_the_fallback_are_left_out():
    down = FakeNetwork(name="LIVE", feed_names=frozenset({"OFF"}), departures=SourceFailed("LIVE is down"))
    fallback = offline()
    answer = run(FallbackNetwork(down, fallback).list_departures(board("OFF:1", "OFF:2")))

    assert fallback.asked == [board("OFF:1")]
    assert answer.provenance.lost == (
        "LIVE could not be queried (LIVE is down); its fallback OFFLINE answered.",
        "OFFLINE does not recognize OFF:2, whose departures are left out.",
    )


def test_a_trip_from_a_stop_unknown_to_the_fallback_begins_at_its_position():
    fallback = offline()
    both = FallbackNetwork(live(journeys=[SourceFailed("LIVE is down")]), fallback)
    answer = run(both.plan_journeys(trip(stop_ids=(LIVE_STOP,))))

    assert fallback.journeys_asked[-1] == trip()
    assert (
        answer.provenance.lost[-1]
        == f"OFFLINE does not recognize {LIVE_STOP}; the stop's coordinates were used as the origin instead."
    )


def test_an_unknown_id_during_an_outage_is_not_called_unknown():
    class Down(FakeNetwork):
        async def find_stop(self, stop_id, **_):
            raise SourceUnreachable("LIVE is down")

    both = FallbackNetwork(Down(name="LIVE", feed_names=frozenset({"LIVE"})), offline())
    with pytest.raises(SourceUnreachable, match=r"^LIVE is down; its fallback OFFLINE does not recognize LIVE:1$"):
        run(both.find_stop(LIVE_STOP))


def test_names_from_a_fallback_are_reported():
    down = MeetingNetwork(name="LIVE", failure=SourceUnreachable("LIVE is down"))
    answers = run(query_all([FallbackNetwork(down, offline())], lambda network: network.find_places("Kamppi")))

    assert [match.place.id for match in answers.by_network[0][1]] == ["OFF:1"]
    assert [each.warning.message for each in answers.left_out] == [
        "LIVE could not be queried for names (LIVE is down); its fallback OFFLINE answered."
    ]


def test_the_deadlines_of_a_chain_nest():
    """Of 8 s, the first network gets 4, its fallback 2, and the last one the remaining 2 s."""

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

    answer = run(plan_in_turn(whole)).value
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
            await plan_in_turn(both, deadline)

    run(ask(2))
    assert len(hanging.asked) == 1
    run(ask(1))
    assert len(hanging.asked) == 2
