"""What holds of a network before it is asked anything, and of its answers as values and by their provenance."""

import asyncio
from dataclasses import FrozenInstanceError
from zoneinfo import ZoneInfo

from fingerpost.testing.networks.checking import AskedNetwork, draw_all, draw_board, expect, expect_same
from fingerpost.testing.networks.facts_of_places import NEAR_ALPHA
from fingerpost.testing.networks.town import PLACES, ZONE, at
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import Provenance

_TOGETHER = 12


async def it_is_called_what_its_record_says(asked: AskedNetwork) -> None:
    expect_same(asked.network.profile.name, asked.town.name, "the network's name")


async def its_zone_is_the_towns(asked: AskedNetwork) -> None:
    expect_same(ZoneInfo(asked.network.profile.zone).key, ZONE, "the network's zone")


async def its_bounds_hold_every_stop(asked: AskedNetwork) -> None:
    outside = [name for name in PLACES if not asked.network.profile.bounds.covers(asked.town.coordinate(name))]
    expect_same(outside, [], "stops outside the bounds")


async def its_feeds_are_named(asked: AskedNetwork) -> None:
    expect_same(set(asked.network.profile.feed_names), {asked.town.name}, "the FEEDs of the profile")


async def its_modes_are_those_that_run(asked: AskedNetwork) -> None:
    expect_same(set(asked.network.profile.modes), {Mode.TRAM, Mode.BUS, Mode.RAIL}, "the modes of the profile")


async def its_profile_is_data(asked: AskedNetwork) -> None:
    profile = asked.network.profile
    expect(profile == asked.network.profile, "the profile differs from one look to the next")
    expect(isinstance(profile.abilities, frozenset), "abilities can be changed", profile.abilities)
    expect(_is_frozen(profile, "name"), "the profile can be changed")


async def what_it_cannot_do_is_in_no_answer(asked: AskedNetwork) -> None:
    if asked.can(Ability.PLANS):
        answer = await asked.plan("Alpha", "Gamma", "08:00")
        if not asked.can(Ability.FARES):
            expect(answer.price is None, "prices are offered and not declared")
        if not asked.can(Ability.GEOMETRY):
            expect(answer.draw is None, "lines of legs are offered and not declared")
        if not asked.can(Ability.REALTIME):
            expect(answer.provenance.realtime_updated is None, "real time is told and not declared")
    if not asked.can(Ability.REALTIME):
        expect(await asked.network.find_realtime_health() is None, "the health of real time is told and not declared")


async def its_answers_cannot_be_changed(asked: AskedNetwork) -> None:
    answer = await asked.plan("Alpha", "Gamma", "08:00")
    expect(isinstance(answer.itineraries, tuple), "itineraries are no tuple", type(answer.itineraries))
    parts: list[tuple[object, str]] = [(answer, "itineraries"), (answer.provenance, "network")]
    parts += [(leg, "line") for itinerary in answer.itineraries for leg in itinerary.legs]
    changed = [type(part).__name__ for part, name in parts if not _is_frozen(part, name)]
    expect_same(changed, [], "values of an answer that can be changed")


async def many_may_ask_at_once(asked: AskedNetwork) -> None:
    async def ask() -> list[str]:
        if asked.can(Ability.PLANS):
            return draw_all((await asked.plan("Alpha", "Gamma", "08:00")).itineraries)
        return draw_board(await asked.board("Alpha", "08:00", "09:00"))

    alone = await ask()
    together = await asyncio.gather(*(ask() for _ in range(_TOGETHER)))
    expect_same([answer for answer in together if answer != alone], [], f"other answers than {alone}")


async def every_answer_says_who_gave_it_and_when(asked: AskedNetwork) -> None:
    for what, observed in (await _list_provenance(asked)).items():
        expect(bool(observed.source), f"{what} names no source")
        wanted = (asked.town.name, ZONE, at("08:00"))
        expect_same((observed.network, observed.zone, observed.retrieved_at), wanted, f"what {what} says of itself")


async def every_answer_names_its_feeds(asked: AskedNetwork) -> None:
    for what, observed in (await _list_provenance(asked)).items():
        expect_same({feed.name for feed in observed.feeds}, {asked.town.name}, f"the feeds of {what}")


async def every_answer_carries_the_attribution(asked: AskedNetwork) -> None:
    expect(bool(asked.network.profile.attribution), "nobody is attributed")
    for what, observed in (await _list_provenance(asked)).items():
        missing = set(asked.network.profile.attribution) - set(observed.attribution)
        expect_same(missing, set(), f"attribution that is missing from {what}")


async def nothing_is_lost_where_nothing_stood_in(asked: AskedNetwork) -> None:
    for what, observed in (await _list_provenance(asked)).items():
        expect_same((observed.lost, observed.demo), ((), asked.network.profile.is_demo), f"losses and label of {what}")


async def without_real_time_none_is_told(asked: AskedNetwork) -> None:
    for what, observed in (await _list_provenance(asked)).items():
        expect_same(
            (observed.realtime_updated, tuple(observed.realtime_problems)), (None, ()), f"the real time of {what}"
        )


async def _list_provenance(asked: AskedNetwork) -> dict[str, Provenance]:
    found = {}
    if asked.can(Ability.PLANS):
        found["a plan"] = (await asked.plan("Alpha", "Gamma", "08:00")).provenance
    if asked.can(Ability.BOARDS):
        found["a board"] = (await asked.board("Alpha", "08:00", "09:00")).provenance
    if asked.can(Ability.STOPS):
        found["a list of stops"] = (await asked.network.list_stops_near(NEAR_ALPHA, 100.0)).provenance
    return found


def _is_frozen(value: object, name: str) -> bool:
    try:
        setattr(value, name, getattr(value, name))
    except (FrozenInstanceError, AttributeError, TypeError):
        return True
    return False
