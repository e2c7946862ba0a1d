"""What is asked of a source, and within which bounds."""

import base64
import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from fingerpost.errors import ParameterError, SourceKeyRefused, ToolError
from fingerpost.net.redaction import is_secret_name, redact_url
from fingerpost.net.response import Response

_SAFE_METHODS = frozenset({"GET", "HEAD"})
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
# What an answer may depend on, besides the address and the body.
_VARYING = ("accept", "accept-language", "content-type")

Judge = Callable[[Response], ToolError | None]
"""A source's own reading of an answer: the error that it means, or None to leave the verdict to its status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How long, how much and how often.

    ``read_s`` is the longest silence; ``total_s`` covers everything: waiting for the limiter, retries, redirects, body.
    ``max_bytes`` counts the body after decompression.
    """

    connect_s: float = 5.0
    read_s: float = 10.0
    total_s: float = 30.0
    max_bytes: int = 20_000_000
    max_redirects: int = 5
    attempts: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to one source.

    A key is named, never held: ``secret_params`` and ``secret_headers`` map a name on the wire to an environment
    variable, which is read when the request leaves the house.

    Attributes:
        url: absolute, http or https. The operator's, not the caller's: quote whatever is put into its path.
        params: added to the query.
        repeatable: may be sent again after a failure; None means where the method is safe.
        fresh_s: how long an answer may be served again from memory; 0 always asks.
        accept: statuses beyond 2xx that are an answer, not a failure.
        judge: the source's own reading of an answer, asked before the status is; it sees a body that is in memory.
    """

    url: str
    method: str = "GET"
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    secret_params: Mapping[str, str] = field(default_factory=dict)
    secret_headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    repeatable: bool | None = None
    fresh_s: float = 0.0
    accept: frozenset[int] = frozenset()
    judge: Judge | None = None
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def may_repeat(self) -> bool:
        """Whether sending it twice does no harm."""
        return self.method.upper() in _SAFE_METHODS if self.repeatable is None else self.repeatable

    @property
    def shown(self) -> str:
        """The address for logs, errors and keys of caches: without a secret."""
        return redact_url(_with_query(self.url, self.params))

    @property
    def varying(self) -> dict[str, str]:
        """The headers on which an answer may depend, by name in lower case; none holds a secret."""
        lowered = {name.lower(): value for name, value in self.headers.items()}
        return {name: lowered[name] for name in _VARYING if name in lowered}

    @property
    def content_sha256(self) -> str:
        """The digest of the body, in hex; of nothing where there is none."""
        return hashlib.sha256(self.content or b"").hexdigest()

    @property
    def key(self) -> str:
        """What two requests share that have the same answer; it holds no secret."""
        return repr((self.method.upper(), self.shown, list(self.varying.items()), self.content_sha256))

    def split(self) -> SplitResult:
        """Return the address in parts.

        Raises:
            ParameterError: it is no http or https address with a host.
        """
        return split_address(self.url)

    def wire(self, environ: Mapping[str, str] = os.environ) -> tuple[str, dict[str, str], list[str]]:
        """Return the address and the headers as they leave the house, and the secrets among them.

        Raises:
            SourceKeyRefused: an environment variable that holds a key is not set.
        """
        parts = self.split()
        keys = {name: _read_key(variable, environ) for name, variable in self.secret_params.items()}
        headers = dict(self.headers)
        secret_headers = {name: _read_key(variable, environ) for name, variable in self.secret_headers.items()}
        headers |= secret_headers
        secrets = [*keys.values(), *secret_headers.values()]
        secrets += [value for name, value in parse_qsl(parts.query) if is_secret_name(name)]
        secrets += [value for name, value in self.headers.items() if is_secret_name(name)]
        login, _, host = parts.netloc.rpartition("@")
        if login:
            user, _, password = login.partition(":")
            token = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
            headers.setdefault("authorization", f"Basic {token}")
            secrets += [token, unquote(password)]
        address = urlunsplit(parts._replace(netloc=host, fragment=""))
        return _with_query(address, {**self.params, **keys}), headers, secrets


def list_secrets(request: Request, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the secrets that leave with a request, without the keys that are not set.

    Raises:
        ParameterError: its address is none.
    """
    variables = (request.secret_params, request.secret_headers)
    unset = [name for named in variables for name, variable in named.items() if not environ.get(variable, "").strip()]
    params = {name: variable for name, variable in request.secret_params.items() if name not in unset}
    headers = {name: variable for name, variable in request.secret_headers.items() if name not in unset}
    return replace(request, secret_params=params, secret_headers=headers).wire(environ)[2]


def split_address(url: str) -> SplitResult:
    """Return an http or https address in parts.

    Raises:
        ParameterError: it is not one.
    """
    try:
        parts = urlsplit(url.strip())
        readable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        readable = False
    if not readable or any(character.isspace() for character in url.strip()):
        raise ParameterError("An address must begin with http:// or https:// and name a host", {"field": "url"})
    return parts


def read_template(text: str) -> tuple[str, dict[str, str]]:
    """Return the address and the secret parameters of a text such as ``https://host/feed.zip?api_key=${MY_KEY}``.

    Raises:
        ParameterError: it is no such address, or it holds a key in the clear.
    """
    parts = split_address(text)
    if "@" in parts.netloc:
        raise _in_the_clear("a password")
    kept, secret = [], {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        reference = _REFERENCE.fullmatch(value)
        if reference is not None:
            secret[name] = reference[1]
        elif is_secret_name(name):
            raise _in_the_clear(f"a key ({name})")
        else:
            kept.append((name, value))
    query = urlencode(kept) if secret else parts.query
    return urlunsplit(parts._replace(query=query, fragment="")), secret


def _in_the_clear(what: str) -> ParameterError:
    return ParameterError(
        f"The address holds {what}, which would be stored",
        {"field": "url"},
        hint="Put it into an environment variable and write ${NAME} in its place, in single quotes",
    )


def _with_query(url: str, params: Mapping[str, str]) -> str:
    if not params:
        return url
    parts = urlsplit(url)
    query = "&".join(filter(None, (parts.query, urlencode(params))))
    return urlunsplit(parts._replace(query=query))


def _read_key(variable: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable, "").strip()
    if not value:
        raise SourceKeyRefused(
            f"This source needs a key, and {variable} is not set", {"setting": variable}, hint=f"Set {variable}"
        )
    return value
