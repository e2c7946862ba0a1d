"""The meaning of labels: when a label is a position, and when two labels mean the same place."""

import re
from datetime import UTC, datetime

import pytest

from fingerpost.errors import ParameterError
from fingerpost.store.variables import Variable, VariableStore
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.places.resolver import parse_position, read_location
from tests.contracts.conftest import asker, label, refusal, stop_place
from tests.fakes import FakeNetwork

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _variable(value, kind="other"):
    return Variable(key="thing", type=kind, value=value, created_at=NOW, updated_at=NOW)


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
def test_a_variable_without_a_place_is_reported(value):
    with pytest.raises(ParameterError, match=r"^the variable 'thing' is of type other and does not contain a place$"):
        read_location(_variable(value))


@pytest.mark.parametrize("text", ["90,180", "-90,-180", " 90.0 , 180.000 ", "9.5 -7.5", "geo:60,24.9", "(60, 24)"])
def test_the_poles_and_the_date_line_are_positions(text):
    lat, lon = map(float, re.findall(r"[-.0-9]+", text))
    assert parse_position(text) == Coordinate(lat, lon)


@pytest.mark.parametrize("text", ["90.1,0", "-90.1,0", "0,180.1", "0,-180.1"])
def test_a_position_off_the_globe_is_refused(text):
    with pytest.raises(ParameterError, match=r"is not a position: lat is -90 to 90, lon -180 to 180$"):
        parse_position(text)


@pytest.mark.parametrize("text", ["60", "60,", "60;24", "60,24,5", "Gate 60,24", "1000,24", "10 20.5"])
def test_other_texts_with_numbers_are_not_positions(text):
    assert parse_position(text) is None


@pytest.mark.parametrize(
    ("destination", "hint"),
    [("T:M", "Both are Market"), ("Market Hall", "Market and Market Hall are at the same position")],
)
def test_two_labels_of_one_place_are_one_place(tmp_path, destination, hint):
    """P17: a stop's name and its id, or two names of one position."""
    places = {name: [stop_place(stop_id, name)] for name, stop_id in (("Market", "T:M"), ("Market Hall", "T:H"))}
    ask = asker(tmp_path, FakeNetwork(places=places))
    answer = ask("plan_trip", {"origin": label("Market"), "destination": label(destination)})

    assert refusal(answer) == ("validation-error", "origin and destination must differ", hint)


def test_an_unknown_id_of_a_known_feed_is_not_a_name(tmp_path):
    ask = asker(tmp_path, FakeNetwork(places={"T:9": [stop_place("T:1", "T Hall", 0.7)]}))
    assert refusal(ask("findAddressOrStop", {"rawText": "T:9"}))[0] == "NO_MATCH"


def test_half_a_surrogate_pair_names_nothing(tmp_path):
    """JSON may contain it, but SQLite cannot store it: it matches no variable and no place."""
    variables = VariableStore(tmp_path / "variables.sqlite")
    variables.save("ann", "home", "other", 1, datetime(2026, 3, 10, tzinfo=UTC))
    network = FakeNetwork(places={"Market": [stop_place("T:M", "Market")]})
    answer = asker(tmp_path, network)("plan_trip", {"origin": label("\ud800"), "destination": label("T:M")})

    assert "matches no saved variable, stop or place" in refusal(answer)[1]
    assert (variables.find("ann", "\ud800"), variables.delete("ann", "\ud800")) == (None, [])
