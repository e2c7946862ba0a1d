"""A remote source's profile is stored next to the network's record, and applies from the next call."""

from dataclasses import replace

from fingerpost.net.loop_clients import LoopClients
from fingerpost.store.network_records import NetworkRecordStore
from fingerpost.testing.networks.town import NOW, ZONE, new_town
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.networks.composite import AllNetworks
from fingerpost.transit.remote.motis.network import MotisSource
from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.motis import MotisConformance
from tests.homes import write_record
from tests.net.reply_server import Port, new_town_client

TOWN = new_town()
RECORD = MotisConformance().new_record(TOWN)


async def add_network(home):
    """Do what ``network add`` does for a remote source."""
    async with (
        EmbeddedConformance().open(TOWN) as served,
        MotisConformance().serve(TOWN, served) as port,
        new_town_client(port) as client,
    ):
        LearnedProfiles(home).put(RECORD, await MotisSource(client.fetch).learn(RECORD))
    write_record(home, RECORD.name, source=RECORD.source, url=RECORD.url)


def open_networks(home):
    """Open the networks of a home while no server can be reached."""
    clients = LoopClients(lambda: new_town_client(Port(None)))
    return AllNetworks(
        NetworkRecordStore(home),
        lambda: {"motis": MotisSource(clients.fetch)},
        learned=LearnedProfiles(home),
        clients=clients,
    )


async def test_a_learned_profile_applies_at_once_and_a_new_one_from_the_next_call(tmp_path, monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    await add_network(tmp_path)
    profiles, networks = LearnedProfiles(tmp_path), open_networks(tmp_path)
    (before,) = (await networks.open()).answering
    profiles.put(RECORD, replace(profiles.find(RECORD), modes=frozenset({Mode.FERRY})))
    (after,) = (await networks.open()).answering
    await networks.close()

    assert "bounds" not in (tmp_path / "networks" / "TOWN.toml").read_text()
    assert (before.profile.modes, before.profile.zone) == ({Mode.TRAM, Mode.BUS, Mode.RAIL}, ZONE)
    assert before.profile.bounds.covers(TOWN.coordinate("Alpha"))
    assert after.profile.modes == {Mode.FERRY}


async def test_a_record_without_a_learned_profile_affects_only_its_network(tmp_path):
    write_record(tmp_path, "TOWN", source=RECORD.source, url=RECORD.url)
    networks = open_networks(tmp_path)
    opened = await networks.open()
    await networks.close()

    assert opened.answering == ()
    assert "Run `fingerpost network refresh TOWN`" in opened.problems["TOWN"]
