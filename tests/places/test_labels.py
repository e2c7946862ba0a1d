"""What a label means, and what is said where it means nothing or too much."""

from datetime import UTC, datetime

import pytest

from fingerpost.errors import ParameterError
from fingerpost.store.variables import Variable
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.places.labels import location_of_variable

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _variable(value, kind="other"):
    return Variable(key="thing", type=kind, value=value, created_at=NOW, updated_at=NOW)


def test_any_variable_that_holds_a_place_is_a_place():
    """B10: an ``other`` with lat and lon serves as well as a location."""
    assert location_of_variable(_variable({"lat": 60.1, "lon": 24.9})).coordinate == Coordinate(60.1, 24.9)


@pytest.mark.parametrize(
    "value",
    [
        7,
        None,
        "home",
        {"lat": 60.1},
        {"lat": 95, "lon": 24.9},
        {"lat": 60.1, "lon": 24.9, "name": 5},
        {"lat": True, "lon": 1},
    ],
)
def test_a_variable_that_holds_no_place_says_so(value):
    """B10: whatever was stored, the answer is a sentence about the variable, never a fault of ours."""
    with pytest.raises(ParameterError, match=r"^the variable 'thing' is of type other and holds no place$"):
        location_of_variable(_variable(value))
