"""Merge name matches from several networks: prefer places near the rider and networks in service (rule A13)."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from datetime import timedelta
from operator import attrgetter

from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch, distance_m
from fingerpost.transit.model.provenance import ServiceDays, ServiceState
from fingerpost.transit.networks.order import list_covering
from fingerpost.transit.port import Network
from fingerpost.transit.rules.name_matching import (
    AUTO_RESOLVE,
    MAX_SUGGESTED_SCORE,
    RIVAL_DISTANCE_M,
    RIVAL_SCORE,
    plain,
    sort_matches,
)
from fingerpost.transit.rules.times import to_local_date

# Places farther than this from the rider's networks are suggested, but never resolved automatically.
FAR_M = 30_000.0
_MIN_LIKELY_SCORE = 0.70
_ESTIMATED_POSITION_SCORE = 0.77
_DAY = timedelta(days=1)
_get_lat = attrgetter("place.coordinate.lat")
# RIVAL_DISTANCE_M in degrees of latitude.
_RIVAL_DEG = 1.001 * RIVAL_DISTANCE_M / METRES_PER_DEGREE


def list_running(networks: Sequence[Network], instant: int) -> list[Network]:
    return [network for network in networks if _is_in_service(network, instant)] or list(networks)


def _is_in_service(network: Network, instant: int) -> bool:
    profile = network.profile
    day = to_local_date(instant, profile.zone)
    services = [feed.service for feed in profile.feeds] or [
        ServiceDays(first_day=profile.first_day, last_day=profile.last_day)
    ]
    return any(service.state_on(near) is ServiceState.IN_SERVICE for service in services for near in (day, day - _DAY))


def is_outside(place: Place, networks: Sequence[Network]) -> bool:
    position = place.coordinate
    return all(distance_m(position, network.profile.bounds.nearest(position)) > FAR_M for network in networks)


def is_likely(match: PlaceMatch, text: str) -> bool:
    """Whether a match is good enough to hide distant places; a match with only a similar spelling is not."""
    words = plain(text).split()
    names = (match.place.name, *match.place.names.values())
    return match.score >= MAX_SUGGESTED_SCORE or (
        match.score >= _MIN_LIKELY_SCORE and any(set(plain(name).split()).issuperset(words) for name in names)
    )


def merge_by_region(
    found: Sequence[tuple[Network, Sequence[PlaceMatch]]],
    text: str,
    *,
    focus: Coordinate | None,
    instant: int,
    kinds: Collection[PlaceKind] = tuple(PlaceKind),
) -> list[PlaceMatch]:
    """Return the distinct matches of the given kinds from several networks, best first.

    The rider is assumed to be at the focus or, without a focus, in a network that is in service at ``instant``. A
    distant place is suggested only if its full name matches and no nearby place of any kind is a likely match.
    Without a focus, a name in two regions is ambiguous.
    """
    networks = [network for network, _ in found]
    running = list_running(networks, instant)
    home = [] if focus is None else list_covering(running, focus) or list_covering(networks, focus)

    def is_far(network: Network, place: Place) -> bool:
        if focus is None:
            return network not in running and is_outside(place, running)
        return is_outside(place, home) if home else distance_m(focus, place.coordinate) > FAR_M

    near: list[PlaceMatch] = []
    far: list[PlaceMatch] = []
    has_near = False
    for network, matches in sorted(found, key=lambda pair: pair[0] not in running):
        own_near: list[PlaceMatch] = []
        own_far: list[PlaceMatch] = []
        for match in matches:
            if network in running or not list_covering(running, match.place.coordinate):
                group = own_far if is_far(network, match.place) else own_near
                group.append(match._replace(network=network.profile.name))
        has_near = has_near or any(is_likely(match, text) for match in own_near)
        near += _drop_known([match for match in own_near if match.place.kind in kinds], near)
        far += _drop_known([match for match in own_far if match.place.kind in kinds], far)
    if focus is None:
        near = suggest_regions(near, networks)
    suggested = [] if has_near else [_suggest_far(match, focus) for match in far if match.score >= AUTO_RESOLVE]
    return sort_matches([*near, *suggested])


def _drop_known(matches: Sequence[PlaceMatch], known: Sequence[PlaceMatch]) -> list[PlaceMatch]:
    by_lat = sorted(known, key=_get_lat)

    def is_known(match: PlaceMatch) -> bool:
        begin = bisect_left(by_lat, _get_lat(match) - _RIVAL_DEG, key=_get_lat)
        end = bisect_right(by_lat, _get_lat(match) + _RIVAL_DEG, key=_get_lat)
        return any(
            other.score >= match.score - RIVAL_SCORE
            and distance_m(match.place.coordinate, other.place.coordinate) <= RIVAL_DISTANCE_M
            for other in by_lat[begin:end]
        )

    return [match for match in matches if not is_known(match)]


def suggest_regions(matches: Sequence[PlaceMatch], networks: Sequence[Network]) -> list[PlaceMatch]:
    full_matches = [match for match in matches if matches_full_name(match)]
    names = {match.network for match in full_matches}
    owners = [network for network in networks if network.profile.name in names]
    if not any(
        is_outside(match.place, [owner])
        for match in full_matches
        for owner in owners
        if owner.profile.name != match.network
    ):
        return list(matches)
    return [match._replace(score=min(match.score, MAX_SUGGESTED_SCORE), is_apart=True) for match in full_matches]


def matches_full_name(match: PlaceMatch) -> bool:
    return match.score >= (AUTO_RESOLVE if match.place.guess is None else _ESTIMATED_POSITION_SCORE)


def _suggest_far(match: PlaceMatch, focus: Coordinate | None) -> PlaceMatch:
    focus_distance_m = None if focus is None else distance_m(focus, match.place.coordinate)
    return match._replace(score=min(match.score, MAX_SUGGESTED_SCORE), distance_m=focus_distance_m, is_apart=True)
