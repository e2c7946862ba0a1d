"""The tools in the town behind a server, from the question to the contract's answer."""

from contextlib import asynccontextmanager

import pytest

from fingerpost import clock
from fingerpost.apps.wiring import list_tools
from fingerpost.store.variables import VariableStore
from fingerpost.testing.networks.town import NOW, new_town
from tests.conformance.motis import MotisConformance
from tests.conformance.opentripplanner import OpenTripPlannerConformance
from tests.fakes import FakeNetworks

ALPHA, GAMMA = ({"type": "label", "value": name} for name in ("Alpha", "Gamma"))


@pytest.fixture(params=[MotisConformance, OpenTripPlannerConformance], ids=lambda source: source.name)
def source(request, monkeypatch):
    monkeypatch.setenv(clock.VARIABLE, NOW)
    return request.param()


@asynccontextmanager
async def opening_tools(source, home):
    async with source.open(new_town(live=True)) as network:
        tools = list_tools(FakeNetworks(network), VariableStore(home / "variables.sqlite"))
        yield {tool.name: tool for tool in tools}


async def test_a_trip_shows_running_and_cancelled_rides(source, tmp_path):
    """The tram of 08:10 is cancelled: what runs comes first, and the tram that the limit cuts off is named (B5)."""
    async with opening_tools(source, tmp_path) as tools:
        answered = await tools["plan_trip"].answer({"origin": ALPHA, "destination": GAMMA, "limit": 3}, user="ann")
    drawn = [
        [(leg["line"], leg["status"]) for leg in each["legs"] if leg["mode"] != "WALK"]
        for each in answered.body["itineraries"]
    ]
    replaced = [each["message"] for each in answered.body["warnings"] if each["code"] == "disrupted-itinerary-replaced"]

    assert drawn[0] == [("2", "scheduled_only"), ("3", "scheduled_only")]
    assert ["1 from Alpha is cancelled" in message for message in replaced] == [True]
    assert answered.body["meta"]["source"] == source.name
    assert {alert["header"] for alert in answered.body["meta"]["alerts"]} == {"Bus 2 is diverted", "Works at Alpha"}


async def test_a_board_shows_delays_and_cancellations(source, tmp_path):
    async with opening_tools(source, tmp_path) as tools:
        answered = await tools["get_departures"].answer({"stop": ALPHA, "windowMinutes": 60}, user="ann")
    rows = [(row["line"], row["status"], row.get("delaySeconds")) for row in answered.body["departures"]]

    assert rows == [("1", "cancelled", None), ("2", "scheduled_only", None), ("1", "delayed", 120)]
