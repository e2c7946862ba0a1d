"""Which stop ids a network knows, where ids of two networks meet because one is the other's fallback (rule A8)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fingerpost.transit.model.place import Location
from fingerpost.transit.model.profile import NetworkProfile
from fingerpost.transit.port import Network


@dataclass(frozen=True, slots=True)
class KnownIds:
    """Ids of stops, split into those that a network knows and those that it does not."""

    known: tuple[str, ...]
    unknown: tuple[str, ...] = ()


def has_feed_of(stop_id: str, profile: NetworkProfile) -> bool:
    """Whether the FEED before an id's first colon is one of a network's."""
    return stop_id.strip().upper().partition(":")[0] in profile.feed_names


def split_by_feed(stop_ids: Sequence[str], own: NetworkProfile, other: NetworkProfile) -> KnownIds:
    """Return as unknown the ids whose FEED is the other network's alone; nobody is asked."""
    foreign = tuple(each for each in stop_ids if has_feed_of(each, other) and not has_feed_of(each, own))
    return KnownIds(tuple(each for each in stop_ids if each not in foreign), foreign)


async def split_by_asking(stop_ids: Sequence[str], network: Network) -> KnownIds:
    """Return which ids a network finds; those of another FEED are not asked for."""
    known = [
        each for each in stop_ids if has_feed_of(each, network.profile) and await network.find_stop(each) is not None
    ]
    return KnownIds(tuple(known), tuple(each for each in stop_ids if each not in known))


def keep_known(end: Location, ids: KnownIds) -> Location:
    """Return an end of a trip without the ids that are not known; its position stays."""
    return replace(end, stop_ids=ids.known) if ids.unknown else end
