"""Where the HTTP server listens: a host and a port."""

import ipaddress
from dataclasses import dataclass

from fingerpost.errors import SettingsInvalid

_HIGHEST_PORT = 65_535


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
