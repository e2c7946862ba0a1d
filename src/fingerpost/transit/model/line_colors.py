"""Colours of lines: a pair that a source states is kept only where its text can be read."""

import re
from dataclasses import dataclass

# WCAG 2.2, success criterion 1.4.3 (level AA), for text of any size.
LEAST_CONTRAST = 4.5
BLACK, WHITE = 0x000000, 0xFFFFFF
# What a column of colours has where a source states none.
NOT_STATED = -1

_HEX = re.compile(r"#?([0-9A-Fa-f]{6})")


@dataclass(frozen=True, slots=True)
class LineColors:
    """What a line is painted with and what is written on it, each 0xRRGGBB; their contrast is at least 4.5 to 1."""

    color: int
    text_color: int


def parse_color(text: str | None) -> int:
    """Return a colour of six hexadecimal digits, as GTFS writes it, as a number; ``NOT_STATED`` for anything else."""
    found = _HEX.fullmatch(text.strip()) if text else None
    return NOT_STATED if found is None else int(found[1], 16)


def find_line_colors(color: int, text_color: int) -> LineColors | None:
    """Return what a line is painted with, None where its mode's colour is to take its place.

    A text that cannot be read on the line's colour, or is not stated, gives way to black or white. White lines, which
    is what GTFS means by no colour, and texts in the colour of the line itself are read as not stated.
    """
    if color in (NOT_STATED, WHITE) or color == text_color:
        return None
    if text_color != NOT_STATED and contrast(color, text_color) >= LEAST_CONTRAST:
        return LineColors(color, text_color)
    return LineColors(color, max((WHITE, BLACK), key=lambda each: contrast(color, each)))


def read_line_colors(color: str | None, text_color: str | None) -> LineColors | None:
    return find_line_colors(parse_color(color), parse_color(text_color))


def contrast(one: int, other: int) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: int) -> float:
    shares = [(color >> shift & 0xFF) / 255 for shift in (16, 8, 0)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
