"""Colors of transit lines and of the text on them, with sufficient contrast."""

import re
from dataclasses import dataclass
from functools import lru_cache

# WCAG 2.2, success criterion 1.4.3 (level AA), for text of any size.
MIN_CONTRAST = 4.5
BLACK, WHITE = 0x000000, 0xFFFFFF
# The value for a missing color.
NO_COLOR = -1

_HEX = re.compile(r"#?([0-9A-Fa-f]{6})")


@dataclass(frozen=True, slots=True)
class LineColors:
    """The color of a line and of text on it, each 0xRRGGBB; their contrast is at least 4.5 to 1."""

    color: int
    text_color: int


def parse_color(text: str | None) -> int:
    """Parse a color of six hexadecimal digits; return ``NO_COLOR`` for anything else."""
    match = _HEX.fullmatch(text.strip()) if text else None
    return NO_COLOR if match is None else int(match[1], 16)


@lru_cache(maxsize=1024)
def find_line_colors(color: int, text_color: int) -> LineColors | None:
    """Return the colors of a line, or None if it should have the color of its mode.

    Text with too little contrast becomes black or white. White, the default in GTFS, counts as missing.
    """
    if color in (NO_COLOR, WHITE) or color == text_color:
        return None
    if text_color != NO_COLOR and contrast(color, text_color) >= MIN_CONTRAST:
        return LineColors(color, text_color)
    return LineColors(color, max((WHITE, BLACK), key=lambda text: contrast(color, text)))


def parse_line_colors(color: str | None, text_color: str | None) -> LineColors | None:
    return find_line_colors(parse_color(color), parse_color(text_color))


def contrast(a: int, b: int) -> float:
    lighter, darker = sorted((_compute_luminance(a), _compute_luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _compute_luminance(color: int) -> float:
    levels = [(color >> shift & 0xFF) / 255 for shift in (16, 8, 0)]
    red, green, blue = (level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4 for level in levels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
