"""The check_trip tool: whether planned rides still run, and whether the changes between them still work (rule B15)."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import partial, reduce
from itertools import pairwise, repeat
from typing import Annotated, NotRequired

from pydantic import Field

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, PublishedTool, ToolDefinition, ToolReply
from fingerpost.contract.wire import EnumValue, Identifier, WireDict, WireModel, omit_none
from fingerpost.errors import ParameterError
from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.model.itinerary import Itinerary, Leg
from fingerpost.transit.model.place import distance_m
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import merge_provenance
from fingerpost.transit.model.ride_ref import RideRef
from fingerpost.transit.networks.querying import Deadline, Outcome, list_problems, try_in_order
from fingerpost.transit.port import JourneyAnswer, Networks, OpenNetworks
from fingerpost.transit.rules.modes import format_ride, to_trip_mode
from fingerpost.transit.rules.times import format_instant
from fingerpost.transit.rules.warnings import WarningCode, add_reasons, list_stated
from fingerpost.transit.tools import shapes, wording
from fingerpost.transit.tools.plan_trip import serialize_leg
from fingerpost.transit.tools.plan_trip_shapes import WireLeg
from fingerpost.transit.tools.report import report_rides

# A change with fewer spare seconds than this is tight.
TIGHT_S = 120
# If a change's distance exceeds _MAX_CHANGE_M and its pace exceeds _MAX_PACE_M_PER_S, its time is estimated again.
_MAX_CHANGE_M, _MAX_PACE_M_PER_S = 100.0, 2.5
_PACE_M_PER_S, _MARGIN_S = 1.25, 120
# Some servers round times to minutes.
_ROUNDING_S = 60
# A ride that was rescheduled by more than this is not the planned ride.
_MAX_MOVE_S = 3_600


class State(StrEnum):
    OK = "ok"
    TIGHT = "tight"
    BROKEN = "broken"


class CheckTripInput(WireModel):
    refs: Annotated[
        list[Annotated[Identifier, Field(max_length=200)]],
        Field(min_length=1, max_length=12, description="the refs of one trip's rides, in order"),
    ]
    language: shapes.Language = "en"


class WireCheckedRide(WireDict):
    """The current state of a planned ride, or the reason why the ride no longer exists.

    The planned times are included if the timetable changed, and the planned stop ids if the ride uses other stops.
    """

    ref: str
    reason: NotRequired[str]
    leg: NotRequired[WireLeg]
    plannedDeparture: NotRequired[str]
    plannedArrival: NotRequired[str]
    plannedFrom: NotRequired[str]
    plannedTo: NotRequired[str]


class WireChange(WireDict):
    """The change to ``rides[ride]``; ``availableSeconds`` is negative if the two rides overlap."""

    ride: Annotated[int, Field(ge=1)]
    state: Annotated[str, EnumValue(State)]
    availableSeconds: int
    neededSeconds: int
    estimated: NotRequired[bool]


class CheckTripMeta(shapes.Meta, shapes.AlertNotes):
    pass


class CheckTripOutput(shapes.CorrelatedAnswer):
    state: Annotated[str, EnumValue(State)]
    rides: list[WireCheckedRide]
    changes: list[WireChange]
    meta: CheckTripMeta


class CheckTrip(PublishedTool):
    definition = ToolDefinition(
        name="check_trip",
        title="Check a planned trip",
        description=(
            "Check whether the rides of a planned trip still run, with their times and status now, "
            "and whether each change still works. Refs come from plan_trip or planJourney."
        ),
        contract=Contract.BOARD,
        input_model=CheckTripInput,
        outputs=(Output(CheckTripOutput, (("rides",),), "Use fewer refs."),),
        open_world=True,
    )

    def __init__(self, networks: Networks) -> None:
        self._networks = networks

    async def handle(self, arguments: CheckTripInput, call: Call) -> ToolReply:
        now = int(call.now.timestamp())
        opened = await self._networks.open()
        deadline = Deadline()
        refs = [_read_ref(index, text) for index, text in enumerate(arguments.refs)]
        if refs[0].stays_seated:
            raise ParameterError.about("refs.0", "continues another ride", hint="Send the refs of all rides, in order")
        continues_on = [*(ref.stays_seated for ref in refs[1:]), False]
        refs = [ref._replace(continues_on=stays) for ref, stays in zip(refs, continues_on, strict=True)]
        outcomes = await gather_all(
            _find_ride(opened, index, ref, deadline, arguments.language) for index, ref in enumerate(refs)
        )
        rides = [_read_ride(ref, outcome.value) for ref, outcome in zip(refs, outcomes, strict=True)]
        changes = list(_list_changes(refs, rides))
        provenance = reduce(merge_provenance, [outcome.value.provenance for outcome in outcomes])
        report = report_rides(
            [(f"rides/{index}/leg", ride) for index, ride in enumerate(rides) if isinstance(ride, Leg)],
            provenance,
            now,
            [
                *list_problems(opened),
                *(warning for outcome in outcomes for warning in outcome.warnings),
                *list_stated((WarningCode.IN_THE_PAST, _find_past_message(refs, rides, now, provenance.zone))),
            ],
        )
        zone = report.provenance.zone
        body: CheckTripOutput = {
            "state": _find_state(refs, rides, changes, now).value,
            "rides": [_serialize_ride(*each, zone) for each in zip(arguments.refs, refs, rides, strict=True)],
            "changes": changes,
            **shapes.serialize_warnings(report.warnings),
            "correlationId": call.correlation_id,
            "meta": omit_none(CheckTripMeta, report.serialize()),
        }
        return ToolReply(body, _write_text(refs, rides, body, now))


def _read_ref(index: int, text: str) -> RideRef:
    ref = RideRef.read(text)
    if ref is None:
        hint = "Send refs as plan_trip returned them"
        raise ParameterError.about(f"refs.{index}", f"{text!r} is not a ref", hint=hint)
    return ref


async def _find_ride(
    opened: OpenNetworks, index: int, ref: RideRef, deadline: Deadline, language: str
) -> Outcome[JourneyAnswer]:
    owners = [each for each in opened.list_owners(ref.start_id) if each.profile.can(Ability.PLANS, Ability.BOARDS)]
    if not owners:
        message = f"refers to the feed {ref.start_id.partition(':')[0]}, which no network has"
        raise ParameterError.about(f"refs.{index}", add_reasons(message, opened.problems.values()))
    outcomes: list[Outcome[JourneyAnswer]] = []
    # Networks with the same FEED may have different timetables.
    for count in range(len(owners)):
        outcome = await try_in_order(
            owners[count:], lambda network: network.find_ride(ref, language=language), deadline
        )
        ride = _read_ride(ref, outcome.value)
        if isinstance(ride, Leg) and ride.departure_scheduled == ref.departure:
            return outcome
        outcomes.append(outcome)
    return next((each for each in outcomes if isinstance(_read_ride(ref, each.value), Leg)), outcomes[0])


def _read_ride(ref: RideRef, answer: JourneyAnswer) -> Leg | str:
    if not answer.itineraries:
        return answer.no_result_reason or "the reason is unknown"
    [ride] = answer.itineraries[0].rides
    if abs(ride.departure_scheduled - ref.departure) > _MAX_MOVE_S:
        return f"the trip is now scheduled at {format_instant(ride.departure_scheduled, answer.provenance.zone)}"
    return ride


def _is_missed(ref: RideRef, ride: Leg | str, now: int) -> bool:
    """Whether a ride has already left, although its planned departure is in the future."""
    return isinstance(ride, Leg) and not ride.cancelled and ride.departure_expected < now < ref.departure


def _find_past_message(refs: Sequence[RideRef], rides: Sequence[Leg | str], now: int, zone: str) -> str | None:
    for number, (ref, ride) in enumerate(zip(refs, rides, strict=True), 1):
        if isinstance(ride, Leg) and _is_missed(ref, ride, now):
            return f"Ride {number} left early, at {format_instant(ride.departure_expected, zone)}."
    last = rides[-1]
    if isinstance(last, str) or last.cancelled or last.arrival_expected > now:
        return None
    return f"The last ride ended at {format_instant(last.arrival_expected, zone)}."


def _list_changes(refs: Sequence[RideRef], rides: Sequence[Leg | str]) -> Iterable[WireChange]:
    """List the changes between rides that run; a cancelled or missing ride already breaks the trip."""
    for index, (before, ride) in enumerate(pairwise(rides), 1):
        if isinstance(before, str) or isinstance(ride, str) or before.cancelled or ride.cancelled:
            continue
        ref = refs[index]
        walk_m = distance_m(before.end.coordinate, ride.start.coordinate)
        needed_s = None if ref.stays_seated and not ride.stays_seated else ref.change_s
        is_estimated = needed_s is None or walk_m > max(_MAX_CHANGE_M, needed_s * _MAX_PACE_M_PER_S)
        if needed_s is None or is_estimated:
            needed_s = round(walk_m / _PACE_M_PER_S) + _MARGIN_S
        available_s = ride.departure_expected - before.arrival_expected
        spare_s = available_s - needed_s
        is_ok = spare_s >= (0 if ride.stays_seated else TIGHT_S)
        fields = {
            "ride": index,
            "state": (State.OK if is_ok else State.TIGHT if spare_s >= 0 else State.BROKEN).value,
            "availableSeconds": available_s,
            "neededSeconds": needed_s,
            "estimated": is_estimated or None,
        }
        yield omit_none(WireChange, fields)


def _find_state(refs: Sequence[RideRef], rides: Sequence[Leg | str], changes: Iterable[WireChange], now: int) -> State:
    states = {change["state"] for change in changes}
    is_lost = any(isinstance(ride, str) or ride.cancelled for ride in rides)
    if State.BROKEN in states or is_lost or any(map(_is_missed, refs, rides, repeat(now))):
        return State.BROKEN
    return State.TIGHT if State.TIGHT in states else State.OK


def _serialize_ride(text: str, ref: RideRef, ride: Leg | str, zone: str) -> WireCheckedRide:
    if isinstance(ride, str):
        return {"ref": text, "reason": ride}
    fields = {"ref": text, "leg": serialize_leg(ride, zone, None)}
    if max(abs(ride.departure_scheduled - ref.departure), abs(ride.arrival_scheduled - ref.arrival)) >= _ROUNDING_S:
        fields["plannedDeparture"] = format_instant(ref.departure, zone)
        fields["plannedArrival"] = format_instant(ref.arrival, zone)
    fields |= {"plannedFrom": ref.start_id} if ride.start.id != ref.start_id else {}
    fields |= {"plannedTo": ref.end_id} if ride.end.id != ref.end_id else {}
    return omit_none(WireCheckedRide, fields)


def _write_text(refs: Sequence[RideRef], rides: Sequence[Leg | str], body: CheckTripOutput, now: int) -> str:
    meta, zone = body["meta"], body["meta"]["timeZone"]
    format_time = partial(wording.format_clock, reference=now, zone=zone)
    changes = {change["ride"]: f"   {_format_change(change)}" for change in body["changes"]}
    lines, names = [f"Trip checked at {format_instant(now, zone)[:16].replace('T', ' ')} ({zone}): {body['state']}"], []
    for index, (ref, ride) in enumerate(zip(refs, rides, strict=True)):
        lines += [changes[index]] if index in changes else []
        if isinstance(ride, str):
            lines.append(f"{index + 1}. no longer valid: {ride}")
            continue
        [line] = wording.list_leg_lines(Itinerary((ride,)), format_time, to_trip_mode)
        is_moved = "plannedDeparture" in body["rides"][index]
        planned = f" (planned {format_time(ref.departure)} to {format_time(ref.arrival)})" if is_moved else ""
        wire = body["rides"][index]
        moved = [f"from {wire['plannedFrom']}"] if "plannedFrom" in wire else []
        moved += [f"to {wire['plannedTo']}"] if "plannedTo" in wire else []
        stops = f" (planned {' '.join(moved)})" if moved else ""
        lines.append(f"{index + 1}. {line.strip()}{planned}{stops}")
        names.append((f"rides/{index}/leg", f"{index + 1}: {format_ride(to_trip_mode(ride.mode), ride.line)}"))
    alerts = wording.list_alert_lines(meta, names, "every ride", zone)
    return "\n".join([*lines, *wording.list_footer_lines(body, meta, alerts)])


def _format_change(change: WireChange) -> str:
    needed = f"{change['neededSeconds']} s needed{' (estimated)' if 'estimated' in change else ''}"
    return f"change {change['state']}: {change['availableSeconds']} s available, {needed}"
