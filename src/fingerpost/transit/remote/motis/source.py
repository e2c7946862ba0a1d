"""The source: opens the networks whose records name a MOTIS server."""

from collections.abc import Hashable

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.net.fetch import Fetch
from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.remote.motis.learning import learn_profile
from fingerpost.transit.remote.motis.network import SOURCE, MotisNetwork
from fingerpost.transit.remote.motis.server import MotisServer

# Who adds a network waits for it, and the list of all stops is long.
_PATIENT = RequestLimits(read_s=40.0, total_s=60.0)


class MotisSource:
    """Opens networks behind MOTIS servers, Transitous among them; see the port.

    Args:
        fetch: asks an address.
        limits: of one request; by default what callers wait for an answer.
    """

    kind = SOURCE

    def __init__(self, fetch: Fetch, limits: RequestLimits | None = None) -> None:
        self._fetch = fetch
        self._limits = limits

    async def learn(self, record: NetworkRecord) -> LearnedProfile:
        """Ask the server for its version, and what it covers; see the port."""
        if record.url is None:
            raise ParameterError(f"{record.name} has no url", {"field": "url"}, hint="Name the server: --motis URL")
        return await learn_profile(MotisServer(self._fetch, record, limits=self._limits or _PATIENT), record)

    def stamp(self) -> Hashable:
        """Return a value that never changes: nothing goes on behind a network."""
        return None

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> MotisNetwork:
        """Open a network; nothing is asked; see the port."""
        try:
            return MotisNetwork(record, learned, self._fetch, self._limits)
        except ParameterError as error:
            raise SettingsInvalid(
                f"The url of {record.name} cannot be used: {error.message}", hint=error.hint
            ) from error

    def retire(self, name: str) -> None:
        """Do nothing: nothing goes on behind a network."""

    async def close(self) -> None:
        """Do nothing: what asks the servers is another's to close."""
