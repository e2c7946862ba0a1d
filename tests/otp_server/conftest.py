"""The real server for the tests in this folder, and fingerpost over it with the embedded engine as fallback."""

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from fingerpost.apps.settings import read_settings
from fingerpost.apps.source_kinds import list_paces, open_sources
from fingerpost.apps.storage import new_client
from fingerpost.apps.wiring import list_tools
from fingerpost.net.loop_clients import LoopClients
from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.store.variables import VariableStore
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.networks.composite import AllNetworks
from fingerpost.transit.networks.wrappers import NetworkBreaker
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.homes import keep_network, write_record
from tests.otp_server import running
from tests.otp_server.server import LOOPBACK
from tests.shared_data import get_shared

LIVE, OFFLINE = "LIVE", "OFFLINE"
NOW = "2022-02-22T08:00:00+02:00"
DATE = "20220222"
PATIENCE_S = 120.0


@pytest.fixture
def real():
    if running.tampere is None:
        pytest.skip("a real OpenTripPlanner takes a few minutes, Java and Maven: make test-otp")
    yield running.tampere
    running.tampere.updates.say()


@pytest.fixture(scope="session")
def timetable():
    return import_feeds(OFFLINE, [FeedSource(get_shared(running.GTFS), feed_name=running.FEED)]).timetable


class Clock:
    def __init__(self):
        self.ahead_s = 0.0

    def __call__(self):
        return time.monotonic() + self.ahead_s


class PatientSource(OpenTripPlannerSource):
    """OpenTripPlanner, waited for longer: a machine that is busy makes no answer wrong."""

    def __init__(self, fetch):
        super().__init__(fetch, RequestLimits(read_s=PATIENCE_S, total_s=PATIENCE_S))

    def open(self, record, learned=None):
        network = super().open(record, learned)
        network._profile = replace(network.profile, answer_deadline_s=PATIENCE_S, names_deadline_s=PATIENCE_S)
        return network


@pytest.fixture
def asking(real, timetable, tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    settings = read_settings(home=tmp_path, private_hosts=(LOOPBACK,))

    @asynccontextmanager
    async def opened():
        keep_network(tmp_path, OFFLINE, timetable, feeds=[f"{running.FEED}={get_shared(running.GTFS)}"])
        breaker_clock = Clock()
        clients = LoopClients(lambda: new_client(settings, list_paces()))
        patient = PatientSource(clients.fetch)
        sources = {**open_sources(settings, clients.fetch), "opentripplanner": patient}
        record = NetworkRecord(name=LIVE, source="opentripplanner", url=real.server.url)
        LearnedProfiles(tmp_path).put(record, await sources[record.source].learn(record))
        write_record(tmp_path, LIVE, source=record.source, url=record.url, fallback=OFFLINE)
        networks = AllNetworks(
            NetworkRecordStore(tmp_path),
            lambda: sources,
            learned=LearnedProfiles(tmp_path),
            clients=clients,
            breaker=NetworkBreaker(clock_s=breaker_clock),
        )
        tools = {tool.name: tool for tool in list_tools(networks, VariableStore(tmp_path / "variables.sqlite"))}

        async def ask(tool, **arguments):
            return (await tools[tool].answer(arguments, user="ann")).body

        ask.clock = breaker_clock
        try:
            yield ask
        finally:
            await networks.close()

    return opened


async def find_once(find, holds):
    async def find_holding():
        found = await find()
        return found if holds(found) else None

    return await until(find_holding)


async def until(holds, *, within_s=90.0):
    """Ask again until something holds, and return it, or the last that did not; real time is polled once a second."""
    deadline = time.monotonic() + within_s
    while True:
        found = await holds()
        if found or time.monotonic() > deadline:
            return found
        await asyncio.sleep(0.25)
