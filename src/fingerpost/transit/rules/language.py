"""Choose the language for names and text."""

from collections.abc import Collection
from dataclasses import replace

from fingerpost.transit.model.place import Place

FALLBACK_LANGUAGES = ("fi", "en", "sv")
DEFAULT = "default"


def choose(requested: str | None, available: Collection[str]) -> str:
    """Return the requested language if available, or the first available fallback, or ``default``."""
    wanted = FALLBACK_LANGUAGES if requested is None else (requested, *FALLBACK_LANGUAGES)
    return next((language for language in wanted if language in available), DEFAULT)


def set_language(place: Place, language: str | None) -> Place:
    return place if language is None else replace(place, language=language, names={language: place.name})
