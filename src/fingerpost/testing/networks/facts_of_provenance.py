"""What holds of what answers say about where they come from."""

from collections.abc import Awaitable, Callable

from fingerpost.testing.networks.checking import AskedNetwork, expect, expect_same
from fingerpost.testing.networks.facts_of_places import NEAR_ALPHA
from fingerpost.testing.networks.town import ZONE, at
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import Provenance


async def every_answer_says_who_gave_it_and_when(asked: AskedNetwork) -> None:
    """Does every answer name its network, its source, its zone, and the instant when it was made?"""
    for what, observed in (await _list_provenance(asked)).items():
        expect(bool(observed.source), f"{what} names no source")
        wanted = (asked.town.name, ZONE, at("08:00"))
        expect_same((observed.network, observed.zone, observed.retrieved_at), wanted, f"what {what} says of itself")


async def every_answer_names_its_feeds(asked: AskedNetwork) -> None:
    """Does every answer name the feeds that its ids begin with?"""
    for what, observed in (await _list_provenance(asked)).items():
        expect_same({feed.name for feed in observed.feeds}, {asked.town.name}, f"the feeds of {what}")


async def every_answer_carries_the_attribution(asked: AskedNetwork) -> None:
    """Does every answer carry the sentences that the profile says must be shown, and is there one?"""
    expect(bool(asked.network.profile.attribution), "nobody is attributed")
    for what, observed in (await _list_provenance(asked)).items():
        missing = set(asked.network.profile.attribution) - set(observed.attribution)
        expect_same(missing, set(), f"attribution that is missing from {what}")


async def nothing_is_lost_where_nothing_stood_in(asked: AskedNetwork) -> None:
    """Does a network that answers for itself say that nothing was lost, and that it is no demonstration?"""
    for what, observed in (await _list_provenance(asked)).items():
        expect_same((observed.lost, observed.demo), ((), asked.network.profile.is_demo), f"losses and label of {what}")


async def without_real_time_none_is_told(asked: AskedNetwork) -> None:
    """Where no real time is followed, is it absent from every answer?"""
    for what, observed in (await _list_provenance(asked)).items():
        expect_same(
            (observed.realtime_updated, tuple(observed.realtime_problems)), (None, ()), f"the real time of {what}"
        )


async def _list_provenance(asked: AskedNetwork) -> dict[str, Provenance]:
    """Return the provenance of every kind of answer that the network gives, by the name of the kind."""

    async def plan() -> Provenance:
        return (await asked.plan("Alpha", "Gamma", "08:00")).provenance

    async def board() -> Provenance:
        return (await asked.board("Alpha", "08:00", "09:00")).provenance

    async def near() -> Provenance:
        return (await asked.network.list_stops_near(NEAR_ALPHA, 100.0)).provenance

    kinds: dict[Ability, tuple[str, Callable[[], Awaitable[Provenance]]]] = {
        Ability.PLANS: ("a plan", plan),
        Ability.BOARDS: ("a board", board),
        Ability.STOPS: ("a list of stops", near),
    }
    return {what: await ask() for ability, (what, ask) in kinds.items() if asked.can(ability)}
