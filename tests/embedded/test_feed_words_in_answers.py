"""What a feed says of itself reaches the rider: credit lines and names in other languages, in every answer."""

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.store.variables import VariableStore
from fingerpost.testing.fakes import FakeNetworks
from fingerpost.testing.feeds import timetable_from_drawing
from fingerpost.transit.embedded.network import EmbeddedNetwork
from tests.contracts.conftest import asker

DRAWING = "line A | Alpha 08:30 | Beta 08:40 | Gamma 08:50"
TRIP = {
    "origin": {"type": "coords", "value": {"lat": 60.17, "lon": 24.94}},
    "destination": {"type": "coords", "value": {"lat": 60.17, "lon": 24.958}},
    "when": {"type": "depart", "time": "2026-03-10T08:00:00+02:00"},
    "limit": 1,
    "constraints": {"maxWalkingDistance": 300},
}
BOARD = {"stop": {"type": "id", "value": "TEST:ALPHA"}}
CREDITS = {
    "feed_info.txt": "feed_publisher_name,feed_publisher_url,feed_lang\nHSL,https://hsl.fi,fi\n",
    "attributions.txt": "organization_name,is_producer,attribution_url\nOpenStreetMap,1,https://osm.org\n",
}
NAMES = {
    "agency.txt": "agency_name,agency_url,agency_timezone,agency_lang\nX,https://x.example,Europe/Helsinki,fi\n",
    "translations.txt": "table_name,field_name,language,translation,record_id,field_value\n"
    "stops,stop_name,sv,Alfa,ALPHA,\nstops,stop_name,sv,Beeta,,Beta\ntrips,trip_headsign,sv,Gamma hamn,,Gamma\n",
}


@pytest.fixture
def over(tmp_path, monkeypatch):
    """Ask tools over the drawing with some more tables."""
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T08:00:00+02:00")

    def with_tables(tables):
        network = EmbeddedNetwork(NetworkRecord(name="TEST"), timetable_from_drawing(DRAWING, tables=tables))
        return asker(FakeNetworks(network), VariableStore(tmp_path / "variables.sqlite"))

    return with_tables


@pytest.mark.parametrize(("tool", "question"), [("plan_trip", TRIP), ("get_departures", BOARD)])
def test_credit_lines(over, tool, question):
    """Publisher and attributed organisations stand in meta, once, and below the text."""
    answer = over(CREDITS)(tool, question)

    assert answer.body["meta"]["attribution"] == ["HSL https://hsl.fi", "OpenStreetMap (producer) https://osm.org"]
    assert answer.text.splitlines().count("Data: HSL https://hsl.fi; OpenStreetMap (producer) https://osm.org") == 1


@pytest.mark.parametrize(
    ("asked", "observed", "names"),
    [
        ("sv", "sv", ["Alfa", "Beeta", "Gamma hamn"]),
        ("fi", "fi", ["Alpha", "Beta", "Gamma"]),
        # Nothing is in English: the feed's own Finnish is the first of the chain that is there.
        ("en", "fi", ["Alpha", "Beta", "Gamma"]),
    ],
)
def test_names_in_the_language_that_was_asked_for(over, asked, observed, names):
    """Rule A7: translated names of stops and headsigns, and which language was chosen."""
    constraints = {**TRIP["constraints"], "language": asked}
    body = over(NAMES)("plan_trip", {**TRIP, "constraints": constraints}).body

    [leg] = body["itineraries"][0]["legs"]
    assert body["meta"]["language"] == observed
    assert [leg["from"]["name"], leg["to"]["name"], leg["headsign"]] == names


def test_a_boards_headsigns_are_translated(over):
    """A board is told in the language of its question too."""
    board = over(NAMES)("get_departures", {**BOARD, "language": "sv"}).body

    assert [row["destination"] for row in board["departures"]] == ["Gamma hamn"]
