"""Step-free travel where the timetable has no such way: what there is is shown, and its weakest link is named."""

import pytest

from fingerpost.store.network_records import NetworkRecord
from fingerpost.store.variables import VariableStore
from fingerpost.testing.fakes import FakeNetworks
from fingerpost.testing.feeds import feed_from_drawing, timetable_from_tables
from fingerpost.transit.embedded.network import EmbeddedNetwork
from tests.contracts.conftest import asker

DRAWING = """
rail R | Alpha 08:05 | Gamma 08:25
line B | Alpha 08:10 | Gamma 08:55
"""
COORDINATES = {"Alpha": (60.17, 24.9), "Gamma": (60.17, 25.1)}
# GTFS: 1 is accessible, 2 is not.
YES, NO = "1", "2"


@pytest.fixture
def plan(tmp_path, clock):
    """Plan step-free from Alpha to Gamma: ``plan(stops, rail, bus)`` with the feed's word on each."""

    def ask(stops, rail, bus):
        tables = feed_from_drawing(DRAWING, coordinates=COORDINATES)
        head, *lines = tables["stops.txt"].splitlines()
        tables["stops.txt"] = "\n".join([f"{head},wheelchair_boarding", *(f"{line},{stops}" for line in lines)]) + "\n"
        head, *lines = tables["trips.txt"].splitlines()
        words = {"R-1": rail, "B-1": bus}
        told = [f"{line},{next(word for trip, word in words.items() if trip in line)}" for line in lines]
        tables["trips.txt"] = "\n".join([f"{head},wheelchair_accessible", *told]) + "\n"
        network = EmbeddedNetwork(NetworkRecord(name="TEST", source="gtfs"), timetable_from_tables(tables))
        tools = asker(FakeNetworks(network), VariableStore(tmp_path / "variables.sqlite"))
        ends = {
            "origin": {"type": "label", "value": "TEST:ALPHA"},
            "destination": {"type": "label", "value": "TEST:GAMMA"},
        }
        answer = tools("plan_trip", {**ends, "constraints": {"accessibility": {"stepFree": True}}}).body
        shown = [each["legs"][0]["line"] for each in answer["itineraries"]]
        return shown, [each["message"] for each in answer.get("warnings", ()) if each["code"] == "preference-unmet"]

    return ask


def test_the_step_free_way_is_taken_though_it_is_slower(plan):
    """The train has a step, the bus has none."""
    assert plan(YES, NO, YES) == (["B"], [])


def test_where_no_way_is_step_free_the_step_is_named(plan):
    """Neither vehicle takes a wheelchair: better a way with a step, which the answer names, than none."""
    shown, unmet = plan(YES, NO, NO)

    assert (shown[0], unmet[0].startswith("Line R is not step-free.")) == ("R", True)


def test_where_nothing_is_known_that_is_named(plan):
    """No word on the vehicles is not a yes."""
    shown, unmet = plan(YES, "0", "0")

    assert (shown[0], unmet[0].startswith("Line R is not known to be step-free.")) == ("R", True)
