"""Send requests to one MOTIS server, and classify its failures.

MOTIS reports errors as JSON ``{"error": ...}``: 400 for a bad parameter, 404 for an unknown stop or feed, 422 for too
many results. If the server's version lacks a path, it returns 404 without that body. Gateways return text or HTML.
"""

import logging
import re
from collections.abc import Mapping
from datetime import date, timedelta
from enum import StrEnum
from typing import TypeVar

from pydantic import ValidationError

from fingerpost import errors
from fingerpost.net.request import Fetch, read_template, split_address
from fingerpost.net.response import Response
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.remote.kit.answers import Answer, get_reader, read_answer
from fingerpost.transit.remote.kit.server import Connection, shorten
from fingerpost.transit.remote.motis.shapes import ErrorBody

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

LIVE_FRESH_S = 10.0
_REFUSED = frozenset({400, 404, 422})
_OUTSIDE = "outside of loaded timetable"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")

_VERSION_HINT = (
    "Update the server to MOTIS 2.11 or later: version 6 of its API is needed, and MOTIS 2.10 omits cancelled trips"
)


class MotisEndpoint(StrEnum):
    PLAN = "api/v6/plan"
    STOP_TIMES = "api/v6/stoptimes"
    STOPS = "api/v6/map/stops"
    INITIAL = "api/v1/map/initial"
    GEOCODE = "api/v1/geocode"


class UnknownToServer(errors.DataNotFound):
    """The server has no such stop, feed or trip."""


class ResponseTooLarge(errors.SourceFailed):
    """The response would exceed the server's limit."""

    retryable = False


class MotisServer(Connection):
    def __init__(self, fetch: Fetch, record: NetworkRecord) -> None:
        has_key = record.key is not None or bool(read_template(record.url or "")[1])
        super().__init__(
            fetch,
            record.url or "",
            key_header="authorization",
            key=record.key,
            check_response=None if has_key else _find_blocked_error,
        )

    async def fetch(
        self,
        endpoint: MotisEndpoint,
        shape: type[_T],
        params: Mapping[str, str],
        *,
        language: str | None = None,
        fresh_s: float = LIVE_FRESH_S,
    ) -> Answer[_T]:
        query = {**params, **({"language": language} if language else {})}

        async def read(response: Response) -> Answer[_T]:
            if response.status in _REFUSED:
                raise _new_refusal(response)
            return await read_answer(shape, response)

        return await self.get(*endpoint.split("/"), params=query, fresh_s=fresh_s, accept=_REFUSED, read=read)


def _find_blocked_error(response: Response) -> errors.ToolError | None:
    """Explain a 403 for a request without a key: the gateway is blocking our User-Agent or address."""
    if response.status != 403 or "retry-after" in response.headers:
        return None
    return errors.SourceKeyRefused(
        f"{response.host} refused the request (HTTP 403)",
        {"status": 403},
        hint="Set FINGERPOST_CONTACT to your e-mail address or web page, because the server may require a contact",
    )


def _new_refusal(response: Response) -> errors.ToolError:
    host = response.host
    try:
        error_body: ErrorBody = get_reader(ErrorBody).validate_json(response.body)
    except ValidationError:
        path = split_address(response.redacted_url).path
        message = f"{host} has no {path} (HTTP {response.status})"
        return errors.SourceChanged(message, {"status": response.status}, hint=_VERSION_HINT)
    text = shorten(error_body.error)
    _log.info("%s refused (HTTP %d): %s", response.redacted_url, response.status, text)
    if response.status == 404:
        return UnknownToServer(f"{host} has no such stop or feed: {text}")
    if response.status == 422:
        return ResponseTooLarge(f"{host} does not return that many results at once: {text}", {"status": 422})
    if _OUTSIDE in text:
        return errors.new_outside_calendar_error(host, *_find_days(text.partition(_OUTSIDE)[2]))
    return errors.SourceChanged(
        f"{host} rejected the request: {text}",
        {"status": response.status},
        hint="The server's version may have changed: run `fingerpost network refresh`",
    )


def _find_days(window: str) -> tuple[date, date] | tuple[None, None]:
    """Parse a half-open window, and return its first and last day, or None for both if it is invalid."""
    try:
        first, end = map(date.fromisoformat, _DAY.findall(window))
    except ValueError:
        return None, None
    return (first, end - timedelta(days=1)) if first < end else (None, None)
