"""Parse values of a network's record from command-line arguments."""

from collections.abc import Sequence
from typing import Any

from fingerpost.errors import ParameterError

_TEXT_LISTS = ("feeds", "realtime", "languages", "attribution")


def parse_value(key: str, typed: Sequence[str]) -> Any:
    """Return the value of a record's key: paths made absolute, numbers as numbers, lists as tuples.

    Raises:
        ParameterError: the words are no value of that key.
    """
    if key in _TEXT_LISTS:
        return tuple(_plain(key, each) for each in typed)
    if key == "bounds":
        return parse_bounds(",".join(typed))
    if len(typed) != 1:
        raise ParameterError(f"{key} takes one value, not {len(typed)}", {"field": key})
    if key == "priority":
        return _whole_number(typed[0])
    return _plain(key, typed[0])


def parse_bounds(typed: str) -> tuple[float, float, float, float]:
    """Parse ``S,W,N,E`` in degrees into (south, west, north, east).

    Raises:
        ParameterError: they are not four numbers.
    """
    parts = typed.replace(" ", "").split(",")
    try:
        south, west, north, east = map(float, parts)
    except ValueError as error:
        raise ParameterError(
            f"bounds are four numbers, not {typed!r}",
            {"field": "bounds"},
            hint="Write south,west,north,east in degrees, such as 59.9,24.2,60.5,25.6",
        ) from error
    return south, west, north, east


def _whole_number(typed: str) -> int:
    try:
        return int(typed)
    except ValueError as error:
        raise ParameterError(f"priority is a whole number, not {typed!r}", {"field": "priority"}) from error


def _plain(key: str, typed: str) -> str:
    if key == "extract":
        from fingerpost.transit.embedded.feed_locations import expand_home

        return str(expand_home(typed).absolute())
    if key in ("feeds", "realtime"):
        from fingerpost.transit.embedded.feed_origins import read_origin
        from fingerpost.transit.embedded.realtime_feeds import read_typed_source

        return read_origin(typed).text if key == "feeds" else read_typed_source(typed).text
    return typed
