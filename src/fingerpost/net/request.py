"""Requests to sources, with their limits, keys and redirects."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf
from typing import Protocol
from urllib.parse import SplitResult, urlencode, urljoin, urlsplit, urlunsplit

from fingerpost.errors import ParameterError, SourceFailed, SourceKeyRefused, ToolError
from fingerpost.net.redaction import is_secret_name, list_pairs, read_pair, redact_url
from fingerpost.net.response import Response

REDIRECTS = frozenset({301, 302, 303, 307, 308})

_DEFAULT_PORTS = {"http": 80, "https": 443}
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
# The headers that are part of the cache key.
_VARY_HEADERS = ("accept", "accept-language", "content-type")

# Returns an error for an invalid response, or None to continue with the status check.
ResponseCheck = Callable[[Response], ToolError | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """Limits for a request; ``read_s`` applies to each read.

    ``total_s`` includes waits, retries, redirects and the time to read the body. If a source requests a wait longer
    than ``longest_pause_s``, the request fails at once.
    """

    connect_s: float = 5.0
    read_s: float = 10.0
    total_s: float = 30.0
    longest_pause_s: float = inf
    max_bytes: int = 20_000_000
    attempts: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request; ``secret_params`` and ``secret_headers`` map names to environment variables.

    Attributes:
        url: an absolute http or https URL; quote path segments that callers choose.
        content: the body of a POST, which must not change data, because it may be sent twice; None sends a GET.
        fresh_s: how long a response may be served from the cache; 0 bypasses the cache.
        may_cache: whether a response may be cached; if None, all responses are, even an error page with status 200.
        accept: statuses other than 2xx that are not failures.
        check_response: called before the status check; receives the body only if it is in memory.
    """

    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    secret_params: Mapping[str, str] = field(default_factory=dict)
    secret_headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    fresh_s: float = 0.0
    may_cache: Callable[[Response], bool] | None = None
    accept: frozenset[int] = frozenset()
    check_response: ResponseCheck | None = None
    limits: RequestLimits = field(default_factory=RequestLimits)

    @property
    def method(self) -> str:
        return "GET" if self.content is None else "POST"

    @property
    def redacted_url(self) -> str:
        """The URL without secrets, for logs, errors and cache keys."""
        return redact_url(_add_query(self.url, self.params))

    @property
    def key(self) -> str:
        lowered = {name.lower(): value for name, value in self.headers.items()}
        varying = [(name, lowered[name]) for name in _VARY_HEADERS if name in lowered]
        digest = hashlib.sha256(self.content or b"").hexdigest()
        return repr((self.method, self.redacted_url, varying, digest))

    def split(self) -> SplitResult:
        return split_address(self.url)

    def prepare(self, environ: Mapping[str, str] = os.environ) -> tuple[str, dict[str, str], list[str]]:
        """Return the URL and headers to send, and the secrets in them; raise SourceKeyRefused if a key is not set."""
        parts = self.split()
        keys = {name: _read_key(variable, environ) for name, variable in self.secret_params.items()}
        headers = dict(self.headers)
        secret_headers = {name: _read_key(variable, environ) for name, variable in self.secret_headers.items()}
        headers |= secret_headers
        secrets = [*keys.values(), *secret_headers.values()]
        secrets += [value for name, value in map(read_pair, list_pairs(parts.query)) if is_secret_name(name) and value]
        secrets += [value for name, value in self.headers.items() if is_secret_name(name)]
        address = urlunsplit(parts._replace(fragment=""))
        return _add_query(address, {**self.params, **keys}), headers, secrets


class Fetch(Protocol):
    """Sends a request, as ``Client.fetch`` does; ``known`` makes the request conditional."""

    async def __call__(self, request: Request, known: Response | None = None) -> Response: ...


def format_server(parts: SplitResult) -> str:
    """Return the host of an address, with the port if it is not the scheme's default."""
    host, port = parts.hostname or "", parts.port
    if port in (None, _DEFAULT_PORTS.get(parts.scheme)):
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_host(server: str) -> str:
    if server.startswith("["):
        return server[1:].partition("]")[0]
    return server.partition(":")[0] if server.count(":") == 1 else server


