"""Which network answers: the first that covers both ends (rulings A6 and A13)."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from fingerpost.errors import RegionUnsupported
from fingerpost.transit.model import Bounds, Coordinate


class Region(Protocol):
    """What must be known of a network to choose it."""

    @property
    def name(self) -> str:
        """The network's name."""
        ...

    @property
    def bounds(self) -> Bounds:
        """The box that it covers."""
        ...

    @property
    def is_demo(self) -> bool:
        """Whether any added network beats it."""
        ...


RegionT = TypeVar("RegionT", bound=Region)


def by_preference(networks: Iterable[RegionT]) -> list[RegionT]:
    """Return networks in the order of ruling A13: added before demo, the smaller area first, then by name."""
    return sorted(networks, key=lambda network: (network.is_demo, network.bounds.area, network.name))


def get_network_at(networks: Sequence[RegionT], coordinate: Coordinate, *, end: str = "the place") -> RegionT:
    """Return the first network that covers a position, which ``end`` names in messages.

    Raises:
        RegionUnsupported: none does.
    """
    return _get_covering(networks, {end: coordinate})


def get_network_between(networks: Sequence[RegionT], origin: Coordinate, destination: Coordinate) -> RegionT:
    """Return the first network that covers both ends.

    Raises:
        RegionUnsupported: none does. The message says where each end lies, the hint which networks there are;
            ``details`` holds the names of the networks that cover each end.
    """
    return _get_covering(networks, {"origin": origin, "destination": destination})


def _get_covering(networks: Sequence[RegionT], ends: dict[str, Coordinate]) -> RegionT:
    for network in networks:
        if all(map(network.bounds.covers, ends.values())):
            return network
    covering = {end: [each.name for each in networks if each.bounds.covers(at)] for end, at in ends.items()}
    where = [
        f"{end} lies {f'in {_listed(names)}' if names else 'outside every network'}" for end, names in covering.items()
    ]
    message = " and ".join(where)
    if all(covering.values()):
        message += "; no one network covers both"
    raise RegionUnsupported(message, {**covering, "networks": [each.name for each in networks]}, hint=_hint(networks))


def _hint(networks: Sequence[Region]) -> str:
    if not networks:
        return "There is no network. Add one: fingerpost network add NAME FEED.zip"
    return "Networks: " + "; ".join(f"{each.name} ({_box(each.bounds)})" for each in networks)


def _box(bounds: Bounds) -> str:
    return f"lat {bounds.south:.2f} to {bounds.north:.2f}, lon {bounds.west:.2f} to {bounds.east:.2f}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
