"""Why the server found nothing, in words."""

from collections.abc import Iterable

from fingerpost.transit.remote.opentripplanner.shapes import RoutingError

OUTSIDE_SERVICE_PERIOD = "OUTSIDE_SERVICE_PERIOD"
WALKING_IS_BETTER = "WALKING_BETTER_THAN_TRANSIT"

_ENDS = {"FROM": "the origin", "TO": "the destination"}
_SENTENCES = {
    "LOCATION_NOT_FOUND": "No street and no stop is near {end}",
    "OUTSIDE_BOUNDS": "{end} lies outside the area that the server knows",
    "NO_STOPS_IN_RANGE": "No stop can be reached on foot at {end}",
    "NO_TRANSIT_CONNECTION": "Nothing connects the two on that day or the next",
    "NO_TRANSIT_CONNECTION_IN_SEARCH_WINDOW": "Nothing connects the two around that time; another time may do",
    WALKING_IS_BETTER: "Walking is quicker than any ride, and further than the limit; more maxWalkingDistance helps",
}


def say_reasons(errors: Iterable[RoutingError]) -> str | None:
    """Return sentences on why nothing was found, None where the server gives no reason that we know."""
    sentences = (
        _SENTENCES[error.code].format(end=_ENDS.get(error.input_field or "", "an end"))
        for error in errors
        if error.code in _SENTENCES
    )
    said = ". ".join(dict.fromkeys(sentence[0].upper() + sentence[1:] for sentence in sentences))
    return said or None
