"""A board shows each departure that riders can board once, and marks the others as cancelled."""

import random

import pytest

from tests.embedded.conftest import rows, trips
from tests.realtime.messages import NOW, alert, call, message, stop_time_with, update

DRAWING = """
line A | Alpha 08:10 | Beta 08:20 | Gamma 08:30
line A | Alpha 09:10 | Beta 09:20 | Gamma 09:30
line Z | Far 20:00 | Gamma 20:30
"""
COORDINATES = {"Beta": (60.25, 24.94), "Gamma": (60.17, 25.1), "Far": (60.2, 24.94)}
STATIONS = """stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,platform_code
ALPHA,Alpha,60.17,24.94,0,STATION,1
ALPHA2,Alpha,60.1701,24.94,0,STATION,2
STATION,Alpha,60.17,24.94,1,,
BETA,Beta,60.25,24.94,0,,
GAMMA,Gamma,60.17,25.1,0,,
FAR,Far,60.2,24.94,0,,
"""
SKIPPED_END = call("GAMMA", "08:32", "08:32", relationship="SKIPPED")
CLOSED_END = stop_time_with("GAMMA", "08:32", drop_off_type="NONE")
BEFORE = (call("ALPHA", "08:12", "08:12"), call("BETA", "08:22", "08:22"))
BETA_CANCELLED = [("A", "08:20", "cancelled", None), ("A", "09:20", "scheduled_only", None)]
FROM_TWO = (call("ALPHA", "08:12", "08:12", platform="ALPHA2"), BEFORE[1], call("GAMMA", "08:32", "08:32"))


@pytest.mark.parametrize(
    "entity",
    [
        update("A-1", call("GAMMA", relationship="SKIPPED")),
        update("A-1", *BEFORE, SKIPPED_END, relationship="REPLACEMENT"),
        update("A-1", *BEFORE, CLOSED_END, relationship="REPLACEMENT"),
        alert("closed", "Closed", effect="NO_SERVICE", period=("08:00", "09:00"), stop_id="GAMMA"),
    ],
    ids=["skipped", "replacement", "no drop-off", "closed"],
)
def test_a_ride_without_alighting_after_a_stop_is_cancelled_there(towns, entity):
    town = towns(DRAWING, coordinates=COORDINATES, entities=[entity])
    board = town.board("TEST:BETA", windowMinutes=120)
    assert rows(board) == BETA_CANCELLED


def test_a_ride_without_later_alighting_is_not_a_departure(towns):
    town = towns("line A | Alpha 08:10 | Beta 08:20 | Gamma 08:30 noalight", coordinates=COORDINATES)
    assert (rows(town.board()), rows(town.board("TEST:BETA"))) == ([("A", "08:10", "scheduled_only", None)], [])


@pytest.mark.parametrize(
    ("entity", "listed"),
    [
        (update("A-1", call(sequence=1, depart=60)), ["08:10"]),
        (update("A-1", call(sequence=1, depart=61)), []),
        (update("B-1", relationship="CANCELED"), []),
    ],
    ids=["in time", "too late for the transfer", "transfer cancelled"],
)
def test_a_board_and_a_timetable_agree_on_in_seat_transfers(towns, entity, listed):
    """Decision 0314: after Alpha, riders can alight only from line B; both omit a ride without that transfer."""
    stay = "line A | Alpha 08:10 | Beta 08:20 noalight\nline B | Beta 08:21 | Gamma 08:30\nstay | A-1 | B-1"
    town = towns(stay, coordinates=COORDINATES, entities=[entity])
    timetable = town.ask("getStopTimetable", stopId="TEST:ALPHA")
    assert [row[1] for row in rows(town.board())] == listed
    assert len(timetable["departures"]) == len(listed)
    assert "cancelledLeftOut" not in timetable["metadata"]


def test_a_ride_moved_to_a_distant_stop_is_cancelled_at_its_scheduled_stop(towns):
    town = towns(DRAWING, coordinates=COORDINATES, entities=[update("A-1", call(sequence=1, depart=0, platform="FAR"))])
    assert rows(town.board()) == [("A", "08:10", "cancelled", None)]
    assert rows(town.board("TEST:FAR")) == [("A", "08:10", "on_time", 0)]


