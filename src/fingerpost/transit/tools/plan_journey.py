"""The planJourney tool: summaries of the fastest journeys in London (rules E1 to E3)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, NotRequired

from pydantic import Field

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, PublishedTool, ToolDefinition, ToolReply
from fingerpost.contract.wire import Flag, Identifier, WholeNumber, WireDict, WireModel, omit_none
from fingerpost.errors import (
    DataNotFound,
    NoItinerary,
    PlaceAmbiguous,
    Remedy,
    RemedyKind,
    SourceKeyRefused,
    TextUnknown,
    as_sentence,
)
from fingerpost.store.limits import DEFAULT_CALLS_PER_SECOND, CallLimit, Limits
from fingerpost.store.variables import VariableStore
from fingerpost.transit.model.itinerary import Itinerary, Optimize
from fingerpost.transit.model.place import LocationSource
from fingerpost.transit.model.ride_ref import list_refs
from fingerpost.transit.networks.order import LondonNetworks
from fingerpost.transit.networks.querying import UNAVAILABLE, Deadline, list_problems, try_in_order
from fingerpost.transit.places.candidates import new_ambiguous
from fingerpost.transit.places.resolver import PlaceResolver, StopLabel, TextQuery, read_label
from fingerpost.transit.places.trip_ends import resolve_journey
from fingerpost.transit.port import JourneyAnswer, JourneyParameters, Networks, OpenNetworks, TextJourneyQuery
from fingerpost.transit.rules.alerts import AffectedPart
from fingerpost.transit.rules.disruption import name_disrupted
from fingerpost.transit.rules.modes import TripMode, format_ride, to_trip_mode
from fingerpost.transit.rules.name_matching import find_certain
from fingerpost.transit.rules.preferences import find_long_offset, find_long_wait_message, find_step_free_warning
from fingerpost.transit.rules.times import format_instant
from fingerpost.transit.rules.warnings import Warning, WarningCode, add_reasons  # noqa: A004
from fingerpost.transit.tools.no_trip import build_no_itinerary, find_offset_message, format_next_usable
from fingerpost.transit.tools.report import list_leg_paths, report_rides
from fingerpost.transit.tools.trip_search import FollowUp, choose_trip_follow_up, search_trips
from fingerpost.transit.tools.wording import count_minutes, format_clock, format_count, list_ref_lines

KEY_VARIABLE = "TFL_API_KEY"
SIDES = ("from", "to")
# TfL does not limit walking, so the embedded engine is given a generous limit.
MAX_WALK_M = 2000.0
MAX_JOURNEYS = 5
MAX_SUGGESTIONS = 5
_LANGUAGE = "en"

Code = Literal[
    "OK",
    "VALIDATION_ERROR",
    "DISAMBIGUATION_REQUIRED",
    "RATE_LIMIT_EXCEEDED",
    "UPSTREAM_TIMEOUT",
    "UPSTREAM_ERROR",
    "INTERNAL_ERROR",
]
_End = Annotated[Identifier, Field(max_length=200)]


class JourneyPlanRequest(WireModel):
    from_: Annotated[_End, Field(alias="from", description="place name, stop code, or parameterValue; same for to")]
    to: _End
    need_accessible_route: Annotated[Flag, Field(description="request step-free routes")] = False


class JourneyLine(WireDict):
    mode: TripMode
    line: NotRequired[str]


class JourneyOptionSummary(WireDict):
    durationMinutes: Annotated[WholeNumber, Field(ge=1)]
    startDateTime: str
    arrivalDateTime: str
    legCount: Annotated[WholeNumber, Field(ge=1)]
    lines: list[JourneyLine]
    refs: list[str]


class JourneyDisambiguationSuggestion(WireDict):
    """A candidate: the value to send instead of the text, and the quality of the match (0 to 1000)."""

    parameterValue: str
    matchQuality: NotRequired[int]


_Suggestions = Annotated[list[JourneyDisambiguationSuggestion], Field(max_length=MAX_SUGGESTIONS)]


class JourneyPlanToolResponse(WireDict):
    """The response to successful and failed calls; it always has all six fields."""

    success: bool
    code: Code
    message: Annotated[str, Field(min_length=1)]
    topJourneys: Annotated[list[JourneyOptionSummary], Field(max_length=MAX_JOURNEYS)] | None
    fromLocationDisambiguation: _Suggestions | None
    toLocationDisambiguation: _Suggestions | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyOptions:
    per_second: int = DEFAULT_CALLS_PER_SECOND
    limits: Limits | None = None
    are_demos_enabled: Callable[[], bool] = lambda: True


@dataclass(frozen=True, slots=True, kw_only=True)
class _JourneysResult:
    answer: JourneyAnswer
    warnings: Sequence[Warning]
    offset: str | None = None
    is_embedded: bool = False


class PlanJourney(PublishedTool):
    definition = ToolDefinition(
        name="planJourney",
        title="Plan a London journey",
        description=(
            "Summaries of the 5 fastest journeys in London, leaving now. "
            "For legs, other times or other cities, use plan_trip."
        ),
        contract=Contract.LONDON,
        groups=("london",),
        input_model=JourneyPlanRequest,
        outputs=(Output(JourneyPlanToolResponse, (("topJourneys",), ("message",))),),
        open_world=True,
    )

    def __init__(self, networks: Networks, variables: VariableStore, options: JourneyOptions | None = None) -> None:
        self._options = options = options or JourneyOptions()
        self._variables = variables
        self._london = LondonNetworks(networks)
        self._places = PlaceResolver(self._london, variables)
        self._limit = CallLimit(self.name, options.per_second, options.limits)

    async def is_available(self) -> bool:
        """Whether a network for London, such as the demo, is available (rule E3); this does not open the demo."""
        return self._options.are_demos_enabled() or bool((await self._london.open()).answering)

    async def handle(self, arguments: JourneyPlanRequest, call: Call) -> ToolReply:
        await self._limit.enter()
        opened = await self._london.open()
        if not opened.answering:
            raise SourceKeyRefused(
                add_reasons(
                    f"There is no network for London, and {KEY_VARIABLE} is not in use", opened.problems.values()
                ),
                {"setting": KEY_VARIABLE, "missing": True},
                hint=f"Set {KEY_VARIABLE} and run `fingerpost network add LONDON --tfl`, or add a feed for London",
            )
        try:
            if opened.answering[0].profile.reads_texts:
                found = await self._plan_from_texts(opened, arguments, call)
            else:
                found = await self._search(arguments, call)
            body = _build_response(found, arguments, int(call.now.timestamp()))
        except DataNotFound as error:
            body = _serialize([f"No journey was found: {_format_no_trip(error)}"], [])
        return ToolReply(body, describe_journeys(body))

    async def _plan_from_texts(
        self, opened: OpenNetworks, arguments: JourneyPlanRequest, call: Call
    ) -> _JourneysResult:
        """Query the sources that resolve place names themselves."""
        origin, destination = [await self._format_end(text, call.user) for text in (arguments.from_, arguments.to)]
        query = TextJourneyQuery(
            origin=origin,
            destination=destination,
            now=int(call.now.timestamp()),
            step_free=arguments.need_accessible_route,
            sides=SIDES,
        )
        try:
            outcome = await try_in_order(opened.answering, lambda planner: planner.plan_texts(query), Deadline())
        except UNAVAILABLE:
            if all(planner.profile.fallback is None for planner in opened.answering):
                raise
            # The fallback does not resolve place names, so the origin and destination are resolved here.
            return await self._search(arguments, call)
        return _JourneysResult(answer=outcome.value, warnings=[*list_problems(opened), *outcome.warnings])

    async def _format_end(self, text: str, user: str | None) -> str:
        label = await read_label(text, self._variables, user)
        if isinstance(label, StopLabel):
            return label.stop_id.strip()
        if label.source is LocationSource.USER_VARIABLE:
            return f"{label.coordinate.lat:.6f},{label.coordinate.lon:.6f}"
        return text.strip()

    async def _search(self, arguments: JourneyPlanRequest, call: Call) -> _JourneysResult:
        now = int(call.now.timestamp())
        parameters = JourneyParameters(
            instant=now,
            not_before=now,
            max_walk_m=MAX_WALK_M,
            step_free=arguments.need_accessible_route,
            optimize=Optimize.SHORTEST_TIME,
            language=_LANGUAGE,
            wanted=MAX_JOURNEYS,
        )
        origin, destination = TextQuery(text=arguments.from_), TextQuery(text=arguments.to)
        try:
            journeys, warnings = await resolve_journey(
                self._places, origin, destination, parameters, user=call.user, sides=SIDES
            )
        except TextUnknown as error:
            hint = "Only places in London are known here; elsewhere, use plan_trip"
            raise error.with_message(error.message, hint=hint) from error
        except PlaceAmbiguous as error:
            raise await self._suggest(error, arguments, now) from error
        found = await search_trips(journeys, partial(choose_trip_follow_up, look_further=False))
        if not found.known:
            raise await build_no_itinerary(found)
        ranked = found.rank(MAX_JOURNEYS)
        provenance = found.merge_provenance(FollowUp.RELAXED_LIMITS)
        unmet = [] if ranked.any_usable else [Warning(WarningCode.NO_USABLE_ITINERARY, format_next_usable(found))]
        return _JourneysResult(
            answer=JourneyAnswer(
                itineraries=ranked.found, provenance=provenance, step_free_supported=found.first.step_free_supported
            ),
            warnings=[*warnings, *found.warnings, *unmet],
            offset=await find_offset_message(found, ranked.found),
            # If TfL's fallback answered, ``lost`` lists the data that it lacks.
            is_embedded=not found.network.profile.reads_texts or bool(provenance.lost),
        )

    async def _suggest(self, error: PlaceAmbiguous, arguments: JourneyPlanRequest, now: int) -> PlaceAmbiguous:
        details = dict(error.details)
        if details.get("side") == SIDES[0]:
            found = await self._places.find_places(arguments.to, language=_LANGUAGE, focus=None, instant=now)
            if found.matches and find_certain(found.matches) is None:
                other = await new_ambiguous(arguments.to, found.matches, side=SIDES[1])
                details["other"] = other.details
        return PlaceAmbiguous(error.message, details, hint=Remedy(RemedyKind.SEND_PARAMETER_VALUE))


def _build_response(found: _JourneysResult, arguments: JourneyPlanRequest, now: int) -> JourneyPlanToolResponse:
    itineraries, provenance = found.answer.itineraries, found.answer.provenance
    usable = [itinerary for itinerary in itineraries if not itinerary.is_unusable]
    unusable = [itinerary for itinerary in itineraries if itinerary.is_unusable]
    shown = sorted(usable, key=lambda trip: (count_minutes(trip), trip.arrival, trip.departure))[:MAX_JOURNEYS]
    sentences = [_format_found(shown, len(usable), found.answer.no_result_reason)]
    disrupted = name_disrupted(unusable, lambda instant: format_clock(instant, now, provenance.zone))
    if disrupted:
        sentences.append(f"Left out because it is disrupted: {disrupted}")
    offset = found.offset or find_long_offset(usable, now, provenance.zone)
    sentences += filter(None, [offset, find_long_wait_message(shown)])
    if found.is_embedded:
        sentences.append(f"Planned from the timetable of network {provenance.network}, not by TfL")
    if arguments.need_accessible_route:
        sentences += _list_accessibility_remarks(found, shown)
    left_out = [AffectedPart(path, leg.alerts) for path, leg in list_leg_paths(unusable)]
    report = report_rides(list_leg_paths(shown), provenance, now, found.warnings, left_out)
    sentences += [warning.message for warning in report.warnings]
    sentences += [f"Alert: {notice.alert.header}" for notice in report.alerts.notices]
    if report.alerts.more:
        sentences.append(f"And {format_count(report.alerts.more, 'more alert')}")
    sentences += provenance.notes
    if provenance.attribution:
        sentences.append(f"Data: {'; '.join(provenance.attribution)}")
    return _serialize(sentences, [_serialize_summary(trip, provenance.zone) for trip in shown])


def _list_accessibility_remarks(found: _JourneysResult, shown: Sequence[Itinerary]) -> Iterator[str]:
    is_supported = found.answer.step_free_supported
    if is_supported:
        scope = "step-free all the way" if found.is_embedded else "step-free to the platform (StepFreeToPlatform)"
        yield f"Requested: {scope}"
    unmet = find_step_free_warning(shown, supported=is_supported)
    if unmet and (found.is_embedded or not is_supported):
        yield unmet.message


def _serialize(sentences: Iterable[str], journeys: list[JourneyOptionSummary]) -> JourneyPlanToolResponse:
    return {
        "success": True,
        "code": "OK",
        "message": " ".join(map(as_sentence, dict.fromkeys(sentences))),
        "topJourneys": journeys,
        "fromLocationDisambiguation": None,
        "toLocationDisambiguation": None,
    }


def describe_journeys(answer: JourneyPlanToolResponse) -> str:
    lines = [
        f"{' to '.join(journey[end][11:19].removesuffix(':00') for end in ('startDateTime', 'arrivalDateTime'))} "
        f"on {journey['startDateTime'][:10]}, "
        f"{journey['durationMinutes']} min, {format_count(journey['legCount'], 'leg')}: "
        f"{', '.join(format_ride(ride['mode'], ride.get('line')) for ride in journey['lines']) or 'walk'}"
        + "".join(f"\n{line}" for line in list_ref_lines(journey["refs"]))
        for journey in answer["topJourneys"] or ()
    ]
    return "\n".join([answer["message"], *lines])


def _serialize_summary(itinerary: Itinerary, zone: str) -> JourneyOptionSummary:
    return {
        "durationMinutes": count_minutes(itinerary),
        "startDateTime": format_instant(itinerary.departure, zone),
        "arrivalDateTime": format_instant(itinerary.arrival, zone),
        "legCount": len(itinerary.legs),
        "lines": [
            omit_none(JourneyLine, {"mode": to_trip_mode(ride.mode), "line": ride.line}) for ride in itinerary.rides
        ],
        "refs": [ref for ref in list_refs(itinerary) if ref is not None],
    }


def _format_no_trip(error: DataNotFound) -> str:
    if isinstance(error, NoItinerary):
        # The default hint names plan_trip arguments that this tool lacks.
        hint = None if error.remedy == NoItinerary.remedy else error.hint
        return hint or "no service connects the two places at this time"
    return error.message if error.hint is None else f"{error.message}. {error.hint}"


def _format_found(shown: Sequence[Itinerary], usable_count: int, no_result_reason: str | None) -> str:
    if not shown:
        return f"No journey was found: {no_result_reason}" if no_result_reason else "No journey was found"
    if len(shown) == 1:
        return f"1 journey, {count_minutes(shown[0])} min"
    more = usable_count - len(shown)
    rest = f"; {more} left out" if more > 0 else ""
    return f"{len(shown)} journeys, the fastest {count_minutes(shown[0])} min{rest}"
