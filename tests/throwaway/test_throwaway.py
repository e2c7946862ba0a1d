"""A source over HTTP takes one package, one line of wiring and one conformance class."""

from dataclasses import replace

import pytest

from fingerpost.net.loop_clients import LoopClients
from fingerpost.store.network_records import NetworkRecordStore
from fingerpost.testing.networks.checking import NetworkBroken
from fingerpost.testing.networks.suite import FACTS, check, check_abilities
from fingerpost.testing.networks.town import NOW, new_town
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.networks.composite import AllNetworks
from tests.conformance.embedded import EmbeddedConformance
from tests.homes import write_record
from tests.throwaway.conformance import ThrowawayConformance, new_client, new_record
from tests.throwaway.server import URL, Port, serving_network
from tests.throwaway.source import ThrowawaySource


@pytest.mark.parametrize("fact", FACTS, ids=str)
def test_a_source_over_http_is_held_to_every_fact(fact):
    gap = check(ThrowawayConformance(), fact)
    if gap is not None:
        pytest.skip(str(gap))


def test_it_declares_or_explains_every_ability():
    check_abilities(ThrowawayConformance())


def test_without_a_server_nothing_answers():
    """So the first test could fail."""
    with pytest.raises(NetworkBroken, match="SourceUnreachable"):
        check(ThrowawayConformance(is_served=False), FACTS[0])


async def test_the_record_holds_what_a_person_decided_and_what_was_learned_lies_beside(tmp_path, monkeypatch):
    """Modes, bounds and zone are known at once in a home that is opened later, though no record states them."""
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    town = new_town()
    async with EmbeddedConformance().open(town) as served, serving_network(served) as port:
        await _add_network(tmp_path, town, port)
        wanted = served.profile
    networks = _open_networks(tmp_path, Port(None))
    (network,) = (await networks.open()).answering
    await networks.close()

    assert "bounds" not in (tmp_path / "networks" / "TOWN.toml").read_text()
    told = network.profile
    assert (told.modes, told.bounds, told.zone) == (wanted.modes, wanted.bounds, wanted.zone)


async def test_what_is_learned_anew_counts_from_the_next_call(tmp_path, monkeypatch):
    """A refresh by another process, while a server runs."""
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    town, profiles = new_town(), LearnedProfiles(tmp_path)
    async with EmbeddedConformance().open(town) as served, serving_network(served) as port:
        await _add_network(tmp_path, town, port)
    networks = _open_networks(tmp_path, Port(None))
    (before,) = (await networks.open()).answering
    record = new_record(town)
    profiles.put(record, replace(profiles.find(record), modes=frozenset({Mode.FERRY})))
    (after,) = (await networks.open()).answering
    await networks.close()

    assert (before.profile.modes, after.profile.modes) == ({Mode.TRAM, Mode.BUS, Mode.RAIL}, {Mode.FERRY})


async def test_a_record_without_anything_learned_is_a_problem_of_that_network_alone(tmp_path):
    """Written by hand: where it lies is not known, and a sentence says what to do."""
    write_record(tmp_path, "TOWN", source="throwaway", url=URL)
    networks = _open_networks(tmp_path, Port(None))
    opened = await networks.open()
    await networks.close()

    assert opened.answering == ()
    assert "Run `fingerpost network refresh TOWN`" in opened.problems["TOWN"]


async def _add_network(home, town, port):
    """Do what ``network add`` does for a remote source."""
    record = new_record(town)
    async with new_client(port) as client:
        LearnedProfiles(home).put(record, await ThrowawaySource(client.fetch).learn(record))
    write_record(home, town.name, source=record.source, url=record.url, key=record.key)


def _open_networks(home, port):
    clients = LoopClients(lambda: new_client(port))
    return AllNetworks(
        NetworkRecordStore(home),
        lambda: {"throwaway": ThrowawaySource(clients.fetch)},
        learned=LearnedProfiles(home),
        clients=clients,
    )
