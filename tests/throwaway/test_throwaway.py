"""A source over HTTP takes one package, one line of wiring and one conformance class, and is recorded and replayed."""

import json

import pytest

from fingerpost.net.recording.player import Player
from fingerpost.net.recording.recorder import Recorder
from fingerpost.store.network_records import NetworkRecordFile
from fingerpost.store.variables import VariableStore
from fingerpost.testing.networks.checking import Broken, Fact
from fingerpost.testing.networks.suite import FACTS, check, check_abilities
from fingerpost.testing.networks.town import NOW, new_town
from fingerpost.tools.catalogue import list_tools
from fingerpost.transit.networks.composite import AllNetworks
from tests.conformance.embedded import EmbeddedConformance
from tests.homes import write_record
from tests.throwaway.conformance import ENVIRON, ThrowawayConformance, new_client, new_record
from tests.throwaway.server import Port, serving_network
from tests.throwaway.source import ThrowawaySource

# One for each set of abilities, with real time and without.
REPLAYED = list({(fact.needs, fact.live): fact for fact in FACTS if isinstance(fact, Fact)}.values())


@pytest.mark.parametrize("fact", FACTS, ids=str)
def test_a_source_over_http_is_held_to_every_fact(fact):
    """Its gaps are its own words."""
    gap = check(ThrowawayConformance(), fact)
    if gap is not None:
        pytest.skip(str(gap))


def test_it_declares_or_explains_every_ability():
    """No fares of theirs, no lines of ours."""
    check_abilities(ThrowawayConformance())


@pytest.mark.parametrize("fact", REPLAYED, ids=str)
def test_the_suite_is_recorded_and_replayed_without_the_server(fact, tmp_path):
    """The same facts hold from the recording, which holds no key."""
    gap = check(ThrowawayConformance(Recorder(tmp_path)), fact)
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]

    assert check(ThrowawayConformance(Player(tmp_path), is_served=False), fact) == gap
    assert [path for path in kept if ENVIRON["TOWN_KEY"].encode() in path.read_bytes()] == []


def test_without_the_recording_nothing_answers(tmp_path):
    """So the test above could fail."""
    with pytest.raises(Broken, match="SourceUnreachable"):
        check(ThrowawayConformance(is_served=False), FACTS[0])


async def test_one_line_of_wiring_serves_every_tool(tmp_path, monkeypatch):
    """Trips, boards and names through the tools, live and from the recording: the same bytes."""
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    town = new_town(live=True)
    async with EmbeddedConformance().open(town) as served, serving_network(served) as port:
        source = ThrowawaySource(new_client(port))
        record = await source.complete(new_record(town))
        await source.close()
        write_record(tmp_path, town.name, **json.loads(record.model_dump_json(exclude={"name"}, exclude_none=True)))
        live = await _ask_tools(tmp_path, new_client(port, Recorder(tmp_path / "recording")))
    replayed = await _ask_tools(tmp_path, new_client(Port(None), Player(tmp_path / "recording")))

    assert replayed == live
    plan, board, _ = (json.loads(answer) for answer in live)
    assert [each["legs"][0]["line"] for each in plan["itineraries"]] == ["2", "1"]
    assert [(row["line"], row["status"]) for row in board["departures"]] == [
        ("1", "cancelled"),
        ("2", "scheduled_only"),
        ("1", "delayed"),
    ]


async def _ask_tools(home, client):
    networks = AllNetworks(NetworkRecordFile(home), lambda: {"throwaway": ThrowawaySource(client)})
    tools = {tool.name: tool for tool in list_tools(networks, VariableStore(home / "variables.sqlite"))}
    ends = {name: {"type": "label", "value": stop} for name, stop in (("origin", "Alpha"), ("destination", "Gamma"))}
    asked = {
        "plan_trip": ends,
        "get_departures": {"stop": {"type": "label", "value": "Alpha"}, "windowMinutes": 60},
        "findAddressOrStop": {"rawText": "alvsjo"},
    }
    answers = [(await tools[name].answer(arguments, user="ann")).body for name, arguments in asked.items()]
    await networks.close()
    return [json.dumps(answer, sort_keys=True) for answer in answers]
