"""Find the stop that a label means, for commands that need its id or its time zone before they ask a tool."""

from fingerpost.apps.wiring import Application
from fingerpost.transit.places.resolver import FoundStop, PlaceResolver
from fingerpost.transit.rules.warnings import Warnings


async def get_labelled_stop(application: Application, label: str) -> FoundStop:
    """Return the whole place that a label means: a saved stop, a token, or a name (rule B10).

    Raises:
        ToolError: it means none, or several.
    """
    places = PlaceResolver(application.networks, application.variables)
    try:
        return await places.get_stop(
            label, is_label=True, user=application.settings.user, language="en", warnings=Warnings()
        )
    finally:
        await application.networks.close()
