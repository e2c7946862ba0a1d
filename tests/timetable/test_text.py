"""Text columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fingerpost.transit.engine.timetable.columns import TextColumn


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_a_column_returns_its_texts(texts):
    column = TextColumn.of(texts)

    assert (list(column), [column[row] for row in range(len(column))]) == (texts, texts)


@pytest.mark.parametrize("row", [-1, 2])
def test_missing_rows_raise_an_error(row):
    with pytest.raises(IndexError):
        TextColumn.of(["a", "b"])[row]
