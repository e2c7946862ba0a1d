"""Colours of lines and of the text on them, which is replaced if it cannot be read."""

import re
from dataclasses import dataclass

# WCAG 2.2, success criterion 1.4.3 (level AA), for text of any size.
MIN_CONTRAST = 4.5
BLACK, WHITE = 0x000000, 0xFFFFFF
# In a column of colours, if the source states none.
NOT_STATED = -1

_HEX = re.compile(r"#?([0-9A-Fa-f]{6})")


@dataclass(frozen=True, slots=True)
class LineColors:
    """The colour of a line and of text on it, each 0xRRGGBB; their contrast is at least 4.5 to 1."""

    color: int
    text_color: int


def parse_color(text: str | None) -> int:
    """Parse a colour of six hexadecimal digits; return ``NOT_STATED`` for anything else."""
    found = _HEX.fullmatch(text.strip()) if text else None
    return NOT_STATED if found is None else int(found[1], 16)


def find_line_colors(color: int, text_color: int) -> LineColors | None:
    """Return the colours of a line, None if its mode's colour should be used.

    Text that cannot be read becomes black or white. White lines, GTFS's default, count as not stated.
    """
    if color in (NOT_STATED, WHITE) or color == text_color:
        return None
    if text_color != NOT_STATED and contrast(color, text_color) >= MIN_CONTRAST:
        return LineColors(color, text_color)
    return LineColors(color, max((WHITE, BLACK), key=lambda text: contrast(color, text)))


def read_line_colors(color: str | None, text_color: str | None) -> LineColors | None:
    return find_line_colors(parse_color(color), parse_color(text_color))


def contrast(one: int, other: int) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: int) -> float:
    shares = [(color >> shift & 0xFF) / 255 for shift in (16, 8, 0)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
