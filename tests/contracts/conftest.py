"""Tools for tests, over the demo networks or networks drawn by hand. The clock is fixed."""

import asyncio
from functools import partial

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.store.variables import VariableStore
from fingerpost.transit.model.itinerary import Departure, Mode
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch
from fingerpost.transit.model.provenance import Provenance
from tests.fakes import FakeNetwork, FakeNetworks
from tests.homes import open_networks
from tests.rules.drawing import DAY, T0
from tests.rules.drawing import at as minute_at

NOW = "2022-02-22T08:00:00+02:00"
ANN, EVE = "ann", "eve"


@pytest.fixture(autouse=True)
def _standing_clock(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)


@pytest.fixture(scope="session")
def demo_networks(tmp_path_factory):
    return open_networks(tmp_path_factory.mktemp("home"))


@pytest.fixture
def demo(demo_networks, tmp_path):
    return asker_of(demo_networks, tmp_path)


@pytest.fixture
def over(tmp_path):
    return partial(asker, tmp_path)


def asker(folder, *networks):
    """Return a function that asks a tool over fake networks, with variables in a folder."""
    return asker_of(FakeNetworks(*networks), folder)


def asker_of(networks, folder):
    tools = {tool.name: tool for tool in list_tools(networks, VariableStore(folder / "variables.sqlite"))}

    def ask(name, arguments, user=ANN):
        return asyncio.run(tools[name].answer(arguments, user=user))

    return ask


def refusal(answer):
    assert answer.is_error
    error = answer.body["error"]
    return error["code"], error["message"], error.get("hint", error.get("recommendation"))


def codes(answer):
    return [warning["code"] for warning in answer.body.get("warnings", [])]


def at(lat, lon):
    return {"type": "coords", "value": {"lat": lat, "lon": lon}}


def label(text):
    return {"type": "label", "value": text}


def stop_place(stop_id, name, score=1.0, lat=60.17, lon=24.94):
    place = Place(id=stop_id, name=name, coordinate=Coordinate(lat, lon), kind=PlaceKind.STOP, member_ids=(stop_id,))
    return PlaceMatch(place=place, score=score)


def board_of(*departures):
    return FakeNetwork(places={"A": [stop_place("T:A", "A")]}, departures=departures)


def leaving(minute, line="7", destination="B", **more):
    return Departure(
        line=line,
        mode=Mode.TRAM,
        destination=destination,
        scheduled=minute_at(minute),
        stop_id="T:A",
        trip_id=f"{line}-{minute}",
        service_day=DAY,
        **more,
    )


def clock(minute):
    """Return a minute after the standing clock, 06:00 UTC, as the lookup contract prints it."""
    return f"2022-02-22T{6 + minute // 60:02d}:{minute % 60:02d}:00Z"


def provenance(zone="Europe/Helsinki", **more):
    return Provenance(network="FAKE", source="fake", zone=zone, retrieved_at=T0, **more)
