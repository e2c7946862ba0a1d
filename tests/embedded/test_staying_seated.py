"""Staying seated: how answers describe it, how realtime data affects it, and that boards ignore it."""

import pytest

from tests.embedded.conftest import rows, trips
from tests.realtime.messages import call, update

# The rear of A continues as B, and the front as C; riders who must transfer take D.
DRAWING = """
line A | Alpha 08:10 | Beta 08:20
line B | Beta 08:21 | Gamma 08:30
line C | Beta 08:22 | Delta 08:40
line D | Beta 08:30 | Gamma 08:45
stay | A-1 | B-1
stay | A-1 | C-1
"""
# Too far from each other to walk.
COORDINATES = {"Beta": (60.25, 24.94), "Gamma": (60.17, 25.1), "Delta": (60.25, 25.1)}


@pytest.fixture
def town(towns):
    return towns(DRAWING, coordinates=COORDINATES)


def seats(body):
    return [each["legs"] for each in body["meta"].get("staySeated", [])]


def test_the_answer_and_its_text_state_where_to_stay_seated(town):
    body = town.plan(limit=1)
    [itinerary] = body["itineraries"]
    assert (trips(body), itinerary["numberOfTransfers"]) == (["A 08:10 B 08:21"], 0)
    assert body["meta"]["staySeated"] == [{"fingerprint": itinerary["fingerprint"], "legs": [1]}]
    assert "\n   stay seated, BUS B towards Gamma 08:21 Beta to Gamma 08:30" in town.text


def test_riders_who_transfer_get_no_note_on_seats(towns):
    body = towns(DRAWING.split("stay")[0], coordinates=COORDINATES).plan(limit=1)
    assert (trips(body), "staySeated" in body["meta"]) == (["A 08:10 D 08:30"], False)


def test_a_cancelled_in_seat_transfer_ends_the_ride(town):
    """B is cancelled, so riders transfer from A to D."""
    town.publish(update("B-1", relationship="CANCELED"))
    body = town.plan(limit=1)
    assert (trips(body), body["itineraries"][0]["numberOfTransfers"], seats(body)) == (["A 08:10 D 08:30"], 1, [])


@pytest.mark.parametrize(("late_s", "found"), [(60, "A 08:11 B 08:21"), (61, "A 08:11 D 08:30")])
def test_a_vehicle_that_arrives_after_its_departure_is_not_relied_on(town, late_s, found):
    """One minute late is just in time for 08:21; one second more contradicts the departure of B."""
    town.publish(update("A-1", call(sequence=1, depart=late_s)))
    assert trips(town.plan(limit=1)) == [found]


def test_a_broken_in_seat_transfer_is_not_offered(town):
    """B5: A is ten minutes late and misses B, so the trip is shown at its scheduled times, without staying seated."""
    town.publish(update("A-1", call("ALPHA", depart=600)))
    body = town.plan(limit=3)
    # Tomorrow's trip is possible, so it comes first.
    assert trips(body)[-1] == "A 08:10 B 08:21"
    broken = body["itineraries"][-1]
    seated = [each["fingerprint"] for each in body["meta"].get("staySeated", [])]
    assert (broken["numberOfTransfers"], broken["fingerprint"] in seated) == (1, False)
    # B left nine minutes earlier, and a transfer takes two.
    assert "The change from line A to line B at Beta is missed by 11 min." in broken["DisruptionNote"]


def test_both_late_is_one_vehicle_late(town):
    late = [update(trip, call(sequence=1, depart=300)) for trip in ("A-1", "B-1")]
    town.publish(*late)
    body = town.plan(limit=1)
    assert (trips(body), seats(body)) == (["A 08:15 B 08:26"], [[1]])


@pytest.mark.parametrize(("trip", "sequence"), [("A-1", 2), ("B-1", 1)])
def test_a_vehicle_that_turns_before_the_next_trip_carries_no_riders(towns, trip, sequence):
    town = towns(DRAWING + "line E | Alpha 08:12 | Beta 08:25", coordinates=COORDINATES)
    town.publish(update(trip, call(sequence=sequence, relationship="SKIPPED")))
    body = town.plan(limit=1)
    assert (trips(body), seats(body)) == (["E 08:12 D 08:30"], [])


def test_a_board_shows_each_departure_once(town):
    assert [row[:2] for row in rows(town.board("TEST:ALPHA"))] == [("A", "08:10")]
    assert [row[:2] for row in rows(town.board("TEST:BETA"))] == [("B", "08:21"), ("C", "08:22"), ("D", "08:30")]


@pytest.mark.parametrize("late_s", [0, 120])
def test_riders_without_a_stop_stay_seated(towns, late_s):
    town = towns("line A | Alpha 08:10 | Beta 08:20\nline B | Beta 08:20 | Gamma 08:30\nstay | A-1 | B-1")
    if late_s:
        town.publish(*(update(trip, delay=late_s) for trip in ("A-1", "B-1")))
    body = town.plan(limit=1)
    minutes = late_s // 60

    assert (trips(body), seats(body)) == ([f"A 08:{10 + minutes} B 08:{20 + minutes}"], [[1]])
    assert (body["itineraries"][0]["numberOfTransfers"], "DisruptionNote" in body["itineraries"][0]) == (0, False)
