"""check_trip: the rides of a planned trip, and the changes between them, as they are now (rule B15)."""

from datetime import date

import pytest

from fingerpost.transit.model.ride_ref import MAX_REF_CHARS, RideRef, list_refs
from tests.embedded.test_staying_seated import COORDINATES
from tests.embedded.test_staying_seated import DRAWING as SEATS
from tests.realtime.messages import alert, call, update
from tests.rules.drawing import ride, trip, walk


def refs_of(body, first_line):
    trips = [[leg for leg in each["legs"] if "ref" in leg] for each in body["itineraries"]]
    return next([ride["ref"] for ride in rides] for rides in trips if rides[0]["line"] == first_line)


def summary(body):
    rides = [each.get("reason") or each["leg"]["status"] for each in body["rides"]]
    return body["state"], rides, [(each["availableSeconds"], each["neededSeconds"]) for each in body["changes"]]


@pytest.mark.parametrize(
    ("update_of_trip", "expected"),
    [
        ((), ("ok", ["scheduled_only", "scheduled_only"], [(240, 120)])),
        ((update("B-1", call("ALPHA", depart=1)),), ("tight", ["on_time", "scheduled_only"], [(239, 120)])),
        ((update("B-1", call("ALPHA", depart=121)),), ("broken", ["delayed", "scheduled_only"], [(119, 120)])),
        ((update("C-1", call("DELTA", depart=600)),), ("ok", ["scheduled_only", "delayed"], [(840, 120)])),
        ((update("C-1", relationship="CANCELED"),), ("broken", ["scheduled_only", "cancelled"], [])),
        ((alert(effect="NO_SERVICE", stop_id="DELTA"),), ("broken", ["cancelled", "cancelled"], [])),
    ],
)
def test_a_change_is_judged_by_the_expected_times(town, update_of_trip, expected):
    refs = refs_of(town.plan(limit=3), "B")
    if update_of_trip:
        town.publish(*update_of_trip)
    assert summary(town.ask("check_trip", refs=refs)) == expected


def test_a_delayed_trip_is_shown_with_its_times_and_alerts(town):
    refs = refs_of(town.plan(limit=1), "R")
    town.publish(update("R-1", call("ALPHA", depart=90)), alert("Works", stop_id="ALPHA"))
    body = town.ask("check_trip", refs=refs)
    leg = body["rides"][0]["leg"]
    assert (leg["departureTime"][11:19], leg["delaySeconds"], leg["arrivalTime"][11:19]) == ("08:11:30", 90, "08:31:30")
    assert body["meta"]["alerts"][0]["touches"] == ["rides/0/leg"]
    assert "\n1. RAIL R towards Gamma 08:11 Alpha to Gamma 08:31" in town.text
    assert "\n! Alert for 1: RAIL R" in town.text


@pytest.mark.parametrize(("at", "warned"), [("08:29", False), ("08:30", True)])
def test_a_trip_that_has_ended_is_said_to_have(towns, monkeypatch, at, warned):
    town = towns()
    refs = refs_of(town.plan(limit=1), "R")
    monkeypatch.setenv("FINGERPOST_NOW", f"2026-03-10T{at}:00+02:00")
    messages = [each["message"] for each in town.ask("check_trip", refs=refs).get("warnings", ())]

    assert ("The last ride ended at 2026-03-10T08:30:00+02:00." in messages) is warned


SQUARE = {"Alpha": (60.17, 24.94), "Square A": (60.2, 25.0), "Square B": (60.2005, 25.0), "Gamma": (60.25, 25.1)}


def test_the_stop_of_a_ref_precedes_other_stops_of_its_place(towns):
    town = towns("line A | Alpha 08:05 | Square A 08:10 | Square B 08:10 | Gamma 08:30", coordinates=SQUARE)
    town.publish(update("A-1", call("SQUARE-B", relationship="SKIPPED")))
    body = town.ask("check_trip", refs=["TEST:SQUARE-B|:GAMMA|20260310.22200.1200|:A-1"])
    assert (body["state"], body["rides"][0]["leg"]["from"]["id"]) == ("broken", "TEST:SQUARE-B")


