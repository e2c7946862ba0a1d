"""Opaque tokens of itineraries (rule E1)."""

import base64
import json
import re
import zlib

import pytest

from fingerpost.errors import ParameterError
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.rules.itinerary_token import new_itinerary_token, read_itinerary_token
from tests.rules.drawing import T0, ride, trip, walk


def packed(value):
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(value).encode())).decode()


def test_a_token_is_one_word_and_keeps_every_leg():
    """Stop ids where there are any, else positions; the timetable's times, whatever is late."""
    itinerary = trip(walk("home", "A", 0, 3), ride("7 Ä", "A", "B", 3, 9, 600))
    token = new_itinerary_token("T", itinerary)
    read = read_itinerary_token(token)

    assert re.fullmatch(r"[\w-]+", token)
    assert (read.network, [(leg.mode, leg.line, leg.departure - T0, leg.arrival - T0) for leg in read.legs]) == (
        "T",
        [(Mode.WALK, None, 0, 180), (Mode.BUS, "7 Ä", 180, 540)],
    )
    assert [(leg.start, leg.end) for leg in read.legs][1] == ("T:A", "T:B")


@pytest.mark.parametrize(
    "token",
    ["", "abc", "Ä", packed([2, "T", [["WALK", "a", "b", 0, 1, None, None, None]]]), packed([1, "T", []]), packed("x"),
     packed([1, "T", [["FLY", "a", "b", 0, 1, None, None, None]]]), packed([1, "T", [["WALK"]]])],
)  # fmt: skip
def test_anything_else_is_refused(token):
    """No text: another version, no legs, an unknown mode, too few fields."""
    with pytest.raises(ParameterError, match="no token of an itinerary"):
        read_itinerary_token(token)


def test_a_token_that_unpacks_without_end_is_refused():
    """A small token may not fill the memory."""
    with pytest.raises(ParameterError):
        read_itinerary_token(packed([1, "T" * 50_000_000, []]))
