"""Ask TfL's API, and tell its failures apart; a 300 and some 404s are answers."""

import logging
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from fingerpost.errors import SourceChanged, SourceFailed, SourceKeyRefused, ToolError
from fingerpost.net.fetch import Fetch
from fingerpost.net.request import Request, RequestLimits
from fingerpost.net.response import Response
from fingerpost.net.scrubbing import scrub
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.model.profile import ANSWER_DEADLINE_S
from fingerpost.transit.remote.kit.partial_answers import holds_any, read_in_part, say_lost
from fingerpost.transit.remote.tfl.shapes import ApiError
from fingerpost.transit.remote.tfl.unified_api import ADDRESS, KEY_HEADER, KEY_VARIABLE

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

# TfL keeps journeys and predictions for half a minute and longer; to ask sooner brings nothing new.
LIVE_FRESH_S = 30.0
STATUS_FRESH_S = 60.0
# Where stops lie and what they are called.
STOPS_FRESH_S = 600.0

NOT_FOUND = 404
_CONFLICT = 409
_TOO_MANY = 429
_LONGEST_MESSAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TflAnswer(Generic[_T]):
    """The data of an answer, and when TfL said it."""

    data: _T
    retrieved_at: datetime


class TflClient:
    """TfL's API, or what answers like it.

    Args:
        fetch: asks an address.
        record: its ``url`` and ``key``, TfL's own by default.
        limits: of one request.
    """

    def __init__(self, fetch: Fetch, record: NetworkRecord, limits: RequestLimits | None = None) -> None:
        self._fetch = fetch
        self._address = (record.url or ADDRESS).rstrip("/")
        self._secret_headers = {KEY_HEADER: record.key or KEY_VARIABLE}
        self._limits = limits or RequestLimits(read_s=ANSWER_DEADLINE_S, total_s=ANSWER_DEADLINE_S)

    async def ask(
        self,
        shape: type[_T],
        *path: str,
        params: Mapping[str, str] | None = None,
        fresh_s: float = LIVE_FRESH_S,
    ) -> TflAnswer[_T]:
        """Return what stands at a path; each part of it is quoted.

        Raises:
            StorageUnavailable: TfL cannot be asked, or could not answer.
            SourceChanged: it answered in another shape.
        """
        response = await self.fetch(*path, params=params, fresh_s=fresh_s)
        return TflAnswer(data=read(shape, response), retrieved_at=response.retrieved_at)

    async def find(
        self,
        shape: type[_T],
        *path: str,
        params: Mapping[str, str] | None = None,
        fresh_s: float = LIVE_FRESH_S,
    ) -> TflAnswer[_T] | None:
        """Return what stands at a path, None where TfL knows nothing of that name; errors as ``ask``."""
        response = await self.fetch(*path, params=params, fresh_s=fresh_s, accept=frozenset({NOT_FOUND}))
        if response.status == NOT_FOUND:
            read_error(response)
            return None
        return TflAnswer(data=read(shape, response), retrieved_at=response.retrieved_at)

    async def fetch(
        self,
        *path: str,
        params: Mapping[str, str] | None = None,
        fresh_s: float = LIVE_FRESH_S,
        accept: frozenset[int] = frozenset(),
    ) -> Response:
        """Return the response at a path, without our key; ``accept`` are statuses that are an answer too.

        Raises:
            StorageUnavailable: TfL cannot be asked, or could not answer.
        """
        request = Request(
            url="/".join([self._address, *(quote(part, safe="") for part in path)]),
            params=dict(params or {}),
            headers={"accept": "application/json"},
            secret_headers=self._secret_headers,
            fresh_s=fresh_s,
            may_keep=_is_json,
            accept=accept,
            check_response=_find_failure,
            limits=self._limits,
        )
        return scrub(await self._fetch(request), request)


def read(shape: type[_T], response: Response) -> _T:
    """Return a body in its shape.

    Raises:
        SourceChanged: it has another one.
    """
    reader = _reader_of(shape)
    try:
        return reader.validate_json(response.body)
    except ValidationError as error:
        raise _unreadable(response, error) from error


def read_noting(shape: type[_T], response: Response) -> tuple[_T, list[str]]:
    """Return a body in its shape, and sentences on what is left out of it, because it cannot be read.

    Only for answers that can say so; one that could not would lose a closed line without a word.

    Raises:
        SourceChanged: it has another shape, or nothing that was asked for can be read.
    """
    reader = _reader_of(shape)
    try:
        return reader.validate_json(response.body), []
    except ValidationError as error:
        with suppress(ValidationError):
            data, lost = read_in_part(reader, response.body, error)
            if holds_any(data, lost):
                notes = say_lost(lost)
                _log.warning("%s: %s", response.redacted_url.partition("?")[0], " ".join(notes))
                return data, notes
        raise _unreadable(response, error) from error


def _reader_of(shape: type[_T]) -> "TypeAdapter[_T]":
    return cast("TypeAdapter[_T]", _reader(cast("Hashable", shape)))


def _unreadable(response: Response, error: ValidationError) -> SourceChanged:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    what = "something that is not JSON" if first["type"] == "json_invalid" else f"an unknown shape ({where})"
    return SourceChanged(
        f"{response.redacted_url.partition('?')[0]} answered {what}",
        {"status": response.status, "bytes": len(response.body)},
    )


def read_error(response: Response) -> ApiError:
    """Return what TfL says of a failure.

    Raises:
        SourceFailed: it is a page of somebody between TfL and us, not TfL's word.
    """
    try:
        return cast("ApiError", _reader(ApiError).validate_json(response.body))
    except ValidationError as error:
        host = response.redacted_url.split("/")[2]
        raise SourceFailed(f"{host} answered with a failure (HTTP {response.status}) that is not TfL's own") from error


def say(error: ApiError) -> str:
    """Return TfL's sentence, bounded."""
    return " ".join(error.message.split())[:_LONGEST_MESSAGE].rstrip(".") or "no reason given"


def _find_failure(response: Response) -> ToolError | None:
    """Return what a status means where it is not what it says; None to decide by the status alone."""
    text = response.body[:2000].decode(errors="replace").lower()
    host = response.redacted_url.split("/")[2]
    if response.status == _TOO_MANY and "app_key" in text:
        # TfL limits those whose key it does not know as if they had asked too often.
        return SourceKeyRefused(f"{host} refused the key", hint=f"Check {KEY_VARIABLE}")
    if response.status == _CONFLICT:
        failure = SourceFailed(f"{host}: the journey planner is not available (HTTP {_CONFLICT})")
        failure.retryable = True
        return failure
    return None


def _is_json(response: Response) -> bool:
    return response.body.lstrip()[:1] in (b"{", b"[")


@cache
def _reader(shape: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("type[Any]", shape))
