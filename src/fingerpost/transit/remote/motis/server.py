"""Ask one MOTIS server, and tell its failures apart.

Refusals come as JSON ``{"error": ...}``: 400 for a bad parameter, 404 for an unknown stop or feed, 422 for too much.
A path that this version lacks is a 404 without that body; a gateway before the server answers in text or HTML.
"""

import asyncio
import logging
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from fingerpost.errors import DataNotFound, OutsideCalendar, SourceChanged, SourceFailed, SourceKeyRefused, ToolError
from fingerpost.net.fetch import Fetch
from fingerpost.net.request import Request, RequestLimits, read_template, split_address
from fingerpost.net.response import Response
from fingerpost.net.scrubbing import scrub
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.model.profile import ANSWER_DEADLINE_S
from fingerpost.transit.remote.kit.partial_answers import holds_any, read_in_part, say_lost
from fingerpost.transit.remote.motis.endpoints import NEWEST, MotisEndpoint, path_of
from fingerpost.transit.remote.motis.shapes import Complaint

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

# How long an answer that real time may change is served again from memory; Transitous asks for frugality.
LIVE_FRESH_S = 10.0
# The same of where stops lie, what they are called, and what a name may mean.
STOPS_FRESH_S = 600.0
_REFUSED = frozenset({400, 404, 422})
_LONGEST_MESSAGE = 200
_OUTSIDE = "outside of loaded timetable"


class UnknownThere(DataNotFound):
    """The server knows no such stop, feed or trip."""


class TooMuchAsked(SourceFailed):
    """The answer would be larger than the server gives."""

    retryable = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MotisAnswer(Generic[_T]):
    """The data of an answer, when the server said it, and sentences on what is left out of it."""

    data: _T
    retrieved_at: datetime
    notes: tuple[str, ...] = ()


class MotisServer:
    """One server.

    Args:
        fetch: asks an address.
        record: its ``url`` and ``key``.
        api: the newest version of the API that the server has.
        limits: of one request; by default what callers wait for an answer.
    """

    def __init__(
        self, fetch: Fetch, record: NetworkRecord, api: int = NEWEST, limits: RequestLimits | None = None
    ) -> None:
        self._fetch = fetch
        address, self._secret_params = read_template(record.url or "")
        self._base = split_address(address)
        self._secret_headers = {} if record.key is None else {"authorization": record.key}
        self._limits = limits or RequestLimits(read_s=ANSWER_DEADLINE_S, total_s=ANSWER_DEADLINE_S)
        self.api = api

    async def ask(
        self,
        endpoint: MotisEndpoint,
        shape: type[_T],
        params: Mapping[str, str],
        *,
        language: str | None = None,
        fresh_s: float = LIVE_FRESH_S,
        limits: RequestLimits | None = None,
    ) -> MotisAnswer[_T]:
        """Ask a question and return its answer.

        Raises:
            UnknownThere: it knows no such stop or feed.
            OutsideCalendar: its timetable does not cover that instant.
            TooMuchAsked: the answer would be larger than it gives.
            StorageUnavailable: the server cannot be asked, or could not answer.
            SourceChanged: it answered in another shape, or does not know what it was asked.
        """
        asked = {**params, **({"language": language} if language else {})}
        response = await self._get(path_of(endpoint, self.api), asked, fresh_s, limits)
        if response.status in _REFUSED:
            raise _read_refusal(response)
        try:
            return MotisAnswer(data=_reader(shape).validate_json(response.body), retrieved_at=response.retrieved_at)
        except ValidationError as error:
            return await _read_some(shape, response, error)

    async def has(self, path: str) -> bool:
        """Return whether the server has a path: it complains in its own words of being asked nothing there.

        Raises:
            StorageUnavailable: the server cannot be asked.
        """
        response = await self._get(path, {}, 0.0, None)
        return response.status in _REFUSED and _find_complaint(response) is not None

    async def _get(
        self, path: str, params: Mapping[str, str], fresh_s: float, limits: RequestLimits | None
    ) -> Response:
        request = Request(
            url=self._base._replace(path=self._base.path.rstrip("/") + path).geturl(),
            params=params,
            headers={"accept": "application/json"},
            secret_params=self._secret_params,
            secret_headers=self._secret_headers,
            fresh_s=fresh_s,
            may_keep=_is_whole,
            accept=_REFUSED,
            check_response=None if self._secret_headers or self._secret_params else _find_ban,
            limits=limits or self._limits,
        )
        return scrub(await self._fetch(request), request)


