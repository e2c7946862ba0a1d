"""The two tools over a network behind OpenTripPlanner, from the question to the contract's answer."""

from contextlib import asynccontextmanager

import pytest

from fingerpost import clock
from fingerpost.store.network_records import NetworkRecord
from fingerpost.testing.networks.town import NOW, new_town
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.opentripplanner import LIMITS, URL
from tests.conformance.town_tools import tools_over
from tests.opentripplanner.town_server import TownServer, serving

ALPHA, GAMMA = ({"type": "label", "value": name} for name in ("Alpha", "Gamma"))


@pytest.fixture(autouse=True)
def _now(monkeypatch):
    monkeypatch.setenv(clock.VARIABLE, NOW)


@asynccontextmanager
async def tools_of_the_town(home, *, live):
    """Add the town as a network and yield the tools by name."""
    town = new_town(live=live)
    record = NetworkRecord(name=town.name, source="opentripplanner", url=URL)
    async with (
        EmbeddedConformance().open(town) as served,
        serving(TownServer(town, served).answer) as port,
        tools_over(home, record, lambda fetch: OpenTripPlannerSource(fetch, LIMITS), port) as tools,
    ):
        yield tools


async def test_a_trip_shows_what_runs_and_what_was_cancelled(tmp_path):
    """The tram of 08:10 is cancelled: what runs comes first, and the tram that the limit cuts off is named (B5)."""
    async with tools_of_the_town(tmp_path, live=True) as tools:
        answered = await tools["plan_trip"].answer({"origin": ALPHA, "destination": GAMMA, "limit": 3}, user="ann")
    assert not answered.is_error, answered.text
    drawn = [
        [(leg["line"], leg["status"]) for leg in each["legs"] if leg["mode"] != "WALK"]
        for each in answered.body["itineraries"]
    ]

    assert drawn[0] == [("2", "scheduled_only"), ("3", "scheduled_only")]
    replaced = [each["message"] for each in answered.body["warnings"] if each["code"] == "disrupted-itinerary-replaced"]
    assert ["1 from Alpha is cancelled" in message for message in replaced] == [True]
    assert answered.body["meta"]["source"] == "opentripplanner"


async def test_a_board_shows_delays_and_cancellations(tmp_path):
    """Two minutes late is delayed; the cancelled one has no delay."""
    async with tools_of_the_town(tmp_path, live=True) as tools:
        answered = await tools["get_departures"].answer({"stop": ALPHA, "windowMinutes": 60}, user="ann")
    rows = [(row["line"], row["status"], row.get("delaySeconds")) for row in answered.body["departures"]]

    assert rows == [("1", "cancelled", None), ("2", "scheduled_only", None), ("1", "delayed", 120)]


async def test_stops_and_names_are_found(tmp_path):
    """Around a point, and by a name without its accents."""
    async with tools_of_the_town(tmp_path, live=False) as tools:
        near = await tools["find_stops"].answer({"coordinate": {"lat": 60.17, "lon": 24.941}, "radius": 100}, user=None)
        named = await tools["findAddressOrStop"].answer({"rawText": "alvsjo"}, user=None)

    assert [(stop["id"], stop["modes"]) for stop in near.body["stops"]] == [("TOWN:ALPHA", ["BUS", "TRAM"])]
    assert (named.body["name"], named.body["primaryLanguage"]) == ("Älvsjö", "sv")
