"""Sort and select networks by priority and coverage, and select those in London (rules A6, A13 and E3)."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from fingerpost.errors import RegionUnsupported
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import Network, Networks, OpenNetworks
from fingerpost.transit.rules.warnings import add_reasons


def sort_by_preference(
    networks: Iterable[Network], priorities: Mapping[str, int] = MappingProxyType({})
) -> list[Network]:
    """Sort networks by descending priority, ascending area and name; demos come last.

    ``priorities``, keyed by network name, override those of the profiles.
    """

    def key(network: Network) -> tuple[bool, int, float, str]:
        profile = network.profile
        return profile.is_demo, -priorities.get(profile.name, profile.priority), profile.bounds.area, profile.name

    return sorted(networks, key=key)


def list_covering(networks: Iterable[Network], *positions: Coordinate) -> list[Network]:
    return [network for network in networks if all(map(network.profile.bounds.covers, positions))]


def list_networks_at(
    networks: Sequence[Network],
    coordinate: Coordinate,
    ability: Ability,
    problems: Mapping[str, str] = MappingProxyType({}),
) -> list[Network]:
    """Return the networks that cover a position and have an ability; raise RegionUnsupported if there are none."""
    covering = list_covering(networks, coordinate)
    capable = [network for network in covering if network.profile.can(ability)]
    if not capable:
        coverage = {"coordinate": [network.profile.name for network in covering]}
        positions = {"coordinate": coordinate}
        raise new_uncovered(networks, coverage, missing=(ability,), problems=problems, positions=positions)
    return capable


def format_swapped_hint(networks: Sequence[Network], positions: Mapping[str, Coordinate]) -> str:
    """Return a hint if a position lies in a network only after swapping lat and lon, otherwise ""."""
    parts = []
    for end, position in positions.items():
        swapped = Coordinate(position.lon, position.lat)
        names = [network.profile.name for network in list_covering(networks, swapped)]
        if names and not list_covering(networks, position) and abs(swapped.lat) <= 90:
            parts.append(f"{end} at lat {swapped.lat:g}, lon {swapped.lon:g} lies in {', '.join(names)}")
    return f"Latitude and longitude look swapped: {'; '.join(parts)}" if parts else ""


def new_uncovered(
    networks: Sequence[Network],
    coverage: Mapping[str, Sequence[str]],
    *,
    missing: Iterable[Ability] = (),
    positions: Mapping[str, Coordinate] = MappingProxyType({}),
    problems: Mapping[str, str] = MappingProxyType({}),
) -> RegionUnsupported:
    """Return the error for positions that no single network with the ``missing`` abilities covers.

    ``coverage`` lists the networks at each position; ``problems`` holds the errors from networks that cannot be opened.
    """
    parts = [
        f"{end} lies " + (f"in {', '.join(names)}" if names else "outside every network")
        for end, names in coverage.items()
    ]
    message = " and ".join(parts)
    shared = set.intersection(*map(set, coverage.values())) if coverage else set()
    hint = _list_areas(networks)
    if shared:
        missing_abilities = ", ".join(ability.value for ability in missing) or "answer"
        message += f"; no {missing_abilities} from {', '.join(sorted(shared))}"
    elif len(coverage) > 1 and all(coverage.values()):
        message += "; no single network covers both"
        hint = f"Add the feeds of a region as one network: fingerpost network add NAME FEED.zip FEED.zip. {hint}"
    swapped = format_swapped_hint(networks, positions)
    if swapped:
        hint = f"{swapped}. {hint}"
    message = add_reasons(message, [f"{name} cannot be used: {problem}" for name, problem in problems.items()])
    return RegionUnsupported(message, {**coverage, "networks": [each.profile.name for each in networks]}, hint=hint)


def _list_areas(networks: Sequence[Network]) -> str:
    if not networks:
        return "No networks are configured. Add one: fingerpost network add NAME FEED.zip"
    profiles = [network.profile for network in networks]
    return "Networks: " + "; ".join(
        f"{profile.name} (lat {profile.bounds.south:.2f} to {profile.bounds.north:.2f}, "
        f"lon {profile.bounds.west:.2f} to {profile.bounds.east - 360 * (profile.bounds.east > 180):.2f})"
        for profile in profiles
    )


_LONDON_ZONE = "Europe/London"
_CHARING_CROSS = Coordinate(51.5073, -0.1276)


class LondonNetworks:
    """The networks that cover central London; see the port's ``Networks``.

    These are the added networks that resolve place names themselves or, if there are none, all added networks. Without
    added networks, the demo is used if demos are enabled.
    """

    def __init__(self, networks: Networks) -> None:
        self._networks = networks

    async def open(self) -> OpenNetworks:
        opened = await self._networks.open()
        in_zone = [network for network in opened.answering if network.profile.zone == _LONDON_ZONE]
        covering = list_covering(in_zone, _CHARING_CROSS)
        added = [network for network in covering if not network.profile.is_demo]
        resolvers = [network for network in added if network.profile.reads_texts]
        return OpenNetworks(answering=tuple(resolvers or added or covering), problems=opened.problems)
