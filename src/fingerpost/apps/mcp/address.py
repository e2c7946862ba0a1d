"""Where the HTTP server listens and whom it lets in; the socket of a process or of each of several workers."""

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fingerpost.errors import SettingsInvalid

_HIGHEST_PORT = 65_535
# One household or host has a whole such network.
_IPV6_PREFIX = 64
_BACKLOG = 2048


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; port 0 lets the machine choose."""

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> "Address":
        """Return the address of ``HOST:PORT``, an IPv6 host in brackets; raise SettingsInvalid for any other text."""
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (colon and host and port.isascii() and port.isdigit() and int(port) <= _HIGHEST_PORT):
            raise SettingsInvalid(f"{text!r} is not an address. Write it like 127.0.0.1:8000")
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        return self.host == "localhost" or is_loopback(self.host)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The callers that the operator lets in.

    Attributes:
        allowed_hosts: names of the server besides loopback and its address.
        trusted_proxies: addresses or networks (CIDR) whose X-Forwarded-For names the caller.
        is_public: whether callers on other machines need no token.
    """

    allowed_hosts: Sequence[str] = ()
    trusted_proxies: Sequence[str] = ()
    is_public: bool = False


NO_ACCESS_BEYOND = Access()
"""This machine only."""


def find_ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether a text is a loopback address; False for a host name."""
    address = find_ip_address(host)
    # A socket on [::] gives IPv4 callers such an address; Python checks the mapped one only since 3.13.
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address is not None and address.is_loopback


def read_networks(texts: Sequence[str]) -> list[str]:
    """Return addresses and networks in their usual form; raise SettingsInvalid if a text is neither."""
    try:
        return [str(ipaddress.ip_network(text)) for text in texts]
    except ValueError as error:
        raise SettingsInvalid(f"{error}. Write a proxy as 10.0.0.5 or 10.0.0.0/24") from error


def name_machine(host: str) -> str:
    """Return the key of a caller's limits: the address, for IPv6 its network of 64 bits."""
    address = find_ip_address(host)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
    return host


def listen(address: Address, *, shared: bool = False) -> socket.socket:
    """Return a listening socket, or raise SettingsInvalid; ``shared`` lets other processes listen there too."""
    listener = _bind(address, shared=shared)
    listener.listen(_BACKLOG)
    return listener


class SharedAddress:
    """An address at which each worker listens with its own socket; the kernel spreads connections among them.

    With one socket for all, the first worker to wake would take every waiting connection. The socket of a worker that
    died is gone, so it gets no connections.
    """

    def __init__(self, address: Address) -> None:
        if not hasattr(socket, "SO_REUSEPORT"):
            raise SettingsInvalid("This system spreads no connections among processes. Leave out --workers")
        # Two servers of one user could share an address without a word; a socket that shares nothing finds the other.
        _bind(address, shared=False).close()
        # Bound only: it keeps the port for the workers, and is given no connection.
        self._reserved = _bind(address, shared=True)
        host, port = self._reserved.getsockname()[:2]
        self.address = Address(host, port)

    def close(self) -> None:
        self._reserved.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make a listening socket in the process that unpickles it."""
        return _listen_shared, (self.address,)


def _listen_shared(address: Address) -> socket.socket:
    return listen(address, shared=True)


def _bind(address: Address, *, shared: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only for sockets that name TCP; with it, answers wait for acknowledgements.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT if shared else socket.SO_REUSEADDR, 1)
        bound.bind((address.host, address.port))
    except OSError as error:
        bound.close()
        raise SettingsInvalid(
            f"Cannot listen on {address.host}:{address.port} ({error.strerror}). Choose another address"
        ) from error
    return bound
