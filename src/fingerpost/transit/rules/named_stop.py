"""Stops and stations as input of the place index."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from fingerpost.transit.model.place import Coordinate


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedStop:
    """A stop or a station.

    ``id`` and ``parent_id`` are printed stop ids (rule A8); ``names`` are translations by language.
    ``is_boardable`` is False for a stop that riders cannot board at; of a station it says nothing.
    """

    id: str
    name: str
    lat: float
    lon: float
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    parent_id: str | None = None
    kind: Literal["station", "stop"] = "stop"
    is_boardable: bool = True
    locality: str | None = None

    @property
    def is_station(self) -> bool:
        """Whether this is a station, which its stops are boarded at."""
        return self.kind == "station"

    @property
    def coordinate(self) -> Coordinate:
        """Where it is."""
        return Coordinate(self.lat, self.lon)
