"""Realtime data on single stop times: delays, stops without boarding or alighting, and moved stops."""

import pytest

from tests.embedded.conftest import rows, trips, warnings
from tests.realtime.messages import call, message, stop_time_with, update
from tests.rules.drawing import DEGREE_M

# Beta and Yonder are too far apart for a footpath, but less than half an hour's walk.
DRAWING = """
line A | Alpha 08:10 | Beta 08:20
line B | Beta {leaves} | Gamma 09:30
line Z | Yonder 20:00 | Gamma 20:30
"""
COORDINATES = {"Beta": (60.25, 24.94), "Yonder": (60.26, 24.94), "Gamma": (60.17, 25.3)}
# 1,112 m in a straight line take 1,157 s, and the transfer 255 s more.
NEEDED_S = 1_157 + 255


def ask(towns, leaves):
    town = towns(DRAWING.format(leaves=leaves), coordinates=COORDINATES)
    town.publish(update("B-1", call(sequence=1, depart=360, platform="YONDER")))
    return town.plan(limit=3)["itineraries"]


def test_riders_who_transfer_walk_to_the_departure_platform(towns):
    itinerary = ask(towns, "08:50")[0]
    legs = [(leg["mode"], leg["from"].get("id"), leg["to"].get("id")) for leg in itinerary["legs"]]
    assert legs == [
        ("BUS", "TEST:ALPHA", "TEST:BETA"), ("WALK", "TEST:BETA", "TEST:YONDER"), ("BUS", "TEST:YONDER", "TEST:GAMMA"),
    ]  # fmt: skip
    assert itinerary["legs"][1]["duration"] == NEEDED_S - 255
    assert itinerary["DisruptionNote"] == "Line B from Yonder leaves 6 min late."


def test_a_moved_boarding_platform_does_not_affect_later_transfers(towns):
    drawing = """
line A | Alpha 08:10 | Beta 08:20
line B | Beta 08:21 | Gamma 08:30
line Z | Yonder 20:00 | Gamma 20:30
change | Beta 60
"""
    places = {**COORDINATES, "Yonder": (60.1701, 24.94)}
    town = towns(drawing, coordinates=places, entities=[update("A-1", call(sequence=1, depart=0, platform="YONDER"))])
    first = town.plan(limit=1)["itineraries"][0]
    rides = [(leg["line"], leg["from"]["id"]) for leg in first["legs"] if leg["mode"] != "WALK"]
    assert (rides, first.get("DisruptionNote")) == ([("A", "TEST:YONDER"), ("B", "TEST:BETA")], None)


@pytest.mark.parametrize(("leaves", "missed"), [("08:37:32", False), ("08:37:31", True)])
def test_a_change_that_the_walk_makes_impossible_is_missed(towns, leaves, missed):
    """B5: A arrives at 08:20, and the transfer takes 23 min 32 s; a missed one comes after tomorrow's trip."""
    found = ask(towns, leaves)
    notes = ["but takes" in each.get("DisruptionNote", "") for each in found]
    assert notes == ([False, True] if missed else [False, False])


ALPHA = (60.17, 24.94)


def first_mode(town, north_m):
    town.ask("save_user_variable", key="home", type="location", value={
        "lat": ALPHA[0] + north_m / DEGREE_M, "lon": ALPHA[1], "stopId": "TEST:ALPHA"})  # fmt: skip
    return town.plan("home", limit=1)["itineraries"][0]["legs"][0]["mode"]


@pytest.mark.parametrize(("north_m", "mode"), [(0, "RAIL"), (24, "RAIL"), (26, "WALK"), (299, "WALK")])
def test_a_saved_place_needs_no_walk_within_25_m_of_its_stop(town, north_m, mode):
    """D2."""
    assert first_mode(town, north_m) == mode


def test_without_current_realtime_the_schedule_applies(town):
    town.publish(message(update("R-1", call("ALPHA", 120, 120), call("BETA", relationship="NO_DATA"))))

    assert rows(town.board())[0] == ("R", "08:10", "delayed", 120)
    assert rows(town.board("TEST:BETA"))[0] == ("R", "08:20", "scheduled_only", None)


def test_a_board_has_the_delay_of_the_departure(town):
    town.publish(message(update("R-1", call("BETA", 120, 300))))

    assert rows(town.board("TEST:BETA"))[0] == ("R", "08:20", "delayed", 300)


def first_ride(body):
    leg = next(leg for leg in body["itineraries"][0]["legs"] if leg["mode"] != "WALK")
    return leg["line"], leg["status"], leg.get("delaySeconds"), leg["arrivalTime"][11:19], leg.get("disruptionNote")


