"""Where each question is asked: MOTIS versions its paths, and each path has versions of its own."""

from enum import StrEnum

NEWEST, OLDEST = 6, 1


class Endpoint(StrEnum):
    """A question to the server, by the end of its path."""

    PLAN = "plan"
    STOP_TIMES = "stoptimes"
    STOPS = "map/stops"
    INITIAL = "map/initial"
    GEOCODE = "geocode"


# The versions that each path was ever given, the newest first; those that are left out do not exist.
_VERSIONS: dict[Endpoint, tuple[int, ...]] = {
    Endpoint.PLAN: (6, 5, 4, 3, 2, 1),
    Endpoint.STOP_TIMES: (6, 5, 4, 1),
    Endpoint.STOPS: (6, 1),
    Endpoint.INITIAL: (1,),
    Endpoint.GEOCODE: (1,),
}


def path_of(endpoint: Endpoint, api: int) -> str:
    """Return the path of a question on a server whose newest API version is ``api``."""
    return versioned_path(endpoint, next(version for version in _VERSIONS[endpoint] if version <= api))


def versioned_path(endpoint: Endpoint, version: int) -> str:
    """Return the path of a question in exactly that version."""
    return f"/api/v{version}/{endpoint.value}"
