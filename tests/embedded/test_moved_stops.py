"""Riders walk to a stop that realtime data moved, and between a saved place and its stop."""

import pytest

from tests.realtime.messages import call, update
from tests.rules.drawing import DEGREE_M

# Beta and its neighbour are too far apart to be linked, and half an hour's walk or less.
DRAWING = """
line A | Alpha 08:10 | Beta 08:20
line B | Beta {leaves} | Gamma 09:30
line Z | Yonder 20:00 | Gamma 20:30
"""
COORDINATES = {"Beta": (60.25, 24.94), "Yonder": (60.26, 24.94), "Gamma": (60.17, 25.3)}
# 1,112 m in a straight line, with the factor and the pace 1,157 s, and 255 s to change.
NEEDED_S = 1_157 + 255


def ask(towns, leaves):
    town = towns(DRAWING.format(leaves=leaves), coordinates=COORDINATES)
    town.say(update("B-1", call(sequence=1, depart=360, platform="YONDER")))
    return town.plan(limit=3)["itineraries"]


def test_riders_who_transfer_walk_to_the_departure_platform(towns):
    itinerary = ask(towns, "08:50")[0]
    legs = [(leg["mode"], leg["from"].get("id"), leg["to"].get("id")) for leg in itinerary["legs"]]
    assert legs == [
        ("BUS", "TEST:ALPHA", "TEST:BETA"), ("WALK", "TEST:BETA", "TEST:YONDER"), ("BUS", "TEST:YONDER", "TEST:GAMMA"),
    ]  # fmt: skip
    assert itinerary["legs"][1]["duration"] == NEEDED_S - 255
    assert itinerary["DisruptionNote"] == "Line B from Yonder leaves 6 min late."


def test_another_platform_where_one_boards_changes_no_later_change(towns):
    drawing = """
line A | Alpha 08:10 | Beta 08:20
line B | Beta 08:21 | Gamma 08:30
line Z | Yonder 20:00 | Gamma 20:30
change | Beta 60
"""
    places = {**COORDINATES, "Yonder": (60.1701, 24.94)}
    town = towns(drawing, coordinates=places, said=[update("A-1", call(sequence=1, depart=0, platform="YONDER"))])
    first = town.plan(limit=1)["itineraries"][0]
    rides = [(leg["line"], leg["from"]["id"]) for leg in first["legs"] if leg["mode"] != "WALK"]
    assert (rides, first.get("DisruptionNote")) == ([("A", "TEST:YONDER"), ("B", "TEST:BETA")], None)


@pytest.mark.parametrize(("leaves", "missed"), [("08:37:32", False), ("08:37:31", True)])
def test_a_change_that_the_walk_makes_impossible_is_missed(towns, leaves, missed):
    """B5: A is there at 08:20, and the change takes 23 min 32 s; what is missed stands behind tomorrow's."""
    found = ask(towns, leaves)
    notes = ["but takes" in each.get("DisruptionNote", "") for each in found]
    assert notes == ([False, True] if missed else [False, False])


ALPHA = (60.17, 24.94)


def first_mode(town, north_m):
    town.ask("save_user_variable", key="home", type="location", value={
        "lat": ALPHA[0] + north_m / DEGREE_M, "lon": ALPHA[1], "stopId": "TEST:ALPHA"})  # fmt: skip
    return town.plan("home", limit=1)["itineraries"][0]["legs"][0]["mode"]


@pytest.mark.parametrize(("north_m", "mode"), [(0, "RAIL"), (24, "RAIL"), (26, "WALK"), (299, "WALK")])
def test_a_saved_stop_is_where_one_boards_only_if_the_place_is_there(town, north_m, mode):
    """D2: 25 m are the stop itself, as positions are measured; from further away the walk is part of the trip."""
    assert first_mode(town, north_m) == mode
