"""Read names where the rider is: running networks first, far places as candidates only (rule A13)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch, distance_m
from fingerpost.transit.model.provenance import ServiceDays, ServiceState
from fingerpost.transit.networks.order import list_covering
from fingerpost.transit.port import Network
from fingerpost.transit.rules.name_matching import AUTO_RESOLVE, RIVAL_DISTANCE_M, RIVAL_SCORE, in_order
from fingerpost.transit.rules.times import local_date_of

# A place further than this outside the networks around the rider is offered, never taken.
FAR_M = 30_000.0
# Far places, and names that networks of two regions have, score no more than this, so that they do not resolve.
_OFFERED = 0.79
_NUMBER_GUESSED = 0.77
_DAY = timedelta(days=1)


def list_running(networks: Sequence[Network], instant: int) -> list[Network]:
    """Return the networks with service on the day of an instant, or in the night after it; all where none has."""
    return [network for network in networks if _runs_at(network, instant)] or list(networks)


def _runs_at(network: Network, instant: int) -> bool:
    profile = network.profile
    day = local_date_of(instant, profile.zone)
    services = [feed.service for feed in profile.feeds] or [
        ServiceDays(first_day=profile.first_day, last_day=profile.last_day)
    ]
    return any(each.state_on(near) is ServiceState.IN_SERVICE for each in services for near in (day, day - _DAY))


def is_outside(place: Place, networks: Sequence[Network]) -> bool:
    """Whether a place lies more than ``FAR_M`` outside each of the networks."""
    at = place.coordinate
    return all(distance_m(at, network.profile.bounds.nearest(at)) > FAR_M for network in networks)


def read_in_region(
    found: Sequence[tuple[Network, Sequence[PlaceMatch]]], *, focus: Coordinate | None, instant: int
) -> list[PlaceMatch]:
    """Return the matches of several networks, best first, each place once and with its network's name.

    The rider is at the focus, else where networks run at the instant: anywhere in these. A place far from there is a
    candidate only, and only where no place near there has the name. A network without service hides no place of a
    running one.
    Names that running networks of two regions have are candidates where there is no focus.
    """
    networks = [network for network, _ in found]
    running = list_running(networks, instant)
    home = running if focus is None else list_covering(running, focus) or list_covering(networks, focus)
    near: list[PlaceMatch] = []
    far: list[PlaceMatch] = []
    for network, matches in sorted(found, key=lambda each: each[0] not in running):
        near_others, far_others = tuple(near), tuple(far)
        for match in matches:
            if network not in running and list_covering(running, match.place.coordinate):
                continue
            if home:
                is_far = is_outside(match.place, home) and not (focus is None and network in running)
            else:
                is_far = focus is not None and _is_far_from(match, focus)
            region, others = (far, far_others) if is_far else (near, near_others)
            if not any(_is_same(match, other) for other in others):
                region.append(replace(match, network=network.profile.name))
    if focus is None:
        near = offer_regions(near, networks)
    if not any(match.score >= AUTO_RESOLVE for match in near):
        offered = [match for match in far if not near or match.score >= AUTO_RESOLVE]
        near = [*near, *(_offer_far(match, focus) for match in offered)]
    return in_order(near)


def offer_regions(matches: Sequence[PlaceMatch], networks: Sequence[Network]) -> list[PlaceMatch]:
    """Return the matches; where those that would resolve lie in two regions, only these, as candidates."""
    owners = {network.profile.name: network for network in networks}
    whole = [match for match in matches if has_whole_name(match)]
    if not any(
        match.network != other.network and is_outside(match.place, [owners[other.network]])
        for match in whole
        for other in whole
    ):
        return list(matches)
    return [replace(match, score=min(match.score, _OFFERED), is_apart=True) for match in whole]


def has_whole_name(match: PlaceMatch) -> bool:
    """Whether a match would resolve, or would but for a house number whose place is guessed."""
    return match.score >= (AUTO_RESOLVE if match.place.guess is None else _NUMBER_GUESSED)


def _offer_far(match: PlaceMatch, focus: Coordinate | None) -> PlaceMatch:
    away_m = None if focus is None else distance_m(focus, match.place.coordinate)
    return replace(match, score=min(match.score, _OFFERED), distance_m=away_m, is_apart=True)


def _is_far_from(match: PlaceMatch, focus: Coordinate) -> bool:
    return distance_m(focus, match.place.coordinate) > FAR_M


def _is_same(match: PlaceMatch, known: PlaceMatch) -> bool:
    is_near = distance_m(match.place.coordinate, known.place.coordinate) <= RIVAL_DISTANCE_M
    return is_near and known.score >= match.score - RIVAL_SCORE
