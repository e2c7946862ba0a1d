"""Parse the addresses of the HTTP server and of its callers."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from fingerpost.errors import SettingsInvalid

_MAX_PORT = 65_535
# Providers assign each household or host a network of this size.
_IPV6_PREFIX = 64


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


def build_address_key(host: str) -> str:
    """Return the key for a caller's limits: the loopback or IPv4 address, or the 64-bit IPv6 network."""
    address = parse_ip_address(host)
    if isinstance(address, ipaddress.IPv6Address) and not address.is_loopback:
        return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
    return str(address or host)
