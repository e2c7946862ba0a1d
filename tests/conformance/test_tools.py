"""The tools in the town behind a server, from the question to the contract's answer."""

from contextlib import asynccontextmanager

import pytest

from fingerpost import clock
from fingerpost.apps.wiring import list_tools
from fingerpost.net.loop_clients import LoopClients
from fingerpost.store.network_records import NetworkRecordStore
from fingerpost.store.variables import VariableStore
from fingerpost.testing.networks.town import NOW, new_town
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.networks.composite import AllNetworks
from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.motis import MotisConformance
from tests.conformance.opentripplanner import OpenTripPlannerConformance
from tests.conformance.served_town import LIMITS
from tests.homes import write_record
from tests.net.reply_server import new_town_client

ALPHA, GAMMA = ({"type": "label", "value": name} for name in ("Alpha", "Gamma"))
pytestmark = pytest.mark.parametrize(
    "source", [MotisConformance, OpenTripPlannerConformance], ids=lambda source: source.name
)


@pytest.fixture(autouse=True)
def _now(monkeypatch):
    monkeypatch.setenv(clock.VARIABLE, NOW)


@asynccontextmanager
async def tools_of_the_town(home, source, *, live):
    town = new_town(live=live)
    record = source.new_record(town)
    async with EmbeddedConformance().open(town) as served, source.serve(town, served) as port:
        async with new_town_client(port) as client:
            LearnedProfiles(home).put(record, await source.new_source(client.fetch, LIMITS).learn(record))
        write_record(home, record.name, source=record.source, url=record.url)
        clients = LoopClients(lambda: new_town_client(port))
        networks = AllNetworks(
            NetworkRecordStore(home),
            lambda: {record.source: source.new_source(clients.fetch, LIMITS)},
            learned=LearnedProfiles(home),
            clients=clients,
        )
        try:
            yield {tool.name: tool for tool in list_tools(networks, VariableStore(home / "variables.sqlite"))}
        finally:
            await networks.close()


async def test_a_trip_shows_running_and_cancelled_rides(source, tmp_path):
    """The tram of 08:10 is cancelled: what runs comes first, and the tram that the limit cuts off is named (B5)."""
    async with tools_of_the_town(tmp_path, source(), live=True) as tools:
        answered = await tools["plan_trip"].answer({"origin": ALPHA, "destination": GAMMA, "limit": 3}, user="ann")
    drawn = [
        [(leg["line"], leg["status"]) for leg in each["legs"] if leg["mode"] != "WALK"]
        for each in answered.body["itineraries"]
    ]
    replaced = [each["message"] for each in answered.body["warnings"] if each["code"] == "disrupted-itinerary-replaced"]

    assert drawn[0] == [("2", "scheduled_only"), ("3", "scheduled_only")]
    assert ["1 from Alpha is cancelled" in message for message in replaced] == [True]
    assert answered.body["meta"]["source"] == source.name
    assert {alert["header"] for alert in answered.body["meta"]["alerts"]} == {"Bus 2 makes a detour", "Works at Alpha"}


async def test_a_board_shows_delays_and_cancellations(source, tmp_path):
    async with tools_of_the_town(tmp_path, source(), live=True) as tools:
        answered = await tools["get_departures"].answer({"stop": ALPHA, "windowMinutes": 60}, user="ann")
    rows = [(row["line"], row["status"], row.get("delaySeconds")) for row in answered.body["departures"]]

    assert rows == [("1", "cancelled", None), ("2", "scheduled_only", None), ("1", "delayed", 120)]
