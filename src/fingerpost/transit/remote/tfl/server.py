"""Send requests to TfL's API, and classify its failures; HTTP 300 and some 404 responses are valid answers.

Most responses are parsed strictly, because a board must not silently omit a closed line.
"""

from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError

from fingerpost import clock
from fingerpost.errors import SourceChanged, SourceFailed, SourceKeyRefused, StorageUnavailable, ToolError
from fingerpost.net.request import Fetch
from fingerpost.net.response import Response
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.remote.kit.answers import Answer, get_reader, read_exactly
from fingerpost.transit.remote.kit.server import Connection, shorten
from fingerpost.transit.remote.tfl.shapes import ApiError, LiftDisruption
from fingerpost.transit.remote.tfl.unified_api import ADDRESS, KEY_HEADER, KEY_VARIABLE

_T = TypeVar("_T")

# TfL caches journeys and predictions for at least half a minute.
LIVE_FRESH_S = 30.0
STATUS_FRESH_S = 60.0

# The share of the remaining time for optional requests: a partial answer is better than a timeout.
_OPTIONAL_SHARE = 0.8

MULTIPLE_CHOICES, NOT_FOUND = 300, 404
_CONFLICT = 409
_TOO_MANY = 429
_UNKNOWN_PATH = "resource not found"


class TflClient(Connection):
    def __init__(self, fetch: Fetch, record: NetworkRecord) -> None:
        super().__init__(
            fetch,
            record.url or ADDRESS,
            key_header=KEY_HEADER,
            key=record.key or KEY_VARIABLE,
            check_response=_find_failure,
        )

    async def fetch(
        self, shape: type[_T], *path: str, params: Mapping[str, str] | None = None, fresh_s: float = LIVE_FRESH_S
    ) -> Answer[_T]:
        return await self.get(*path, params=params, fresh_s=fresh_s, read=partial(read_exactly, shape))

    async def find(self, shape: type[_T], *path: str, fresh_s: float = LIVE_FRESH_S) -> Answer[_T] | None:
        """Return the response at a path, or None for a 404 that TfL itself sent."""

        async def read(response: Response) -> Answer[_T] | None:
            if response.status == NOT_FOUND:
                read_error(response)
                return None
            return await read_exactly(shape, response)

        return await self.get(*path, fresh_s=fresh_s, accept=frozenset({NOT_FOUND}), read=read)

    async def find_lifts(self) -> Sequence[LiftDisruption] | None:
        """Return the lifts that are out of order, or None if the request fails."""
        path = ("Disruptions", "Lifts", "v2")
        answer = await find_or_none(self.fetch(tuple[LiftDisruption, ...], *path, fresh_s=STATUS_FRESH_S))
        return None if answer is None else answer.data


async def find_or_none(request: Coroutine[Any, Any, _T]) -> _T | None:
    """Return a request's result, or None if it fails or takes most of the call's remaining time."""
    remaining_s = clock.find_remaining_s()
    try:
        async with clock.time_limit(None if remaining_s is None else remaining_s * _OPTIONAL_SHARE):
            return await request
    except (StorageUnavailable, SourceChanged, TimeoutError):
        return None


def read_error(response: Response) -> ApiError:
    """Parse TfL's error; raise SourceFailed for a gateway's error page, and SourceChanged for an unknown path."""
    try:
        error: ApiError = get_reader(ApiError).validate_json(response.body)
    except ValidationError as failure:
        message = f"{response.host} returned an error (HTTP {response.status}) that is not TfL's own"
        raise SourceFailed(message) from failure
    if _UNKNOWN_PATH in error.message.lower():
        raise SourceChanged(f"{response.host} has no such path (HTTP {response.status}): {format_error(error)}")
    return error


def format_error(error: ApiError) -> str:
    return shorten(error.message) or "no reason given"


def _find_failure(response: Response) -> ToolError | None:
    """Return the error for a status that TfL uses in a nonstandard way, or None for any other status."""
    text = response.body[:2000].decode(errors="replace").lower()
    if response.status == _TOO_MANY and "app_key" in text:
        # TfL reports an unknown key as a rate limit.
        return SourceKeyRefused(f"{response.host} refused the key", hint=f"Check {KEY_VARIABLE}")
    if response.status == _CONFLICT:
        return SourceFailed(f"{response.host}: the journey planner is not available (HTTP {_CONFLICT})")
    return None
