"""Parse labels, and resolve stop ids, coordinates and names to places in all networks (rules A8, A13, B10, C2, D2)."""

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

from pydantic import Field, ValidationError

from fingerpost.contract.wire import Identifier, Number, WireModel
from fingerpost.errors import ParameterError, PlaceUnknown, Remedy, RemedyKind
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.transit.model.place import (
    Coordinate,
    Location,
    LocationSource,
    Place,
    PlaceKind,
    PlaceMatch,
    distance_m,
    match_place,
)
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.order import list_covering, new_uncovered
from fingerpost.transit.networks.querying import NetworkFailure, list_problems, query_all
from fingerpost.transit.places.candidates import new_ambiguous, new_unknown
from fingerpost.transit.places.region import list_running, merge_by_region
from fingerpost.transit.port import Network, Networks, OpenNetworks
from fingerpost.transit.rules.name_matching import RIVAL_DISTANCE_M, find_certain, plain
from fingerpost.transit.rules.warnings import Warning, WarningCode, add_reasons, merge_by_code  # noqa: A004

_LOOK_UP = Remedy(RemedyKind.LOOK_UP_STOP)
_STOP_ID = re.compile(r"\s*[A-Z0-9_-]+:[A-Z0-9:_-]+\s*", re.IGNORECASE)
_NUMBER = r"(-?\d{1,3}(?:\.\d+)?)"
# A position may be a geo: URI, be in parentheses or, if both numbers have decimals, lack the comma.
_POSITION = re.compile(rf"\s*(?:geo:|\()?\s*{_NUMBER}(?:\s*,\s*|\s+){_NUMBER}\s*\)?\s*", re.IGNORECASE)

Latitude = Annotated[Number, Field(ge=-90, le=90)]
"""Degrees north."""

Longitude = Annotated[Number, Field(ge=-180, le=180)]
"""Degrees east."""


class LocationValue(WireModel):
    lat: Latitude
    lon: Longitude
    label: str | None = None
    name: str | None = None
    address: str | None = None
    stop_id: Identifier | None = None


@dataclass(frozen=True, slots=True)
class StopLabel:
    """A stop id or, unless ``is_certain``, possibly a name; ``variable`` is the saved variable that contains the id.

    A certain id refers to exactly that stop or, with a ``name``, to whichever of the stop and its place has the name.
    """

    stop_id: str
    text: str
    variable: Variable | None = None
    is_certain: bool = False
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery:
    """A label with search constraints; ``sent_as`` is the input field that accepts a token."""

    text: str
    focus: Coordinate | None = None
    max_distance_m: float | None = None
    language: str | None = None
    sent_as: str = "the label"

    def is_near(self, coordinate: Coordinate) -> bool:
        limit_m = self.max_distance_m
        return self.focus is None or limit_m is None or distance_m(self.focus, coordinate) <= limit_m


Label = Location | StopLabel


async def read_label(text: str, variables: VariableStore, user: str | None) -> Label:
    """Parse a label as a saved variable, as coordinates, or as a stop id or name, in this order."""
    variable = await find_variable(text, variables, user)
    if variable is not None:
        stop_id = find_stop_id(variable)
        if stop_id is not None and not (isinstance(variable.value, dict) and "lat" in variable.value):
            return StopLabel(stop_id, variable.key, variable)
        return read_location(variable)
    position = parse_position(text)
    return StopLabel(text, text) if position is None else Location(coordinate=position, source=LocationSource.INPUT)


async def find_variable(key: str, variables: VariableStore, user: str | None) -> Variable | None:
    if user is None or not variables.has_storage():
        return None
    return await run_in_thread(variables.find, user, key)


def parse_position(text: str) -> Coordinate | None:
    """Parse ``lat,lon``; return None for other strings, and raise ParameterError if a number is out of range."""
    match = _POSITION.fullmatch(text)
    if match is None or ("," not in text and text.count(".") < len(match.groups())):
        return None
    lat, lon = float(match[1]), float(match[2])
    if abs(lat) > 90 or abs(lon) > 180:
        hint = "Latitude comes first; the two look swapped" if abs(lat) <= 180 and abs(lon) <= 90 else None
        raise ParameterError(f"{text.strip()!r} is not a position: lat is -90 to 90, lon -180 to 180", hint=hint)
    return Coordinate(lat, lon)


def find_stop_id(variable: Variable) -> str | None:
    value = variable.value
    if isinstance(value, str):
        # A stop id is FEED:LOCAL; other strings are preferences or notes.
        return value if ":" in value else None
    stored = [value.get("stopId"), value.get("id")] if isinstance(value, dict) else []
    ids = (str(stop_id) for stop_id in stored if isinstance(stop_id, str | int) and not isinstance(stop_id, bool))
    return next(filter(str.strip, ids), None)


