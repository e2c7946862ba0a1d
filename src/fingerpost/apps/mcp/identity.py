"""Who calls over HTTP, and whom the operator lets in (rule A12)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import Scope

from fingerpost.apps.mcp.address import Address, is_loopback, name_machine
from fingerpost.apps.settings import Settings
from fingerpost.errors import SettingsInvalid

_log = logging.getLogger(__name__)

# Headers that a proxy adds.
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Whom the operator lets in.

    Attributes:
        allowed_hosts: names, besides loopback and the address itself, that a client may call the server by.
        trusted_proxies: addresses or networks (CIDR) whose X-Forwarded-For names the caller; no other is read.
        is_public: whether callers beyond this machine need no token.
    """

    allowed_hosts: Sequence[str] = ()
    trusted_proxies: Sequence[str] = ()
    is_public: bool = False


NO_ACCESS_BEYOND = Access()
"""This machine only."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request.

    Attributes:
        user: owns variables and plan runs; None for an anonymous caller.
        name: what limits count by: the user, or the address (for IPv6 its network of 64 bits).
        may_be_many: whether the name stands for this machine: its own programs, or a proxy that is not trusted.
    """

    user: str | None
    name: str
    may_be_many: bool


class CallerFinder:
    """Finds the caller of a request.

    Only a caller on this machine is the settings' user: the server listens on loopback, is called by no other name, and
    has no proxy in front, be it one that the operator named or one that shows by its headers.

    Raises:
        SettingsInvalid: strangers could reach the address, and the operator has not said that they may.
    """

    def __init__(self, settings: Settings, address: Address, access: Access) -> None:
        if not (address.is_loopback or access.is_public):
            raise SettingsInvalid(
                f"Other machines can reach {address.host}, and any of them could call the tools. "
                "Add --public to allow that, or listen on 127.0.0.1."
            )
        is_private = address.is_loopback and not access.allowed_hosts and not access.trusted_proxies
        self._local_user = settings.user if is_private else None

    def log_rights(self) -> None:
        """Log who may do what."""
        if self._local_user is not None:
            _log.info("callers on this machine are the user %r; forwarded requests are anonymous", self._local_user)
        else:
            _log.info("every caller is anonymous: may call the tools, stores no variables, lists no plan runs")

    def find(self, scope: Scope) -> Caller:
        """Return who sent a request."""
        host, _port = scope.get("client") or ("", 0)
        headers = Headers(scope=scope)
        is_forwarded = any(name in headers for name in _FORWARDED)
        user = None if is_forwarded else self._local_user
        return Caller(user, name_machine(host), is_loopback(host))
