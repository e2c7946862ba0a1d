"""Languages of names and texts."""

from collections.abc import Collection
from dataclasses import replace

from fingerpost.transit.model.place import Place

CHAIN = ("fi", "en", "sv")
DEFAULT = "default"


def choose(requested: str | None, available: Collection[str]) -> str:
    """Return the requested language if it is available, else the first of the chain that is, else ``default``."""
    wanted = CHAIN if requested is None else (requested, *CHAIN)
    return next((language for language in wanted if language in available), DEFAULT)


def spoken(place: Place, language: str | None) -> Place:
    return place if language is None else replace(place, language=language, names={language: place.name})
