"""A small drawing of an itinerary's line: its rides and walks one after the other, as long as they last."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.text import Text

from fingerpost.apps.cli.wire_times import seconds_between
from fingerpost.transit.rules.modes import is_ride

_STYLES: Mapping[str, str] = MappingProxyType(
    {"BUS": "blue", "TRAM": "green", "METRO": "dark_orange", "RAIL": "magenta", "FERRY": "cyan"}
)
_INDENT = "   "
_LEAST = 3


def can_draw(console: Console) -> bool:
    """Whether the output is a terminal that has these letters."""
    return console.is_terminal and console.encoding.lower().startswith("utf")


def draw_trip_line(legs: Sequence[Mapping[str, Any]], width: int) -> Text:
    """Return the drawing, at most ``width`` columns wide: a ride is a line with its name, a walk is dotted."""
    room = width - len(_INDENT) - 1
    lasting = [max(1.0, seconds_between(leg["departureTime"], leg["arrivalTime"])) for leg in legs]
    names = [(leg.get("line") or leg["mode"]) if is_ride(leg["mode"]) else "" for leg in legs]
    least = [max(_LEAST, len(name) + 2 if name else 0) + 1 for name in names]
    spare = max(0, room - sum(least))
    drawing = Text(_INDENT)
    for leg, seconds, name, columns in zip(legs, lasting, names, least, strict=True):
        long = columns - 1 + int(spare * seconds / sum(lasting))
        drawing.append("●")
        if not name:
            drawing.append("┄" * long, "dim")
        else:
            style = "bold red" if leg.get("status") == "cancelled" else f"bold {_STYLES.get(leg['mode'], 'white')}"
            drawing.append(name.center(long, "━"), style)
    drawing.append("●")
    drawing.truncate(width)
    return drawing
