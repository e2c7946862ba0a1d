"""Find the time zone in which a command parses a typed time, or the stop whose zone that is."""

from datetime import UTC, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from fingerpost import clock
from fingerpost.apps.cli.application import run_and_close, show_spinner
from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError
from fingerpost.transit.places.resolver import FoundStop, PlaceResolver
from fingerpost.transit.places.trip_ends import get_trip_ends
from fingerpost.transit.tools.shapes import TripEnd


def find_trip_zone(application: Application, origin: dict[str, Any], destination: dict[str, Any]) -> tzinfo:
    """Return the zone of the network that would plan a trip; UTC if a place is invalid (the tool reports that)."""
    places = PlaceResolver(application.networks, application.variables)
    now, user = int(clock.now().timestamp()), application.settings.user
    try:
        begin, end = (place.to_query() for place in TypeAdapter(list[TripEnd]).validate_python([origin, destination]))
        ends = get_trip_ends(places, begin, end, user=user, language="en", instant=now)
        with show_spinner(application):
            origin_match, _ = run_and_close(application, ends)
    except (ToolError, ValueError):
        return UTC
    return ZoneInfo(origin_match[0].network.profile.zone)


def find_stop(application: Application, label: str) -> FoundStop | None:
    """Resolve a label to a place with all its stops; None if no stop matches (the tool reports that)."""
    places = PlaceResolver(application.networks, application.variables)
    now, user = int(clock.now().timestamp()), application.settings.user
    stop = places.get_stop(label, is_label=True, user=user, language="en", instant=now)
    try:
        with show_spinner(application):
            return run_and_close(application, stop)
    except ToolError:
        return None
