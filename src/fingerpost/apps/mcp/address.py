"""Where the HTTP server listens: a host and a port."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from fingerpost.errors import SettingsInvalid

_HIGHEST_PORT = 65_535
# One household or host has a whole such network.
_IPV6_PREFIX = 64


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; port 0 lets the machine choose."""

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> "Address":
        """Return the address that ``HOST:PORT`` names; an IPv6 host stands in brackets.

        Raises:
            SettingsInvalid: the text is not of that form.
        """
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (colon and host and port.isascii() and port.isdigit() and int(port) <= _HIGHEST_PORT):
            raise SettingsInvalid(f"{text!r} is not an address. Write it like 127.0.0.1:8000.")
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_networks(texts: Sequence[str]) -> list[str]:
    """Return addresses and networks in their usual form.

    Raises:
        SettingsInvalid: a text is neither.
    """
    try:
        return [str(ipaddress.ip_network(text)) for text in texts]
    except ValueError as error:
        raise SettingsInvalid(f"{error}. Write a proxy as 10.0.0.5 or 10.0.0.0/24.") from error


def name_machine(host: str) -> str:
    """Return what a caller's limits are counted by: the address, for IPv6 its network of 64 bits."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
    return host
