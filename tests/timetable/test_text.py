"""Columns of texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.transit.engine.timetable.text import TextColumn


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_round_trip(texts):
    """A column gives its texts back, one by one and all together."""
    column = TextColumn.of(texts)

    assert (list(column), [column[row] for row in range(len(column))]) == (texts, texts)


@pytest.mark.parametrize("row", [-1, 2])
def test_rows_that_are_not_there(row):
    """No row is counted from the end, and none lies behind it."""
    with pytest.raises(IndexError):
        TextColumn.of(["a", "b"])[row]
