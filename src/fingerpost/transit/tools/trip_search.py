"""The searches of one trip: the question, the relaxed second one, and what the two found merged (rules B5, B6)."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from fingerpost.errors import NoItinerary, OutsideCalendar
from fingerpost.transit.model.itinerary import Fare, Itinerary, Optimize
from fingerpost.transit.model.map_layer import Basemap
from fingerpost.transit.model.place import Bounds
from fingerpost.transit.model.provenance import Provenance, merge_provenance
from fingerpost.transit.networks.asking import UNAVAILABLE, Deadline, ask_in_turn, late, warn_of_left_out
from fingerpost.transit.networks.position_names import NamedEnds, has_names_to_ask, name_ends
from fingerpost.transit.places.trip_ends import TripEnds
from fingerpost.transit.port import DrawLeg, JourneyAnswer, JourneyQuery, Network
from fingerpost.transit.rules.disruption import Choice, Merged, as_promised, is_disrupted, merge_alternatives
from fingerpost.transit.rules.times import print_instant
from fingerpost.transit.rules.trip_limits import find_out_of_service_hint, relax
from fingerpost.transit.rules.warnings import WarningCode, Warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class TripFound:
    """What was found for a trip.

    Attributes:
        ends: the ends, and the network that answered.
        query: the first question.
        merged: what to show, and what to say about the rest.
        answers: what the network answered, question by question.
        provenance: of all answers together.
    """

    ends: TripEnds
    query: JourneyQuery
    merged: Merged
    answers: tuple[JourneyAnswer, ...]
    provenance: Provenance

    @property
    def shown(self) -> list[Itinerary]:
        return [choice.itinerary for choice in self.merged.choices]

    @property
    def step_free_supported(self) -> bool:
        return self.answers[0].step_free_supported

    def price(self, choice: Choice) -> Fare | None:
        """Return what an itinerary costs, or why that is unknown; None where it only walks."""
        price = self._answer_of(choice.itinerary).price
        if price is not None:
            return price(choice.itinerary)
        return Fare(unknown=f"{self.ends.network.profile.name} states no fares") if choice.itinerary.rides else None

    def find_drawing(self, itinerary: Itinerary) -> DrawLeg | None:
        """Return what draws the legs of an itinerary, None where its source knows no lines."""
        return self._answer_of(itinerary).draw

    def draw_basemap(self, box: Bounds) -> Basemap | None:
        """Return what lies in a box, None where the network has no map of it."""
        draw = self.answers[0].draw_basemap
        return None if draw is None else draw(box)

    def _answer_of(self, itinerary: Itinerary) -> JourneyAnswer:
        return next(
            answer
            for answer in self.answers
            if any(itinerary is each for each in (*answer.itineraries, *answer.timetabled))
        )


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
    by_network = {id(each.network): each for each in ends}
    named: dict[int, NamedEnds] = {}

    async def ask(network: Network) -> JourneyAnswer:
        query = new_query(by_network[id(network)])
        try:
            if not with_names or not has_names_to_ask(network, query.origin, query.destination):
                return await network.plan_journeys(query)
            answer, named[id(network)] = await _plan_and_name(network, query)
        except OutsideCalendar as error:
            error.details.setdefault("network", network.profile.name)
            raise
        return answer

    network, answer, left_out = await ask_in_turn([each.network for each in ends], ask, deadline)
    warn_of_left_out(left_out, warnings)
    own_ends = by_network[id(network)]
    query = new_query(own_ends)
    attribution = (*own_ends.origin.attribution, *own_ends.destination.attribution)
    answer = replace(answer, provenance=_with_attribution(answer.provenance, attribution))
    names = named.get(id(network))
    if names is not None:
        # The query keeps its ends: names that come and go must not change the fingerprints of itineraries.
        own_ends = replace(own_ends, origin=names.origin, destination=names.destination)
        answer = replace(answer, provenance=_with_names(answer.provenance, names))
    return FirstAnswer(ends=own_ends, query=query, answer=settle(answer, query))


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
    first: tuple[Itinerary, ...] = (*answer.itineraries, *answer.timetabled)
    answers = [answer]
    second: tuple[Itinerary, ...] = ()
    if not first or (with_alternatives and any(map(is_disrupted, first))):
        relaxed = await _ask_relaxed(network, query, deadline, warnings, is_needed=not first)
        if relaxed is not None:
            relaxed = settle(relaxed, query)
            answers.append(relaxed)
            second = (*relaxed.itineraries, *relaxed.timetabled)
    if not first:
        if not second:
            raise await _nothing_found(network, query, deadline, answer)
        first, second = second, ()
    merged = merge_alternatives(
        first,
        second,
        limit=limit,
        optimize=query.optimize,
        arrive_by=query.arrive_by,
        wanted_arrival=query.instant if query.arrive_by else None,
    )
    if not merged.any_usable:
        warnings.add(WarningCode.NO_USABLE_ITINERARY, await _say_next_usable(network, query, merged, deadline))
    return TripFound(
        ends=asked.ends,
        query=query,
        merged=merged,
        answers=tuple(answers),
        provenance=reduce(merge_provenance, (each.provenance for each in answers)),
    )


def settle(answer: JourneyAnswer, query: JourneyQuery) -> JourneyAnswer:
    """Return an answer without what would have to begin before now, and the unusable at the timetable's times."""

    def settled(itineraries: Sequence[Itinerary]) -> tuple[Itinerary, ...]:
        shown = (as_promised(each) if each.is_unusable else each for each in itineraries)
        return tuple(each for each in shown if query.not_before is None or each.departure >= query.not_before)

    return replace(answer, itineraries=settled(answer.itineraries), timetabled=settled(answer.timetabled))


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


async def _say_next_usable(network: Network, query: JourneyQuery, merged: Merged, deadline: Deadline) -> str:
    """Return the message of ``no-usable-itinerary``, with the next departure that can be taken."""
    if query.arrive_by:
        since = query.not_before or min(each.departure for each in merged.found)
    else:
        since = max(each.departure for each in merged.found) + 1
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
        _, answer, _ = await ask_in_turn([network], lambda asked: asked.plan_journeys(later), deadline)
    except (*UNAVAILABLE, OutsideCalendar):
        return []
    return [each for each in settle(answer, later).itineraries if not each.is_unusable]


async def _ask_relaxed(
    network: Network, query: JourneyQuery, deadline: Deadline, warnings: Warnings, *, is_needed: bool
) -> JourneyAnswer | None:
    """Ask the relaxed question; where it fails, what the first one found still stands and the answer says so."""
    try:
        _, relaxed, _ = await ask_in_turn([network], lambda asked: asked.plan_journeys(relax(query)), deadline)
    except UNAVAILABLE as error:
        if is_needed:
            raise
        known = late(network.profile, None) if isinstance(error, TimeoutError) else error
        why = known.message.rstrip(".")
        warnings.add(
            WarningCode.NETWORK_LEFT_OUT,
            f"{network.profile.name} was not asked for alternatives to what is disrupted: {why}.",
        )
        return None
    return relaxed
