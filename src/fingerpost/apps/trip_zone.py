"""The time zone that a trip is planned in, known before it is planned: what a bare HH:MM refers to."""

from typing import Any

from pydantic import TypeAdapter

from fingerpost.apps.wiring import House
from fingerpost.errors import ToolError
from fingerpost.tools.shapes import TripEnd
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.places.trip_ends import TripEndResolver
from fingerpost.transit.rules.warnings import Warnings


async def find_trip_zone(house: House, origin: dict[str, Any], destination: dict[str, Any]) -> str | None:
    """Return the zone of the network that covers both ends, None where the ends are no good.

    The ends are in plan_trip's shape; what is wrong with them the tool itself will say.
    """
    ends = TypeAdapter(list[TripEnd])
    try:
        begin, end = ends.validate_python([origin, destination])
        resolver = TripEndResolver(PlaceResolver(house.networks, house.variables))
        found = await resolver.get_trip_ends(
            begin.query(), end.query(), user=house.settings.user, language="en", warnings=Warnings()
        )
    except (ToolError, ValueError):
        return None
    return found[0].network.profile.zone