def _is_whole(response: Response) -> bool:
    """Return whether an answer is JSON and no refusal, so that it may be served again."""
    return response.status not in _REFUSED and response.body.lstrip()[:1] in (b"{", b"[")


def _find_ban(response: Response) -> ToolError | None:
    """Return the error of a 403 where no key was sent: the gateway takes offence at who asks."""
    if response.status != 403 or "retry-after" in response.headers:
        return None
    host = response.redacted_url.split("/")[2]
    return SourceKeyRefused(
        f"{host} refuses our requests (HTTP 403)",
        {"status": 403},
        hint="It may want to know who asks: set FINGERPOST_CONTACT to a mail address or a page of yours",
    )


def _read_refusal(response: Response) -> ToolError:
    host = response.redacted_url.split("/")[2]
    complaint = _find_complaint(response)
    if complaint is None:
        path = split_address(response.redacted_url).path
        return SourceChanged(
            f"{host} has no {path} (HTTP {response.status})",
            {"status": response.status},
            hint="Its version may have changed: run `fingerpost network refresh`",
        )
    said = " ".join(complaint.split())[:_LONGEST_MESSAGE].rstrip(".")
    _log.info("%s refused (HTTP %d): %s", response.redacted_url, response.status, said)
    if response.status == 404:
        return UnknownThere(f"{host} does not know what it was asked for: {said}")
    if response.status == 422:
        return TooMuchAsked(f"{host} does not answer so much at once: {said}", {"status": 422})
    if _OUTSIDE in said:
        return OutsideCalendar(f"The timetable of {host} does not cover that day")
    return SourceChanged(
        f"{host} does not take what it was asked: {said}",
        {"status": response.status},
        hint="Its version may have changed: run `fingerpost network refresh`",
    )


def _find_complaint(response: Response) -> str | None:
    try:
        return _COMPLAINT.validate_json(response.body).error
    except ValidationError:
        return None


_COMPLAINT = TypeAdapter(Complaint)


@cache
def _new_reader(shape: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(shape)  # type: ignore[arg-type]  # the shape is known when it is asked for


def _reader(shape: type[_T]) -> TypeAdapter[_T]:
    return _new_reader(cast("Hashable", shape))


async def _read_some(shape: type[_T], response: Response, failed: ValidationError) -> MotisAnswer[_T]:
    """Return what can be read of an answer.

    Raises:
        SourceChanged: nothing can.
    """
    try:
        data, lost = await asyncio.to_thread(read_in_part, _reader(shape), response.body, failed)
    except ValidationError:
        raise _unreadable(response, failed) from failed
    notes = say_lost(lost)
    if not holds_any(data, lost):
        raise SourceChanged(f"{response.redacted_url} answered nothing that can be read. {' '.join(notes)}")
    _log.warning("%s: %s", response.redacted_url, " ".join(notes))
    return MotisAnswer(data=data, retrieved_at=response.retrieved_at, notes=tuple(notes))


def _unreadable(response: Response, error: ValidationError) -> SourceChanged:
    where = ".".join(str(part) for part in error.errors()[0]["loc"])
    what = (
        "something that is not JSON" if error.errors()[0]["type"] == "json_invalid" else f"an unknown shape ({where})"
    )
    return SourceChanged(
        f"{response.redacted_url} answered {what}", {"status": response.status, "bytes": len(response.body)}
    )
