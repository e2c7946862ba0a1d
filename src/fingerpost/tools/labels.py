"""What a label means: a saved variable, a token of an earlier answer, or the name of a place (ruling B10)."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from fingerpost.errors import ParameterError, PlaceAmbiguous, PlaceUnknown
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.tools.shapes import LocationValue, say_shown, show_candidate
from fingerpost.transit.model import Coordinate, Location, LocationSource, Place, PlaceMatch
from fingerpost.transit.port import Network
from fingerpost.transit.rules.matching import AUTO_RESOLVE, Resolved, decide

_POSITION = re.compile(r"\s*(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*")
# As many candidates as a person can choose from (contract 003: maxLookupCandidates).
MAX_CANDIDATES = 5

_SEND_COORDINATES = "Look the place up with findAddressOrStop, or send coordinates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How one network reads a label: ``location`` where it is sure, else all that it could mean.

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


def find_stop_id(variable: Variable) -> str | None:
    """Return the stop id that a variable is, or holds as ``stopId`` or ``id`` (ruling C2), or None."""
    value = variable.value
    held = [value.get("stopId"), value.get("id")] if isinstance(value, dict) else [value]
    for each in held:
        if isinstance(each, str | int) and not isinstance(each, bool) and str(each).strip():
            return str(each)
    return None


def location_of_variable(variable: Variable) -> Location:
    """Return the place that a variable keeps.

    Raises:
        ParameterError: it keeps no place.
    """
    try:
        value = LocationValue.read(variable.value)
    except ValidationError as error:
        raise ParameterError(
            f"the variable '{variable.key}' is of type {variable.type} and holds no place",
            hint="Save it again with type location and a value with lat and lon",
        ) from error
    return Location(
        coordinate=Coordinate(value.lat, value.lon),
        source=LocationSource.USER_VARIABLE,
        label=variable.key,
        name=value.name,
        address=value.address,
        stop_ids=(value.stop_id,) if value.stop_id else (),
    )


async def find_reading(network: Network, label: str, language: str, *, is_token: bool = False) -> Reading | None:
    """Return how a network reads a token or a name, or None where nothing there resembles it.

    ``is_token`` says that the label is known to be a stop's id somewhere, and so no name.
    """
    place = await network.find_stop_place(label, language=language)
    if place is not None:
        return Reading(score=1.0, location=location_of_place(place, label))
    if is_token:
        return None
    matches = await network.find_places(label, language=language)
    if not matches:
        return None
    decision = decide(matches)
    if isinstance(decision, Resolved):
        found = decision.match
        return Reading(score=found.score, location=location_of_place(found.place, label), geocoded=True)
    return Reading(score=matches[0].score, candidates=tuple(matches))


def location_of_place(place: Place, label: str) -> Location:
    """Return a place as an end of a trip; all its stops can be boarded at without a walk."""
    return Location(
        coordinate=place.coordinate,
        source=LocationSource.GEOCODE,
        label=label,
        name=place.name,
        stop_ids=place.member_ids,
    )


def ambiguous(label: str, candidates: Sequence[PlaceMatch], *, side: str) -> PlaceAmbiguous:
    """Return the error that asks the caller to choose among the best; how many there are is said."""
    shown = candidates[:MAX_CANDIDATES]
    more = f"; {len(candidates)} places fit, of which the best {say_shown(len(shown))}"
    return PlaceAmbiguous(
        f"{side} '{label}' is not certain{more if len(candidates) > len(shown) else ''}",
        {
            "side": side,
            "candidates": [show_candidate(match) for match in shown],
            "totalCandidatesFound": len(candidates),
            "truncated": len(candidates) > len(shown),
            "needsClarification": True,
            "autoResolvedThreshold": AUTO_RESOLVE,
        },
        hint="Send the token of the candidate that is meant as the label",
    )


def unknown(label: str, *, side: str, hint: str = _SEND_COORDINATES) -> PlaceUnknown:
    """Return the error that says that a label means nothing here."""
    return PlaceUnknown(
        f"{side} '{label}' is no saved variable, no token and no place that any network knows",
        {"field": side},
        hint=hint,
    )
