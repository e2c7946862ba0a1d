"""Addresses of the server and its callers, listening sockets with limits, and addresses that workers share."""

import ipaddress
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from fingerpost.errors import SettingsInvalid
from fingerpost.runtime.instruments import REFUSED_CONNECTIONS

_MAX_PORT = 65_535
# Providers assign each household or host a network of this size.
_IPV6_PREFIX = 64

# Per process; systems allow 1,024 open files by default.
MAX_CONNECTIONS = 500
MAX_CONNECTIONS_PER_ADDRESS = 50
# Without this delay, one address could open and close hundreds of connections per second.
COUNTED_AFTER_CLOSE_S = 1.0
_REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
# How many connections the server refuses at a time; between batches, it handles other clients' calls.
_REFUSED_AT_ONCE = 16
_BACKLOG = 2048
# By default, the system buffers up to 3 MB of unread answers per connection.
_SEND_BUFFER_BYTES = 65_536
# The system aborts a connection whose client reads nothing for this long; closing it would wait for the client.
UNREAD_S = 30.0


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port; port 0 lets the system choose one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Parse ``HOST:PORT``, with an IPv6 host in brackets; raise SettingsInvalid for any other text."""
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (colon and host and port.isascii() and port.isdigit() and int(port) <= _MAX_PORT):
            raise SettingsInvalid(f"{text!r} is not an address. Write it like 127.0.0.1:8000")
        return cls(host, int(port))

    @property
    def url(self) -> str:
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The callers that may use the server, by default only those on this machine.

    Attributes:
        allowed_hosts: host names of the server, in addition to loopback names and its address.
        trusted_proxies: addresses or networks (CIDR) whose X-Forwarded-For header identifies the caller.
        is_public: whether callers on other machines need no token.
    """

    allowed_hosts: Sequence[str] = ()
    trusted_proxies: Sequence[str] = ()
    is_public: bool = False

    def list_hosts(self, address: Address) -> list[str]:
        """Return the host names, in lower case, that clients may use for a server at an address."""
        return ["127.0.0.1", "localhost", "[::1]", *map(str.lower, (address.host, *self.allowed_hosts))]


LOCAL_ACCESS = Access()


def parse_ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an IP address; convert an IPv4-mapped address, such as ``::ffff:192.0.2.1``, to IPv4."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_loopback(host: str) -> bool:
    address = parse_ip_address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def parse_ip_networks(texts: Sequence[str]) -> list[str]:
    """Return addresses and networks (CIDR) in canonical form, or raise SettingsInvalid."""
    try:
        return [str(ipaddress.ip_network(text)) for text in texts]
    except ValueError as error:
        raise SettingsInvalid(f"{error}. Write a proxy as 10.0.0.5 or 10.0.0.0/24") from error


def list_mapped(networks: Sequence[str]) -> list[str]:
    """Return the IPv4 networks as IPv4-mapped IPv6 networks, which uvicorn does not match with each other."""
    parsed = map(ipaddress.ip_network, networks)
    return [f"::ffff:{each.network_address}/{96 + each.prefixlen}" for each in parsed if each.version == 4]


def build_address_key(host: str) -> str:
    """Return the key for a caller's limits: the loopback or IPv4 address, or the IPv6 /64 network."""
    address = parse_ip_address(host)
    if isinstance(address, ipaddress.IPv6Address) and not address.is_loopback:
        return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
    return str(address or host)


class _Connection(socket.socket):
    """An accepted connection that calls ``report`` once, when it is closed."""

    def __init__(self, accepted: socket.socket, report: Callable[[], None]) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        self._report = report

    def close(self) -> None:
        super().close()
        report, self._report = self._report, lambda: None
        report()


