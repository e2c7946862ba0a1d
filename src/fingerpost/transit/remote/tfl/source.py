"""The source: opens the networks whose records name TfL."""

from collections.abc import Hashable

from fingerpost.net.fetch import Fetch
from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.remote.tfl.learning import learn_profile
from fingerpost.transit.remote.tfl.network import TflNetwork
from fingerpost.transit.remote.tfl.server import TflClient
from fingerpost.transit.remote.tfl.unified_api import KIND


class TflSource:
    """Opens London behind TfL's API; see the port.

    Args:
        fetch: asks an address.
        limits: of one request; by default what the deadline of the network allows.
    """

    kind = KIND

    def __init__(self, fetch: Fetch, limits: RequestLimits | None = None) -> None:
        self._fetch = fetch
        self._limits = limits

    async def learn(self, record: NetworkRecord) -> LearnedProfile:
        """Ask TfL for its modes; see the port."""
        return await learn_profile(TflClient(self._fetch, record, self._limits))

    def stamp(self) -> Hashable:
        """Return a value that never changes: nothing goes on behind a network."""
        return None

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> TflNetwork:
        """Open a network; nothing is asked; see the port."""
        return TflNetwork(record, learned, self._fetch, self._limits)

    def retire(self, name: str) -> None:
        """Do nothing: nothing goes on behind a network."""

    async def close(self) -> None:
        """Do nothing: what asks TfL is another's to close."""
