"""The preferred network's server names a looked-up position, and no other server sees it."""

from dataclasses import dataclass, field, replace

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.errors import SourceFailed
from fingerpost.store.variables import VariableStore
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind
from fingerpost.transit.networks.circuit_breaker import CircuitBreakerNetwork, NetworkBreaker
from tests.fakes import FakeNetwork, FakeNetworks


@dataclass(kw_only=True)
class NamingNetwork(FakeNetwork):
    """Names positions by ``names``, or raises a failure."""

    names: dict = field(default_factory=dict)
    failure: Exception | None = None
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
        name = self.names.get((coordinate.lat, coordinate.lon))
        if name is None:
            return None
        return Place(name=name, coordinate=coordinate, kind=PlaceKind.ADDRESS, attribution=("Names by Town",))


def naming(**given):
    return NamingNetwork(names={(60.1699, 24.9384): "Mannerheimintie 5"}, **given)


async def look_up(tmp_path, *networks):
    tools = list_tools(FakeNetworks(*networks), VariableStore(tmp_path / "variables.sqlite"))
    tool = next(tool for tool in tools if tool.name == "findAddressOrStop")
    return await tool.answer({"rawText": "60.1699,24.9384"}, user="ann")


async def test_failing_names_do_not_stop_boards():
    guarded = CircuitBreakerNetwork(naming(failure=SourceFailed("no")), NetworkBreaker(threshold=2), "key")
    for _ in range(3):
        with pytest.raises(SourceFailed):
            await guarded.find_address(Coordinate(60.0, 25.0), may_ask=True)

    assert await guarded.list_stops_near(Coordinate(60.0, 25.0), 500)


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
