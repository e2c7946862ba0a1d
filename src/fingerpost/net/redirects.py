"""Follow a redirect, without sending secrets to another origin."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import SplitResult, urljoin

from fingerpost.errors import ParameterError, SourceFailed
from fingerpost.net.redaction import is_secret_name
from fingerpost.net.request import Request, split_address

_DEFAULT_PORTS = {"http": 80, "https": 443}
_BODY_HEADERS = frozenset({"content-type", "content-length", "content-encoding"})

STATUSES = frozenset({301, 302, 303, 307, 308})


def follow(request: Request, status: int, headers: Mapping[str, str]) -> Request:
    """Return the request that a redirect asks for. A key never goes along to another origin.

    Raises:
        SourceFailed: it leads nowhere, away from TLS, or would change what is asked.
    """
    old = request.split()
    try:
        new = split_address(urljoin(request.url, headers["location"]))
    except (KeyError, ValueError, ParameterError) as error:
        raise _refused(old, "to no address that can be asked") from error
    if old.scheme == "https" and new.scheme != "https":
        raise _refused(old, "from https to an address that anyone on the way can read")
    method, content, sent = request.method, request.content, dict(request.headers)
    if status == 303 and method.upper() not in ("GET", "HEAD"):
        method, content = "GET", None
        sent = {name: value for name, value in sent.items() if name.lower() not in _BODY_HEADERS}
    elif status in (301, 302) and method.upper() not in ("GET", "HEAD"):
        raise _refused(old, "a question that cannot be moved; the address must be corrected")
    secret_headers: Mapping[str, str] = request.secret_headers
    if _origin(old) != _origin(new):
        secret_headers = {}
        sent = {name: value for name, value in sent.items() if not is_secret_name(name)}
    # The new address is complete: the source repeats in it what it still needs of the query.
    return replace(
        request,
        url=new.geturl(),
        method=method,
        content=content,
        headers=sent,
        params={},
        secret_params={},
        secret_headers=secret_headers,
    )


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS[parts.scheme]


def _refused(parts: SplitResult, where: str) -> SourceFailed:
    error = SourceFailed(f"{parts.hostname} redirects {where}")
    error.retryable = False
    return error
