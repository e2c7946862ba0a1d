"""Facts of the conformance suite on a network's profile and on the provenance of its answers."""

import asyncio
from zoneinfo import ZoneInfo

from fingerpost.testing.networks.checking import NetworkUnderTest, draw_all, draw_board, expect, expect_same, list_rides
from fingerpost.testing.networks.facts_of_places import NEAR_ALPHA
from fingerpost.testing.networks.town import PLACES, ZONE, at
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import Provenance

_TOGETHER = 12


async def its_profile_describes_the_town(tested: NetworkUnderTest) -> None:
    profile, town = tested.network.profile, tested.town
    expect_same(profile.name, town.name, "the network's name")
    expect_same(ZoneInfo(profile.zone).key, ZONE, "the network's zone")
    expect_same(set(profile.feed_names), {town.name}, "the FEEDs of the profile")
    expect_same(set(profile.modes), {Mode.TRAM, Mode.BUS, Mode.RAIL}, "the modes of the profile")
    outside = [name for name in PLACES if not profile.bounds.covers(town.coordinate(name))]
    expect_same(outside, [], "stops outside the bounds")


async def what_it_cannot_do_is_in_no_answer(tested: NetworkUnderTest) -> None:
    if tested.can(Ability.PLANS):
        answer = await tested.plan("Alpha", "Gamma", "08:00")
        if not tested.can(Ability.FARES):
            fares = [tested.network.find_fare(itinerary) for itinerary in answer.itineraries]
            stated = [fare.amount for fare in fares if fare is not None and fare.amount is not None]
            expect_same(stated, [], "prices that are not declared")
        if not tested.can(Ability.GEOMETRY):
            lines = [tested.network.find_line(ride) for ride in list_rides(answer.itineraries)]
            expect_same([line for line in lines if line is not None], [], "lines of legs that are not declared")
        if not tested.can(Ability.REALTIME):
            expect(answer.provenance.realtime_updated is None, "real time is stated and not declared")
    if not tested.can(Ability.REALTIME):
        expect(await tested.network.find_realtime_health() is None, "health of real time is stated and not declared")


async def concurrent_queries_get_the_same_answer(tested: NetworkUnderTest) -> None:
    async def ask() -> list[str]:
        if tested.can(Ability.PLANS):
            return draw_all((await tested.plan("Alpha", "Gamma", "08:00")).itineraries)
        return draw_board(await tested.board("Alpha", "08:00", "09:00"))

    alone = await ask()
    together = await asyncio.gather(*(ask() for _ in range(_TOGETHER)))
    expect_same([answer for answer in together if answer != alone], [], f"other answers than {alone}")


async def every_answer_states_its_provenance(tested: NetworkUnderTest) -> None:
    profile = tested.network.profile
    expect(bool(profile.attribution), "nobody is attributed")
    for what, observed in (await _list_provenance(tested)).items():
        expect(bool(observed.source), f"{what} names no source")
        wanted = (tested.town.name, ZONE, at("08:00"), (), profile.is_demo)
        stated = (observed.network, observed.zone, observed.retrieved_at, observed.lost, observed.demo)
        expect_same(stated, wanted, f"the provenance of {what}")
        expect_same({feed.name for feed in observed.feeds}, {tested.town.name}, f"the feeds of {what}")
        missing = set(profile.attribution) - set(observed.attribution)
        expect_same(missing, set(), f"attribution that is missing from {what}")


async def answers_without_realtime_state_none(tested: NetworkUnderTest) -> None:
    for what, observed in (await _list_provenance(tested)).items():
        expect_same(
            (observed.realtime_updated, tuple(observed.realtime_problems)), (None, ()), f"the real time of {what}"
        )


async def _list_provenance(tested: NetworkUnderTest) -> dict[str, Provenance]:
    found = {}
    if tested.can(Ability.PLANS):
        found["a plan"] = (await tested.plan("Alpha", "Gamma", "08:00")).provenance
    if tested.can(Ability.BOARDS):
        found["a board"] = (await tested.board("Alpha", "08:00", "09:00")).provenance
    if tested.can(Ability.STOPS):
        found["a list of stops"] = (await tested.network.list_stops_near(NEAR_ALPHA, 100.0)).provenance
    return found
