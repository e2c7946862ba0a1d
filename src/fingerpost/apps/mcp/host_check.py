"""Refuse requests under a host name that is not the server's: a page elsewhere may have its own name point to us."""

import ipaddress
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

Endpoint = Callable[[Request], Awaitable[Response]]


def check_host(endpoint: Endpoint, hosts: Collection[str]) -> Endpoint:
    """Return an endpoint that answers 421 where the request's host is neither one of these nor a plain IP address.

    A browser that was misled asks under the name that misled it; probes and scrapers often ask by address.
    """
    known = {host.strip("[]").lower() for host in hosts}

    async def answer(request: Request) -> Response:
        name = _name_of(request.headers.get("host", ""))
        if name not in known and not _is_address(name):
            return PlainTextResponse("This server is not known by that name; see --allow-host", status_code=421)
        return await endpoint(request)

    return answer


def _name_of(host: str) -> str:
    """Return a Host header without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        ipaddress.ip_address(name)
        return True
    return False
