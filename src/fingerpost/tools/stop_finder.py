"""One stop, by id or by label, in the network that knows it best (rulings A8, B10, C2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from fingerpost.errors import ParameterError, PlaceUnknown
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.tools.labels import ambiguous, find_stop_id, find_variable, unknown
from fingerpost.transit.model import Coordinate, Place, PlaceMatch
from fingerpost.transit.port import Network, Networks
from fingerpost.transit.rules.distance import distance_m
from fingerpost.transit.rules.matching import RIVAL_DISTANCE_M, RIVAL_SCORE, Resolved, decide, in_order
from fingerpost.transit.rules.warnings import WarningCode, Warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundStop:
    """A stop, station or place, and the network that it belongs to."""

    network: Network
    place: Place


class StopFinder:
    """Finds the stop of a board."""

    def __init__(self, networks: Networks, variables: VariableStore) -> None:
        self._networks = networks
        self._variables = variables

    async def get_stop(
        self, is_label: bool, value: str, *, user: str | None, language: str, warnings: Warnings
    ) -> FoundStop:
        """Return a stop by its id, or what a label means: a saved stop, then a token, then a stop's name.

        Raises:
            PlaceUnknown: the id or the label names no stop.
            PlaceAmbiguous: the label could mean several places.
        """
        networks = await self._networks.list_networks()
        if not is_label:
            return await _get_by_id(networks, value, language)
        variable = await find_variable(self._variables, user, value)
        if variable is not None:
            return await _get_by_id(networks, _stop_id_of(variable), language)
        for network in networks:
            place = await network.find_stop_place(value, language=language)
            if place is not None:
                return FoundStop(network=network, place=place)
        found = await find_everywhere(networks, value, language)
        if not found:
            raise unknown(value, side="stop", hint="Look the stop up with findAddressOrStop or find_stops")
        decision = decide([match for match, _ in found])
        if not isinstance(decision, Resolved):
            raise ambiguous(value, [match for match, _ in found], side="stop")
        place = decision.match.place
        warnings.add(WarningCode.LABEL_GEOCODED, f"stop '{value}' was taken as {place.name} ({place.token}).")
        return FoundStop(network=next(network for match, network in found if match is decision.match), place=place)


async def find_everywhere(
    networks: Sequence[Network], text: str, language: str | None, focus: Coordinate | None = None
) -> list[tuple[PlaceMatch, Network]]:
    """Return what a text means in any network, best first; a place that a preferred network knows counts once."""
    found: dict[int, tuple[PlaceMatch, Network]] = {}
    for network in networks:
        for match in await network.find_places(text, language=language, focus=focus):
            if not any(owner is not network and _is_same(match, known) for known, owner in found.values()):
                found[id(match)] = (match, network)
    return [found[id(match)] for match in in_order(match for match, _ in found.values())]


def _is_same(match: PlaceMatch, known: PlaceMatch) -> bool:
    """Whether a place of a less preferred network is one that a preferred network knows as well by this text."""
    near = distance_m(match.place.coordinate, known.place.coordinate) <= RIVAL_DISTANCE_M
    return near and known.score >= match.score - RIVAL_SCORE


async def _get_by_id(networks: Sequence[Network], stop_id: str, language: str) -> FoundStop:
    for network in networks:
        place = await network.find_stop(stop_id, language=language)
        if place is not None:
            return FoundStop(network=network, place=place)
    raise PlaceUnknown(
        f"no stop has the id '{stop_id}'",
        {"field": "stop.value"},
        hint="Look the stop up with findAddressOrStop or find_stops",
    )


def _stop_id_of(variable: Variable) -> str:
    stop_id = find_stop_id(variable)
    if stop_id is None:
        raise ParameterError(
            f"the variable '{variable.key}' names no stop",
            {"field": "stop.value"},
            hint="Save it again with a stopId, or send a stop id",
        )
    return stop_id
