"""A plan as text that stands alone, for a reader who sees nothing else of the answer."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from fingerpost.transit.rules.disruption import ConnectionRisk
from fingerpost.transit.rules.modes import is_ride, name_ride
from fingerpost.transit.tools.plan_trip_shapes import (
    PlanMeta,
    PlanTripOutput,
    WireDifference,
    WireItinerary,
    WireLeg,
    WireStopPoint,
)
from fingerpost.transit.tools.shapes import LocationRef
from fingerpost.transit.tools.wording import clock_of, describe_alerts, said_below, say_count, say_itinerary

_WAIT_STATED_FROM = timedelta(minutes=3)
_NEXT_SEARCH_AFTER = timedelta(minutes=1)


def describe_plan(answer: PlanTripOutput) -> str:
    requested, meta = answer["requested"], answer["meta"]
    since = requested["time"]
    ends = f"{_name(answer['origin'])} to {_name(answer['destination'])}"
    when = f"{requested['type']} {since[:10]} {since[11:16]} ({meta['timeZone']})"
    lines = [f"{ends}, {when}"]
    told = {each["fingerprint"]: _difference(each) for each in meta.get("differences", ())}
    stays = {each["fingerprint"]: each["legs"] for each in meta.get("staySeated", ())}
    for number, itinerary in enumerate(answer["itineraries"], 1):
        key = itinerary["fingerprint"]
        head, *legs = _list_lines(itinerary, since, told.get(key), stays.get(key, ()), _price(itinerary, meta))
        lines += [f"{number}. {head}", *(f"   {leg}" for leg in legs)]
    parts = [
        (f"itineraries/{row}/legs/{at}", f"{row + 1}: {name_ride(leg['mode'], leg.get('line'))}")
        for row, itinerary in enumerate(answer["itineraries"])
        for at, leg in enumerate(itinerary["legs"])
        if is_ride(leg["mode"])
    ]
    lines += said_below(answer, meta, describe_alerts(meta, parts, "every ride", meta["timeZone"]))
    return "\n".join([*lines, _say_how_to_go_on(answer)])


def _say_how_to_go_on(answer: PlanTripOutput) -> str:
    """Return the time to ask for the next trips: later ones, or earlier ones if an arrival was requested."""
    legs = [itinerary["legs"] for itinerary in answer["itineraries"]]
    if answer["requested"]["type"] == "arrive":
        before = min(datetime.fromisoformat(ridden[-1]["arrivalTime"]) for ridden in legs) - _NEXT_SEARCH_AFTER
        return f"For earlier trips, arrive by {before.isoformat(timespec='minutes')}."
    after = max(datetime.fromisoformat(ridden[0]["departureTime"]) for ridden in legs) + _NEXT_SEARCH_AFTER
    return f"For later trips, depart at {after.isoformat(timespec='minutes')}."


def _name(location: LocationRef) -> str:
    position = location["coordinate"]
    return location.get("name") or location.get("label") or f"{position['lat']},{position['lon']}"


def _difference(difference: WireDifference) -> str:
    minutes = difference["laterMinutes"]
    later = f"{abs(minutes)} min {'later' if minutes >= 0 else 'earlier'}"
    tight = ", tight connection" if difference["connectionRisk"] == ConnectionRisk.TIGHT else ""
    changes, walk = difference["moreChanges"], difference["moreWalkMeters"]
    more = f", {say_count(abs(changes), 'change')} {'more' if changes > 0 else 'less'}" if changes else ""
    more += f", {abs(walk)} m {'more' if walk > 0 else 'less'} walk" if walk else ""
    return f"instead of a disrupted trip, {later}{more}{tight}: {difference['cause']['text']}"


def _price(itinerary: WireItinerary, meta: PlanMeta) -> str:
    for fare in meta.get("fares", ()):
        is_its = "fingerprints" not in fare or itinerary["fingerprint"] in fare["fingerprints"]
        if "amount" in fare and is_its and any(is_ride(leg["mode"]) for leg in itinerary["legs"]):
            return f"{fare['amount']} {fare['currency']}"
    return ""


def _list_lines(
    itinerary: WireItinerary, since: str, difference: str | None, stays: Sequence[int], price: str
) -> list[str]:
    changes, legs = itinerary["numberOfTransfers"], itinerary["legs"]
    begin, end = legs[0]["departureTime"], legs[-1]["arrivalTime"]
    minutes, walk_m = round(itinerary["totalDuration"] / 60), itinerary["walkingDistance"]
    head = say_itinerary(clock_of(begin, since), clock_of(end, since), minutes, changes, walk_m)
    if price:
        head += f", {price}"
    if "DisruptionNote" in itinerary:
        head += f" [{itinerary['DisruptionNote']}]"
    elif difference:
        head += f" [{difference}]"
    elif itinerary.get("DisruptionFlag"):
        head += " [instead of a disrupted trip]"
    notes = "".join(f" [{note}]" for note in itinerary.get("accessibilityNotes", ()))
    changes_here = ["stay seated, " if at in stays else _wait(*pair) for at, pair in enumerate(pairwise(legs), 1)]
    return [head + notes, *(change + _leg(leg, since) for change, leg in zip(["", *changes_here], legs, strict=True))]


def _wait(leg: WireLeg, following: WireLeg) -> str:
    wait = datetime.fromisoformat(following["departureTime"]) - datetime.fromisoformat(leg["arrivalTime"])
    return f"wait {wait // timedelta(minutes=1)} min, " if wait >= _WAIT_STATED_FROM else ""


def _leg(leg: WireLeg, since: str) -> str:
    begin, end = leg["from"], leg["to"]
    if not is_ride(leg["mode"]):
        times = f"{clock_of(leg['departureTime'], since)} to {clock_of(leg['arrivalTime'], since)}"
        length = f" {leg['distance']} m" if "distance" in leg else ""
        return f"{leg['mode'].lower()}{length}, {times}, to {end['name']}"
    line = name_ride(leg["mode"], leg.get("line")) + (f" towards {leg['headsign']}" if leg.get("headsign") else "")
    length = f", {leg['distance']} m" if "distance" in leg else ""
    return (
        f"{line} {clock_of(leg['departureTime'], since)} {_stop(begin)} "
        f"to {_stop(end)} {clock_of(leg['arrivalTime'], since)}{length}{_status(leg)}"
    )


def _stop(stop: WireStopPoint) -> str:
    return f"{stop['name']} (platform {stop['platform']})" if stop.get("platform") else stop["name"]


def _status(leg: WireLeg) -> str:
    delay_s = leg.get("delaySeconds", 0)
    match leg.get("status"):
        case "cancelled":
            return " CANCELLED"
        case "delayed":
            return f" delayed {delay_s} s"
        case "on_time" if not delay_s:
            return " on time"
    return f" ({abs(delay_s)} s {'early' if delay_s < 0 else 'late'})" if delay_s else ""
