"""Places under the language in which the server was asked for their names."""

from dataclasses import replace

from fingerpost.transit.model.place import Place


def spoken(place: Place, language: str | None) -> Place:
    """Return a place that says in which language its name is; the server answers in one language a request."""
    return place if language is None else replace(place, language=language, names={language: place.name})