NOTHING_KNOWN = [call(stop, relationship="NO_DATA") for stop in ("BETA", "GAMMA")]


@pytest.mark.parametrize(
    ("calls", "origin", "expected"),
    [
        ([call("GAMMA", 0)], "ALPHA", ("R", "scheduled_only", None, "08:30:00", None)),
        ([call("GAMMA", 300)], "ALPHA", ("R", "scheduled_only", None, "08:35:00", None)),
        ([call("GAMMA", 301)], "ALPHA",
         ("R", "scheduled_only", None, "08:35:01", "Line R from Alpha arrives at Gamma 5 min late.")),
        # The departure from Alpha is on time, and the arrival at Gamma has no data.
        ([call("ALPHA", 0, 0), NOTHING_KNOWN[0]], "ALPHA", ("R", "on_time", 0, "08:30:00", None)),
        ([call("ALPHA", 0, 0), *NOTHING_KNOWN], "BETA", ("R", "scheduled_only", None, "08:30:00", None)),
    ],
)  # fmt: skip
def test_a_ride_with_one_end_or_none_is_reported(town, calls, origin, expected):
    """B2: the status is that of the departure; an arrival more than five minutes late is a disruption."""
    town.publish(message(update("R-1", *calls)))

    assert first_ride(town.plan(f"TEST:{origin}", limit=1)) == expected


@pytest.mark.parametrize(
    ("limit", "expected"), [(1, "2 departures are in the window; the first 1 is shown."), (2, None)]
)
def test_cancelled_departures_count_among_those_in_the_window(towns, limit, expected):
    town = towns("line A | Alpha 08:10 | Beta 08:20\nline B | Alpha 08:15 | Beta 08:25")
    town.publish(message(update("A-1", relationship="CANCELED")))

    assert warnings(town.board(limit=limit)).get("truncated-results") == expected


TWO_LINES = """
line A | Alpha 08:10 | Beta 08:20 | Gamma 08:30
line B | Alpha 08:15 | Gamma 08:40
"""


@pytest.mark.parametrize(
    ("stop", "shut", "status"),
    [("ALPHA", {"pickup_type": "NONE"}, "cancelled"), ("GAMMA", {"drop_off_type": "NONE"}, None)],
)
def test_a_stop_without_boarding_or_alighting_is_avoided_and_named(towns, stop, shut, status):
    """Line A would arrive first; the warning names it."""
    town = towns(TWO_LINES, entities=[update("A-1", stop_time_with(stop, **shut))])
    board, body = rows(town.board()), town.plan(limit=1)

    assert [row[:2] for row in board] == [("A", "08:10"), ("B", "08:15")]
    assert status in (None, board[0][2])
    assert trips(body) == ["B 08:15"]
    assert "Line A from Alpha" in warnings(body)["disrupted-itinerary-replaced"]


def test_in_seat_transfers_need_neither_boarding_nor_alighting(towns):
    linked = "line A | Alpha 08:10 | Beta 08:20\nline B | Beta 08:21 | Gamma 08:30\nstay | A-1 | B-1"
    town = towns(linked, coordinates={"Beta": (60.25, 24.94), "Gamma": (60.17, 25.1)})
    shut = {"pickup_type": "NONE", "drop_off_type": "NONE"}
    town.publish(*(update(trip, stop_time_with("BETA", **shut)) for trip in ("A-1", "B-1")))
    body = town.plan(limit=1)

    assert (trips(body), warnings(body)) == (["A 08:10 B 08:21"], {})


@pytest.mark.parametrize("lat", [60.17, 60.1701])
def test_a_change_takes_as_long_as_the_pathways_between_platforms(towns, lat):
    """The second platform is above the first one, or eleven metres from it; the walk takes five minutes."""
    tables = {
        "stops.txt": "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\nALPHA,Alpha,60.1,24.9,,\n"
        f"GAMMA,Gamma,60.3,24.9,,\nS,Station,60.17,24.9,1,\nP1,P1,60.17,24.9,,S\nP2,P2,{lat},24.9,,S\n",
        "pathways.txt": "pathway_id,from_stop_id,to_stop_id,pathway_mode,is_bidirectional,traversal_time\n"
        "W,P1,P2,1,1,300\n",
    }
    town = towns("line A | Alpha 08:10 | P1 08:20\nline B | P2 08:30 | Gamma 08:40", tables=tables)
    legs = town.plan()["itineraries"][0]["legs"]

    assert [(leg["mode"], leg["duration"]) for leg in legs] == [("BUS", 600), ("WALK", 300), ("BUS", 600)]
