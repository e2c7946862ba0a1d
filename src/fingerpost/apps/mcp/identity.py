"""Check the host and the caller of HTTP requests, and verify tokens if the operator configures them (rule A12)."""

import asyncio
import hashlib
import hmac
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import jwt
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl
from starlette.authentication import AuthenticationError
from starlette.datastructures import Headers
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from fingerpost.apps.mcp.listener import Access, Address, build_address_key, is_loopback, parse_ip_address
from fingerpost.apps.mcp.server import Caller
from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import new_client
from fingerpost.errors import SettingsInvalid
from fingerpost.net.request import Request as SourceRequest
from fingerpost.net.response import Response as SourceResponse

_log = logging.getLogger(__name__)

_ALGORITHMS: Final = ("RS256", "ES256", "EdDSA")
_REQUIRED_CLAIMS = ["iss", "aud", "exp", "sub"]
_LEEWAY_S = 60
_REFRESH_S = 600
_FETCH_PAUSE_S = 60
# Most tokens expire sooner, so few are still valid after an issuer has been down for this long.
_KEYS_MAX_AGE_S = 3600
_FETCH_S = 5.0
_MAX_SUBJECT_CHARS = 200
_LINE = re.compile(r"([0-9a-fA-F]{64})\s+(\S+)((?:\s+\S+)*)\s*")

Endpoint = Callable[[Request], Awaitable[Response]]

# Headers that a proxy adds.
_FORWARDED = re.compile("forwarded|x-forwarded.*|.*-(real|client|connecting)-ip|via")


def open_verifier(settings: Settings) -> TokenVerifier | None:
    """Return the verifier that the settings select, or None; raise SettingsInvalid if they are invalid."""
    issuer_settings = (settings.token_issuer, settings.token_keys_url, settings.resource_url)
    if settings.tokens_file is not None:
        if settings.token_issuer:
            raise SettingsInvalid("Set either FINGERPOST_TOKENS_FILE or FINGERPOST_TOKEN_ISSUER, not both")
        return FileTokens(settings.tokens_file)
    if not any(issuer_settings):
        return None
    if not all(issuer_settings):
        raise SettingsInvalid(
            "Tokens from an issuer need FINGERPOST_TOKEN_ISSUER, FINGERPOST_TOKEN_KEYS_URL and "
            "FINGERPOST_RESOURCE_URL. Set all three"
        )

    async def fetch(request: SourceRequest) -> SourceResponse:
        async with new_client(settings) as client:
            return await client.fetch(request)

    return IssuedTokens(*issuer_settings, fetch, settings.user)


class FileTokens:
    """Verifies the tokens in a file; each line contains the SHA-256 of a token, its subject, and any scopes."""

    def __init__(self, path: Path) -> None:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsInvalid(f"The token file {path} cannot be read: {error}") from error
        self._tokens: list[tuple[bytes, str, list[str]]] = []
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            parsed = _LINE.fullmatch(line)
            if parsed is None:
                raise SettingsInvalid(
                    f"Line {number} of {path} is not a token. Write the SHA-256 of a token, its subject, and any scopes"
                )
            self._tokens.append((bytes.fromhex(parsed[1]), parsed[2], parsed[3].split()))

    async def verify_token(self, token: str) -> AccessToken | None:
        digest = hashlib.sha256(token.encode()).digest()
        for stored_digest, subject, scopes in self._tokens:
            if hmac.compare_digest(stored_digest, digest):
                return AccessToken(token=token, client_id=subject, subject=subject, scopes=scopes)
        return None