def read_location(variable: Variable) -> Location:
    try:
        value = LocationValue.read(variable.value)
    except ValidationError as error:
        raise ParameterError(
            f"the variable '{variable.key}' is of type {variable.type} and does not contain a place",
            hint=Remedy(RemedyKind.SAVE_AGAIN),
        ) from error
    return Location(
        coordinate=Coordinate(value.lat, value.lon),
        source=LocationSource.USER_VARIABLE,
        label=variable.key,
        name=value.name,
        address=value.address,
        stop_ids=(value.stop_id,) if value.stop_id else (),
    )


class FoundPlaces(NamedTuple):
    """Candidates, best first; ``left_out`` holds a message for each network that did not answer."""

    matches: list[PlaceMatch]
    warnings: Sequence[Warning]
    left_out: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundStop:
    places_by_network: Sequence[tuple[Network, Place]]
    warnings: tuple[Warning, ...] = ()

    @property
    def networks(self) -> list[Network]:
        return [network for network, _ in self.places_by_network]

    @property
    def place(self) -> Place:
        return self.places_by_network[0][1]

    def drop_namesakes(self) -> "FoundStop":
        centre = self.place.coordinate
        nearby = [pair for pair in self.places_by_network if distance_m(centre, pair[1].coordinate) <= RIVAL_DISTANCE_M]
        return replace(self, places_by_network=nearby)


class PlaceResolver:
    def __init__(self, networks: Networks, variables: VariableStore) -> None:
        self.networks = networks
        self.variables = variables

    async def has_same_service(self, first: int, second: int) -> bool:
        """Whether the same networks are in service at both instants, so that places resolve alike (rule A13)."""
        opened = await self.networks.open()
        networks = [*opened.answering, *opened.by_token_only]
        return list_running(networks, first) == list_running(networks, second)

    async def get_stop(
        self,
        value: str,
        *,
        is_label: bool,
        user: str | None,
        language: str,
        instant: int,
        focus: Coordinate | None = None,
        field: str = "stop.value",
    ) -> FoundStop:
        """Return the stop for an id, or for a label: a saved stop, an id, or a stop's name, tried in this order.

        Errors name ``field``, the caller's argument.

        Raises:
            ParameterError: the label is a variable without a stop.
            PlaceUnknown, PlaceAmbiguous: no stop matches, or several places do.
            StorageUnavailable: the only network with the id failed.
        """
        lookup = PlaceLookup(await self.networks.open(), language)
        variable = await find_variable(value, self.variables, user) if is_label else None
        stop_id = value if variable is None else find_stop_id(variable)
        if stop_id is None:
            raise ParameterError(
                f"the variable '{value}' does not refer to a stop", {"field": field}, hint=Remedy(RemedyKind.SAVE_AGAIN)
            )
        found = await lookup.find_token(stop_id) if is_label else None
        if found is None and is_label and variable is None:
            found = await lookup.get_stop_by_name(value, focus=focus, instant=instant)
        elif found is None:
            found = await lookup.get_stop_by_id(stop_id, field)
        warnings = merge_by_code([*lookup.list_warnings(), *found.warnings])
        return replace(found.drop_namesakes(), warnings=warnings)

    async def find_place_of_stop(self, stop_id: str, *, language: str) -> FoundStop | None:
        found = await PlaceLookup(await self.networks.open(), language).find_token(stop_id)
        return None if found is None else found.drop_namesakes()

    async def find_position(self, text: str, *, language: str, user: str | None) -> Coordinate | None:
        """Return the coordinates of a saved place, ``lat,lon`` or a stop id, tried in this order."""
        label = await read_label(text, self.variables, user)
        if isinstance(label, Location):
            return label.coordinate
        stop = await self.find_place_of_stop(label.stop_id, language=language)
        return None if stop is None else stop.place.coordinate

    async def find_places(
        self, text: str, *, language: str | None, focus: Coordinate | None, instant: int
    ) -> FoundPlaces:
        opened = await self.networks.open()
        position = parse_position(text)
        if position is not None:
            if not list_covering(opened.answering, position):
                positions = {"coordinate": position}
                raise new_uncovered(opened.answering, {"coordinate": ()}, problems=opened.problems, positions=positions)
            named = await find_address(opened.answering, position, language)
            place = named or Place(name=text, coordinate=position, kind=PlaceKind.ADDRESS)
            return FoundPlaces([match_place(place, 1.0, focus)], [])
        lookup = PlaceLookup(opened, language)
        known = await lookup.find_token(text)
        if known is not None:
            return FoundPlaces([match_place(known.place, 1.0, focus)], merge_by_code(lookup.list_warnings()))
        matches = await lookup.find_by_name(text, focus=focus, instant=instant)
        return FoundPlaces(matches, merge_by_code(lookup.list_warnings()), lookup.list_reasons())


