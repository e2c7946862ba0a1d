"""Positions are named by the server that is asked about them, and by no other."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from fingerpost import clock
from fingerpost.apps.wiring import list_tools
from fingerpost.errors import SourceFailed, SourceUnreachable
from fingerpost.store.variables import VariableStore
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind
from fingerpost.transit.networks.circuit_breaker import CircuitBreakerNetwork, NetworkBreaker
from fingerpost.transit.networks.fallback import FallbackNetwork
from fingerpost.transit.networks.position_names import ENDS_NAMED_WITHIN_S
from tests.contracts.conftest import at, label, stop_place
from tests.fakes import FakeNetwork, FakeNetworks, Journeys
from tests.networks.limits import Limits
from tests.rules.drawing import ride, trip

HERE, THERE = at(60.1699, 24.9384), at(60.2055, 24.6559)
FOUND = Journeys(itineraries=(trip(ride("7", "A", "B", 5, 15)),))


@pytest.fixture(autouse=True)
def _standing_clock(monkeypatch):
    monkeypatch.setenv(clock.VARIABLE, "1970-01-01T00:00:00Z")


@dataclass(kw_only=True)
class NamingNetwork(FakeNetwork):
    """Names positions by ``names``; a failure is raised, and with ``limits`` the caller's limit expires."""

    names: dict = field(default_factory=dict)
    failure: Exception | None = None
    limits: Limits | None = None
    sent: list = field(default_factory=list)

    @property
    def profile(self):
        return replace(super().profile, names_positions=True)

    async def find_address(self, coordinate, *, language=None, may_ask=False):
        if not may_ask:
            return None
        self.sent.append((coordinate.lat, coordinate.lon))
        if self.failure is not None:
            raise self.failure
        if self.limits is not None:
            await self.limits.expire_mine()
        name = self.names.get((coordinate.lat, coordinate.lon))
        if name is None:
            return None
        return Place(name=name, coordinate=coordinate, kind=PlaceKind.ADDRESS, attribution=("Names by Town",))


def naming(**given):
    names = {(60.1699, 24.9384): "Mannerheimintie 5", (60.2055, 24.6559): "Espoon asema"}
    return NamingNetwork(journeys=[FOUND], names=names, **given)


async def ask(tmp_path, networks, name, arguments):
    tools = list_tools(FakeNetworks(*networks), VariableStore(tmp_path / "variables.sqlite"))
    tool = next(tool for tool in tools if tool.name == name)
    return await tool.answer(arguments, user="ann")


async def plan(tmp_path, *networks, origin=HERE):
    return await ask(tmp_path, networks, "plan_trip", {"origin": origin, "destination": THERE})


async def look_up(tmp_path, *networks):
    return await ask(tmp_path, networks, "findAddressOrStop", {"rawText": "60.1699,24.9384"})


async def test_the_ends_of_a_trip_have_the_names_of_what_is_there(tmp_path):
    answered = await plan(tmp_path, naming())

    assert (answered.body["origin"]["name"], answered.body["destination"]["name"]) == (
        "Mannerheimintie 5",
        "Espoon asema",
    )
    assert "Names by Town" in answered.body["meta"]["attribution"]
    assert answered.text.startswith("Mannerheimintie 5 to Espoon asema")


async def test_names_change_no_itinerary(tmp_path):
    """B7: a fingerprint is of names too, and these come and go with another service."""
    bare = await plan(tmp_path, FakeNetwork(journeys=[FOUND]))
    named = await plan(tmp_path, naming())

    assert named.body["itineraries"] == bare.body["itineraries"]


async def test_no_other_server_hears_of_a_position(tmp_path):
    first, second = naming(name="FIRST", priority=1), naming(name="SECOND")
    await plan(tmp_path, first, second)

    assert (len(first.sent), second.sent) == (2, [])


async def test_the_network_that_stands_in_names_what_it_plans(tmp_path):
    """The first was asked for the trip, so it had the positions; its failure is not waited for."""
    first = naming(name="FIRST", priority=1)
    first.journeys = [SourceFailed("down")]
    second = naming(name="SECOND")
    answered = await plan(tmp_path, first, second)

    assert (answered.body["origin"]["name"], len(second.sent)) == ("Mannerheimintie 5", 2)


async def test_a_fallback_is_never_asked(tmp_path):
    """Whether it will answer the trip is not known when the names are asked for."""
    live, offline = naming(name="LIVE", failure=SourceUnreachable("no answer")), naming(name="OFF")
    answered = await plan(tmp_path, FallbackNetwork(live, offline))

    assert ("name" in answered.body["origin"], offline.sent) == (False, [])


@pytest.mark.parametrize("failure", [SourceFailed("no answer"), SourceUnreachable("no answer")])
async def test_a_server_that_names_nothing_fails_no_trip_and_is_named_once(tmp_path, failure):
    answered = await plan(tmp_path, naming(failure=failure))

    assert not answered.is_error
    assert "name" not in answered.body["origin"]
    told = [note for note in answered.body["meta"]["notes"] if "position" in note]
    assert told == ["FAKE did not name a position: no answer."]


async def test_names_are_waited_for_a_second(tmp_path, monkeypatch):
    limits = Limits(monkeypatch)
    answered = await plan(tmp_path, naming(limits=limits))

    assert "FAKE did not name a position in time." in answered.body["meta"]["notes"]
    assert limits.seconds.count(ENDS_NAMED_WITHIN_S) == 2


async def test_a_trip_that_fails_leaves_no_question_behind(tmp_path):
    before = asyncio.all_tasks()

    @dataclass(kw_only=True)
    class Slow(NamingNetwork):
        async def find_address(self, coordinate, *, language=None, may_ask=False):
            if may_ask:
                await asyncio.Event().wait()

    answered = await plan(tmp_path, Slow(journeys=[SourceFailed("down")]))

    assert answered.is_error
    assert asyncio.all_tasks() == before


async def test_only_bare_positions_are_asked_for(tmp_path):
    places = {"Kamppi": [stop_place("FAKE:1", "Kamppi")]}
    network = naming(places=places)
    await plan(tmp_path, network, origin=label("Kamppi"))

    assert network.sent == [(60.2055, 24.6559)]


async def test_a_slow_namer_keeps_no_search_from_its_server():
    guarded = CircuitBreakerNetwork(naming(failure=SourceFailed("no")), NetworkBreaker(threshold=2), "key")
    for _ in range(3):
        with pytest.raises(SourceFailed):
            await guarded.find_address(Coordinate(60.0, 25.0), may_ask=True)

    assert await guarded.find_places("Kamppi") == ()


async def test_a_position_is_looked_up_at_one_server(tmp_path):
    plain, first, second = FakeNetwork(name="PLAIN"), NamingNetwork(name="FIRST"), naming(name="SECOND")
    known = await look_up(tmp_path, naming())
    unknown = await look_up(tmp_path, plain, first, second)

    assert (known.body["name"], unknown.body["name"]) == ("Mannerheimintie 5", "60.1699,24.9384")
    assert (len(first.sent), second.sent) == (1, [])


async def test_a_position_whose_server_fails_is_a_position(tmp_path):
    answered = await look_up(tmp_path, naming(failure=SourceFailed("HTTP 500")))

    assert answered.body["name"] == "60.1699,24.9384"
    assert [each["code"] for each in answered.body["meta"]["warnings"]] == ["network-left-out"]
