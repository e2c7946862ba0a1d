"""The server's ids beside printed ones."""

from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fingerpost.transit.engine.timetable.stop_ids import print_stop_ids
from fingerpost.transit.remote.motis.places import MotisStopIds, find_service_day

TAGS = ["Town", "nl-ovapi"]
# Tags hold no underscore: the server splits at the first.
WORDS = st.text(min_size=1, max_size=12)
OWN_IDS = st.builds(
    lambda tag, local: f"{tag}_{local}", st.sampled_from(["Town", "nl-ovapi", "de-DELFI", "x:y"]), WORDS
)


@pytest.mark.parametrize(
    ("own", "printed"),
    [
        ("Town_1040601", "TOWN:1040601"),
        ("nl-ovapi_stoparea:448940", "NL-OVAPI:STOPAREA:448940"),
        ("Town_x_1", "TOWN:X_1"),
        ("Town_Ä 1", "TOWN:_C3_84_201"),
    ],
)
def test_an_id_of_a_known_feed_is_printed_as_the_embedded_engine_prints_it(own, printed):
    """So that a fallback knows it too (rules A8 and A13)."""
    tag, _, local = own.partition("_")

    assert (MotisStopIds("NET", TAGS).print(own), print_stop_ids([(tag, local)])) == (printed, [printed])


@pytest.mark.parametrize(
    ("network", "own", "printed"),
    [
        ("NET", "de-delfi_8011160", "NET:DE-DELFI_5F8011160"),
        ("NET", "de-DELFI_1", "NET:_64_65-DELFI_1"),
        ("NET", "Town_AbC", "TOWN:A_62C"),
        ("NET", "no-tag", "NET:NO-TAG"),
        # TOWN is a feed, and the network's name.
        ("TOWN", "de-delfi_1", "TOWN::DE-DELFI_1"),
        ("TOWN", "Town_:1", "TOWN:_3A1"),
    ],
)
def test_an_id_of_an_unknown_feed_stands_whole_behind_the_networks_name(network, own, printed):
    """Small letters are escaped only where there are capitals too; a second colon tells it from the feed's own."""
    book = MotisStopIds(network, TAGS)

    assert (book.print(own), own in MotisStopIds(network, TAGS).list_own(printed)) == (printed, True)


@given(st.lists(OWN_IDS | WORDS, min_size=1, max_size=8, unique=True), st.sampled_from(["NET", "TOWN"]))
def test_a_printed_id_leads_back_to_its_own(own_ids, network):
    """First of all, in any case of the printed id; two that differ in case only stay two; any character is allowed."""
    book = MotisStopIds(network, TAGS)
    by_printed = {book.print(own): own for own in own_ids}

    assert sorted(by_printed.values()) == sorted(own_ids)
    for printed, own in by_printed.items():
        assert [book.list_own(each)[:1] for each in (printed, printed.lower())] == [[own], [own]]
        assert set(printed) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-")


@example("aº", "NET")
@given(OWN_IDS | WORDS, st.sampled_from(["NET", "TOWN"]))
def test_a_process_that_never_printed_it_finds_it_too(own, network):
    """Among no more than four ways in which it may have been spelt."""
    found = MotisStopIds(network, TAGS).list_own(MotisStopIds(network, TAGS).print(own))

    assert own in found
    assert len(found) <= 4


@pytest.mark.parametrize("text", ["", "NET", "NET:", "  ", "OTHER:1", "TOWN:"])
def test_what_is_no_id_of_it_leads_nowhere(text):
    """No question is asked for it."""
    assert MotisStopIds("NET", TAGS).list_own(text) == []


@pytest.mark.parametrize(
    ("own", "printed", "day"),
    [
        ("20260111_08:25_Town_a_b", "TOWN:a_b", date(2026, 1, 11)),
        ("20260111_26:25_de-DELFI_1", "NET:de-DELFI_1", date(2026, 1, 11)),
        ("20261311_08:25_Town_1", "TOWN:1", None),
        ("anything", "NET:anything", None),
    ],
)
def test_a_trip_keeps_its_own_id_behind_the_feed(own, printed, day):
    """As the embedded engine writes trips; date and time before it are the service day's."""
    assert (MotisStopIds("NET", TAGS).print_trip(own), find_service_day(own)) == (printed, day)
