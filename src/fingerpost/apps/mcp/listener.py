"""The listening socket of the HTTP server: one for a process alone, or one for each of several workers."""

import socket
from typing import Any

from fingerpost.apps.mcp.address import Address
from fingerpost.errors import SettingsInvalid

_BACKLOG = 2048


def listen(address: Address, *, shared: bool = False) -> socket.socket:
    """Return a listening socket; ``shared`` lets other processes listen at the same address.

    Raises:
        SettingsInvalid: the address cannot be listened on.
    """
    listener = _bind(address, shared=shared)
    listener.listen(_BACKLOG)
    return listener


class SharedAddress:
    """An address that workers listen at, each with a socket of its own, among which the kernel spreads connections.

    With one socket for all, whoever wakes first takes every connection that waits. A worker that has died takes its
    socket along, so that nobody is sent to it.

    Raises:
        SettingsInvalid: the address cannot be listened on.
    """

    def __init__(self, address: Address) -> None:
        if not hasattr(socket, "SO_REUSEPORT"):
            raise SettingsInvalid("This system spreads no connections among processes. Leave out --workers.")
        # Two servers of one user could share an address without a word; a socket that shares nothing finds the other.
        _bind(address, shared=False).close()
        # Bound only: it keeps the port for the workers, and is given no connection.
        self._reserved = _bind(address, shared=True)
        host, port = self._reserved.getsockname()[:2]
        self.address = Address(host, port)

    def close(self) -> None:
        """Give the port back, once no worker listens at it."""
        self._reserved.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Become a listening socket in the process that it is sent to."""
        return _listen_shared, (self.address,)


def _listen_shared(address: Address) -> socket.socket:
    return listen(address, shared=True)


def _bind(address: Address, *, shared: bool) -> socket.socket:
    """Return a bound socket.

    Its protocol is named: asyncio turns Nagle's algorithm off only for sockets that say they are TCP,
    and with it every answer on a kept connection waits for a delayed acknowledgement.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT if shared else socket.SO_REUSEADDR, 1)
        bound.bind((address.host, address.port))
    except OSError as error:
        bound.close()
        raise SettingsInvalid(
            f"Cannot listen on {address.host}:{address.port} ({error.strerror}). Choose another address."
        ) from error
    return bound
