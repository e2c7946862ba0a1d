"""A plan as text that stands alone, for a reader who sees nothing else of the answer."""

from collections.abc import Sequence

from fingerpost.transit.rules.disruption import ConnectionRisk
from fingerpost.transit.rules.modes import is_ride, name_ride
from fingerpost.transit.tools.alert_shapes import describe_trip_alerts
from fingerpost.transit.tools.itinerary_shapes import WireItinerary, WireLeg
from fingerpost.transit.tools.plan_trip_shapes import PlanMeta, PlanTripOutput, WireDifference
from fingerpost.transit.tools.shapes import LocationRef
from fingerpost.transit.tools.wording import clock_of, said_below


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
    return "\n".join(lines + said_below(answer, meta, describe_trip_alerts(answer)))


def _name(location: LocationRef) -> str:
    position = location["coordinate"]
    return location.get("name") or location.get("label") or f"{position['lat']},{position['lon']}"


def _difference(difference: WireDifference) -> str:
    minutes = difference["laterMinutes"]
    later = f"{abs(minutes)} min {'later' if minutes >= 0 else 'earlier'}"
    tight = ", tight connection" if difference["connectionRisk"] == ConnectionRisk.TIGHT else ""
    changes, walk = difference["moreChanges"], difference["moreWalkMeters"]
    noun = "change" if abs(changes) == 1 else "changes"
    more = f", {abs(changes)} {noun} {'more' if changes > 0 else 'less'}" if changes else ""
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
    """Return the line of an itinerary, then one of each leg."""
    changes, legs = itinerary["numberOfTransfers"], itinerary["legs"]
    begin, end = legs[0]["departureTime"], legs[-1]["arrivalTime"]
    head = (
        f"{clock_of(begin, since)} to {clock_of(end, since)}, {round(itinerary['totalDuration'] / 60)} min, "
        f"{changes} {'change' if changes == 1 else 'changes'}, {itinerary['walkingDistance']} m walk"
    )
    if price:
        head += f", {price}"
    if "DisruptionNote" in itinerary:
        head += f" [{itinerary['DisruptionNote']}]"
    elif difference:
        head += f" [{difference}]"
    elif itinerary.get("DisruptionFlag"):
        head += " [instead of a disrupted trip]"
    notes = "".join(f" [{note}]" for note in itinerary.get("accessibilityNotes", ()))
    return [head + notes, *(f"{'stay seated, ' * (at in stays)}{_leg(leg, since)}" for at, leg in enumerate(legs))]


def _leg(leg: WireLeg, since: str) -> str:
    begin, end = leg["from"], leg["to"]
    if not is_ride(leg["mode"]):
        times = f"{clock_of(leg['departureTime'], since)} to {clock_of(leg['arrivalTime'], since)}"
        length = f" {leg['distance']} m" if "distance" in leg else ""
        return f"{leg['mode'].lower()}{length}, {times}, to {end['name']}"
    line = name_ride(leg["mode"], leg.get("line")) + (f" towards {leg['headsign']}" if leg.get("headsign") else "")
    platform = f" (platform {begin['platform']})" if begin.get("platform") else ""
    late = f" ({leg['delaySeconds']} s late)" if leg.get("delaySeconds") else ""
    status = {"delayed": f" delayed {leg.get('delaySeconds')} s", "cancelled": " CANCELLED"}.get(
        leg.get("status", ""), late
    )
    length = f", {leg['distance']} m" if "distance" in leg else ""
    return (
        f"{line} {clock_of(leg['departureTime'], since)} {begin['name']}{platform} "
        f"to {end['name']} {clock_of(leg['arrivalTime'], since)}{length}{status}"
    )