@pytest.mark.parametrize(
    "entity",
    [update("A-1", call("ALPHA", depart=120, platform="ALPHA2")), update("A-1", *FROM_TWO, relationship="REPLACEMENT")],
    ids=["moved", "replaced"],
)
@pytest.mark.parametrize("stop", ["TEST:STATION", "TEST:ALPHA", "TEST:ALPHA2"])
def test_another_platform_is_reported_on_the_boards_of_both_and_of_the_station(towns, entity, stop):
    town = towns(DRAWING, coordinates=COORDINATES, tables={"stops.txt": STATIONS}, entities=[entity])
    [row] = town.board(stop, windowMinutes=60)["departures"]
    assert (row["status"], row["delaySeconds"], row["platform"]) == ("delayed", 120, "2")


def test_riders_of_a_replaced_ride_go_to_its_other_platform(towns):
    town = towns(DRAWING, coordinates=COORDINATES, tables={"stops.txt": STATIONS})
    town.publish(update("A-1", *FROM_TWO, relationship="REPLACEMENT"))
    body = town.plan("TEST:STATION", limit=3)
    assert trips(body) == ["A 08:12", "A 09:10"]
    assert not any("DisruptionNote" in each for each in body["itineraries"])


def test_a_stop_closed_to_a_ride_is_closed_to_its_replacement_and_shown_once(towns):
    town = towns(DRAWING, coordinates=COORDINATES)
    closed = alert("closed", "Closed", effect="NO_SERVICE", period=("08:00", "09:00"), stop_id="ALPHA")
    ride = closed.alert.informed_entity[0].trip
    ride.trip_id, ride.start_date = "A-1", "20260310"
    replacement = update("A-1", *BEFORE, call("GAMMA", "08:32", "08:32"), relationship="REPLACEMENT")
    town.publish(replacement, closed)
    assert rows(town.board(windowMinutes=60)) == [("A", "08:10", "cancelled", None)]


def test_a_deleted_ride_is_never_shown(towns):
    """GTFS Realtime: unlike cancelled trips, deleted trips are not shown to riders."""
    town = towns(DRAWING, coordinates=COORDINATES, entities=[update("A-1", relationship="DELETED")])
    assert rows(town.board(windowMinutes=60)) == []
    assert trips(town.plan(limit=3)) == ["A 09:10"]


@pytest.mark.parametrize(
    "entity",
    [update("A-1", FROM_TWO[0]), update("A-1", *FROM_TWO, relationship="REPLACEMENT")],
    ids=["moved", "replaced"],
)
def test_a_row_from_the_other_platform_states_when_to_leave(towns, entity):
    """Platform 2 is 15 m further away than platform 1, which the board is for."""
    town = towns(DRAWING, coordinates=COORDINATES, tables={"stops.txt": STATIONS}, entities=[entity])
    body = town.board(windowMinutes=90, walkFrom="60.165,24.94")
    assert [(each["departure"], each["walkMeters"]) for each in body["meta"]["leaveBy"]] == [(0, 738), (1, 723)]


REPLACED = {"Beta": (60.25, 24.94), "Gamma": (60.17, 25.1), "Delta": (60.25, 25.1)}
BY_DELTA = (call("ALPHA", "08:14", "08:14"), call("DELTA", "08:24", "08:24"), call("GAMMA", "08:37", "08:37"))
TWICE_AT_ALPHA = (
    call("ALPHA", "08:10", "08:10"), call("ALPHA", "08:16", "08:16"), call("GAMMA", "08:30", "08:30"),
)  # fmt: skip


@pytest.fixture
def replaced(towns):
    def draw(*calls):
        replacement = update("A-1", *calls, relationship="REPLACEMENT")
        return towns(DRAWING.replace("Far", "Delta"), coordinates=REPLACED, entities=[replacement])

    return draw


ENDS_AT_BETA = (call("ALPHA", "08:10", "08:10"), call("BETA", "08:20", "08:20"))
LATER = ("A", "09:10", "scheduled_only", None)
PASSES_ALPHA = call("ALPHA", "08:10", "08:10", relationship="SKIPPED")


