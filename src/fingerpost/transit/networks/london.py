"""The networks of London among all networks, for the tool that plans journeys there (rules A13, E3)."""

from collections.abc import Iterable

from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.networks.order import list_covering
from fingerpost.transit.port import Network, Networks, OpenNetworks

ZONE = "Europe/London"
# From where distances to London are measured.
CHARING_CROSS = Coordinate(51.5073, -0.1276)


class LondonNetworks:
    """The networks that cover central London; see the port's ``Networks``.

    Those that read the texts of a trip's ends themselves answer alone; else those of one's own; else a demo,
    also one that answers elsewhere for nothing but its own ids.

    Args:
        networks: all networks; whoever made them closes them.
        with_demo: whether a demo may answer.
    """

    def __init__(self, networks: Networks, *, with_demo: bool = True) -> None:
        self._networks = networks
        self._with_demo = with_demo

    async def open(self) -> OpenNetworks:
        opened = await self._networks.open()
        here = _list_here(opened.answering)
        demos = _list_here(opened.by_token_only) if self._with_demo else []
        own = [network for network in here if not network.profile.is_demo]
        readers = [network for network in own if network.profile.reads_texts]
        return OpenNetworks(answering=tuple(readers or own or here or demos), problems=opened.problems)

    async def close(self) -> None:
        """Do nothing: the networks are another's to close."""


def _list_here(networks: Iterable[Network]) -> list[Network]:
    in_zone = [network for network in networks if network.profile.zone == ZONE]
    return list_covering(in_zone, CHARING_CROSS)
