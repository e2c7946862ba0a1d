"""Choose networks by preference and coverage (rules A6 and A13)."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from fingerpost.errors import RegionUnsupported
from fingerpost.transit.model.place import Bounds, Coordinate
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import Network
from fingerpost.transit.rules.warnings import add_reasons


def by_preference(networks: Iterable[Network]) -> list[Network]:
    """Return networks in order: the higher priority first, then the smaller area, then by name; demos last."""

    def key(network: Network) -> tuple[bool, int, float, str]:
        profile = network.profile
        return profile.is_demo, -profile.priority, profile.bounds.area, profile.name

    return sorted(networks, key=key)


def list_covering(networks: Iterable[Network], *positions: Coordinate) -> list[Network]:
    """Return the networks whose bounds cover all positions, in the order given."""
    return [network for network in networks if all(map(network.profile.bounds.covers, positions))]


def list_networks_at(
    networks: Sequence[Network],
    coordinate: Coordinate,
    ability: Ability,
    problems: Mapping[str, str] = MappingProxyType({}),
) -> list[Network]:
    """Return the networks that cover a position and have an ability, the preferred first.

    Raises:
        RegionUnsupported: none covers it, or none of those has the ability.
    """
    covering = list_covering(networks, coordinate)
    able = [network for network in covering if network.profile.can(ability)]
    if not able:
        where = {"coordinate": [network.profile.name for network in covering]}
        positions = {"coordinate": coordinate}
        raise uncovered(networks, where, lacking=(ability,), problems=problems, positions=positions)
    return able


def say_swapped(networks: Sequence[Network], positions: Mapping[str, Coordinate]) -> str:
    """Return a hint for positions outside every network that lie in one with latitude and longitude exchanged.

    Empty where there is none; ``positions`` are by the end's name.
    """
    parts = []
    for end, position in positions.items():
        if list_covering(networks, position) or abs(position.lon) > 90:
            continue
        exchanged = Coordinate(position.lon, position.lat)
        names = [network.profile.name for network in list_covering(networks, exchanged)]
        if names:
            parts.append(f"{end} at lat {exchanged.lat:g}, lon {exchanged.lon:g} lies in {_join(names)}")
    return f"Latitude and longitude look swapped: {'; '.join(parts)}" if parts else ""


def uncovered(
    networks: Sequence[Network],
    where: Mapping[str, Sequence[str]],
    *,
    lacking: Iterable[Ability] = (),
    positions: Mapping[str, Coordinate] = MappingProxyType({}),
    problems: Mapping[str, str] = MappingProxyType({}),
) -> RegionUnsupported:
    """Return the error that says in which networks each end lies, where no one network can answer for all.

    Args:
        networks: those that there are, for the hint.
        where: by the end's name the names of the networks that cover it.
        lacking: what a network that covers everything would have had to be able to do.
        positions: where the ends lie whose position was sent, for the hint.
        problems: by name, why a network cannot be used, which may be the one that lies there.
    """
    parts = [f"{end} lies {f'in {_join(names)}' if names else 'outside every network'}" for end, names in where.items()]
    message = " and ".join(parts)
    shared = set.intersection(*map(set, where.values())) if where else set()
    hint = _list_areas(networks)
    if shared:
        message += f"; {_join(sorted(shared))} has no {_join([each.value for each in lacking]) or 'answer'}"
    elif len(where) > 1 and all(where.values()):
        message += "; no one network covers both"
        hint = f"Feeds of one region belong into one network: fingerpost network add NAME FEED.zip FEED.zip. {hint}"
    swapped = say_swapped(networks, positions)
    if swapped:
        hint = f"{swapped}. {hint}"
    message = add_reasons(message, [f"{name} cannot be used: {problem}" for name, problem in problems.items()])
    return RegionUnsupported(message, {**where, "networks": [each.profile.name for each in networks]}, hint=hint)


def _list_areas(networks: Sequence[Network]) -> str:
    if not networks:
        return "There is no network. Add one: fingerpost network add NAME FEED.zip"
    return "Networks: " + "; ".join(f"{each.profile.name} ({_box(each.profile.bounds)})" for each in networks)


def _box(bounds: Bounds) -> str:
    return f"lat {bounds.south:.2f} to {bounds.north:.2f}, lon {bounds.west:.2f} to {bounds.east:.2f}"


def _join(names: Sequence[str]) -> str:
    return ", ".join(names)