@pytest.mark.parametrize(
    ("calls", "stop", "expected"),
    [
        pytest.param(BY_DELTA, "ALPHA", [("A", "08:10", "delayed", 240), LATER], id="late, not cancelled"),
        pytest.param(BY_DELTA, "BETA", BETA_CANCELLED, id="cancelled at a stop that the replacement omits"),
        pytest.param(BY_DELTA, "DELTA", [("A", "08:24", "on_time", 0)], id="new stop at its expected time"),
        pytest.param(ENDS_AT_BETA, "BETA", BETA_CANCELLED, id="cancelled where the replacement ends"),
        pytest.param(
            (PASSES_ALPHA, *TWICE_AT_ALPHA[1:]), "ALPHA", [("A", "08:10", "delayed", 360), LATER],
            id="skipped stop does not match",
        ),
        pytest.param(
            (PASSES_ALPHA, *BY_DELTA[1:]), "ALPHA", [("A", "08:10", "cancelled", None), LATER],
            id="cancelled where riders cannot board",
        ),
    ],
)  # fmt: skip
def test_a_board_shows_each_call_of_a_replaced_trip_once(replaced, calls, stop, expected):
    assert rows(replaced(*calls).board(f"TEST:{stop}", windowMinutes=120)) == expected


def test_riders_of_a_replaced_ride_use_its_replacement(replaced):
    """B5: an arrival at Gamma seven minutes late is reported as a delay, not as a cancellation."""
    body = replaced(*BY_DELTA).plan(limit=3)
    assert trips(body) == ["A 08:14", "A 09:10"]
    assert body["itineraries"][0]["DisruptionNote"] == "Line A from Alpha arrives at Gamma 7 min late."


def test_a_replacement_that_serves_a_stop_twice_departs_as_scheduled_and_again(replaced):
    """Riders can board at 08:10 as scheduled, or at 08:16."""
    town = replaced(*TWICE_AT_ALPHA)
    assert not any("cancelled" in each.get("DisruptionNote", "") for each in town.plan(limit=3)["itineraries"])
    assert rows(town.board(windowMinutes=30)) == [("A", "08:10", "on_time", 0), ("A", "08:16", "on_time", 0)]


def test_each_stop_time_of_a_loop_has_its_own_schedule(towns):
    town = towns("line O | Alpha 08:10 | Beta 08:20 | Gamma 08:30 | Alpha 08:50 | Beta 09:00", coordinates=REPLACED)
    calls = (call("GAMMA", "08:30", "08:30"), call("ALPHA", "08:50", "08:50"), call("BETA", "09:00", "09:00"))
    town.publish(update("O-1", *calls, relationship="REPLACEMENT"))
    assert rows(town.board(windowMinutes=120)) == [("O", "08:10", "cancelled", None), ("O", "08:50", "on_time", 0)]
    assert rows(town.board("TEST:GAMMA", windowMinutes=120)) == [("O", "08:30", "on_time", 0)]


def test_replacements_have_no_in_seat_transfers(towns):
    """The replacement is another vehicle, and one minute at Beta is too short for a transfer."""
    stay = "line A | Alpha 08:10 | Beta 08:20\nline B | Beta 08:21 | Gamma 08:30\nstay | A-1 | B-1"
    town = towns(stay, coordinates=REPLACED)
    town.publish(update("A-1", *ENDS_AT_BETA, relationship="REPLACEMENT"))
    [today] = [each for each in town.plan(limit=3)["itineraries"] if "2026-03-10" in each["legs"][0]["departureTime"]]
    assert today["DisruptionNote"] == "The change from line A to line B at Beta allows 60 s, but takes 120 s."


LINES = "QWERTYUIOPASDF"


def draw_lines(dice):
    return "\n".join(f"line {line} | Alpha 08:1{dice.randrange(4)} | Beta 08:30" for line in LINES)


def draw_updates(dice):
    for line in dice.sample(LINES, 8):
        if dice.random() < 0.3:
            yield update(f"{line}-1", relationship="CANCELED")
        else:
            yield update(f"{line}-1", call(sequence=1, depart=dice.choice((0, 60, 120))))


@pytest.mark.parametrize("seed", range(4))
def test_every_shorter_board_is_the_beginning_of_the_full_one(towns, seed):
    dice = random.Random(seed)
    town = towns(draw_lines(dice))
    for data in (message(timestamp=NOW), message(*draw_updates(dice), timestamp=NOW)):
        town.publish(data)
        whole = town.board(limit=50)["departures"]

        assert len(whole) == len(LINES)
        for limit in range(1, len(LINES) + 1):
            assert town.board(limit=limit)["departures"] == whole[:limit], limit
