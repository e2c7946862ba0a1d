"""Routes as text that stands alone, for a reader who sees nothing else of the answer."""

from fingerpost.transit.tools.local_times import LocalTimes, list_utc_times
from fingerpost.transit.tools.plan_route_shapes import PlanRouteOutput, RouteItinerary, RouteLeg
from fingerpost.transit.tools.timetable_shapes import describe_utc_alerts
from fingerpost.transit.tools.wording import said_below


def describe_routes(answer: PlanRouteOutput) -> str:
    """Return one numbered line an itinerary, in the zone of the place, then what must be said about them."""
    itineraries, window = answer["itineraries"], answer["window"]
    metadata, meta = answer["metadata"], answer["meta"]
    told = [time for each in itineraries for time in _times_of(each)]
    times = LocalTimes(metadata["timeZone"], told or list_utc_times(meta.get("whyEmpty", "")))
    day = times.day(itineraries[0]["startTime"]) if itineraries else ""
    if itineraries:
        lines = [f"{len(itineraries)} within {window['applied']} min, on {day} ({times.zone}):"]
    else:
        why = " ".join(filter(None, [metadata.get("noResultsReason"), meta.get("whyEmpty")]))
        lines = [f"No itinerary within {window['applied']} min ({times.zone}): {times.sentence(why)}"]
    lines += [f"{number}. {_itinerary(each, times, day)}" for number, each in enumerate(itineraries, 1)]
    if window["clamped"]:
        lines.append(f"! searchWindowMinutes was lowered from {window['requested']} to {window['applied']}.")
    if "cancelledLeftOut" in metadata:
        lines.append(f"! Left out because a ride is cancelled: {metadata['cancelledLeftOut']}.")
    if "missedChangesLeftOut" in metadata:
        lines.append(f"! Left out because a change would be missed: {metadata['missedChangesLeftOut']}.")
    if meta.get("straightRides"):
        lines.append("! The source knows no length of some rides; theirs is the straight line between their stops.")
    parts = [
        (f"itineraries/{row}/legs/{at}", f"{row + 1}: {leg['mode']} {leg['lineName']}")
        for row, itinerary in enumerate(itineraries)
        for at, leg in enumerate(itinerary["legs"])
        if "lineName" in leg
    ]
    return "\n".join(lines + said_below(metadata, meta, describe_utc_alerts(meta, times, parts, "every ride")))


def _times_of(itinerary: RouteItinerary) -> list[str]:
    return [time for leg in itinerary["legs"] for time in (leg["departureTime"], leg["arrivalTime"])]


def _itinerary(itinerary: RouteItinerary, times: LocalTimes, day: str) -> str:
    changes = itinerary["numberOfTransfers"]
    head = (
        f"{times.clock(itinerary['startTime'], day)} to {times.clock(itinerary['endTime'], day)}, "
        f"{itinerary['durationMinutes']} min, {changes} {'change' if changes == 1 else 'changes'}, "
        f"{itinerary['totalWalkDistanceMeters']} m walk"
    )
    return f"{head}: {'; '.join(_leg(leg, times, day) for leg in itinerary['legs'])}"


def _leg(leg: RouteLeg, times: LocalTimes, day: str) -> str:
    begin, end = (times.clock(leg[field], day) for field in ("departureTime", "arrivalTime"))
    span = f"{begin} {leg['from']['name']} to {leg['to']['name']} {end}"
    if "lineName" not in leg:
        return f"{leg['mode'].lower()} {leg['distanceMeters']} m {span}"
    towards = f" towards {leg['headsign']}" if leg.get("headsign") else ""
    return f"{leg['mode']} {leg['lineName']}{towards} {span} ({leg['distanceMeters']} m)"
