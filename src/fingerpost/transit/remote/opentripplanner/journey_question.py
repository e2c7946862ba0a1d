"""A journey query in the server's own words: the variables of the plan document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import Optimize
from fingerpost.transit.model.place import Location
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.opentripplanner.wire_times import print_offset_time

# Itineraries on a page: more than are shown, because some walk too far.
PAGE_SIZE = 6
# Itineraries on a page where all of a window are wanted.
WINDOW_PAGE_SIZE = 40
# A server's own limit is a day by default; it refuses two days.
_LONGEST_WINDOW_S = 24 * 3600
# What a change costs beyond its time, in the server's cost units (seconds), for who wants few of them.
_FEW_TRANSFERS_COST = 1200
# A server leaves out the ride that arrives at the very second which it is asked for (seen on 2.9).
ARRIVAL_MARGIN_S = 1
# How much worse than riding a minute of walking is for who must walk less; the server's default is 2.
_SHORT_WALK_RELUCTANCE = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JourneyEnd:
    """One end of a trip: a stop by the server's id, else a position."""

    location: Location
    stop_id: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return a PlanLabeledLocationInput; exactly one of its two keys, never a null."""
        if self.stop_id is not None:
            return {"location": {"stopLocation": {"stopLocationId": self.stop_id}}}
        here = self.location.coordinate
        return {"location": {"coordinate": {"latitude": here.lat, "longitude": here.lon}}}


def new_variables(
    query: JourneyQuery,
    origin: JourneyEnd,
    destination: JourneyEnd,
    zone: ZoneInfo,
    *,
    shorter_walks: bool = False,
    with_promised: bool,
) -> dict[str, Any]:
    """Return the variables of the plan document; what is not wished for is left out, because nulls fail.

    ``shorter_walks`` makes walking dearer and leaves out the way that only walks.
    """
    bound = "latestArrival" if query.arrive_by else "earliestDeparture"
    instant = query.instant + ARRIVAL_MARGIN_S if query.arrive_by else query.instant
    preferences = _preferences(query, shorter_walks=shorter_walks)
    variables: dict[str, Any] = {
        "origin": origin.to_wire(),
        "destination": destination.to_wire(),
        "dateTime": {bound: print_offset_time(instant, zone)},
        "first": max(PAGE_SIZE, query.wanted + 1),
        "preferences": preferences,
    }
    if query.window_s is not None:
        variables["first"] = max(WINDOW_PAGE_SIZE, query.wanted + 1)
        variables["searchWindow"] = f"PT{min(query.window_s, _LONGEST_WINDOW_S)}S"
    if shorter_walks:
        variables["modes"] = {"transitOnly": True}
    if with_promised:
        transit = {**preferences["transit"], "timetable": {"includeRealTimeCancellations": True}}
        variables |= {"withPromised": True, "promised": {**preferences, "transit": transit}}
    return variables


def without_promised(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables that do not ask for cancelled trips again."""
    return {**variables, "withPromised": False} if "withPromised" in variables else dict(variables)


def _preferences(query: JourneyQuery, *, shorter_walks: bool) -> dict[str, Any]:
    transfer: dict[str, Any] = {"maximumTransfers": query.max_transfers}
    if query.optimize is Optimize.FEW_TRANSFERS:
        transfer["cost"] = _FEW_TRANSFERS_COST
    preferences: dict[str, Any] = {"transit": {"transfer": transfer}}
    if query.step_free:
        preferences["accessibility"] = {"wheelchair": {"enabled": True}}
    if shorter_walks:
        preferences["street"] = {"walk": {"reluctance": _SHORT_WALK_RELUCTANCE}}
    return preferences
