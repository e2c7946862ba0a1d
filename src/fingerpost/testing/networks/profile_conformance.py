"""Conformance checks for a network's profile and the provenance of its answers."""

import asyncio
from zoneinfo import ZoneInfo

from fingerpost.testing.networks.checking import TownNetwork, draw_all, draw_board, expect, expect_same, list_rides
from fingerpost.testing.networks.place_conformance import NEAR_ALPHA
from fingerpost.testing.networks.town import PLACES, ZONE, at
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import Provenance

_TOGETHER = 12


async def its_profile_describes_the_town(case: TownNetwork) -> None:
    profile, town = case.network.profile, case.town
    expect_same(profile.name, town.name, "the network's name")
    expect_same(ZoneInfo(profile.zone).key, ZONE, "the network's zone")
    expect_same(set(profile.feed_names), {town.name}, "the FEEDs of the profile")
    expect_same(set(profile.modes), {Mode.TRAM, Mode.BUS, Mode.RAIL}, "the modes of the profile")
    outside = [name for name in PLACES if not profile.bounds.covers(town.coordinate(name))]
    expect_same(outside, [], "stops outside the bounds")


async def what_it_cannot_do_is_in_no_answer(case: TownNetwork) -> None:
    if case.can(Ability.PLANS):
        answer = await case.plan("Alpha", "Gamma", "08:00")
        if not case.can(Ability.FARES):
            fares = [case.network.find_fare(itinerary) for itinerary in answer.itineraries]
            stated = [fare.amount for fare in fares if fare is not None and fare.amount is not None]
            expect_same(stated, [], "prices from a network that does not declare fares")
        if not case.can(Ability.GEOMETRY):
            lines = [case.network.find_line(ride) for ride in list_rides(answer.itineraries)]
            expect_same(
                [line for line in lines if line is not None],
                [],
                "lines of legs from a network that does not declare geometry",
            )
        if not case.can(Ability.REALTIME):
            expect(answer.provenance.realtime_updated is None, "realtime data is reported but not declared")
    if not case.can(Ability.REALTIME):
        expect(
            await case.network.find_realtime_health() is None,
            "the health of realtime data is reported but not declared",
        )


async def concurrent_queries_get_the_same_answer(case: TownNetwork) -> None:
    async def query() -> list[str]:
        if case.can(Ability.PLANS):
            return draw_all((await case.plan("Alpha", "Gamma", "08:00")).itineraries)
        return draw_board(await case.board("Alpha", "08:00", "09:00"))

    single = await query()
    concurrent = await asyncio.gather(*(query() for _ in range(_TOGETHER)))
    expect_same([answer for answer in concurrent if answer != single], [], f"answers other than {single}")


async def every_answer_states_its_provenance(case: TownNetwork) -> None:
    profile = case.network.profile
    expect(bool(profile.attribution), "the attribution is empty")
    for kind, observed in (await _list_provenance(case)).items():
        expect(bool(observed.source), f"{kind} names no source")
        wanted = (case.town.name, ZONE, at("08:00"), (), profile.is_demo)
        stated = (observed.network, observed.zone, observed.retrieved_at, observed.lost, observed.demo)
        expect_same(stated, wanted, f"the provenance of {kind}")
        expect_same({feed.name for feed in observed.feeds}, {case.town.name}, f"the feeds of {kind}")
        missing = set(profile.attribution) - set(observed.attribution)
        expect_same(missing, set(), f"attribution that is missing from {kind}")


async def answers_without_realtime_state_none(case: TownNetwork) -> None:
    for kind, observed in (await _list_provenance(case)).items():
        expect_same(
            (observed.realtime_updated, tuple(observed.realtime_problems)),
            (None, ()),
            f"the realtime data of {kind}",
        )


async def _list_provenance(case: TownNetwork) -> dict[str, Provenance]:
    provenance = {}
    if case.can(Ability.PLANS):
        provenance["a plan"] = (await case.plan("Alpha", "Gamma", "08:00")).provenance
    if case.can(Ability.BOARDS):
        provenance["a board"] = (await case.board("Alpha", "08:00", "09:00")).provenance
    if case.can(Ability.STOPS):
        provenance["a list of stops"] = (await case.network.list_stops_near(NEAR_ALPHA, 100.0)).provenance
    return provenance
