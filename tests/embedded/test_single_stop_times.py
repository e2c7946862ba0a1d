"""What is told of one stop time alone, in the boards and trips that touch it."""

import pytest

from tests.embedded.conftest import rows, warnings
from tests.realtime.messages import NOW, call, message, update


def test_where_nothing_is_known_any_more_the_timetable_stands(town):
    """R is two minutes late at Alpha, and of Beta it is said that nothing is known: no delay is carried there."""
    town.say(message(update("R-1", call("ALPHA", 120, 120), call("BETA", relationship="NO_DATA"))))

    assert rows(town.board())[0] == ("R", "08:10", "delayed", 120)
    assert rows(town.board("TEST:BETA"))[0] == ("R", "08:20", "scheduled_only", None)


def test_a_board_tells_the_delay_of_the_departure(town):
    """R comes to Beta two minutes late and waits there: who boards waits five."""
    town.say(message(update("R-1", call("BETA", 120, 300))))

    assert rows(town.board("TEST:BETA"))[0] == ("R", "08:20", "delayed", 300)


def first_ride(body):
    leg = next(leg for leg in body["itineraries"][0]["legs"] if leg["mode"] != "WALK")
    return leg["line"], leg["status"], leg.get("delaySeconds"), leg["arrivalTime"][11:19], leg.get("disruptionNote")


@pytest.mark.parametrize(
    ("late_s", "expected"),
    [
        (0, ("R", "scheduled_only", None, "08:30:00", None)),
        (300, ("R", "scheduled_only", None, "08:35:00", None)),
        (301, ("R", "scheduled_only", None, "08:35:01", "Line R from Alpha arrives at Gamma 5 min late.")),
    ],
)
def test_a_ride_of_which_only_the_arrival_is_told(town, late_s, expected):
    """B2: of its departure nothing is known, as its board says; more than five minutes at its end are a disruption."""
    town.say(message(update("R-1", call("GAMMA", late_s))))
    body = town.plan(limit=1)

    assert first_ride(body) == expected
    assert body["itineraries"][0]["legs"][0]["lastRealtimeUpdate"] == "2026-03-10T08:00:00+02:00"


def test_a_ride_of_which_only_the_departure_is_told(town):
    """Of Gamma nothing is known; that R leaves Alpha on time is real time all the same."""
    town.say(message(update("R-1", call("ALPHA", 0, 0), call("BETA", relationship="NO_DATA"))))

    assert first_ride(town.plan(limit=1)) == ("R", "on_time", 0, "08:30:00", None)


def test_a_ride_between_stop_times_that_are_told_is_the_timetables(town):
    """Before Beta and after Gamma something is known; of Beta and Gamma nothing is."""
    silent = [call(stop, relationship="NO_DATA") for stop in ("BETA", "GAMMA")]
    town.say(message(update("R-1", call("ALPHA", 0, 0), *silent)))

    assert first_ride(town.plan("TEST:BETA"))[:3] == ("R", "scheduled_only", None)


@pytest.mark.parametrize(
    ("limit", "expected"), [(1, "2 departures are in the window, of which the first 1 is shown."), (2, None)]
)
def test_cancelled_departures_count_among_those_in_the_window(towns, limit, expected):
    """One runs and one does not: a rider who sees one of them is told of two."""
    town = towns("line A | Alpha 08:10 | Beta 08:20\nline B | Alpha 08:15 | Beta 08:25")
    town.say(message(update("A-1", relationship="CANCELED")))

    assert warnings(town.board(limit=limit)).get("truncated-results") == expected


def test_a_board_without_real_time_of_its_rows_has_no_status_of_its_own(town):
    """What is told of another trip changes nothing of this one."""
    town.say(message(update("B-1", call("ALPHA", 60, 60)), timestamp=NOW))

    assert ("R", "08:10", "scheduled_only", None) in rows(town.board())
