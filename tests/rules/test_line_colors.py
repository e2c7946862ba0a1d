"""Colours of lines: labels are legible, whatever colours a feed gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.transit.model.line_colors import (
    BLACK,
    MIN_CONTRAST,
    NO_COLOR,
    WHITE,
    LineColors,
    contrast,
    find_line_colors,
    parse_line_colors,
)

COLORS = st.integers(0, 0xFFFFFF)
STATED = st.one_of(st.just(NO_COLOR), COLORS)
ORANGE, NAVY = 0xFF6319, 0x0019A8


@given(STATED, STATED)
def test_the_text_is_readable_whatever_is_stated(color, text_color):
    found = find_line_colors(color, text_color)

    if found is not None:
        assert found.color == color
        assert contrast(found.color, found.text_color) >= MIN_CONTRAST


@given(COLORS, COLORS)
def test_contrast_is_that_of_the_recommendation(one, other):
    assert contrast(one, other) == contrast(other, one)
    assert contrast(one, one) == 1
    assert 1 <= contrast(one, other) <= contrast(BLACK, WHITE) == pytest.approx(21)


def test_the_greys_around_the_bound():
    """WCAG's example: #767676 is the lightest grey that is legible on white."""
    assert contrast(0x767676, WHITE) >= MIN_CONTRAST > contrast(0x777777, WHITE)


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        (("0019A8", "FFFFFF"), LineColors(NAVY, WHITE)),
        (("0019A8", "FFCC00"), LineColors(NAVY, 0xFFCC00)),
        (("FF6319", "FFFFFF"), LineColors(ORANGE, BLACK)),
        (("#ff6319", ""), LineColors(ORANGE, BLACK)),
        (("0019A8", "no colour"), LineColors(NAVY, WHITE)),
        (("FFFFFF", "000000"), None),
        (("", "FFFFFF"), None),
        ((None, None), None),
        (("000000", "000000"), None),
        (("F00", "FFFFFF"), None),
        (("FF63199", "FFFFFF"), None),
    ],
)
def test_unreadable_and_missing_colors_are_replaced(stated, found):
    """White on orange is illegible, black is not; white, or text in the line's colour, counts as missing."""
    assert parse_line_colors(*stated) == found
