"""Realtime data on single stop times, including pickup and drop-off, in boards and trips."""

import pytest

from tests.embedded.conftest import rows, trips, warnings
from tests.realtime.messages import call, message, stop_time_with, update


def test_without_current_realtime_the_schedule_applies(town):
    town.say(message(update("R-1", call("ALPHA", 120, 120), call("BETA", relationship="NO_DATA"))))

    assert rows(town.board())[0] == ("R", "08:10", "delayed", 120)
    assert rows(town.board("TEST:BETA"))[0] == ("R", "08:20", "scheduled_only", None)


def test_a_board_has_the_delay_of_the_departure(town):
    town.say(message(update("R-1", call("BETA", 120, 300))))

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
        # That it leaves Alpha on time is real time, though of Gamma nothing is known.
        ([call("ALPHA", 0, 0), NOTHING_KNOWN[0]], "ALPHA", ("R", "on_time", 0, "08:30:00", None)),
        ([call("ALPHA", 0, 0), *NOTHING_KNOWN], "BETA", ("R", "scheduled_only", None, "08:30:00", None)),
    ],
)  # fmt: skip
def test_a_ride_with_one_end_or_none_is_reported(town, calls, origin, expected):
    """B2: what is known of its departure, as its board says; more than five minutes at its end are a disruption."""
    town.say(message(update("R-1", *calls)))

    assert first_ride(town.plan(f"TEST:{origin}", limit=1)) == expected


@pytest.mark.parametrize(
    ("limit", "expected"), [(1, "2 departures are in the window; the first 1 is shown."), (2, None)]
)
def test_cancelled_departures_count_among_those_in_the_window(towns, limit, expected):
    town = towns("line A | Alpha 08:10 | Beta 08:20\nline B | Alpha 08:15 | Beta 08:25")
    town.say(message(update("A-1", relationship="CANCELED")))

    assert warnings(town.board(limit=limit)).get("truncated-results") == expected


DRAWING = """
line A | Alpha 08:10 | Beta 08:20 | Gamma 08:30
line B | Alpha 08:15 | Gamma 08:40
"""


@pytest.mark.parametrize(
    ("stop", "shut", "status"),
    [("ALPHA", {"pickup_type": "NONE"}, "cancelled"), ("GAMMA", {"drop_off_type": "NONE"}, None)],
)
def test_riders_are_sent_around_a_shut_door_that_is_named(towns, stop, shut, status):
    """Line A would be there first; what stands in for it is compared with it."""
    town = towns(DRAWING, said=[update("A-1", stop_time_with(stop, **shut))])
    board, body = rows(town.board()), town.plan(limit=1)

    assert [row[:2] for row in board] == [("A", "08:10"), ("B", "08:15")]
    assert status in (None, board[0][2])
    assert trips(body) == ["B 08:15"]
    assert "Line A from Alpha" in warnings(body)["disrupted-itinerary-replaced"]


def test_seated_riders_need_no_door(towns):
    linked = "line A | Alpha 08:10 | Beta 08:20\nline B | Beta 08:21 | Gamma 08:30\nstay | A-1 | B-1"
    town = towns(linked, coordinates={"Beta": (60.25, 24.94), "Gamma": (60.17, 25.1)})
    shut = {"pickup_type": "NONE", "drop_off_type": "NONE"}
    town.say(*(update(trip, stop_time_with("BETA", **shut)) for trip in ("A-1", "B-1")))
    body = town.plan(limit=1)

    assert (trips(body), warnings(body)) == (["A 08:10 B 08:21"], {})