def test_a_ride_that_left_before_its_planned_time_breaks_the_trip(towns, monkeypatch):
    refs = refs_of(towns().plan(limit=1), "R")
    again = towns("rail R | Alpha 07:50 | Gamma 08:30")
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-10T08:00:00+02:00")
    body = again.ask("check_trip", refs=refs)
    assert (body["state"], body["warnings"][0]["message"]) == (
        "broken",
        "Ride 1 left early, at 2026-03-10T07:50:00+02:00.",
    )


def test_riders_cannot_stay_seated_after_the_transfer_has_gone(towns):
    refs = refs_of(towns(SEATS, coordinates=COORDINATES).plan(limit=1), "A")
    again = towns(SEATS.split("stay")[0], coordinates=COORDINATES)
    assert summary(again.ask("check_trip", refs=refs)) == ("broken", ["scheduled_only"] * 2, [(60, 120)])


def test_riders_cannot_board_where_they_could_only_stay_seated(towns):
    refs = refs_of(towns(SEATS.replace("Beta 08:21", "Beta 08:21 noboard"), coordinates=COORDINATES).plan(limit=1), "A")
    again = towns(SEATS.split("stay")[0].replace("Beta 08:21", "Beta 08:21 noboard"), coordinates=COORDINATES)
    assert summary(again.ask("check_trip", refs=refs)) == ("broken", ["scheduled_only", "cancelled"], [])


def test_a_ride_for_which_riders_stay_seated_is_not_checked_alone(towns):
    [_, second] = refs_of(towns(SEATS, coordinates=COORDINATES).plan(limit=1), "A")
    error = towns(SEATS, coordinates=COORDINATES).ask("check_trip", refs=[second])["error"]
    assert error["message"] == "refs.0 continues another ride"


@pytest.mark.parametrize(
    ("drawing", "days", "reason"),
    [
        ("rail S | Alpha 08:10 | Gamma 08:30", [date(2026, 3, 10)], "no such trip serves Alpha"),
        ("rail R | Alpha 08:10 | Gamma 08:30", [date(2026, 3, 11)], "the trip does not run on 2026-03-10"),
        ("rail R | Alpha 08:10 | Beta 08:20\nrail S | Beta 08:00 | Gamma 08:30", [date(2026, 3, 10)],
         "the trip no longer runs from Alpha to Gamma"),
        ("rail R | Alpha 09:11 | Gamma 09:30", [date(2026, 3, 10)],
         "the trip is now scheduled at 2026-03-10T09:11:00+02:00"),
        ("rail R | Beta 08:10 | Gamma 08:30", [date(2026, 3, 10)], "no stop has the id TEST:ALPHA"),
    ],
)  # fmt: skip
def test_a_ref_that_a_new_timetable_lacks_gives_the_reason(towns, drawing, days, reason):
    refs = refs_of(towns().plan(limit=1), "R")
    again = towns(drawing, days=days)
    assert again.ask("check_trip", refs=refs)["rides"] == [{"ref": refs[0], "reason": reason}]
    assert f"\n1. no longer valid: {reason}" in again.text


def test_a_ref_outlives_a_new_timetable_with_other_times(towns):
    refs = refs_of(towns().plan(limit=1), "R")
    again = towns("rail R | Alpha 08:12 | Gamma 08:30")
    [checked] = again.ask("check_trip", refs=refs)["rides"]
    assert (checked["leg"]["departureTime"][11:16], checked["plannedDeparture"][11:16]) == ("08:12", "08:10")