class LimitedListener(socket.socket):
    """A listening socket that answers 503 to connections beyond the limits, and closes them.

    At most ``MAX_CONNECTIONS`` are open, and at most ``MAX_CONNECTIONS_PER_ADDRESS`` from one address. The limit per
    address counts a closed connection for another ``COUNTED_AFTER_CLOSE_S``. The limit per address does not apply to
    loopback addresses or trusted proxies, because many callers may share them. Refusing a connection here is cheap; for
    an accepted one, asyncio creates a task and a transport.
    """

    def __init__(self, family: int, trusted_proxies: Sequence[str]) -> None:
        # asyncio disables Nagle's algorithm only for sockets that specify TCP.
        super().__init__(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._find_key = lru_cache(maxsize=1024)(partial(find_limited_key, trusted_proxies))
        self._open_count = 0
        self._counts: Counter[str] = Counter()
        self._closed: deque[tuple[float, str]] = deque()

    def listen(self, _backlog: int = _BACKLOG, /) -> None:
        """Listen with a fixed queue length: asyncio's backlog only limits how many connections it accepts at once."""
        super().listen(_BACKLOG)

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next accepted connection; raise BlockingIOError if there is none, or after a batch of refusals."""
        self._forget_closed()
        for _ in range(_REFUSED_AT_ONCE):
            accepted, peer = super().accept()
            key = self._find_key(peer[0])
            is_over_limit = key is not None and self._counts[key] >= MAX_CONNECTIONS_PER_ADDRESS
            is_reset = accepted.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if not is_reset and not is_over_limit and self._open_count < MAX_CONNECTIONS:
                self._open_count += 1
                if key is not None:
                    self._counts[key] += 1
                return _Connection(accepted, partial(self._count_closed, key)), peer
            REFUSED_CONNECTIONS.add(1)
            with accepted, suppress(OSError):
                accepted.send(_REFUSAL)
        raise BlockingIOError

    def _count_closed(self, key: str | None) -> None:
        self._open_count -= 1
        if key is not None:
            self._closed.append((time.monotonic(), key))

    def _forget_closed(self) -> None:
        while self._closed and time.monotonic() - self._closed[0][0] >= COUNTED_AFTER_CLOSE_S:
            key = self._closed.popleft()[1]
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]


def find_limited_key(trusted_proxies: Sequence[str], host: str) -> str | None:
    """Return the key for an address's connection limit, or None if the address is exempt."""
    address = parse_ip_address(host)
    if address is None or is_loopback(host) or any(address in ipaddress.ip_network(text) for text in trusted_proxies):
        return None
    return build_address_key(host)


def listen(
    address: Address, trusted_proxies: Sequence[str] = (), *, shared: bool = False, backlog: int = _BACKLOG
) -> socket.socket:
    """Return a listening socket, or raise SettingsInvalid.

    ``shared`` lets other processes listen on the same address. A ``backlog`` of 0 only reserves the address.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = LimitedListener(family, trusted_proxies)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT if shared else socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        if sys.platform == "linux":
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * UNREAD_S))
        listener.bind((address.host, address.port))
        if backlog:
            # If two processes bind at the same instant, one of them fails only here.
            listener.listen(backlog)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise SettingsInvalid(
            f"Cannot listen on {address.host}:{address.port} ({reason}). Choose another address"
        ) from error
    return listener


class SharedAddress:
    """An address shared by worker processes, each with its own socket, so that the system balances connections.

    Unpickling a shared address in a worker returns the worker's socket.
    """

    def __init__(self, address: Address, trusted_proxies: Sequence[str] = ()) -> None:
        self._trusted_proxies = trusted_proxies
        if not hasattr(socket, "SO_REUSEPORT"):
            raise SettingsInvalid("This system cannot share connections among processes. Leave out --workers")
        # An exclusive bind fails if another server of this user has the address; a shared bind would succeed.
        listen(address, backlog=0).close()
        # This socket receives no connections, because it does not listen.
        self._reservation = listen(address, shared=True, backlog=0)
        host, port = self._reservation.getsockname()[:2]
        self.address = Address(host, port)

    def close(self) -> None:
        self._reservation.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(listen, shared=True), (self.address, self._trusted_proxies)
