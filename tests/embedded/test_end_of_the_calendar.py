"""The calendar's last day and the night behind it: what was to run is told, and a hint fits why nothing is left."""

from datetime import date

import pytest

from tests.embedded.conftest import trips, warnings
from tests.realtime.messages import at, message, update

MONDAY, TUESDAY, WEDNESDAY = date(2026, 3, 9), date(2026, 3, 10), date(2026, 3, 11)
NIGHT = at("00:05", WEDNESDAY)
COVERED = "The timetable of TEST covers 2026-03-09 to 2026-03-10 only"


@pytest.fixture
def ending(towns):
    """Trains at 20:20 and, in the night, at 00:20, for the last time on Tuesday."""
    return towns("rail N | Alpha 20:20 | Gamma 20:40\nrail N | Alpha 24:20 | Gamma 24:40", days=[MONDAY, TUESDAY])


def route(town, **when):
    """Return the metadata of planRoute from Alpha to Gamma."""
    ends = {"origin": {"rawText": "TEST:ALPHA"}, "destination": {"rawText": "TEST:GAMMA"}}
    return town.ask("planRoute", **ends, **when)["metadata"]


@pytest.fixture
def cancelled(ending, clock):
    """It is 00:05, and the last train of all, at 00:20, is cancelled."""
    clock(NIGHT)
    ending.say(message(update("N-2", relationship="CANCELED"), timestamp=NIGHT))
    return ending


def test_a_cancelled_train_of_the_last_night_is_shown_and_marked(cancelled):
    """The board shows it too, and the calendar covers it: it is Tuesday's."""
    body = cancelled.plan()
    assert (trips(body), body["itineraries"][0]["legs"][0]["status"]) == (["N 00:20"], "cancelled")
    assert set(warnings(body)) == {"no-usable-itinerary"}


def test_a_cancelled_train_of_the_last_night_is_counted(cancelled):
    """PlanRoute offers nothing that is cancelled, and says how much there was."""
    told = route(cancelled, departureTime="now")
    assert (told["noResultsReason"], told["cancelledLeftOut"]) == ("NO_DEPARTURES", 1)


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_behind_the_last_train_the_calendar_has_ended(ending, clock, is_cancelled):
    """At 00:21 it has left, or was to."""
    later = at("00:21", WEDNESDAY)
    clock(later)
    if is_cancelled:
        ending.say(message(update("N-2", relationship="CANCELED"), timestamp=later))
    assert ending.plan()["error"]["message"] == COVERED


@pytest.fixture
def over(towns, clock):
    """Tuesday, 21:00: the last train of all left at 20:20."""
    clock(at("21:00"))
    return towns("rail N | Alpha 20:20 | Gamma 20:40", days=[MONDAY, TUESDAY])


def test_behind_the_last_train_of_the_last_day_nothing_leaves_any_more(over):
    """The day is covered, so plan_trip's hint is not to walk, and planRoute says why in the same sentence."""
    ends = {"origin": {"rawText": "TEST:ALPHA"}, "destination": {"rawText": "TEST:GAMMA"}}
    body = over.ask("planRoute", **ends, departureTime="now")
    why = f"{COVERED}, and nothing leaves around the origin any more"
    assert (over.plan()["error"]["hint"], body["meta"]["whyEmpty"]) == (why, f"{why}.")


@pytest.mark.parametrize("kind", ["depart", "arrive"])
def test_where_something_still_leaves_the_contract_s_hint_stands(over, clock, kind):
    """At 20:00 of the last day, to a place that no train goes to."""
    clock(at("20:00"))
    body = over.plan(destination="60.17,25.13", when={"type": kind, "time": "2026-03-10T20:00:00+02:00"})
    assert body["error"]["hint"] == "Try increasing maxWalkingDistance or adjusting departure time"


def test_where_no_stop_is_near_nothing_is_said_of_what_leaves(over, clock):
    """At noon of the last day, from a place beside the stops: the 20:20 still leaves, but nobody walks to it."""
    clock(at("12:00"))
    body = over.plan(origin="60.171,24.99", when={"type": "depart", "time": "2026-03-10T12:00:00+02:00"})
    assert body["error"]["hint"] == "Try increasing maxWalkingDistance or adjusting departure time"