def test_a_trip_that_moves_to_another_platform_is_found(towns):
    town = towns("line B | Alpha A 08:15 | Gamma 08:30\nline C | Alpha B 09:15 | Gamma 09:30", coordinates={
        "Alpha A": (60.17, 24.94), "Alpha B": (60.1701, 24.94), "Gamma": (60.17, 25.1),
    })  # fmt: skip
    moved = call(sequence=1, depart=0, platform="ALPHA-B")
    town.publish(update("B-1", moved))
    refs = refs_of(town.plan("TEST:ALPHA-A", limit=1), "B")
    town.publish(update("C-1", call(sequence=1, depart=0)))
    [checked] = town.ask("check_trip", refs=refs)["rides"]
    assert (refs[0].partition("|")[0], checked["leg"]["from"]["id"]) == ("TEST:ALPHA-B", "TEST:ALPHA-A")


def test_a_trip_with_a_ride_that_no_ref_can_name_has_no_refs():
    """Otherwise, the change between its neighbors would be checked as if the ride did not exist."""
    legs = ride("7", "A", "B", 5, 15), ride("8", "B", "platform", 20, 30), ride("9", "C", "D", 40, 50)
    assert list_refs(trip(*legs)) == [None, None, None]


def test_an_added_trip_is_found_while_it_runs(town):
    calls = call("ALPHA", depart="08:01"), call("GAMMA", arrive="08:09")
    town.publish(update("X", *calls, relationship="ADDED", route_id="R"))
    refs = refs_of(town.plan(limit=1), "R")
    assert town.ask("check_trip", refs=refs)["rides"][0]["leg"]["departureTime"][11:16] == "08:01"
    town.publish(update("R-2", relationship="CANCELED"))
    assert town.ask("check_trip", refs=refs)["rides"][0]["reason"] == "no such trip serves Alpha"


@pytest.mark.parametrize(("late_s", "expected"), [(60, ("ok", [(0, 0)])), (61, ("broken", [(-1, 0)]))])
def test_riders_who_stay_seated_need_no_time(towns, late_s, expected):
    town = towns(SEATS, coordinates=COORDINATES)
    refs = refs_of(town.plan(limit=1), "A")
    town.publish(update("A-1", call(sequence=1, depart=late_s)))
    state, _, changes = summary(town.ask("check_trip", refs=refs))
    assert (state, changes) == expected


def test_a_change_that_was_not_planned_is_estimated(town):
    [first], [second, _] = refs_of(town.plan(limit=3), "R"), refs_of(town.plan(limit=3), "B")
    [change] = town.ask("check_trip", refs=[first, second])["changes"]
    assert (change["state"], change["estimated"]) == ("broken", True)
    assert change["neededSeconds"] > 600


@pytest.mark.parametrize(
    ("refs", "message"),
    [
        (["nonsense"], "refs.0 'nonsense' is not a ref"),
        (["X:1|:2|20261341.0.0|:t"], "refs.0 'X:1|:2|20261341.0.0|:t' is not a ref"),
        (["X:1|:2|20260310.0.0|:t"], "refs.0 refers to the feed X, which no network has"),
    ],
)
def test_an_unknown_ref_is_refused(town, refs, message):
    assert town.ask("check_trip", refs=refs)["error"]["message"] == message


@pytest.mark.parametrize(
    ("leg", "expected"),
    [
        (ride("7", "A", "B", 5, 30_000), "T:A|:B|20220222.21900.1799700|trip"),
        (ride("7", "A", "B", 5, 15), "T:A|:B|20220222.21900.600|trip"),
        (ride("7", "A", "B", 5, 15)._replace(trip_id=None), "T:A|:B|20220222.21900.600|~7"),
        (ride("7", "A", "B", 5, 15)._replace(trip_id="T:" + "x" * 80), "T:A|:B|20220222.21900.600|#4004a68314"),
        (ride("7", "A", "platform", 5, 15), None),
        (ride("7" * 80, "A", "B", 5, 15)._replace(trip_id=None), None),
        (walk("A", "B", 5, 15), None),
    ],
)
def test_a_ref_is_short(leg, expected):
    [ref] = list_refs(trip(leg))
    assert ref == expected
    assert ref is None or (len(ref) <= MAX_REF_CHARS and RideRef.read(ref).choose([leg]) is leg)
