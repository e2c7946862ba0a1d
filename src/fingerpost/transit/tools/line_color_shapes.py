"""The colours of lines in an answer, for those who draw it: beside the answer (rule A10)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from fingerpost.contract.published import ToolReply
from fingerpost.contract.wire import WireDict
from fingerpost.transit.model.itinerary import Departure, Itinerary
from fingerpost.transit.model.line_colors import LineColors

LINE_COLORS = "lineColors"

Color = Annotated[str, Field(pattern="^[0-9A-F]{6}$", description="RRGGBB")]


class WireLineColor(WireDict):
    """A colour, what can be read on it, and the parts of the answer whose line has it, as paths into the answer."""

    color: Color
    textColor: Color
    touches: Annotated[list[str], Field(min_length=1)]


class WireLineColors(WireDict):
    """The colours that sources state, in the order of the answer; a part that none touches has its mode's."""

    lines: list[WireLineColor]


def show_line_colors(parts: Iterable[tuple[str, LineColors | None]]) -> WireLineColors:
    """Write the colours of the parts of an answer, each a path and what its line is painted with."""
    touches: dict[LineColors, list[str]] = {}
    for path, colors in parts:
        if colors is not None:
            touches.setdefault(colors, []).append(path)
    return {
        "lines": [
            {"color": f"{colors.color:06X}", "textColor": f"{colors.text_color:06X}", "touches": paths}
            for colors, paths in touches.items()
        ]
    }


def reply_with_colors(
    body: Mapping[str, Any], parts: Iterable[tuple[str, LineColors | None]], wants: Collection[str]
) -> ToolReply:
    """Return an answer with the colours of its parts beside it, where the caller wants them."""
    return ToolReply(body, {LINE_COLORS: show_line_colors(parts)} if LINE_COLORS in wants else {})


def list_leg_colors(itineraries: Iterable[Itinerary]) -> Iterator[tuple[str, LineColors | None]]:
    """Yield the path of each leg of an answer's itineraries, and what its line is painted with."""
    for row, itinerary in enumerate(itineraries):
        for at, leg in enumerate(itinerary.legs):
            yield f"itineraries/{row}/legs/{at}", leg.colors


def list_row_colors(departures: Iterable[Departure]) -> Iterator[tuple[str, LineColors | None]]:
    """Yield the path of each row of a board, and what its line is painted with."""
    for at, departure in enumerate(departures):
        yield f"departures/{at}", departure.colors
