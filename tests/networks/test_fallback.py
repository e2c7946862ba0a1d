"""A network's fallback answers for it, and reports what is missing (rule A13)."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from fingerpost.errors import NoItinerary, SourceChanged, SourceFailed
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.fallback import FallbackNetwork
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from tests.contracts.conftest import stop_place
from tests.fakes import FakeNetwork
from tests.networks.limits import Limits, MeetingNetwork

FEEDS = frozenset({"T"})
BASIC = frozenset(Ability) - {Ability.REALTIME, Ability.FARES}
OFFLINE = FakeNetwork(name="OFFLINE", abilities=BASIC, places={"Kamppi": [stop_place("T:K", "Kamppi")]})


def test_the_first_network_answers_while_it_can():
    fallback = FakeNetwork(name="OFFLINE")
    answer = asyncio.run(FallbackNetwork(FakeNetwork(name="LIVE"), fallback).list_departures(_board()))

    assert (answer.provenance.network, answer.provenance.lost, fallback.asked) == ("LIVE", (), [])


@pytest.mark.parametrize("error", [SourceFailed, SourceChanged])
def test_a_failing_network_is_replaced(error):
    live = FakeNetwork(name="LIVE", feed_names=FEEDS, departures=error("The source answered 503"))
    answer = asyncio.run(FallbackNetwork(live, OFFLINE).list_departures(_board()))

    assert answer.provenance.network == "LIVE"
    assert answer.provenance.lost == (
        "LIVE could not be queried (The source answered 503); its fallback OFFLINE answered, without fares, real time.",
    )


def test_a_fallback_in_this_process_has_no_deadline():
    """It waits for nobody, so giving it up would gain nothing."""
    profile = replace(OFFLINE.profile, answer_deadline_s=None, names_deadline_s=None)
    both = FallbackNetwork(FakeNetwork(name="LIVE"), SimpleNamespace(profile=profile)).profile

    assert (both.answer_deadline_s, both.names_deadline_s) == (None, None)


def test_a_slow_network_is_replaced_after_half_the_time(monkeypatch):
    limits = Limits(monkeypatch)
    slow = MeetingNetwork(name="LIVE", places=OFFLINE.places, limits=limits)
    found = asyncio.run(FallbackNetwork(slow, OFFLINE).find_places("Kamppi"))

    assert ([match.place.id for match in found], limits.seconds) == (["T:K"], [1.5])


def test_an_empty_result_is_an_answer():
    live = FakeNetwork(name="LIVE", journeys=[NoItinerary("none")])

    with pytest.raises(NoItinerary):
        asyncio.run(FallbackNetwork(live, OFFLINE).plan_journeys(_trip(arrive_by=False)))


def test_if_both_fail_the_fallbacks_error_is_raised():
    down = {name: {"name": name, "departures": SourceFailed(name)} for name in ("LIVE", "OFFLINE")}
    both = FakeNetwork(**down["LIVE"], feed_names=FEEDS), FakeNetwork(**down["OFFLINE"], places=OFFLINE.places)

    with pytest.raises(SourceFailed, match=r"^OFFLINE$"):
        asyncio.run(FallbackNetwork(*both).list_departures(_board()))


def test_only_the_fallback_has_the_ability():
    live = FakeNetwork(name="LIVE", abilities=frozenset({Ability.PLANS}))
    both = FallbackNetwork(live, OFFLINE)
    near = asyncio.run(both.list_stops_near(Coordinate(60, 25), 500))

    assert both.profile.can(Ability.PLANS, Ability.STOPS)
    assert (near.provenance.network, near.provenance.lost) == ("OFFLINE", ())


@pytest.mark.parametrize(
    "ask", [lambda both: both.list_departures(_board()), lambda both: both.plan_journeys(_trip(arrive_by=True))]
)
def test_a_fallback_that_cannot_either(ask):
    down = SourceFailed("live is down")
    live = FakeNetwork(name="LIVE", departures=down, journeys=[down])
    other = FakeNetwork(name="OFFLINE", abilities=frozenset({Ability.PLANS}))

    with pytest.raises(SourceFailed, match=r"^live is down$"):
        asyncio.run(ask(FallbackNetwork(live, other)))


@pytest.mark.parametrize(("arrive_by", "asked"), [(False, "LIVE"), (True, "OFFLINE")])
def test_a_latest_arrival_is_requested_from_networks_that_support_it(arrive_by, asked):
    """A first network without arrive-by would take the latest arrival for a departure; its fallback is asked."""
    live = FakeNetwork(name="LIVE", abilities=frozenset({Ability.PLANS}))
    both = FallbackNetwork(live, OFFLINE)
    answer = asyncio.run(both.plan_journeys(_trip(arrive_by=arrive_by)))

    assert answer.provenance.network == asked


def _trip(*, arrive_by):
    origin, destination = (
        Location(coordinate=Coordinate(lat, 25), source=LocationSource.INPUT) for lat in (60.0, 60.1)
    )
    return JourneyQuery(origin=origin, destination=destination, instant=0, arrive_by=arrive_by)


def _board():
    return DepartureQuery(stop_ids=("T:K",), instant=0, window_s=60, wanted=1)
