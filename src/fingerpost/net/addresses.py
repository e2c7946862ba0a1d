"""Prevent server-side request forgery and DNS rebinding: resolve a host once, and connect to a checked address."""

import asyncio
import ipaddress
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

import httpcore2

from fingerpost.errors import SourceUnreachable, advise

# Returns a host's addresses, in order of preference.
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_MAX_ADDRESSES = 4
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


class AddressRefused(SourceUnreachable):
    """The host is on a private network, and the operator has not allowed it."""

    remedy = advise("The operator can allow this host with FINGERPOST_PRIVATE_HOSTS")
    retryable = False


def is_public(address: str) -> bool:
    """Whether an address is global. If an IPv6 address embeds an IPv4 address, check the IPv4 address."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


async def resolve(host: str, port: int) -> list[str]:
    try:
        results = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceUnreachable(f"The host name {host} could not be resolved") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in results))


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """A network backend that connects only to public addresses and to explicitly allowed private hosts."""

    def __init__(
        self,
        private_hosts: Collection[str] = (),
        *,
        resolve: Resolve = resolve,
        inner: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._private_hosts = frozenset(host.lower() for host in private_hosts)
        self._resolve = resolve
        self._inner = inner or httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  (httpcore's signature)
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first allowed address that responds; raise AddressRefused if all are private."""
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._resolve_allowed(host, port)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"looking up {host} took too long") from error
        for untried in range(len(addresses), 0, -1):
            # Divide the remaining time, so that an unresponsive address does not use all of it.
            limit_s = None if deadline is None else max(0.0, deadline - time.monotonic()) / untried
            try:
                return await self._inner.connect_tcp(addresses[-untried], port, limit_s, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if untried == 1:
                    raise
        raise AssertionError("unreachable")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)

    async def _resolve_allowed(self, host: str, port: int) -> list[str]:
        addresses = list(await self._resolve(host, port))
        if host.lower() not in self._private_hosts:
            public = [address for address in addresses if is_public(address)]
            if addresses and not public:
                raise AddressRefused(f"{host} is on a private network, and private addresses are blocked")
            addresses = public
        if not addresses:
            raise SourceUnreachable(f"The host name {host} has no address")
        return addresses[:_MAX_ADDRESSES]
