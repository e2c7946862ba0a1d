"""The server's ids beside printed ones."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fingerpost.transit.engine.timetable.stop_ids import print_stop_ids
from fingerpost.transit.remote.opentripplanner.stops import OwnStopIds


@pytest.mark.parametrize(
    ("own", "printed"),
    [
        ("HSL:1040601", "HSL:1040601"),
        ("tampere:0001", "TAMPERE:0001"),
        ("HSL:a:b", "HSL:A:B"),
        ("HSL:Ä 1", "HSL:_C3_84_201"),
        ("HSL:x_1", "HSL:X_1"),
    ],
)
def test_an_id_is_printed_as_the_embedded_engine_prints_it(own, printed):
    """So that a fallback knows it too (rules A8 and A13)."""
    feed, _, local = own.partition(":")

    assert (OwnStopIds(["HSL", "tampere"]).print(own), print_stop_ids([(feed, local)])) == (printed, [printed])


@example(["\u00c3", "\u00e3"])
@example(["ab", "AB", "aB"])
@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8, unique=True))
def test_a_printed_id_leads_back_to_its_own(locals_):
    """Whatever a feed calls its stops, in any case of the printed id, and two that differ in case only stay two."""
    book = OwnStopIds(["tampere"])
    own_ids = [f"tampere:{local}" for local in locals_]
    by_printed = {book.print(own): own for own in own_ids}

    assert sorted(by_printed.values()) == sorted(own_ids)
    for printed, own in by_printed.items():
        assert own in book.list_own(printed)
        assert own in book.list_own(printed.lower())


def test_an_id_that_was_never_printed_is_tried_as_it_stands_and_in_small_letters():
    """A process that has seen nothing yet."""
    assert OwnStopIds(["tampere"]).list_own("TAMPERE:AB1") == ["tampere:AB1", "tampere:ab1"]


@pytest.mark.parametrize("text", ["", "HSL", "HSL:", "  "])
def test_what_is_no_id_leads_nowhere(text):
    """No question is asked for it."""
    assert OwnStopIds(["HSL"]).list_own(text) == []


def test_a_trip_keeps_its_own_id_behind_the_printed_feed():
    """As the embedded engine writes trips."""
    assert OwnStopIds([]).print_trip("tampere:Ab:1") == "TAMPERE:Ab:1"
