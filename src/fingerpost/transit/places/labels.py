"""Parse labels: a position, a user variable, a stop id as a token, or a place name (rule B10)."""

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, ValidationError

from fingerpost.contract.wire import Identifier, Number, WireModel
from fingerpost.errors import ParameterError
from fingerpost.runtime.concurrency import compute
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.transit.model.place import Coordinate, Location, LocationSource

_POSITION = re.compile(r"\s*(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*")

Latitude = Annotated[Number, Field(ge=-90, le=90)]
"""Degrees north."""

Longitude = Annotated[Number, Field(ge=-180, le=180)]
"""Degrees east."""


class LocationValue(WireModel):
    """A saved place: the value of a user variable of type location (rule C4)."""

    lat: Latitude
    lon: Longitude
    label: str | None = None
    name: str | None = None
    address: str | None = None
    stop_id: Identifier | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """A label, or an end of a trip, whose position is known without asking a network."""

    location: Location


@dataclass(frozen=True, slots=True)
class StopText:
    """A label that may be a stop's id. ``variable`` is the user's variable that holds it, None where it was sent.

    ``is_certain`` is True where it can be nothing but a stop's id.
    """

    stop_id: str
    label: str
    variable: Variable | None = None
    is_certain: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """A label that can only be the name of a place."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery:
    """A label, and what is said of where it lies (lookup contract).

    ``focus`` prefers what is near, ``max_distance_m`` refuses what is further away from it; ``language`` is of names,
    None for the call's own. ``sent_as`` is what a caller sends a token as.
    """

    text: str
    focus: Coordinate | None = None
    max_distance_m: float | None = None
    language: str | None = None
    sent_as: str = "the label"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedStop:
    """A stop that an earlier answer named by its id, and its name there."""

    stop_id: str
    name: str


Label = Position | StopText | Name


async def read_label(text: str, variables: VariableStore, user: str | None) -> Label:
    """Return what a label is: a user's variable before a token, a token before a name (rule B10).

    Raises:
        ParameterError: it is a position off the globe, or a variable that keeps no place.
    """
    variable = await find_variable(text, variables, user)
    if variable is not None:
        return _read_variable(variable)
    position = find_position(text)
    if position is not None:
        return Position(Location(coordinate=position, source=LocationSource.INPUT))
    return StopText(text, text) if ":" in text else Name(text)


async def find_variable(key: str, variables: VariableStore, user: str | None) -> Variable | None:
    return None if user is None else await compute(variables.find, user, key)


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
        hint = "Latitude comes first; the two look swapped" if abs(lat) <= 180 and abs(lon) <= 90 else None
        raise ParameterError(f"{text.strip()!r} is not a position: lat is -90 to 90, lon -180 to 180", hint=hint)
    return Coordinate(lat, lon)


def find_stop_id(variable: Variable) -> str | None:
    """Return the stop id that a variable is, or holds as ``stopId`` or ``id`` (rule C2), or None."""
    value = variable.value
    if isinstance(value, str):
        # FEED:LOCAL; any other word is a preference, or a note.
        return value if ":" in value else None
    held = [value.get("stopId"), value.get("id")] if isinstance(value, dict) else []
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


def _read_variable(variable: Variable) -> Label:
    stop_id = find_stop_id(variable)
    if stop_id is not None and not (isinstance(variable.value, dict) and "lat" in variable.value):
        return StopText(stop_id, variable.key, variable)
    return Position(location_of_variable(variable))
