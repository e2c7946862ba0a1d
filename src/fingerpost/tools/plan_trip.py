"""plan_trip (contract 000): itineraries between two places, with what is disrupted and what to do instead."""

from collections.abc import Sequence

from fingerpost.contract.envelope import Family
from fingerpost.contract.published import Call, PublishedTool, Reply, Wire
from fingerpost.errors import NoItinerary
from fingerpost.store.variables import VariableStore
from fingerpost.tools.itinerary_shapes import show_itinerary
from fingerpost.tools.plan_trip_shapes import (
    PlanTripInput,
    PlanTripOutput,
    show_difference,
    show_fares,
    show_stays,
)
from fingerpost.tools.plan_trip_text import describe_plan
from fingerpost.tools.said import warn_of_rides
from fingerpost.tools.shapes import say_shown, show_location, show_meta, show_warnings
from fingerpost.tools.trip_ends import TripEndFinder, TripEnds
from fingerpost.tools.trip_geometry import GEOMETRY, draw_itineraries
from fingerpost.transit.model import Fare, Itinerary, Leg, Optimize
from fingerpost.transit.port import JourneyQuestion, Network, Networks, PricesItineraries
from fingerpost.transit.rules.accessibility import find_low_walking_warning, find_step_free_warning, low_walking_notes
from fingerpost.transit.rules.differences import find_differences
from fingerpost.transit.rules.disruption import Choice, Merged, is_disrupted, merge_alternatives, name_dropped
from fingerpost.transit.rules.freshness import answer_age_s, data_freshness, find_stale_message
from fingerpost.transit.rules.instants import print_instant, read_instant
from fingerpost.transit.rules.relaxation import find_walk_unmet, relax
from fingerpost.transit.rules.schedule_type import schedule_type_of_all
from fingerpost.transit.rules.warnings import WarningCode, Warnings

# Who waits longer than this before leaving is told so.
LONG_WAIT_S = 8 * 3600


class PlanTrip(PublishedTool):
    """Plans a trip between two places."""

    name = "plan_trip"
    title = "Plan a trip"
    description = (
        "Plan a door-to-door public transport trip, realtime-aware, with alternatives to disrupted trips. "
        "Ends are coordinates, or a label: a saved variable, a token from findAddressOrStop, or a place name. "
        "For the next departures at one stop take get_departures."
    )
    family = Family.PLAN_TRIP
    group = "core"
    input_model = PlanTripInput
    output_model = PlanTripOutput
    open_world = True
    offers = frozenset({GEOMETRY})

    def __init__(self, networks: Networks, variables: VariableStore) -> None:
        self._ends = TripEndFinder(networks, variables)

    async def handle(self, arguments: PlanTripInput, call: Call) -> Wire | Reply:
        """Resolve the ends, ask the network, ask again where it is in trouble, and choose."""
        warnings = Warnings()
        now = int(call.now.timestamp())
        # A time that cannot be read is refused before any place is looked up (ruling A6).
        read_instant(arguments.when.time, zone_name="UTC", now=now, field="when.time")
        ends = await self._ends.get_ends(
            arguments.origin,
            arguments.destination,
            user=call.user,
            language=arguments.constraints.language,
            warnings=warnings,
        )
        instant = read_instant(arguments.when.time, zone_name=ends.network.zone, now=now, field="when.time")
        if instant.note:
            warnings.add(WarningCode.TIMEZONE_ASSUMED, instant.note)
        question = _question(arguments, ends, instant.instant)
        merged = await _search(ends.network, question, arguments, warnings)
        body = _answer(arguments, call, ends, question, merged, warnings)
        if GEOMETRY not in call.wants:
            return body
        shown = [choice.itinerary for choice in merged.choices]
        return Reply(body, {GEOMETRY: draw_itineraries(ends.network, shown)})

    def describe(self, answer: PlanTripOutput) -> str:
        """Return the itineraries as lines to read."""
        return describe_plan(answer)


def _question(arguments: PlanTripInput, ends: TripEnds, instant: int) -> JourneyQuestion:
    constraints = arguments.constraints
    return JourneyQuestion(
        origin=ends.origin,
        destination=ends.destination,
        instant=instant,
        arrive_by=arguments.when.type == "arrive",
        max_walk_m=constraints.max_walking_distance,
        max_transfers=constraints.max_transfers,
        step_free=constraints.accessibility.step_free,
        optimize=Optimize(constraints.optimize),
        language=constraints.language,
        wanted=arguments.limit,
    )


