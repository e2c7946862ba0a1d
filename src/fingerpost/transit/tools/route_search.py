"""The searches of planRoute: what leaves, or arrives, within a window, and why nothing does (rules D3, B12)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from fingerpost.errors import OutsideCalendar
from fingerpost.transit.model.itinerary import Itinerary
from fingerpost.transit.model.provenance import Provenance, merge_provenance
from fingerpost.transit.networks.asking import UNAVAILABLE, Deadline
from fingerpost.transit.places.trip_ends import TripEnds
from fingerpost.transit.port import JourneyAnswer, JourneyQuery
from fingerpost.transit.rules.ranking import OPTIMIZE, JourneyPreset, route_id
from fingerpost.transit.rules.times import AskedInstant, local_date_of, print_utc
from fingerpost.transit.rules.trip_limits import find_out_of_service_hint
from fingerpost.transit.rules.warnings import Warnings
from fingerpost.transit.tools.shapes import NoResultsReason
from fingerpost.transit.tools.trip_search import ask_first, find_usable_from

# Sources do not look for the least walk: so often they are asked again for what walks less than the best so far.
LEAST_WALK_TRIES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteQuestion:
    """What is asked: the instant, whether it is the arrival, the window (seconds), the preset, language of names.

    ``now`` is the instant of the call.
    """

    now: int
    when: AskedInstant
    arrive_by: bool
    window_s: int
    preset: JourneyPreset
    language: str

    def holds(self, itinerary: Itinerary) -> bool:
        """Whether an itinerary leaves in [t, t + w], or arrives in [t - w, t]."""
        if self.arrive_by:
            return self.when.instant - self.window_s <= itinerary.arrival <= self.when.instant
        return self.when.instant <= itinerary.departure <= self.when.instant + self.window_s

    def query(self, ends: TripEnds) -> JourneyQuery:
        return JourneyQuery(
            origin=ends.origin,
            destination=ends.destination,
            instant=self.when.instant,
            arrive_by=self.arrive_by,
            not_before=self.when.not_before,
            optimize=OPTIMIZE[self.preset],
            language=self.language,
            window_s=self.window_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutesFound:
    """What was found.

    Attributes:
        routes: what can be used and lies in the window, each once, in no order.
        cancelled, missed_changes: how many of the window are left out because a ride is cancelled, or a change missed.
        reason: why there are no routes, None where there are.
        why_empty: the same as a sentence, None where nobody knows more.
    """

    routes: Sequence[Itinerary]
    provenance: Provenance
    cancelled: int = 0
    missed_changes: int = 0
    reason: NoResultsReason | None = None
    why_empty: str | None = None


async def search_routes(ends: Sequence[TripEnds], question: RouteQuestion, warnings: Warnings) -> RoutesFound:
    """Ask the preferred network, or the next where it fails.

    Raises:
        ToolError: no network could be asked.
    """
    deadline = Deadline()
    try:
        asked = await ask_first(ends, question.query, deadline, warnings)
    except OutsideCalendar as error:
        name = error.details.get("network")
        network = next((each.network for each in ends if each.network.profile.name == name), ends[0].network)
        return RoutesFound(
            routes=(),
            provenance=network.profile.new_provenance(question.now),
            reason=NoResultsReason.NO_SERVICE,
            why_empty=f"{error.clause}.",
        )
    answers = [asked.answer]
    if question.preset is JourneyPreset.LEAST_WALK:
        answers += await _ask_for_less_walking(asked.ends, question, asked.answer, deadline)
    everything = [each for answer in answers for each in (*answer.itineraries, *answer.timetabled)]
    # Live and timetabled answers may hold the same trip; two trips of one line a minute apart are two.
    different = list({route_id(each): each for each in everything}.values())
    within = [each for each in different if question.holds(each)]
    routes = [each for each in within if not each.is_unusable]
    cancelled = sum(any(leg.cancelled for leg in each.legs) for each in within)
    found = RoutesFound(
        routes=routes,
        provenance=reduce(merge_provenance, (each.provenance for each in answers)),
        cancelled=cancelled,
        missed_changes=len(within) - len(routes) - cancelled,
    )
    if routes:
        return found
    usable = [each for each in different if not each.is_unusable]
    reason, why_empty = await _explain(asked.ends, question, asked.answer, usable, deadline)
    return replace(found, reason=reason, why_empty=why_empty)


async def _ask_for_less_walking(
    ends: TripEnds, question: RouteQuestion, answer: JourneyAnswer, deadline: Deadline
) -> list[JourneyAnswer]:
    """Ask again for what walks less than the best found, as long as there is some; a failure ends it."""
    answers: list[JourneyAnswer] = []
    for _ in range(LEAST_WALK_TRIES):
        usable = [each for each in answer.itineraries if question.holds(each) and not each.is_unusable]
        least_m = min((each.walk_m for each in usable), default=0.0)
        if least_m < 1:
            break

        def narrowed(own_ends: TripEnds, most_m: float = least_m - 1) -> JourneyQuery:
            return replace(question.query(own_ends), max_walk_m=most_m)

        try:
            answer = (await ask_first([ends], narrowed, deadline, Warnings())).answer
        except (*UNAVAILABLE, OutsideCalendar):
            break
        answers.append(answer)
    return answers


async def _explain(
    ends: TripEnds,
    question: RouteQuestion,
    answer: JourneyAnswer,
    usable: Sequence[Itinerary],
    deadline: Deadline,
) -> tuple[NoResultsReason, str | None]:
    """Return why nothing lies in the window, and what lies beyond it."""
    instant, zone = question.when.instant, answer.provenance.zone
    nearest = _find_nearest(usable, question)
    out_of_service = find_out_of_service_hint(answer.provenance.out_of_service)
    day = local_date_of(instant, zone)
    if out_of_service and (nearest is None or local_date_of(nearest.departure, zone) != day):
        return NoResultsReason.NO_SERVICE, f"{out_of_service}."
    if question.arrive_by and question.when.not_before is not None:
        query = replace(question.query(ends), window_s=None)
        later = await find_usable_from(ends.network, query, question.when.not_before, deadline)
        first = min(later, key=lambda each: each.arrival, default=None)
        if first is not None and first.arrival > instant:
            return NoResultsReason.IN_THE_PAST, f"The earliest arrival still possible is {_say(first)}."
    reason = NoResultsReason.IN_THE_PAST if question.when.is_past else NoResultsReason.NO_DEPARTURES
    if nearest is None:
        why = answer.why_nothing
        return reason, None if why is None else f"{why.rstrip('.')}."
    if question.arrive_by:
        return reason, f"The last one before the window is {_say(nearest)}."
    return reason, f"The next one after the window is {_say(nearest)}."


def _find_nearest(usable: Sequence[Itinerary], question: RouteQuestion) -> Itinerary | None:
    """Return what leaves first behind the window, or arrives last before it."""
    if question.arrive_by:
        return max(usable, key=lambda each: each.arrival, default=None)
    later = [each for each in usable if each.departure > question.when.instant]
    return min(later, key=lambda each: (each.departure, each.arrival), default=None)


def _say(itinerary: Itinerary) -> str:
    return f"{print_utc(itinerary.departure)} to {print_utc(itinerary.arrival)}"
