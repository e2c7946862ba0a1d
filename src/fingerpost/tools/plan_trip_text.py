"""A plan as text that stands alone, for a reader who sees nothing else of the answer."""

from collections.abc import Sequence

from fingerpost.tools.itinerary_shapes import WireItinerary, WireLeg
from fingerpost.tools.plan_trip_shapes import PlanMeta, PlanTripOutput, WireDifference
from fingerpost.tools.said import clock_of, said_below
from fingerpost.tools.shapes import LocationRef
from fingerpost.transit.rules.differences import ConnectionRisk


def describe_plan(answer: PlanTripOutput) -> str:
    """Return one numbered line an itinerary, then what must be said about them."""
    day = answer.requested.time[:10]
    ends = f"{_name(answer.origin) or 'origin'} to {_name(answer.destination) or 'destination'}"
    when = f"{answer.requested.type} {day} {answer.requested.time[11:16]} ({answer.meta.time_zone})"
    lines = [f"{ends}, {when}"]
    told = {each.fingerprint: _difference(each) for each in answer.meta.differences or ()}
    stays = {each.fingerprint: each.legs for each in answer.meta.stay_seated or ()}
    prices = {each.fingerprint: _price(each, answer.meta) for each in answer.itineraries}
    lines += [
        f"{number}. "
        + _itinerary(each, day, told.get(each.fingerprint), stays.get(each.fingerprint, ()), prices[each.fingerprint])
        for number, each in enumerate(answer.itineraries, 1)
    ]
    return "\n".join(lines + said_below(answer.warnings, answer.meta))


def _name(location: LocationRef) -> str | None:
    return location.name or location.label


def _difference(difference: WireDifference) -> str:
    """Return what the trip costs against the usual one."""
    minutes = difference.later_minutes
    later = f"{abs(minutes)} min {'later' if minutes >= 0 else 'earlier'}"
    tight = ", tight connection" if difference.connection_risk is ConnectionRisk.TIGHT else ""
    return f"instead of a disrupted trip, {later}{tight}"


def _price(itinerary: WireItinerary, meta: PlanMeta) -> str:
    """Return what the itinerary costs, empty where that is unknown."""
    for fare in meta.fares or ():
        is_its = fare.fingerprints is None or itinerary.fingerprint in fare.fingerprints
        if fare.amount and is_its and any(leg.line for leg in itinerary.legs):
            return f"{fare.amount} {fare.currency}"
    return ""


def _itinerary(itinerary: WireItinerary, day: str, difference: str | None, stays: Sequence[int], price: str) -> str:
    changes = itinerary.number_of_transfers
    begin, end = itinerary.legs[0].departure_time, itinerary.legs[-1].arrival_time
    head = (
        f"{clock_of(begin, day)} to {clock_of(end, day)}, {round(itinerary.total_duration / 60)} min, "
        f"{changes} {'change' if changes == 1 else 'changes'}, {itinerary.walking_distance} m walk"
    )
    if price:
        head += f", {price}"
    if itinerary.disruption_note:
        head += f" [{itinerary.disruption_note}]"
    elif difference:
        head += f" [{difference}]"
    elif itinerary.disruption_flag:
        head += " [instead of a disrupted trip]"
    legs = (f"{'stay seated, ' * (at in stays)}{_leg(leg, day)}" for at, leg in enumerate(itinerary.legs))
    return f"{head}: {'; '.join(legs)}"


def _leg(leg: WireLeg, day: str) -> str:
    if leg.mode in ("WALK", "BIKE", "SCOOTER"):
        return f"{leg.mode.lower()} {leg.distance or 0} m to {leg.to.name}"
    line = f"{leg.mode} {leg.line}" + (f" towards {leg.headsign}" if leg.headsign else "")
    platform = f" (platform {leg.from_.platform})" if leg.from_.platform else ""
    status = {"delayed": f" delayed {leg.delay_seconds} s", "cancelled": " CANCELLED"}.get(leg.status or "", "")
    return (
        f"{line} {clock_of(leg.departure_time, day)} {leg.from_.name}{platform} "
        f"to {leg.to.name} {clock_of(leg.arrival_time, day)}{status}"
    )
