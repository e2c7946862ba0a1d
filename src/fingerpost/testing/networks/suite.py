"""The conformance suite: all facts that a source of public transport must satisfy.

Whoever writes a source subclasses ``ConformingSource`` once and checks every fact::

    class MySource(ConformingSource):
        name = "mine"
        gaps = {Ability.FARES: NotYetTheirs("the server knows no fares")}

        @asynccontextmanager
        async def open(self, town):
            async with serve_somehow(town.tables, town.realtime) as url:
                yield MyNetwork(url, town.name)

    @pytest.mark.parametrize("fact", FACTS, ids=str)
    def test_my_source(fact):
        check(MySource(), fact)

No test framework is needed: a fact that does not hold raises ``NetworkBroken``.
What a source does not do is declared under one of three words: ``NotYetOurs``, ``NotYetTheirs``, ``Never``.
A gap that is declared and is none raises ``NetworkBroken`` too, so that the words stay true.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from fingerpost import clock
from fingerpost.errors import ToolError
from fingerpost.testing.networks import (
    facts_of_alerts,
    facts_of_boards,
    facts_of_places,
    facts_of_plans,
    facts_of_profile,
    facts_of_provenance,
    facts_of_realtime,
    facts_of_trouble,
)
from fingerpost.testing.networks.checking import AskedNetwork, Check, NetworkBroken, NetworkFact
from fingerpost.testing.networks.facts_of_trouble import TROUBLES, TroubleFact
from fingerpost.testing.networks.source import ConformingSource, Gap
from fingerpost.testing.networks.town import NOW, new_town
from fingerpost.transit.model.profile import Ability


def _facts(needs: set[Ability], *checks: Check, live: bool = False) -> list[NetworkFact]:
    return [NetworkFact(check, frozenset(needs), live) for check in checks]


_PROFILE, _PLANS, _BOARDS = facts_of_profile, facts_of_plans, facts_of_boards
_PLACES, _SAID, _LIVE, _ALERTS = facts_of_places, facts_of_provenance, facts_of_realtime, facts_of_alerts

FACTS: tuple[NetworkFact | TroubleFact, ...] = (
    *_facts(
        set(),
        _PROFILE.it_is_called_what_its_record_says,
        _PROFILE.its_zone_is_the_towns,
        _PROFILE.its_bounds_hold_every_stop,
        _PROFILE.its_feeds_are_named,
        _PROFILE.its_modes_are_those_that_run,
        _PROFILE.its_profile_is_data,
        _PROFILE.what_it_cannot_do_is_in_no_answer,
        _PROFILE.many_may_ask_at_once,
        _SAID.every_answer_says_who_gave_it_and_when,
        _SAID.every_answer_names_its_feeds,
        _SAID.every_answer_carries_the_attribution,
        _SAID.nothing_is_lost_where_nothing_stood_in,
        _SAID.without_real_time_none_is_told,
    ),
    *_facts(
        {Ability.PLANS},
        _PROFILE.its_answers_cannot_be_changed,
        _PLANS.a_plan_departs_when_asked,
        _PLANS.a_plan_may_leave_at_the_very_second,
        _PLANS.a_plan_keeps_the_limit_of_transfers,
        _PLANS.a_plan_keeps_the_limit_of_walking,
        _PLANS.legs_join_end_to_start,
        _PLANS.rides_say_their_line_mode_and_stops,
        _PLANS.no_way_is_an_empty_answer,
        _PLANS.a_day_outside_the_calendar_is_told,
    ),
    *_facts(
        {Ability.PLANS, Ability.ARRIVE_BY}, _PLANS.a_plan_arrives_when_asked, _PLANS.a_plan_may_arrive_no_second_late
    ),
    *_facts({Ability.PLANS, Ability.STEP_FREE}, _PLANS.a_step_free_plan_takes_no_step),
    *_facts({Ability.PLANS, Ability.FARES}, _PLANS.itineraries_are_priced),
    *_facts({Ability.PLANS, Ability.GEOMETRY}, _PLANS.legs_have_lines),
    *_facts(
        {Ability.BOARDS},
        _BOARDS.a_board_lists_what_leaves,
        _BOARDS.a_window_holds_both_its_ends,
        _BOARDS.the_last_call_is_no_departure,
        _BOARDS.a_call_without_boarding_is_no_departure,
        _BOARDS.a_short_board_counts_the_rest,
        _BOARDS.an_empty_board_is_an_answer,
        _BOARDS.another_day_has_a_board_too,
        _BOARDS.rows_say_mode_destination_and_stop,
    ),
    *_facts(
        {Ability.NAMES},
        _PLACES.an_exact_name_comes_first,
        _PLACES.case_and_accents_do_not_matter,
        _PLACES.what_resembles_nothing_finds_nothing,
        _PLACES.scores_fall_from_best_to_worst,
        _PLACES.a_token_leads_back,
        _PLACES.a_stop_is_found_by_its_id,
        _PLACES.an_unknown_id_finds_nothing,
    ),
    *_facts(
        {Ability.STOPS},
        _PLACES.stops_near_a_point_come_nearest_first,
        _PLACES.a_radius_is_a_bound,
        _PLACES.a_stop_near_says_its_id_and_modes,
    ),
    *_facts(
        {Ability.REALTIME, Ability.PLANS},
        _LIVE.a_cancelled_trip_is_not_ridden,
        _LIVE.a_cancelled_trip_stays_visible,
        _LIVE.a_late_trip_is_told_with_its_delay,
        _ALERTS.an_alert_of_a_line_is_told_with_its_ride,
        _ALERTS.an_alert_that_is_over_is_not_told,
        live=True,
    ),
    *_facts(
        {Ability.REALTIME, Ability.BOARDS},
        _LIVE.a_board_tells_what_is_cancelled_and_late,
        _LIVE.a_window_goes_by_the_expected_time,
        _LIVE.a_timetable_goes_by_the_scheduled_time,
        _LIVE.a_timetable_tells_what_is_cancelled_and_late,
        _LIVE.the_age_of_real_time_travels_with_the_answer,
        _ALERTS.a_board_tells_the_alerts_of_its_stop,
        _ALERTS.a_board_tells_the_alerts_of_its_rows,
        live=True,
    ),
    *TROUBLES,
)


def check(source: ConformingSource, fact: NetworkFact | TroubleFact) -> Gap | None:
    """Check a fact; return the declared gap if it does not hold, None if it does.

    The clock stands at ``town.NOW`` meanwhile.

    Raises:
        Broken: the fact does not hold and no gap is declared, or a gap is declared and it holds.
    """
    declared = source.gaps.get(fact.name)
    with _clock_at(NOW):
        try:
            lacking = asyncio.run(_check(source, fact))
        except (NetworkBroken, ToolError, NotImplementedError, OSError) as error:
            if declared is not None:
                return declared
            raise NetworkBroken(f"{source.name}: {fact.sentence} {_told(error)}") from error
    if lacking is not None:
        return lacking
    if declared is not None:
        raise NetworkBroken(f"{source.name} declares a gap that is none ({declared}): {fact.name} holds. Take it out.")
    return None


def check_abilities(source: ConformingSource) -> None:
    """Hold a source to its words on abilities: each is either declared in its profile or explained by a gap.

    Raises:
        Broken: one is neither, or both; or a gap names neither a fact nor an ability.
    """
    with _clock_at(NOW):
        able = asyncio.run(_list_abilities(source))
    silent = [ability.value for ability in Ability if ability not in able and ability not in source.gaps]
    if silent:
        raise NetworkBroken(f"{source.name} neither declares nor explains: {', '.join(silent)}")
    closed = [ability.value for ability in Ability if ability in able and ability in source.gaps]
    if closed:
        raise NetworkBroken(f"{source.name} declares a gap that is none: {', '.join(closed)}")
    known = {fact.name for fact in FACTS} | set(Ability)
    unknown = [str(name) for name in source.gaps if name not in known]
    if unknown:
        raise NetworkBroken(f"{source.name} has gaps for what is neither a fact nor an ability: {', '.join(unknown)}")


async def _check(source: ConformingSource, fact: NetworkFact | TroubleFact) -> Gap | None:
    before = asyncio.all_tasks()
    if isinstance(fact, TroubleFact):
        await facts_of_trouble.check_trouble(source, fact)
    else:
        town = new_town(live=fact.live)
        async with source.open(town) as network:
            for ability in sorted(fact.needs - network.profile.abilities):
                # That the ability is explained is ``check_abilities``'s business.
                return source.gaps.get(ability, Gap(f"{ability.value} is not declared"))
            await fact.check(AskedNetwork(network, town))
    left = [task.get_name() for task in asyncio.all_tasks() - before if not task.done()]
    if left:
        raise NetworkBroken(f"tasks go on after the network was closed: {', '.join(left)}")
    return None


async def _list_abilities(source: ConformingSource) -> frozenset[Ability]:
    async with source.open(new_town(live=True)) as network:
        return network.profile.abilities


def _told(error: Exception) -> str:
    return f"No: {error}." if isinstance(error, NetworkBroken) else f"It ended with {type(error).__name__}: {error}."


@contextmanager
def _clock_at(instant: str) -> Iterator[None]:
    before = os.environ.get(clock.VARIABLE)
    os.environ[clock.VARIABLE] = instant
    try:
        yield
    finally:
        if before is None:
            del os.environ[clock.VARIABLE]
        else:
            os.environ[clock.VARIABLE] = before
