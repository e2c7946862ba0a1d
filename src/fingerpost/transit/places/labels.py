"""Parse place labels: saved variables, coordinates, stop ids and names (rule B10)."""

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, ValidationError

from fingerpost.contract.wire import Identifier, Number, WireModel
from fingerpost.errors import ParameterError, Remedy, RemedyKind
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.transit.model.place import Coordinate, Location, LocationSource, distance_m

_POSITION = re.compile(r"\s*(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*")

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
    """A stop id or, unless ``is_certain``, possibly a name; ``variable`` is the saved variable that holds the id."""

    stop_id: str
    text: str
    variable: Variable | None = None
    is_certain: bool = False


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
    return None if user is None else await run_in_thread(variables.find, user, key)


def parse_position(text: str) -> Coordinate | None:
    """Parse ``lat,lon``; return None for other strings, and raise ParameterError if it is out of range."""
    match = _POSITION.fullmatch(text)
    if match is None:
        return None
    lat, lon = float(match[1]), float(match[2])
    if abs(lat) > 90 or abs(lon) > 180:
        hint = "Latitude comes first; the two look swapped" if abs(lat) <= 180 and abs(lon) <= 90 else None
        raise ParameterError(f"{text.strip()!r} is not a position: lat is -90 to 90, lon -180 to 180", hint=hint)
    return Coordinate(lat, lon)


def find_stop_id(variable: Variable) -> str | None:
    value = variable.value
    if isinstance(value, str):
        # FEED:LOCAL; other strings are preferences or notes.
        return value if ":" in value else None
    stored = [value.get("stopId"), value.get("id")] if isinstance(value, dict) else []
    ids = (str(stop_id) for stop_id in stored if isinstance(stop_id, str | int) and not isinstance(stop_id, bool))
    return next(filter(str.strip, ids), None)


def read_location(variable: Variable) -> Location:
    try:
        value = LocationValue.read(variable.value)
    except ValidationError as error:
        raise ParameterError(
            f"the variable '{variable.key}' is of type {variable.type} and does not hold a place",
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
