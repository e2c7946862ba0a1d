"""Resolve texts to places over all networks (rules A8, A13, B10, C2, D2).

A position or a variable needs no network, a token goes straight to the network of its FEED, a name goes to all
networks that can answer at once. Whoever fails or is late is left out and named.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fingerpost.errors import ParameterError, PlaceUnknown, SourceChanged, StorageUnavailable
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.transit.model.place import (
    Coordinate,
    Location,
    LocationSource,
    Place,
    PlaceKind,
    PlaceMatch,
    distance_m,
)
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.asking import Answers, ask_all, ask_for_names, warn_of_left_out, warn_of_problems
from fingerpost.transit.networks.order import list_covering
from fingerpost.transit.networks.position_names import ask_position
from fingerpost.transit.places.candidates import ambiguous, unknown
from fingerpost.transit.places.labels import find_position, find_stop_id, find_variable
from fingerpost.transit.places.region import read_in_region
from fingerpost.transit.port import NamesPositions, Network, Networks, OpenNetworks
from fingerpost.transit.rules.name_matching import RIVAL_DISTANCE_M, Resolved, decide
from fingerpost.transit.rules.warnings import WarningCode, Warnings, add_reasons

_LOOK_UP = "Look the stop up with findAddressOrStop or find_stops"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundStop:
    """A stop, station or place, and the networks that know it, the preferred first; ``places`` as each knows it."""

    networks: tuple[Network, ...]
    places: tuple[Place, ...]

    @property
    def place(self) -> Place:
        return self.places[0]

    def keep_same(self) -> "FoundStop":
        """Return it without the networks that use its id for a stop elsewhere."""
        here = self.place.coordinate
        same = [
            (network, place)
            for network, place in zip(self.networks, self.places, strict=True)
            if distance_m(here, place.coordinate) <= RIVAL_DISTANCE_M
        ]
        return FoundStop(networks=tuple(each for each, _ in same), places=tuple(each for _, each in same))


class PlaceResolver:
    def __init__(self, networks: Networks, variables: VariableStore) -> None:
        self.networks = networks
        self.variables = variables

    async def get_stop(
        self,
        value: str,
        *,
        is_label: bool,
        user: str | None,
        language: str,
        warnings: Warnings,
        instant: int,
        focus: Coordinate | None = None,
    ) -> FoundStop:
        """Return a stop by its id, or what a label means: a saved stop, then a token, then a stop's name.

        A name is read where the ``focus`` is, else where networks run at the ``instant`` (Unix seconds).

        Raises:
            ParameterError: the label is a variable that names no stop.
            PlaceUnknown: the id or the label names no stop.
            PlaceAmbiguous: the label could mean several places.
            StorageUnavailable: the one network that could know it cannot be asked.
        """
        opened = await self.networks.open()
        warn_of_problems(opened.problems, warnings)
        if not is_label:
            return await _get_by_id(opened, value, language, warnings)
        variable = await find_variable(value, self.variables, user)
        if variable is not None:
            stop_id = _get_stop_id(variable)
            saved = await find_place_of_token(opened, stop_id, language, warnings)
            return await _get_by_id(opened, stop_id, language, warnings) if saved is None else saved.keep_same()
        known = await find_place_of_token(opened, value, language, warnings)
        if known is not None:
            return known.keep_same()
        return await _get_by_name(opened, value, language, warnings, focus=focus, instant=instant)

    async def find_place_of_stop(self, stop_id: str, *, language: str) -> FoundStop | None:
        """Return the whole place that a stop belongs to, None where no network knows it or none answers now."""
        opened = await self.networks.open()
        try:
            found = await find_place_of_token(opened, stop_id, language, Warnings())
        except (StorageUnavailable, SourceChanged):
            return None
        return None if found is None else found.keep_same()

    async def find_places(
        self, text: str, *, language: str | None, focus: Coordinate | None, warnings: Warnings, instant: int
    ) -> list[PlaceMatch]:
        """Return the candidates for a text, best first: a position, a token's place, or all places of such a name.

        A name is read where the ``focus`` is, else where networks run at the ``instant`` (Unix seconds).
        """
        position = find_position(text)
        if position is not None:
            found = await _find_what_is_at((await self.networks.open()).answering, position, language, warnings)
            return [_exact(found or Place(name=text, coordinate=position, kind=PlaceKind.ADDRESS), focus)]
        opened = await self.networks.open()
        warn_of_problems(opened.problems, warnings)
        known = await find_place_of_token(opened, text, language, warnings)
        if known is not None:
            return [_exact(known.place, focus)]
        return await _find_by_name(opened, text, language, warnings, focus=focus, instant=instant)


async def find_place_of_token(
    opened: OpenNetworks, text: str, language: str | None, warnings: Warnings
) -> FoundStop | None:
    """Return the whole place that a token stands for, None where no network knows it as one (rule D2)."""
    stop_id = text.strip()
    owners = [network for network in opened.list_owners(stop_id) if network.profile.can(Ability.NAMES)]
    if not owners:
        return None
    answers = await ask_all(owners, lambda network: network.find_stop_place(stop_id, language=language))
    return _choose_first(answers, warnings)


async def find_address(networks: Sequence[Network], position: Coordinate, language: str | None) -> Place | None:
    """Return a position under the name of what is there, None where no network that covers it can say."""
    for network in list_covering(networks, position):
        if isinstance(network, NamesPositions):
            found = await network.find_address(position, language=language)
            if found is not None:
                return found
    return None


async def _find_what_is_at(
    networks: Sequence[Network], position: Coordinate, language: str | None, warnings: Warnings
) -> Place | None:
    """Return a position under the name of what is there: by an index here, else by the server of one network.

    Of the networks that cover it the preferred one is asked whose server can be; a position goes to no second server.
    """
    found = await find_address(networks, position, language)
    if found is not None:
        return found
    network = next((each for each in list_covering(networks, position) if each.profile.names_positions), None)
    if network is None:
        return None
    told = await ask_position(network, position, language, network.profile.names_deadline_s)
    warnings.add(WarningCode.NETWORK_LEFT_OUT, told.failure)
    return told.place


def location_of_place(place: Place, label: str, variable: Variable | None = None) -> Location:
    """Return a place as an end of a trip; the stops of its station, or its nearest, cost no walk (rule D2)."""
    return Location(
        coordinate=place.coordinate,
        source=LocationSource.GEOCODE if variable is None else LocationSource.USER_VARIABLE,
        label=label,
        name=place.name,
        stop_ids=place.member_ids if place.zero_walk_ids is None else place.zero_walk_ids,
        attribution=place.attribution,
    )


def _choose_first(answers: Answers[Place | None], warnings: Warnings) -> FoundStop | None:
    warn_of_left_out(answers.left_out, warnings)
    found = [(network, place) for network, place in answers.by_network if place is not None]
    if not found:
        return None
    return FoundStop(networks=tuple(network for network, _ in found), places=tuple(place for _, place in found))


async def _get_by_id(opened: OpenNetworks, stop_id: str, language: str, warnings: Warnings) -> FoundStop:
    wanted = stop_id.strip()
    owners = [network for network in opened.list_owners(wanted) if network.profile.can(Ability.BOARDS)]
    left_out = list(opened.problems.values())
    if owners:
        answers = await ask_all(owners, lambda network: network.find_stop(wanted, language=language))
        found = _choose_first(answers, warnings)
        if found is not None:
            return found.keep_same()
        left_out = [*(each.sentence for each in answers.left_out), *left_out]
    raise PlaceUnknown(add_reasons(f"no stop has the id '{stop_id}'", left_out), {"field": "stop.value"}, hint=_LOOK_UP)


async def _get_by_name(
    opened: OpenNetworks, text: str, language: str, warnings: Warnings, *, focus: Coordinate | None, instant: int
) -> FoundStop:
    while_searching = Warnings()
    # An address has no board.
    kinds = (PlaceKind.STOP,)
    matches = await _find_by_name(opened, text, language, while_searching, focus=focus, instant=instant, kinds=kinds)
    warnings.extend(while_searching)
    if not matches:
        raise unknown(text, side="stop", hint=_LOOK_UP, left_out=while_searching.find(WarningCode.NETWORK_LEFT_OUT))
    decision = decide(matches)
    if not isinstance(decision, Resolved):
        raise ambiguous(text, matches, side="stop")
    place = decision.match.place
    warnings.add(WarningCode.LABEL_GEOCODED, f"stop '{text}' was taken as {place.name} ({place.token}).")
    owner = next(network for network in opened.answering if network.profile.name == decision.match.network)
    return FoundStop(networks=(owner,), places=(place,))


async def _find_by_name(
    opened: OpenNetworks,
    text: str,
    language: str | None,
    warnings: Warnings,
    *,
    focus: Coordinate | None,
    instant: int,
    kinds: Collection[PlaceKind] = tuple(PlaceKind),
) -> list[PlaceMatch]:
    able = [network for network in opened.answering if network.profile.can(Ability.NAMES)]
    answers = await ask_for_names(able, lambda network: network.find_places(text, language=language, focus=focus))
    warn_of_left_out(answers.left_out, warnings)
    found = [
        (network, [match for match in matches if match.place.kind in kinds]) for network, matches in answers.by_network
    ]
    return read_in_region(found, focus=focus, instant=instant)


def _exact(place: Place, focus: Coordinate | None) -> PlaceMatch:
    return PlaceMatch(place=place, score=1.0, distance_m=None if focus is None else distance_m(focus, place.coordinate))


def _get_stop_id(variable: Variable) -> str:
    stop_id = find_stop_id(variable)
    if stop_id is None:
        raise ParameterError(
            f"the variable '{variable.key}' names no stop",
            {"field": "stop.value"},
            hint="Save it again with a stopId, or send a stop id",
        )
    return stop_id