@dataclass
class IssuedTokens:
    """Verifies JSON Web Tokens from one issuer for one audience.

    Keys are fetched every ten minutes; an unknown key id triggers a fetch, at most once a minute. During a fetch,
    tokens are verified with known keys that are less than twenty minutes old; tokens with other keys wait. If the fetch
    fails, known keys are used until they are an hour old. A key set without usable keys revokes all known keys.
    """

    issuer: str
    keys_url: str
    audience: str
    fetch: Callable[[SourceRequest], Awaitable[SourceResponse]]
    local_user: str
    _keys: dict[str | None, jwt.PyJWK] = field(default_factory=dict)
    _fetched_at_s: float = float("-inf")
    _next_fetch_at_s: float = float("-inf")
    _fetching: asyncio.Task[bool] = field(init=False)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return a valid token's claims, or None; raise AuthenticationError if the keys cannot be fetched."""
        try:
            key = await self._find_key(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                return None
            claims = jwt.decode(
                token, key, algorithms=_ALGORITHMS, audience=self.audience, issuer=self.issuer, leeway=_LEEWAY_S,
                options={"require": _REQUIRED_CLAIMS},
            )  # fmt: skip
        except jwt.PyJWTError as error:
            _log.info("a token was refused: %s", type(error).__name__)
            return None
        subject, scope = claims["sub"], claims.get("scope", "")
        # Databases reject some control characters and lone surrogates.
        is_usable = 0 < len(subject) <= _MAX_SUBJECT_CHARS and subject.isprintable()
        if not is_usable or not isinstance(scope, str):
            return None
        if subject == self.local_user:
            _log.warning("a token was refused: its subject is the user of this machine (FINGERPOST_USER)")
            return None
        return AccessToken(token=token, client_id=subject, subject=subject, scopes=scope.split())

    async def _find_key(self, key_id: str | None) -> jwt.PyJWK | None:
        now_s = time.monotonic()
        key = self._keys.get(key_id)
        age_s = now_s - self._fetched_at_s
        if (key is None or age_s > _REFRESH_S) and now_s >= self._next_fetch_at_s:
            self._next_fetch_at_s = now_s + _FETCH_PAUSE_S
            self._fetching = asyncio.create_task(self._fetch_keys())
        if key is not None and age_s < 2 * _REFRESH_S:
            return key
        # Shield the fetch, because other callers may be waiting for it.
        has_fetched = await asyncio.shield(self._fetching)
        key = self._keys.get(key_id)
        if not has_fetched and (key is None or age_s > _KEYS_MAX_AGE_S):
            raise AuthenticationError("The token keys cannot be fetched; retry later")
        return key

    async def _fetch_keys(self) -> bool:
        """Fetch new keys to replace the old ones; return False if that fails."""
        try:
            async with asyncio.timeout(_FETCH_S):
                response = await self.fetch(SourceRequest(url=self.keys_url))
            self._keys = _parse_keys(response.body)
        except Exception as error:  # noqa: BLE001  # an issuer may send any JSON
            _log.warning("the token keys cannot be fetched: %s", str(error) or f"no answer within {_FETCH_S:g} s")
            return False
        self._fetched_at_s = time.monotonic()
        return True


def _parse_keys(body: bytes) -> dict[str | None, jwt.PyJWK]:
    keys: dict[str | None, jwt.PyJWK] = {}
    for member in json.loads(body)["keys"]:
        try:
            key = jwt.PyJWK(member)
            keys[key.key_id] = key
        except Exception as error:  # noqa: BLE001  # PyJWT does not check the types of a key
            # The error's message may contain the key.
            _log.warning("a token key that cannot be used is skipped: %s", type(error).__name__)
    return keys


class CallerFinder:
    """Identifies the caller of a request.

    A caller without a token acts as the configured user only if the server listens on loopback and has no other host
    name, and no proxy forwarded the request. Raise SettingsInvalid if other machines can reach the server without a
    token, unless ``access.is_public`` allows it.
    """

    def __init__(self, settings: Settings, address: Address, access: Access) -> None:
        self.verifier = open_verifier(settings)
        self.scopes = list(settings.token_scopes)
        self.issuer, self.resource = settings.token_issuer, settings.resource_url
        self._is_public = access.is_public
        if not (is_loopback(address.host) or access.is_public or self.verifier):
            raise SettingsInvalid(
                f"Other machines can reach {address.host}, and any of them could call the tools. "
                "Add --public to allow that, configure tokens (docs/serving.md), or listen on 127.0.0.1"
            )
        is_private = is_loopback(address.host) and not access.allowed_hosts and not access.trusted_proxies
        self._local_user = settings.user if is_private else None

    def log_permissions(self) -> None:
        if self.verifier is not None:
            _log.info("callers with a valid token act as the token's subject")
        if self._local_user is not None:
            _log.info("callers on this machine act as user %r, unless a proxy forwarded the request", self._local_user)
        if self.verifier is not None and not self._is_public:
            _log.info("other callers are refused")
        else:
            _log.info("other callers are anonymous: they can call the tools, but not store variables or list runs")

    def find(self, scope: Scope) -> Caller:
        """Return a request's caller; if the request has a token, the token must already be verified."""
        auth_user = scope.get("user")
        if isinstance(auth_user, AuthenticatedUser) and (subject := auth_user.access_token.subject):
            return Caller(subject, f"user {subject}")
        host, _port = scope.get("client") or ("", 0)
        is_forwarded = any(map(_FORWARDED.fullmatch, Headers(scope=scope)))
        return Caller(None if is_forwarded else self._local_user, build_address_key(host))

    def must_verify(self, scope: Scope) -> bool:
        """Return True if tokens are configured and a request either has one or would be refused without one."""
        if self.verifier is None:
            return False
        return "authorization" in Headers(scope=scope) or not (self._is_public or self.find(scope).user)


def check_host(endpoint: Endpoint, hosts: Collection[str]) -> Endpoint:
    """Return an endpoint that answers 421 unless the Host header is one of the given names or an IP address.

    This prevents DNS rebinding, which needs a host name. IP addresses are accepted, because probes and scrapers often
    use them.
    """
    known_hosts = {host.strip("[]") for host in hosts}

    async def answer(request: Request) -> Response:
        host = request.headers.get("host", "").lower()
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        if name not in known_hosts and parse_ip_address(name) is None:
            return PlainTextResponse("This server does not accept that host name; see --allow-host", status_code=421)
        return await endpoint(request)

    return answer


class SignIn:
    """Wraps an endpoint: answers 401 if there is no valid token, and 403 if the token lacks a required scope."""

    def __init__(self, endpoint: ASGIApp, callers: CallerFinder) -> None:
        self._endpoint = endpoint
        self._callers = callers
        self.routes: list[Route] = []
        metadata = None
        if callers.issuer:
            resource = AnyHttpUrl(callers.resource)
            metadata = build_resource_metadata_url(resource)
            self.routes = create_protected_resource_routes(
                resource, [AnyHttpUrl(callers.issuer)], callers.scopes or None
            )
        if callers.verifier is not None:
            guarded = RequireAuthMiddleware(endpoint, callers.scopes, metadata)
            self._token_endpoint = AuthenticationMiddleware(
                guarded, BearerAuthBackend(callers.verifier), _answer_missing_keys
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._token_endpoint if self._callers.must_verify(scope) else self._endpoint)(scope, receive, send)


def _answer_missing_keys(_request: HTTPConnection, error: AuthenticationError) -> Response:
    return PlainTextResponse(str(error), status_code=503, headers={"Retry-After": "60"})
