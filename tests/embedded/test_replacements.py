"""A replaced trip: names that the replacement does not change come from the timetable."""

import pytest

from tests.embedded.conftest import rows, trips
from tests.realtime.messages import NOW, call, message, update

DRAWING = """
line A | Alpha 08:10 | Beta 08:20 | Gamma 08:30
line A | Alpha 09:10 | Beta 09:20 | Gamma 09:30
"""
COORDINATES = {"Beta": (60.25, 24.94), "Gamma": (60.17, 25.1), "Delta": (60.25, 25.1)}
BY_DELTA = (call("ALPHA", "08:14", "08:14"), call("DELTA", "08:24", "08:24"), call("GAMMA", "08:37", "08:37"))
TWICE_AT_ALPHA = (
    call("ALPHA", "08:10", "08:10"), call("ALPHA", "08:16", "08:16"), call("GAMMA", "08:30", "08:30"),
)  # fmt: skip


@pytest.fixture
def replaced(towns):
    def draw(*calls, also=()):
        replacement = update("A-1", *calls, relationship="REPLACEMENT")
        drawing = DRAWING + "line Z | Delta 20:00 | Gamma 20:30"
        return towns(drawing, coordinates=COORDINATES, said=[replacement, *also])

    return draw


LATER = ("A", "09:10", "scheduled_only", None)
PASSES_ALPHA = call("ALPHA", "08:10", "08:10", relationship="SKIPPED")


@pytest.mark.parametrize(
    ("calls", "stop", "expected"),
    [
        pytest.param(BY_DELTA, "ALPHA", [("A", "08:10", "delayed", 240), LATER], id="late, and nothing is cancelled"),
        pytest.param(
            BY_DELTA, "BETA", [("A", "08:20", "cancelled", None), ("A", "09:20", "scheduled_only", None)],
            id="cancelled where the replacement does not call",
        ),
        pytest.param(BY_DELTA, "DELTA", [("A", "08:24", "on_time", 0)], id="a new call as it is expected"),
        pytest.param(
            (call("ALPHA", "08:10", "08:10"), call("BETA", "08:20", "08:20")), "BETA",
            [("A", "08:20", "cancelled", None), ("A", "09:20", "scheduled_only", None)],
            id="cancelled where it turns round",
        ),
        pytest.param(
            (PASSES_ALPHA, *TWICE_AT_ALPHA[1:]), "ALPHA", [("A", "08:10", "delayed", 360), LATER],
            id="a skipped call is none that is kept",
        ),
        pytest.param(
            (PASSES_ALPHA, *BY_DELTA[1:]), "ALPHA", [("A", "08:10", "cancelled", None), LATER],
            id="cancelled where it lets nobody in",
        ),
    ],
)  # fmt: skip
def test_a_board_shows_each_call_of_a_replaced_trip_once(replaced, calls, stop, expected):
    assert rows(replaced(*calls).board(f"TEST:{stop}", windowMinutes=120)) == expected


def test_riders_of_a_replaced_ride_use_its_replacement(replaced):
    """B5: seven minutes late to Gamma is a delay to be told, no cancellation."""
    body = replaced(*BY_DELTA).plan(limit=3)
    assert trips(body) == ["A 08:14", "A 09:10"]
    assert body["itineraries"][0]["DisruptionNote"] == "Line A from Alpha arrives at Gamma 7 min late."


def test_a_promised_start_at_a_stop_that_is_called_at_twice_still_leaves(replaced):
    """The rider may board at 08:10 as planned; who comes later boards at 08:16."""
    town = replaced(*TWICE_AT_ALPHA)
    assert not any("cancelled" in each.get("DisruptionNote", "") for each in town.plan(limit=3)["itineraries"])
    assert rows(town.board(windowMinutes=30)) == [("A", "08:10", "on_time", 0), ("A", "08:16", "on_time", 0)]


def test_every_call_of_a_loop_is_reported_by_its_own_schedule(towns):
    town = towns("line O | Alpha 08:10 | Beta 08:20 | Gamma 08:30 | Alpha 08:50 | Beta 09:00", coordinates=COORDINATES)
    calls = (call("GAMMA", "08:30", "08:30"), call("ALPHA", "08:50", "08:50"), call("BETA", "09:00", "09:00"))
    town.say(message(update("O-1", *calls, relationship="REPLACEMENT"), timestamp=NOW))
    assert rows(town.board(windowMinutes=120)) == [("O", "08:10", "cancelled", None), ("O", "08:50", "on_time", 0)]
    assert rows(town.board("TEST:GAMMA", windowMinutes=120)) == [("O", "08:30", "on_time", 0)]


def test_replacements_have_no_in_seat_transfers(towns):
    """Another vehicle comes: the minute at Beta does not suffice to change."""
    stay = "line A | Alpha 08:10 | Beta 08:20\nline B | Beta 08:21 | Gamma 08:30\nstay | A-1 | B-1"
    town = towns(stay, coordinates=COORDINATES)
    calls = (call("ALPHA", "08:10", "08:10"), call("BETA", "08:20", "08:20"))
    town.say(message(update("A-1", *calls, relationship="REPLACEMENT"), timestamp=NOW))
    [today] = [each for each in town.plan(limit=3)["itineraries"] if "2026-03-10" in each["legs"][0]["departureTime"]]
    assert today["DisruptionNote"] == "The change from line A to line B at Beta allows 60 s, but takes 120 s."
