"""The source of networks behind servers; a row of data says what differs between the kinds of servers."""

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.net.request import Fetch, RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.port import Network

# Whoever adds a network waits for it, and the list of all stops is long.
_PATIENT = RequestLimits(read_s=40.0, total_s=60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerKind:
    """One kind of server.

    Attributes:
        name: the word in a record's ``source``.
        new_server: makes the client of a record's server, with limits of one request.
        learn: asks a server for its profile.
        open_network: makes the network of a record without asking anything.
        url_option: the option that names the server; None where its address is known.
    """

    name: str
    new_server: Callable[[Fetch, NetworkRecord, RequestLimits], Any]
    learn: Callable[[Any, NetworkRecord], Awaitable[LearnedProfile]]
    open_network: Callable[[NetworkRecord, LearnedProfile | None, Fetch, RequestLimits | None], Network]
    url_option: str | None = None


class ServerSource:
    """Opens the networks behind one kind of server; see ``port.RemoteSource``.

    Args:
        fetch: asks an address.
        limits: of one request; by default the deadline of each network's answers.
    """

    def __init__(self, server_kind: ServerKind, fetch: Fetch, limits: RequestLimits | None = None) -> None:
        self._server_kind = server_kind
        self._fetch = fetch
        self._limits = limits

    @property
    def kind(self) -> str:
        return self._server_kind.name

    async def learn(self, record: NetworkRecord) -> LearnedProfile:
        option = self._server_kind.url_option
        if record.url is None and option is not None:
            raise ParameterError(f"{record.name} has no url", {"field": "url"}, hint=f"Name the server: --{option} URL")
        server = self._server_kind.new_server(self._fetch, record, self._limits or _PATIENT)
        return await self._server_kind.learn(server, record)

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> Network:
        try:
            return self._server_kind.open_network(record, learned, self._fetch, self._limits)
        except ParameterError as error:
            raise SettingsInvalid(
                f"The url of {record.name} cannot be used: {error.message}", hint=error.hint
            ) from error

    def stamp(self) -> Hashable:
        """Return a constant: these networks have no background work."""
        return None

    def retire(self, name: str) -> None:
        """Do nothing: these networks have no background work."""

    async def close(self) -> None:
        """Do nothing: the caller closes what ``fetch`` uses."""
