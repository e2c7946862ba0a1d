"""A server's ids and our printed ids (rule A8)."""

from datetime import date

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.timetable.stop_ids import encode_stop_ids
from fingerpost.transit.remote.kit.places import SingleFeedIds
from fingerpost.transit.remote.motis.places import MotisStopIds, find_service_day
from fingerpost.transit.remote.opentripplanner.places import OtpStopIds
from tests.feeds import feed_from_drawing, timetable_from_tables

FEEDS = ["Town", "nl-ovapi"]
TEXTS = st.text(min_size=1, max_size=12)
CODECS = {
    "motis": lambda: MotisStopIds("NET", FEEDS),
    # TOWN is a feed, and the network's name.
    "motis, named like a feed": lambda: MotisStopIds("TOWN", FEEDS),
    "opentripplanner": lambda: OtpStopIds(FEEDS),
    "tfl": lambda: SingleFeedIds("LONDON"),
}
# How a server writes an id; a tag of MOTIS holds no underscore, because the server splits at the first.
WRITE = {"motis": "{}_{}", "opentripplanner": "{}:{}", "tfl": "{1}"}


def write(source, feed, local):
    return WRITE[source.partition(",")[0]].format(feed, local)


def list_written(source):
    feeds = [*FEEDS, "de-DELFI", "x:y"] if source.startswith("motis") else FEEDS
    own = st.builds(lambda feed, local: write(source, feed, local), st.sampled_from(feeds), TEXTS)
    return own | TEXTS if source.startswith("motis") else own


@pytest.mark.parametrize("source", ["motis", "opentripplanner"])
@pytest.mark.parametrize(
    ("feed", "local", "printed"),
    [
        ("Town", "1040601", "TOWN:1040601"),
        ("nl-ovapi", "stoparea:448940", "NL-OVAPI:STOPAREA:448940"),
        ("Town", "x_1", "TOWN:X_1"),
        ("Town", "Ä 1", "TOWN:_C3_84_201"),
    ],
)
def test_an_id_is_printed_as_the_embedded_engine_prints_it(source, feed, local, printed):
    """So that a fallback knows it too (rules A8 and A13)."""
    assert CODECS[source]().encode(write(source, feed, local)) == printed
    assert encode_stop_ids([(feed, local)]) == [printed]


async def test_the_embedded_engine_finds_a_stop_by_the_id_that_a_server_prints_for_it():
    tables = feed_from_drawing("line A | Alpha 08:00 | Beta 08:10")
    feed = {name: text.replace("ALPHA", "StopPlace:1") for name, text in tables.items()}
    network = EmbeddedNetwork(NetworkRecord(name="TEST"), timetable_from_tables(feed))
    found = await network.find_stop(OtpStopIds(["test"]).encode("test:StopPlace:1"))

    assert (found.name, found.id) == ("Alpha", "TEST:STOPPLACE:1")


@pytest.mark.parametrize("source", CODECS)
@given(st.data())
def test_a_printed_id_leads_back_to_its_own(source, data):
    check_round_trip(source, data.draw(st.lists(list_written(source), min_size=1, max_size=8, unique=True)))


@pytest.mark.parametrize("source", CODECS)
@pytest.mark.parametrize("locals_", [("ab", "AB", "aB"), ("\u00c3", "\u00e3")])
def test_ids_that_differ_in_case_lead_back_to_their_own(source, locals_):
    check_round_trip(source, [write(source, "Town", local) for local in locals_])


def check_round_trip(source, own_ids):
    codec = CODECS[source]()
    by_printed = {codec.encode(own): own for own in own_ids}

    assert sorted(by_printed.values()) == sorted(own_ids)
    for printed, own in by_printed.items():
        assert [codec.decode(each)[:1] for each in (printed, printed.lower())] == [[own], [own]]
        assert set(printed) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-")


@pytest.mark.parametrize("source", ["motis", "motis, named like a feed", "opentripplanner"])
@given(st.data())
def test_a_process_that_never_printed_it_finds_it_too(source, data):
    own = data.draw(list_written(source) | st.just(write(source, "Town", "aº")))
    assume("_" in own or source != "motis, named like a feed")
    found = CODECS[source]().decode(CODECS[source]().encode(own))

    assert own in found
    assert len(found) <= 6


def test_an_opentripplanner_id_is_tried_unchanged_and_in_lower_case():
    assert OtpStopIds(["tampere"]).decode("TAMPERE:AB1") == ["tampere:AB1", "tampere:ab1"]


@pytest.mark.parametrize("source", CODECS)
@pytest.mark.parametrize("text", ["", "TOWN", "TOWN:", "LONDON:", "  "])
def test_an_invalid_id_resolves_to_nothing(source, text):
    assert CODECS[source]().decode(text) == []


@pytest.mark.parametrize(
    ("network", "own", "printed"),
    [
        ("NET", "de-delfi_8011160", "NET:DE-DELFI_5F8011160"),
        ("NET", "de-DELFI_1", "NET:_64_65-DELFI_1"),
        ("NET", "Town_AbC", "TOWN:A_62C"),
        ("NET", "no-tag", "NET:NO-TAG"),
        ("TOWN", "de-delfi_1", "TOWN:DE-DELFI_1"),
    ],
)
def test_an_id_of_an_unknown_feed_follows_the_networks_name(network, own, printed):
    """Small letters are escaped only where there are capitals too."""
    codec = MotisStopIds(network, FEEDS)

    assert (codec.encode(own), own in MotisStopIds(network, FEEDS).decode(printed)) == (printed, True)
    assert MotisStopIds(network, FEEDS).decode("OTHER:1") == []


@pytest.mark.parametrize(
    ("source", "own", "printed", "day"),
    [
        ("opentripplanner", "nl-ovapi:Ab:1", "NL-OVAPI:Ab:1", None),
        ("motis", "20260111_08:25_Town_a_b", "TOWN:a_b", date(2026, 1, 11)),
        ("motis", "20260111_26:25_de-DELFI_1", "NET:de-DELFI_1", date(2026, 1, 11)),
        ("motis", "20261311_08:25_Town_1", "TOWN:1", None),
        ("motis", "anything", "NET:anything", None),
    ],
)
def test_a_trip_has_its_own_id_after_the_feed(source, own, printed, day):
    assert CODECS[source]().encode_trip(own) == printed
    assert day is None or find_service_day(own) == day
