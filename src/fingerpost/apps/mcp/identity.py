"""Check the host and the caller of HTTP requests, and require tokens if the operator configures them (rule A12)."""

import logging
import re
from collections.abc import Awaitable, Callable, Collection

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl
from starlette.authentication import AuthenticationError
from starlette.datastructures import Headers
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from fingerpost.apps.mcp.address import Access, Address, build_address_key, is_loopback, parse_ip_address
from fingerpost.apps.mcp.server import Caller
from fingerpost.apps.mcp.tokens import open_verifier
from fingerpost.apps.settings import Settings
from fingerpost.errors import SettingsInvalid

_log = logging.getLogger(__name__)

Endpoint = Callable[[Request], Awaitable[Response]]

# Headers that a proxy adds.
_FORWARDED = re.compile("forwarded|x-forwarded.*|.*-(real|client|connecting)-ip|via")


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
        """Return the caller of a request; call it after any token has been verified."""
        auth_user = scope.get("user")
        if isinstance(auth_user, AuthenticatedUser) and (subject := auth_user.access_token.subject):
            return Caller(subject, f"user {subject}")
        host, _port = scope.get("client") or ("", 0)
        is_forwarded = any(map(_FORWARDED.fullmatch, Headers(scope=scope)))
        return Caller(None if is_forwarded else self._local_user, build_address_key(host))

    def must_verify(self, scope: Scope) -> bool:
        """Whether a request has a token or needs one."""
        if self.verifier is None:
            return False
        return "authorization" in Headers(scope=scope) or not (self._is_public or self.find(scope).user)


def check_host(endpoint: Endpoint, hosts: Collection[str]) -> Endpoint:
    """Wrap an endpoint to answer 421 unless the Host header is one of the given names or an IP address.

    This prevents DNS rebinding, which needs a host name. Probes and scrapers often use an IP address.
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
