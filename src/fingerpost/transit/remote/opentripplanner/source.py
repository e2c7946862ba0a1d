"""The source: opens the networks whose records name an OpenTripPlanner server."""

from collections.abc import Hashable

from fingerpost.errors import ParameterError, SettingsInvalid
from fingerpost.net.fetch import Fetch
from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.remote.opentripplanner.learning import learn_profile
from fingerpost.transit.remote.opentripplanner.network import SOURCE, OpenTripPlannerNetwork
from fingerpost.transit.remote.opentripplanner.regions import find_region
from fingerpost.transit.remote.opentripplanner.server import Server

# Who adds a network waits for it, and the list of all stops is long.
_PATIENT = RequestLimits(read_s=40.0, total_s=60.0)


class OpenTripPlannerSource:
    """Opens networks behind OpenTripPlanner servers, Digitransit's among them; see the port.

    Args:
        fetch: asks an address.
        limits: of one request; by default what the deadline of the network allows.
    """

    kind = SOURCE

    def __init__(self, fetch: Fetch, limits: RequestLimits | None = None) -> None:
        self._fetch = fetch
        self._limits = limits

    async def learn(self, record: NetworkRecord) -> LearnedProfile:
        """Ask the server for its feeds, days, modes, place and abilities; see the port."""
        if record.url is None:
            raise ParameterError(f"{record.name} has no url", {"field": "url"}, hint="Name the server: --otp URL")
        server = Server(self._fetch, record, limits=self._limits or _PATIENT)
        return await learn_profile(server, find_region(record.url))

    def stamp(self) -> Hashable:
        """Return a value that never changes: nothing goes on behind a network."""
        return None

    def open(self, record: NetworkRecord, learned: LearnedProfile | None = None) -> OpenTripPlannerNetwork:
        """Open a network; nothing is asked; see the port."""
        try:
            return OpenTripPlannerNetwork(record, learned, self._fetch, self._limits)
        except ParameterError as error:
            raise SettingsInvalid(
                f"The url of {record.name} cannot be used: {error.message}", hint=error.hint
            ) from error

    def retire(self, name: str) -> None:
        """Do nothing: nothing goes on behind a network."""

    async def close(self) -> None:
        """Do nothing: what asks the servers is another's to close."""
