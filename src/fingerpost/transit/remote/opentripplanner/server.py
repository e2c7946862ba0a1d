"""Send GraphQL documents to one OpenTripPlanner server, and classify its failures.

The GraphQL engine always responds with HTTP 200; errors are in the body, sometimes together with data.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from fingerpost.errors import SourceChanged, SourceFailed, SourceLimited, SourceTimeout, StorageUnavailable, ToolError
from fingerpost.net.request import Fetch
from fingerpost.net.response import Response
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.model.profile import ANSWER_DEADLINE_S
from fingerpost.transit.remote.kit.answers import Answer, Shape, list_first, read_answer
from fingerpost.transit.remote.kit.server import Connection, shorten
from fingerpost.transit.remote.opentripplanner.digitransit import KEY_HEADER, find_region
from fingerpost.transit.remote.opentripplanner.documents import new_document
from fingerpost.transit.remote.opentripplanner.shapes import GraphQLError, Reply

_VERSION_HINT = "OpenTripPlanner 2.7 to 2.9 are supported; after an update of the server: `fingerpost network refresh`"
_log = logging.getLogger(__name__)
_T = TypeVar("_T", bound=Shape)

LIVE_FRESH_S = 10.0
# The operator sets the whole value of this header.
_PLAIN_KEY_HEADER = "authorization"
_MAX_PATH_CHARS, _MAX_PATHS = 120, 5
_WAIT = re.compile(r"(?:again|replenished) in (?:(\d+) second|(?:(\d+)\.)?(\d+):(\d\d):(\d\d))", re.IGNORECASE)
_DEFAULT_WAIT_S = 5.0
# The wait after an exhausted quota, if the server gives none.
_QUOTA_WAIT_S = 3600.0


class Server(Connection):
    """One server, which is queried for fares if ``with_fares``."""

    def __init__(self, fetch: Fetch, record: NetworkRecord, *, with_fares: bool = False) -> None:
        region = find_region(record.url)
        self._with_fares = with_fares
        super().__init__(
            fetch,
            record.url or "",
            key_header=_PLAIN_KEY_HEADER if region is None else KEY_HEADER,
            key=record.key,
            deadline_s=ANSWER_DEADLINE_S if region is None else region.deadline_s,
            may_cache=is_whole,
            check_response=find_limit,
        )

    async def ask(
        self,
        shape: type[_T],
        variables: Mapping[str, Any] | None = None,
        *,
        language: str | None = None,
        fresh_s: float = LIVE_FRESH_S,
    ) -> Answer[_T]:
        """Query the fields of a shape; ``variables`` hold no nulls."""
        document = new_document(shape, with_fares=self._with_fares)
        body = {"query": document, **({"variables": variables} if variables else {})}

        async def read(response: Response) -> Answer[_T]:
            answer = await read_answer(Reply[shape], response)  # type: ignore[valid-type]  # known at the call
            reply: Reply[_T] = answer.data
            if reply.data is None:
                raise _failure(response, reply.errors, has_data="data" in answer.lost)
            return replace(answer.with_data(reply.data), notes=(*_note_errors(response, reply.errors), *answer.notes))

        return await self.post(
            json.dumps(body, sort_keys=True, separators=(",", ":")).encode(),
            headers={"accept-language": language} if language else {},
            fresh_s=fresh_s,
            read=read,
        )


def is_whole(response: Response) -> bool:
    """Whether an answer is JSON without errors, so that it may be cached."""
    return response.body.lstrip()[:1] == b"{" and b'"errors"' not in response.body


def find_limit(response: Response) -> ToolError | None:
    """Return an error with the wait that the text of a 403 or 429 requests; None to decide by the status alone."""
    if response.status not in (403, 429) or "retry-after" in response.headers:
        return None
    text = response.body[:2000].decode(errors="replace")
    found = _WAIT.search(text)
    is_quota = "quota" in text.lower()
    if found is None and response.status == 403 and not is_quota:
        return None
    host = response.host
    wait_s = _read_wait_s(found) if found else (_QUOTA_WAIT_S if is_quota else _DEFAULT_WAIT_S)
    return SourceLimited(f"{host} asks us to wait (HTTP {response.status})", retry_after_s=wait_s)


def _read_wait_s(found: re.Match[str]) -> float:
    if found[1]:
        return float(found[1])
    return int(found[2] or 0) * 86_400.0 + int(found[3]) * 3600 + int(found[4]) * 60 + int(found[5])


def _failure(
    response: Response, errors: Sequence[GraphQLError], *, has_data: bool
) -> StorageUnavailable | SourceChanged:
    """Return the error for a response without data, or, if ``has_data``, without a required part.

    A server that returns partial data is up, so that error is not retryable and does not open the circuit.
    """
    host = response.host
    if not errors:
        return SourceChanged(f"{host} answered {'without the requested data' if has_data else 'no data'}")
    text = _format_error(errors[0])
    if "TimeoutException" in errors[0].message or "timeout" in errors[0].message.lower():
        return SourceTimeout(f"{host} took too long: {text}")
    if errors[0].classification in ("ValidationError", "InvalidSyntax"):
        return SourceChanged(f"{host} rejected the request: {text}", hint=_VERSION_HINT)
    return SourceFailed(f"{host} could not answer: {text}", retryable=not has_data)


def _note_errors(response: Response, errors: Sequence[GraphQLError]) -> tuple[str, ...]:
    if not errors:
        return ()
    _log.warning("%s returned partial data: %s", response.redacted_url, "; ".join(map(_format_error, errors)))
    paths = dict.fromkeys(".".join(str(part) for part in error.path or () if isinstance(part, str)) for error in errors)
    named = [path[:_MAX_PATH_CHARS] for path in paths if path]
    missing = list_first(named, _MAX_PATHS) or "parts of the answer"
    return (f"The server answered without {missing} ({_format_error(errors[0])}).",)


def _format_error(error: GraphQLError) -> str:
    return shorten(error.message) or error.classification or "no reason given"
