"""All networks behind one composite: records, order, problems, fallback, demos (rule A13)."""

import asyncio
import json
import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from fingerpost.errors import SettingsInvalid, SourceFailed
from fingerpost.net.loop_clients import LoopClients
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.transit.learned_profile import LearnedProfile, LearnedProfiles
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.networks import composite
from fingerpost.transit.networks.composite import AllNetworks, DemoMode
from fingerpost.transit.remote.motis.network import MotisSource
from tests.conformance.embedded import EmbeddedConformance
from tests.conformance.motis import MotisConformance
from tests.conformance.town import NOW, ZONE, new_town
from tests.contracts.conftest import stop_place
from tests.fakes import FakeNetwork
from tests.homes import write_record
from tests.net.reply_server import Port, new_town_client

DEMO = NetworkRecord(name="DEMO-X", source="demo")


class DrawnSource:
    """A kind of source with fake networks; ``failures`` are raised by name, and BAD cannot be opened."""

    def __init__(self, kind):
        self.kind = kind
        self.opened, self.retired, self.closed = [], [], 0
        self.failures = {"BAD": SettingsInvalid("BAD is damaged. Add it again")}

    def stamp(self):
        return None

    def open(self, record, learned=None):
        self.opened.append(record.name)
        if record.name in self.failures:
            raise self.failures[record.name]
        return FakeNetwork(
            name=record.name,
            priority=record.priority,
            is_demo=self.kind == "demo",
            feed_names=frozenset({record.name}),
            places={"Stop": [stop_place(f"{record.name}:1", "Stop")]},
        )

    def retire(self, name):
        self.retired.append(name)

    async def close(self):
        self.closed += 1


@pytest.fixture
def source():
    return DrawnSource("drawn")


@pytest.fixture
def networks(tmp_path, source):
    kinds = {"drawn": source, "demo": DrawnSource("demo")}
    return lambda demo="auto": AllNetworks(
        NetworkRecordStore(tmp_path), lambda: kinds, demos=[DEMO], demo_mode=DemoMode(demo)
    )


@pytest.fixture
def add(tmp_path):
    def write(*names, source="drawn", **fields):
        for name in names:
            write_record(tmp_path, name, source=source, **fields)

    return write


def names(networks):
    return [network.profile.name for network in networks]


def open_now(networks):
    return asyncio.run(networks.open())


async def test_calls_that_wait_for_networks_leave_threads_to_limits_and_variables(tmp_path, source):
    may_open = threading.Event()
    networks = AllNetworks(NetworkRecordStore(tmp_path), lambda: may_open.wait() and {"drawn": source})
    waiting = [asyncio.create_task(networks.open()) for _ in range(40)]
    await asyncio.sleep(0)
    answered = await run_in_thread(lambda: "read")
    may_open.set()
    await asyncio.gather(*waiting)

    assert answered == "read"


def test_a_network_that_cannot_be_opened_affects_no_other(add, networks):
    for name, kind in (("A", "drawn"), ("BAD", "drawn"), ("ODD", "carrier-pigeon")):
        add(name, source=kind)
    opened = open_now(networks())

    assert names(opened.answering) == ["A"]
    assert dict(opened.problems) == {
        "BAD": "BAD is damaged. Add it again",
        "ODD": "Unknown source kind 'carrier-pigeon'. Kinds: demo, drawn",
    }


def test_an_edit_takes_effect_on_the_next_call(tmp_path, add, networks, source):
    ours = networks()
    add("A", "B")
    first = names(open_now(ours).answering)
    add("B", priority=1)
    second = names(open_now(ours).answering)
    (tmp_path / "networks" / "A.toml").unlink()
    add("B")
    third = names(open_now(ours).answering)

    assert (first, second, third) == (["A", "B"], ["B", "A"], ["B"])
    assert source.retired == ["A"]


def test_no_network_is_reopened_without_a_change(add, networks, source):
    add("A")
    ours = networks()
    first = open_now(ours)

    assert open_now(ours) is first
    assert source.opened == ["A"]


def test_the_fallback_replaces_a_network_that_cannot_be_opened(add, networks):
    add("OFFLINE")
    add("BAD", fallback="OFFLINE")
    opened = open_now(networks())

    assert (names(opened.answering), list(opened.problems)) == (["OFFLINE"], ["BAD"])