@lru_cache(maxsize=256)
def split_address(url: str) -> SplitResult:
    """Split an http or https address; raise ParameterError for anything else."""
    try:
        parts = urlsplit(url.strip())
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or len(url.split()) != 1:
        raise ParameterError("An address must begin with http:// or https:// and include a host", {"field": "url"})
    return parts


def follow_redirect(request: Request, status: int, headers: Mapping[str, str]) -> Request:
    """Return the request for a redirect, without keys if the origin changes.

    Raise SourceFailed if the new address is invalid, or if the redirect drops TLS or would change the method.
    """
    old = request.split()
    try:
        new = split_address(urljoin(request.url, headers["location"]))
    except (KeyError, ValueError, ParameterError) as error:
        raise _new_redirect_error(old, "to an unusable address") from error
    if "@" in new.netloc:
        raise _new_redirect_error(old, "to an address with a password")
    if old.scheme == "https" and new.scheme != "https":
        raise _new_redirect_error(old, "from https to unencrypted http")
    if status in (301, 302, 303) and request.content is not None:
        raise _new_redirect_error(old, "a request that cannot be sent elsewhere; correct the address")
    sent, secret_headers = request.headers, request.secret_headers
    if _get_origin(old) != _get_origin(new):
        secret_headers = {}
        sent = {name: value for name, value in sent.items() if not is_secret_name(name)}
    # Drop the params, because the new URL already has its own query string.
    return replace(request, url=new.geturl(), headers=sent, params={}, secret_params={}, secret_headers=secret_headers)


def _get_origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS[parts.scheme]


def _new_redirect_error(parts: SplitResult, problem: str) -> SourceFailed:
    return SourceFailed(f"{parts.hostname} redirects {problem}", retryable=False)


def read_template(text: str) -> tuple[str, dict[str, str]]:
    """Split an address such as ``https://host/feed.zip?api_key=${MY_KEY}`` into the address and its secret parameters.

    Raise ParameterError for a plain-text key, a fragment, or ``${`` inside other text.
    """
    parts = split_address(text)
    if "@" in parts.netloc:
        raise _new_plain_secret_error("a password")
    if "#" in text:
        raise ParameterError(
            "The address contains #, and the part after it is never sent",
            {"field": "url"},
            hint="Remove # and everything after it; write a key as a parameter, ?key=${NAME}, in single quotes",
        )
    query, secret_params = parts.query, {}
    for pair in list_pairs(parts.query):
        name, value = read_pair(pair)
        reference = _REFERENCE.fullmatch(value)
        if reference is not None:
            secret_params[name] = reference[1]
            # Also remove one separator: the one before the pair or, for the first pair, the one after it.
            query = re.sub(rf"(^{re.escape(pair)}([&;]|$)|[&;]{re.escape(pair)}(?=[&;]|$))", "", query, count=1)
        elif "=" in pair and is_secret_name(name):
            raise _new_plain_secret_error(f"a key ({name})")
    address = urlunsplit(parts._replace(query=query))
    if "${" in address or any("${" in name for name in secret_params):
        raise ParameterError(
            "The address contains ${ in the wrong place: a key must be the whole value of a parameter",
            {"field": "url"},
            hint="Write the key as a separate parameter, such as ?key=${NAME}, in single quotes",
        )
    return address, secret_params


def _new_plain_secret_error(secret: str) -> ParameterError:
    return ParameterError(
        f"The address contains {secret}, which would be stored",
        {"field": "url"},
        hint="Put it in an environment variable, and write ${NAME} in its place, in single quotes",
    )


def _add_query(url: str, params: Mapping[str, str]) -> str:
    if not params:
        return url
    parts = urlsplit(url)
    query = "&".join(filter(None, (parts.query, urlencode(params))))
    return urlunsplit(parts._replace(query=query))


def _read_key(variable: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable, "").strip()
    if not value:
        raise SourceKeyRefused(
            f"This source needs a key, and {variable} is not set",
            {"setting": variable, "missing": True},
            hint=f"Set {variable}",
        )
    return value
