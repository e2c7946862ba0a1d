"""Send HTTP requests to one transit server, and describe the command-line option that adds it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote

from fingerpost.errors import SourceChanged
from fingerpost.net.request import Fetch, Request, RequestLimits, ResponseCheck, read_template, split_address
from fingerpost.net.response import Response
from fingerpost.transit.model.profile import ANSWER_DEADLINE_S

_T = TypeVar("_T")

# The cache lifetime of responses about stops and names.
STOPS_FRESH_S = 600.0

_MAX_MESSAGE_CHARS = 200
_FIRST_ERROR_STATUS = 400
# If a server requests a longer pause, its response is reported immediately, without waiting.
_MAX_PAUSE_S = 2.5


def new_limits(deadline_s: float) -> RequestLimits:
    return RequestLimits(read_s=deadline_s, total_s=deadline_s, longest_pause_s=_MAX_PAUSE_S)


def is_cacheable(response: Response) -> bool:
    """Whether a response is successful and is JSON without GraphQL errors."""
    is_json = response.body.lstrip()[:1] in (b"{", b"[")
    return response.status < _FIRST_ERROR_STATUS and is_json and b'"errors"' not in response.body


class Connection:
    """Sends requests to one server; raises ParameterError if its ``url`` is invalid.

    The ``url`` may contain a key as ``?name=${VARIABLE}``; ``key`` names the variable that holds the key for
    ``key_header``. ``check_response`` detects failures that the HTTP status does not show.
    """

    def __init__(
        self,
        fetch: Fetch,
        url: str,
        *,
        key_header: str,
        key: str | None,
        deadline_s: float = ANSWER_DEADLINE_S,
        check_response: ResponseCheck | None,
    ) -> None:
        self._fetch = fetch
        address, secret_params = read_template(url)
        self._base = split_address(address)
        self._request = Request(
            url=address,
            headers={"accept": "application/json"},
            secret_params=secret_params,
            secret_headers={} if key is None else {key_header: key},
            may_cache=is_cacheable,
            check_response=check_response,
            limits=new_limits(deadline_s),
        )

    async def get(
        self,
        *path: str,
        params: Mapping[str, str] | None = None,
        fresh_s: float,
        accept: frozenset[int] = frozenset(),
        read: Callable[[Response], Awaitable[_T]],
    ) -> _T:
        """Request a path, percent-encoding its parts, and parse the response with ``read``."""
        parts = "/".join((self._base.path.rstrip("/"), *(quote(part, safe="") for part in path)))
        url = self._base._replace(path=parts).geturl()
        request = replace(self._request, url=url, params=dict(params or {}), fresh_s=fresh_s, accept=accept)
        return await self._send(request, read)

    async def post(
        self, content: bytes, *, headers: Mapping[str, str], fresh_s: float, read: Callable[[Response], Awaitable[_T]]
    ) -> _T:
        headers = {**self._request.headers, "content-type": "application/json", **headers}
        request = replace(self._request, headers=headers, content=content, fresh_s=fresh_s)
        return await self._send(request, read)

    async def _send(self, request: Request, read: Callable[[Response], Awaitable[_T]]) -> _T:
        """Send a request and read the response; if a cached response cannot be read, fetch it again."""
        response = await self._fetch(request)
        try:
            return await read(response)
        except SourceChanged:
            if not response.from_cache:
                raise
        return await read(await self._fetch(replace(request, fresh_s=0.0)))


def shorten(message: str) -> str:
    return " ".join(message.split())[:_MAX_MESSAGE_CHARS].rstrip(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOption:
    """A command-line option, such as ``--otp URL``, that sets the source kind of the new network.

    ``metavar`` is None if the option takes no value. ``fill`` converts the value (an empty string if there is none) to
    fields of the network's record, such as ``{"url": ...}``, or raises ParameterError.
    """

    name: str
    metavar: str | None
    help: str
    fill: Callable[[str], Mapping[str, Any]]

    @property
    def parameter(self) -> str:
        return self.name.replace("-", "_")
