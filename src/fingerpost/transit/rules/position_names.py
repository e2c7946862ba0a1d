"""The name of a position, of what a geocoder knows around it."""

from collections.abc import Iterable
from dataclasses import dataclass

from fingerpost.transit.model.distance import distance_m
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind

ON_THE_SPOT_M = 60.0
"""Within it an address names a position, although something else may lie nearer."""
NAMED_WITHIN_M = 250.0
"""What lies further away names no position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearName:
    """Something near a position. ``is_address`` where it has a house number."""

    name: str
    coordinate: Coordinate
    is_address: bool = False
    locality: str | None = None


def find_position_name(position: Coordinate, near: Iterable[NearName], attribution: Iterable[str] = ()) -> Place | None:
    """Return a position under the name of an address on the spot, else of what is nearest; None where nothing is near.

    The place stands where the position is. ``attribution`` is what an answer with it must show.
    """
    measured = [(distance_m(position, each.coordinate), each) for each in near if each.name.strip()]
    named = [(away_m, each) for away_m, each in measured if away_m <= NAMED_WITHIN_M]
    if not named:
        return None
    _, best = min(named, key=lambda pair: (pair[0] > ON_THE_SPOT_M or not pair[1].is_address, pair[0], pair[1].name))
    return Place(
        name=best.name.strip(),
        coordinate=position,
        kind=PlaceKind.ADDRESS,
        locality=best.locality,
        attribution=tuple(attribution),
    )