def test_a_fallback_that_replaces_a_network_has_its_priority(add, networks):
    add("OFFLINE")
    add("BAD", fallback="OFFLINE", priority=10)
    add("C", priority=5)

    assert names(open_now(networks()).answering) == ["OFFLINE", "C"]


@pytest.mark.parametrize(
    ("mode", "added", "answering", "by_token_only"),
    [
        ("auto", [], ["DEMO-X"], []),
        ("auto", ["A"], ["A"], ["DEMO-X"]),
        ("auto", ["BAD"], [], ["DEMO-X"]),
        ("on", ["A"], ["A", "DEMO-X"], []),
        ("off", [], [], ["DEMO-X"]),
    ],
)
def test_demos_answer_until_a_network_is_added(add, networks, mode, added, answering, by_token_only):
    add(*added)
    found = networks(mode)
    opened = open_now(found)

    assert found.are_demos_enabled() is ("DEMO-X" in answering)
    assert (names(opened.answering), names(opened.by_token_only)) == (answering, by_token_only)
    assert names(opened.list_owners("demo-x:1")) == ["DEMO-X"]


def test_closing_closes_every_source(networks, source):
    ours = networks()
    open_now(ours)
    asyncio.run(ours.close())

    assert source.closed == 1
    assert names(open_now(ours).answering) == ["DEMO-X"]


@pytest.mark.parametrize(
    ("failure", "sentence", "retry_s", "later"),
    [
        (SourceFailed("The disk is busy."), "The disk is busy.", 30, ["A", "B"]),
        (SystemError("x"), "B failed unexpectedly; see the log", 0, ["A", "B"]),
        (SystemError("x"), "B failed unexpectedly; see the log", 30, ["A"]),
    ],
)
def test_an_error_while_opening_a_source_affects_only_its_network_and_passes(
    add, networks, source, failure, sentence, retry_s, later, monkeypatch
):
    monkeypatch.setattr(composite, "RETRY_S", retry_s)
    source.failures["B"] = failure
    add("A", "B")
    ours = networks()
    opened = open_now(ours)
    source.failures.clear()

    assert (names(opened.answering), dict(opened.problems)) == (["A"], {"B": sentence})
    assert names(open_now(ours).answering) == later


TOWN = new_town()
RECORD = MotisConformance().new_record(TOWN)


async def add_remote_network(home):
    """Do what ``network add`` does for a remote source."""
    async with (
        EmbeddedConformance().open(TOWN) as served,
        MotisConformance().serve(TOWN, served) as port,
        new_town_client(port) as client,
    ):
        LearnedProfiles(home).put(RECORD, await MotisSource(client.fetch).learn(RECORD))
    write_record(home, RECORD.name, source=RECORD.source, url=RECORD.url)


def open_offline(home):
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
    await add_remote_network(tmp_path)
    profiles, networks = LearnedProfiles(tmp_path), open_offline(tmp_path)
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
    networks = open_offline(tmp_path)
    opened = await networks.open()
    await networks.close()

    assert opened.answering == ()
    assert "Run `fingerpost network refresh TOWN`" in opened.problems["TOWN"]


BOX = {"south": 59.0, "west": 10.0, "north": 60.0, "east": 11.0}


@pytest.mark.parametrize(
    "damage",
    [
        {"format": 1},
        {"learned": {"learned_at": "2026-06-10T00:00:00Z", "zone": "Europe/Osmo"}},
        {"learned": {"learned_at": "2026-06-10T00:00:00Z", "bounds": BOX | {"north": 1e30}}},
    ],
)
def test_a_damaged_or_older_learned_profile_is_to_be_learned_again(tmp_path, damage):
    profiles = LearnedProfiles(tmp_path)
    profiles.put(RECORD, LearnedProfile(learned_at=datetime(2026, 6, 10, tzinfo=UTC)))
    (path,) = (tmp_path / "networks" / "learned").glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))

    with pytest.raises(SettingsInvalid, match="Run `fingerpost network refresh TOWN`"):
        profiles.find(RECORD)
