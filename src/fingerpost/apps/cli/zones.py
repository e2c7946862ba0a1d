"""Resolve the places of a command before it asks a tool: a bare time of day means the next one in a network's zone."""

from datetime import UTC, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from fingerpost import clock
from fingerpost.apps.cli.application import answering, run_and_close
from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError
from fingerpost.transit.places.resolver import FoundStop, PlaceResolver
from fingerpost.transit.places.trip_ends import TripEndResolver
from fingerpost.transit.tools.shapes import TripEnd


def find_trip_zone(application: Application, origin: dict[str, Any], destination: dict[str, Any]) -> tzinfo:
    """Return the zone of the network that would plan a trip; UTC if an end is unusable, which the tool reports."""
    resolver = TripEndResolver(PlaceResolver(application.networks, application.variables))
    user = application.settings.user
    try:
        begin, end = (each.query() for each in TypeAdapter(list[TripEnd]).validate_python([origin, destination]))
        with answering(application):
            found, _ = run_and_close(
                application,
                resolver.get_trip_ends(begin, end, user=user, language="en", instant=int(clock.now().timestamp())),
            )
    except (ToolError, ValueError):
        return UTC
    return ZoneInfo(found[0].network.profile.zone)


def find_stop_zone(application: Application, label: str) -> tzinfo:
    """Return the zone of the network of a stop; UTC if the label means none, which the tool reports."""
    try:
        return get_zone(get_stop(application, label))
    except ToolError:
        return UTC


def get_stop(application: Application, label: str) -> FoundStop:
    """Return the whole place that a label means: a saved stop, a token, or a name (rule B10)."""
    places = PlaceResolver(application.networks, application.variables)
    user = application.settings.user
    found = places.get_stop(label, is_label=True, user=user, language="en", instant=int(clock.now().timestamp()))
    with answering(application):
        return run_and_close(application, found)


def get_zone(found: FoundStop) -> ZoneInfo:
    return ZoneInfo(found.networks[0].profile.zone)