async def _search(network: Network, question: JourneyQuestion, arguments: PlanTripInput, warnings: Warnings) -> Merged:
    """Ask, relax once where there is nothing or trouble (rulings B5 and B6), and merge."""
    answer = await network.plan_journeys(question)
    first: tuple[Itinerary, ...] = (*answer.itineraries, *answer.timetabled)
    second: tuple[Itinerary, ...] = ()
    in_trouble = arguments.include_disruption_alt and any(map(is_disrupted, first))
    if in_trouble or not first:
        relaxed = await network.plan_journeys(relax(question))
        second = (*relaxed.itineraries, *relaxed.timetabled)
    if not first:
        if not second:
            raise NoItinerary("No itineraries for given constraints")
        first, second = second, ()
    merged = merge_alternatives(
        first,
        second,
        limit=arguments.limit,
        optimize=question.optimize,
        arrive_by=question.arrive_by,
        with_alternatives=arguments.include_disruption_alt,
    )
    if question.step_free:
        shown = [choice.itinerary for choice in merged.choices]
        unmet = find_step_free_warning(shown, supported=answer.step_free_supported)
        if unmet:
            warnings.add(unmet.code, unmet.message)
    return merged


def _answer(
    arguments: PlanTripInput,
    call: Call,
    ends: TripEnds,
    question: JourneyQuestion,
    merged: Merged,
    warnings: Warnings,
) -> Wire:
    received = int(call.now.timestamp())
    shown = [choice.itinerary for choice in merged.choices]
    legs = [leg for itinerary in shown for leg in itinerary.legs]
    constraints = arguments.constraints
    provenance = ends.network.describe(constraints.language)
    age_s = answer_age_s(legs, provenance, received)
    notes = [""] * len(shown)
    if constraints.accessibility.low_walking_distance:
        notes = low_walking_notes(shown)
        unmet = find_low_walking_warning(shown)
        if unmet:
            warnings.add(unmet.code, unmet.message)
    zone = provenance.zone
    _warn(merged, shown, legs, question, zone, warnings)
    stale = find_stale_message(age_s, provenance.realtime_problems)
    if stale:
        warnings.add(WarningCode.REALTIME_STALE, stale)
    meta = show_meta(provenance, realtime_age_s=age_s) | {"walking": provenance.walking}
    if merged.deduplicated_from is not None:
        meta["deduplicatedFrom"] = merged.deduplicated_from
    stays = show_stays(merged.choices)
    if stays:
        meta["staySeated"] = stays
    differences = find_differences(merged)
    if differences:
        meta["differences"] = [show_difference(each) for each in differences]
    fares = show_fares(_fares(ends.network, merged.choices))
    if fares:
        meta["fares"] = fares
    return {
        "origin": show_location(ends.origin),
        "destination": show_location(ends.destination),
        "requested": {"type": arguments.when.type, "time": print_instant(question.instant, zone)},
        "constraints": constraints.to_wire(),
        "itineraries": [
            show_itinerary(choice, zone, [note] if note else [])
            for choice, note in zip(merged.choices, notes, strict=True)
        ],
        "realtimeUsed": schedule_type_of_all(shown).value,
        "dataFreshness": print_instant(data_freshness(legs, received), zone),
        **show_warnings(warnings),
        "correlationId": call.correlation_id,
        "meta": meta,
    }


def _fares(network: Network, choices: Sequence[Choice]) -> dict[str, Fare]:
    """Return what each itinerary costs, by fingerprint; those that only walk cost nothing, and have none."""
    if not isinstance(network, PricesItineraries):
        unpriced = Fare(unknown=f"{network.name} states no fares")
        return {choice.fingerprint: unpriced for choice in choices if choice.itinerary.rides}
    priced = ((choice.fingerprint, network.price(choice.itinerary)) for choice in choices)
    return {itinerary: fare for itinerary, fare in priced if fare is not None}


def _warn(
    merged: Merged,
    shown: Sequence[Itinerary],
    legs: Sequence[Leg],
    question: JourneyQuestion,
    zone: str,
    warnings: Warnings,
) -> None:
    unmet = find_walk_unmet(shown, question.max_walk_m)
    if unmet:
        warnings.add(WarningCode.PREFERENCE_UNMET, unmet)
    if merged.dropped:
        warnings.add(WarningCode.DISRUPTED_ITINERARY_REPLACED, name_dropped(merged.dropped))
    if merged.unique_found > len(shown):
        warnings.add(
            WarningCode.TRUNCATED_RESULTS, f"{merged.unique_found} itineraries were found; {say_shown(len(shown))}."
        )
    warn_of_rides(legs, warnings)
    first = min((each.departure for each in shown), default=question.instant)
    if not question.arrive_by and first - question.instant > LONG_WAIT_S:
        when = print_instant(first, zone)
        warnings.add(WarningCode.PREFERENCE_UNMET, f"Nothing leaves soon: the first trip found leaves at {when}.")
