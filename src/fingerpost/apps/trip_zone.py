"""Find the time zone of a trip before it is planned, to interpret a bare HH:MM."""

from typing import Any

from pydantic import TypeAdapter

from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.places.trip_ends import TripEndResolver
from fingerpost.transit.rules.warnings import Warnings
from fingerpost.transit.tools.shapes import TripEnd


async def find_trip_zone(application: Application, origin: dict[str, Any], destination: dict[str, Any]) -> str | None:
    """Return the zone of the network that covers origin and destination, None where either is unusable.

    The ends are in plan_trip's shape; what is wrong with them the tool itself will say.
    """
    ends = TypeAdapter(list[TripEnd])
    try:
        begin, end = ends.validate_python([origin, destination])
        resolver = TripEndResolver(PlaceResolver(application.networks, application.variables))
        found = await resolver.get_trip_ends(
            begin.query(), end.query(), user=application.settings.user, language="en", warnings=Warnings()
        )
    except (ToolError, ValueError):
        return None
    return found[0].network.profile.zone
