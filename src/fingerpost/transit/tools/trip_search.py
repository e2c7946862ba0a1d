"""The searches of one trip: the question, the relaxed second one, and what the two found merged (rules B5, B6)."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from fingerpost.errors import NoItinerary, OutsideCalendar, SourceChanged, StorageUnavailable
from fingerpost.transit.model.itinerary import Fare, Itinerary, Optimize
from fingerpost.transit.model.provenance import Provenance, merge_provenance
from fingerpost.transit.networks.asking import (
    UNAVAILABLE,
    Deadline,
    NetworkQuery,
    ask_in_turn,
    plan_journeys,
    warn_of_left_out,
)
from fingerpost.transit.networks.position_names import NamedEnds, has_names_to_ask, name_ends
from fingerpost.transit.places.trip_ends import TripEnds
from fingerpost.transit.port import JourneyAnswer, JourneyQuery, Network
from fingerpost.transit.rules.disruption import (
    Choice,
    RankedItineraries,
    as_scheduled,
    list_candidates,
    merge_alternatives,
)
from fingerpost.transit.rules.times import print_instant
from fingerpost.transit.rules.trip_limits import find_out_of_service_hint, relax
from fingerpost.transit.rules.warnings import WarningCode, Warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class TripFound:
    """What was found for a trip.

    Attributes:
        ends: the ends, and the network that answered.
        query: the first query.
        ranked: what to show, and what to report of the rest.
        first_answer: what the network answered to the first query.
        provenance: of all answers together.
    """

    ends: TripEnds
    query: JourneyQuery
    ranked: RankedItineraries
    first_answer: JourneyAnswer
    provenance: Provenance

    @property
    def shown(self) -> list[Itinerary]:
        return [choice.itinerary for choice in self.ranked.choices]

    def price(self, choice: Choice) -> Fare | None:
        """Return what an itinerary costs, or why that is unknown; None where it only walks."""
        if choice.answer.price is not None:
            return choice.answer.price(choice.itinerary)
        return Fare(unknown=f"{self.ends.network.profile.name} states no fares") if choice.itinerary.rides else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstAnswer:
    """What the network that answered found for the question itself, and the ends as it resolved them."""

    ends: TripEnds
    query: JourneyQuery
    answer: JourneyAnswer


async def ask_first(
    ends: Sequence[TripEnds],
    new_query: Callable[[TripEnds], JourneyQuery],
    deadline: Deadline,
    warnings: Warnings,
    *,
    with_names: bool = False,
) -> FirstAnswer:
    """Ask the preferred network, or the next where it fails; what would have to begin before now is left out.

    Where ``with_names``, its server is asked meanwhile what is at ends that are bare positions.

    Raises:
        ToolError: no network could be asked.
        OutsideCalendar: the timetable does not cover the day; ``details["network"]`` says whose.
    """
    queries = [(own.network, _new_search(new_query(own), with_names=with_names)) for own in ends]
    outcome = await ask_in_turn(queries, deadline)
    warn_of_left_out(outcome.left_out, warnings)
    answer, names = outcome.value
    own_ends = next(own for own in ends if own.network is outcome.network)
    query = new_query(own_ends)
    attribution = (*own_ends.origin.attribution, *own_ends.destination.attribution)
    answer = replace(answer, provenance=_with_attribution(answer.provenance, attribution))
    if names is not None:
        # The query keeps its ends: names that come and go must not change the fingerprints of itineraries.
        own_ends = replace(own_ends, origin=names.origin, destination=names.destination)
        answer = replace(answer, provenance=_with_names(answer.provenance, names))
    return FirstAnswer(ends=own_ends, query=query, answer=drop_departed(answer, query))


def _new_search(query: JourneyQuery, *, with_names: bool) -> NetworkQuery[tuple[JourneyAnswer, NamedEnds | None]]:
    async def search(network: Network) -> tuple[JourneyAnswer, NamedEnds | None]:
        try:
            if with_names and has_names_to_ask(network, query.origin, query.destination):
                return await _plan_and_name(network, query)
            return await network.plan_journeys(query), None
        except OutsideCalendar as error:
            error.details.setdefault("network", network.profile.name)
            raise

    return search


async def _plan_and_name(network: Network, query: JourneyQuery) -> tuple[JourneyAnswer, NamedEnds]:
    """Plan, and meanwhile name the ends; where planning fails, the names are no longer waited for."""
    naming = asyncio.ensure_future(name_ends(network, query.origin, query.destination, query.language))
    try:
        return await network.plan_journeys(query), await naming
    finally:
        naming.cancel()
        await asyncio.gather(naming, return_exceptions=True)


def _with_names(provenance: Provenance, named: NamedEnds) -> Provenance:
    noted = replace(provenance, notes=(*provenance.notes, *named.notes))
    return _with_attribution(noted, named.attribution)


def _with_attribution(provenance: Provenance, attribution: tuple[str, ...]) -> Provenance:
    """Return the provenance of an answer with whom its ends ask to be named, once each."""
    return replace(provenance, attribution=tuple(dict.fromkeys((*provenance.attribution, *attribution))))


async def search_trip(
    ends: Sequence[TripEnds],
    new_query: Callable[[TripEnds], JourneyQuery],
    *,
    limit: int,
    with_alternatives: bool,
    warnings: Warnings,
) -> TripFound:
    """Ask the preferred network, or the next where it fails; relax once where there is nothing or trouble; merge.

    Raises:
        NoItinerary: nothing was found, relaxed or not.
        ToolError: no network could be asked.
    """
    deadline = Deadline()
    asked = await ask_first(ends, new_query, deadline, warnings, with_names=True)
    network, query, answer = asked.ends.network, asked.query, asked.answer
    wanted_arrival = query.instant if query.arrive_by else None
    candidates = list_candidates(answer, wanted_arrival=wanted_arrival)
    answers = [answer]
    is_empty = not candidates
    if is_empty or (with_alternatives and any(candidate.is_disrupted for candidate in candidates)):
        relaxed = await _ask_relaxed(network, query, deadline, warnings, is_needed=is_empty)
        if relaxed is not None:
            answers.append(drop_departed(relaxed, query))
            candidates += list_candidates(answers[-1], is_known=is_empty, wanted_arrival=wanted_arrival)
    if not candidates:
        raise await _nothing_found(network, query, deadline, answer)
    ranked = merge_alternatives(
        candidates, limit=limit, optimize=query.optimize, arrive_by=query.arrive_by, wanted_arrival=wanted_arrival
    )
    if not ranked.any_usable:
        warnings.add(WarningCode.NO_USABLE_ITINERARY, await _say_next_usable(network, query, ranked, deadline))
    return TripFound(
        ends=asked.ends,
        query=query,
        ranked=ranked,
        first_answer=answer,
        provenance=reduce(merge_provenance, (each.provenance for each in answers)),
    )


def drop_departed(answer: JourneyAnswer, query: JourneyQuery) -> JourneyAnswer:
    """Return an answer without itineraries that depart before now; unusable ones have the timetable's times."""

    def list_remaining(itineraries: Sequence[Itinerary]) -> tuple[Itinerary, ...]:
        shown = (as_scheduled(each) if each.is_unusable else each for each in itineraries)
        return tuple(each for each in shown if query.not_before is None or each.departure >= query.not_before)

    return replace(answer, itineraries=list_remaining(answer.itineraries), timetabled=list_remaining(answer.timetabled))