class PlaceLookup:
    """Looks up places in the open networks; ``left_out`` collects the networks that fail."""

    def __init__(self, opened: OpenNetworks, language: str | None) -> None:
        self.opened = opened
        self.language = language
        self.left_out: list[NetworkFailure] = []

    def list_warnings(self) -> list[Warning]:
        return [*list_problems(self.opened), *(network.warning for network in self.left_out)]

    def list_reasons(self) -> list[str]:
        """Return a message for each network that did not answer and may still have the place."""
        return [*(network.clause for network in self.left_out), *self.opened.problems.values()]

    async def find_stop(self, network: Network, stop_id: str, *, whole_place: bool = False) -> Place | None:
        return await network.find_stop(stop_id.strip(), language=self.language, whole_place=whole_place)

    async def find_token(self, stop_id: str, name: str | None = None) -> FoundStop | None:
        """Return the place for a stop id, with all its stops, in each network that has the id (rule D2).

        If ``name`` is the name of the stop and not of the place, return the stop alone.
        """

        async def find(network: Network) -> Place | None:
            place = await self.find_stop(network, stop_id, whole_place=True)
            if place is None or name is None or has_name(place, name):
                return place
            stop = await self.find_stop(network, stop_id)
            return stop if stop is not None and has_name(stop, name) else place

        return await self.find_owned(stop_id, find)

    async def get_stop_by_id(self, stop_id: str, field: str) -> FoundStop:
        found = await self.find_owned(stop_id, lambda network: self.find_stop(network, stop_id), Ability.BOARDS)
        if found is None:
            message = add_reasons(f"no stop has the id '{stop_id}'", self.list_reasons())
            raise PlaceUnknown(message, {"field": field}, hint=_LOOK_UP)
        return found

    async def get_stop_by_name(self, text: str, *, focus: Coordinate | None, instant: int) -> FoundStop:
        matches = await self.find_by_name(text, focus=focus, instant=instant, kinds=(PlaceKind.STOP,))
        if not matches:
            raise new_unknown(text, side="stop", hint=_LOOK_UP, left_out=self.list_reasons())
        found = find_certain(matches)
        if found is None:
            raise await new_ambiguous(text, matches, side="stop")
        place = found.place
        message = f"stop '{text}' was resolved to {place.name} ({place.token})."
        owner = next(network for network in self.opened.answering if network.profile.name == found.network)
        return FoundStop(places_by_network=[(owner, place)], warnings=(Warning(WarningCode.LABEL_GEOCODED, message),))

    async def find_by_name(
        self, text: str, *, focus: Coordinate | None, instant: int, kinds: Collection[PlaceKind] = tuple(PlaceKind)
    ) -> list[PlaceMatch]:
        found = await self.query_names(self.opened.answering, text, self.language, focus)
        return merge_by_region(found, text, focus=focus, instant=instant, kinds=kinds)

    async def query_names(
        self, networks: Sequence[Network], text: str, language: str | None, focus: Coordinate | None
    ) -> tuple[tuple[Network, Sequence[PlaceMatch]], ...]:
        """Search for a name; return nothing for an id of a known feed, because the feed's name could match places."""
        if _STOP_ID.fullmatch(text) and self.opened.list_owners(text):
            return ()
        able = [network for network in networks if network.profile.can(Ability.NAMES)]
        answers = await query_all(
            able, lambda network: network.find_places(text, language=language, focus=focus), names=True
        )
        self.left_out += answers.left_out
        return answers.by_network

    async def find_owned(
        self, stop_id: str, find: Callable[[Network], Awaitable[Place | None]], ability: Ability = Ability.NAMES
    ) -> FoundStop | None:
        owners = [network for network in self.opened.list_owners(stop_id.strip()) if network.profile.can(ability)]
        if not owners:
            return None
        answers = await query_all(owners, find)
        self.left_out += answers.left_out
        found = [(network, place) for network, place in answers.by_network if place is not None]
        return FoundStop(places_by_network=found) if found else None


def has_name(place: Place, name: str) -> bool:
    return plain(name) in map(plain, (place.name, *place.names.values()))


async def find_address(networks: Sequence[Network], position: Coordinate, language: str | None) -> Place | None:
    for network in list_covering(networks, position):
        found = await network.find_address(position, language=language)
        if found is not None:
            return found
    return None


def to_location(place: Place, label: str, variable: Variable | None = None) -> Location:
    """Convert a place to an origin or destination; no walk is needed between it and the stops of its station."""
    return Location(
        coordinate=place.coordinate,
        source=LocationSource.GEOCODE if variable is None else LocationSource.USER_VARIABLE,
        label=label,
        name=place.name,
        stop_ids=place.member_ids if place.zero_walk_ids is None else place.zero_walk_ids,
        attribution=place.attribution,
    )
