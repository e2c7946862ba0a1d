"""Where each question is asked: MOTIS versions its paths, and each path has versions of its own."""

from enum import StrEnum

NEWEST, OLDEST = 6, 1


class MotisEndpoint(StrEnum):
    """A question to the server, by the end of its path."""

    PLAN = "plan"
    STOP_TIMES = "stoptimes"
    STOPS = "map/stops"
    INITIAL = "map/initial"
    GEOCODE = "geocode"
    REVERSE_GEOCODE = "reverse-geocode"


# The versions that each path was ever given, the newest first; those that are left out do not exist.
_VERSIONS: dict[MotisEndpoint, tuple[int, ...]] = {
    MotisEndpoint.PLAN: (6, 5, 4, 3, 2, 1),
    MotisEndpoint.STOP_TIMES: (6, 5, 4, 1),
    MotisEndpoint.STOPS: (6, 1),
    MotisEndpoint.INITIAL: (1,),
    MotisEndpoint.GEOCODE: (1,),
    MotisEndpoint.REVERSE_GEOCODE: (1,),
}


def path_of(endpoint: MotisEndpoint, api: int) -> str:
    """Return the path of a question on a server whose newest API version is ``api``."""
    return versioned_path(endpoint, next(version for version in _VERSIONS[endpoint] if version <= api))


def versioned_path(endpoint: MotisEndpoint, version: int) -> str:
    """Return the path of a question in exactly that version."""
    return f"/api/v{version}/{endpoint.value}"