async def _nothing_found(
    network: Network, query: JourneyQuery, deadline: Deadline, answer: JourneyAnswer
) -> NoItinerary:
    """Return the error of a trip that nobody can make.

    Its hint names the earliest arrival possible where a wanted one is not, feeds without service on the day, or what
    the source says of why it found nothing: to walk further helps with none of these.
    """
    message = "No itineraries for given constraints"
    out_of_service = find_out_of_service_hint(answer.provenance.out_of_service)
    nothing = NoItinerary(message, hint=out_of_service or answer.why_nothing)
    if not query.arrive_by or query.not_before is None:
        return nothing
    found = await find_usable_from(network, query, query.not_before, deadline)
    if not found:
        return nothing
    first = min(found, key=lambda each: each.arrival)
    zone = network.profile.zone
    hint = f"The earliest arrival still possible is {print_instant(first.arrival, zone)}"
    return NoItinerary(message, hint=f"{hint}, leaving at {print_instant(first.departure, zone)}")


async def _say_next_usable(network: Network, query: JourneyQuery, ranked: RankedItineraries, deadline: Deadline) -> str:
    """Return the message of ``no-usable-itinerary``, with the next departure that can be taken."""
    if query.arrive_by:
        since = query.not_before or min(each.departure for each in ranked.found)
    else:
        since = max(each.departure for each in ranked.found) + 1
    found = await find_usable_from(network, query, since, deadline)
    told = "Nothing that was found can be used."
    if not found:
        return f"{told} No later trip was found."
    first = min(found, key=lambda each: (each.departure, each.arrival))
    zone = network.profile.zone
    times = f"{print_instant(first.departure, zone)} and arrives at {print_instant(first.arrival, zone)}"
    return f"{told} The next trip that can leaves at {times}."


async def find_usable_from(network: Network, query: JourneyQuery, since: int, deadline: Deadline) -> list[Itinerary]:
    """Return what can be used and leaves at an instant or later; nothing where the source cannot say."""
    later = replace(query, instant=since, arrive_by=False, not_before=since, optimize=Optimize.SHORTEST_TIME)
    try:
        answer = await plan_journeys(network, later, deadline)
    except (*UNAVAILABLE, OutsideCalendar):
        return []
    return [each for each in drop_departed(answer, later).itineraries if not each.is_unusable]


async def _ask_relaxed(
    network: Network, query: JourneyQuery, deadline: Deadline, warnings: Warnings, *, is_needed: bool
) -> JourneyAnswer | None:
    """Ask the relaxed question; where it fails, what the first one found still stands and the answer says so."""
    try:
        return await plan_journeys(network, relax(query), deadline)
    except (StorageUnavailable, SourceChanged) as error:
        if is_needed:
            raise
        left_out = f"{network.profile.name} was not asked for alternatives to what is disrupted: {error.clause}."
        warnings.add(WarningCode.NETWORK_LEFT_OUT, left_out)
        return None
