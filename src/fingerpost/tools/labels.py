"""What a label means: a saved variable, a token of an earlier answer, or the name of a place (ruling B10)."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from fingerpost.errors import ParameterError, PlaceAmbiguous, PlaceUnknown
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.tools.shapes import candidate_of
from fingerpost.transit.model import Coordinate, Location, LocationSource, Place, PlaceMatch
from fingerpost.transit.port import Network
from fingerpost.transit.rules.matching import Resolved, decide

_POSITION = re.compile(r"\s*(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*")
# As many candidates as a person can choose from (contract 003: maxLookupCandidates).
MAX_CANDIDATES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How one network reads a label: ``location`` where it is sure, else the candidates.

    ``score`` is 1 for what was named exactly. ``geocoded`` is True where a name was matched.
    """

    score: float
    location: Location | None = None
    candidates: tuple[PlaceMatch, ...] = ()
    geocoded: bool = False


def find_position(text: str) -> Coordinate | None:
    """Return the position that a ``lat,lon`` token states, or None for any other text.

    Raises:
        ParameterError: it reads like a position and is off the globe.
    """
    match = _POSITION.fullmatch(text)
    if match is None:
        return None
    lat, lon = float(match[1]), float(match[2])
    if abs(lat) > 90 or abs(lon) > 180:
        raise ParameterError(f"{text.strip()!r} is not a position: lat is -90 to 90, lon -180 to 180")
    return Coordinate(lat, lon)


async def find_variable(variables: VariableStore, user: str | None, key: str) -> Variable | None:
    """Return the user's variable of that key, case-sensitive, or None."""
    if user is None:
        return None
    return await asyncio.to_thread(variables.find, user, key)


def location_of_variable(variable: Variable) -> Location:
    """Return the place that a variable keeps.

    Raises:
        ParameterError: it keeps no place.
    """
    value = variable.value
    if not (isinstance(value, dict) and _is_number(value.get("lat")) and _is_number(value.get("lon"))):
        raise ParameterError(
            f"the variable '{variable.key}' is of type {variable.type} and holds no place",
            hint="Save it again with type location and a value with lat and lon",
        )
    stop_id = value.get("stopId")
    return Location(
        coordinate=Coordinate(float(value["lat"]), float(value["lon"])),
        source=LocationSource.USER_VARIABLE,
        label=variable.key,
        name=value.get("name"),
        address=value.get("address"),
        stop_ids=(stop_id,) if stop_id else (),
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


async def find_reading(network: Network, label: str, language: str) -> Reading | None:
    """Return how a network reads a token or a name, or None where nothing there resembles it."""
    place = await network.find_stop_place(label, language=language)
    if place is not None:
        return Reading(score=1.0, location=location_of_place(place, label))
    matches = await network.find_places(label, language=language)
    if not matches:
        return None
    decision = decide(matches)
    if isinstance(decision, Resolved):
        found = decision.match
        return Reading(score=found.score, location=location_of_place(found.place, label), geocoded=True)
    return Reading(score=matches[0].score, candidates=tuple(matches[:MAX_CANDIDATES]))


def location_of_place(place: Place, label: str) -> Location:
    """Return a place as an end of a trip; all its stops can be boarded at without a walk."""
    return Location(
        coordinate=place.coordinate,
        source=LocationSource.GEOCODE,
        label=label,
        name=place.name,
        address=place.locality,
        stop_ids=place.member_ids,
    )


def ambiguous(label: str, candidates: Sequence[PlaceMatch], *, side: str) -> PlaceAmbiguous:
    """Return the error that asks the caller to choose."""
    return PlaceAmbiguous(
        f"{side} '{label}' is not certain",
        {"side": side, "candidates": [candidate_of(match) for match in candidates]},
        hint="Send the token of the candidate that is meant as the label",
    )


def unknown(label: str, *, side: str) -> PlaceUnknown:
    """Return the error that says that a label means nothing here."""
    return PlaceUnknown(
        f"{side} '{label}' is no saved variable, no token and no place that any network knows",
        {"field": side},
        hint="Look the place up with findAddressOrStop, or send coordinates",
    )
