"""The answers of plan_trip about times in the past, or just before now (rule B12)."""

import pytest

from tests.contracts.conftest import codes, refusal
from tests.contracts.test_plan_trip_answer import ENDS, bus, found, lines
from tests.fakes import FakeNetwork
from tests.rules.drawing import T0, trip


@pytest.mark.parametrize(
    ("time", "requested", "expected"),
    [
        ("2022-02-22T07:57:59+02:00", "07:57:59", ["in-the-past"]),
        ("2022-02-22T07:58:00+02:00", "08:00:00", []),
        ("2022-02-22T08:00:01+02:00", "08:00:01", []),
    ],
)
def test_a_past_time_is_used_as_is_and_reported(over, time, requested, expected):
    """B12: 120 s ago is now, a second more is a question about the past."""
    answer = over(FakeNetwork(journeys=[found(trip(bus()))]))("plan_trip", {**ENDS, "when": {"time": time}})

    assert (answer.body["requested"]["time"][11:19], codes(answer)) == (requested, expected)


def arrive(time):
    return {**ENDS, "when": {"type": "arrive", "time": f"2022-02-22T{time}+02:00"}}


@pytest.mark.parametrize(
    ("by", "departs", "shown", "told"),
    [("09:00:00", {"7": -1, "8": 0}, ["8"], []), ("07:30:00", {"7": -60}, ["7"], ["in-the-past"])],
)
def test_a_departed_trip_is_offered_only_for_a_past_arrival_time(over, by, departs, shown, told):
    """B12: of trips that leave a minute ago and now, the second alone can still be taken."""
    network = FakeNetwork(journeys=[found(*(trip(bus(line, minute)) for line, minute in departs.items()))])
    answer = over(network)("plan_trip", arrive(by))

    assert (lines(answer), codes(answer)) == (shown, told)


def test_a_wanted_arrival_that_has_become_impossible_names_the_earliest_possible(over):
    network = FakeNetwork(journeys=[found(), found(), found(trip(bus("8", 30)), trip(bus("7", 20)))])
    answer = over(network)("plan_trip", arrive("08:10:00"))

    assert refusal(answer) == (
        "no-itinerary-found",
        "No itineraries for given constraints",
        "The earliest possible arrival is 2022-02-22T08:30:00+02:00, leaving at 2022-02-22T08:20:00+02:00",
    )
    assert [(each.arrive_by, each.instant) for each in network.journeys_asked[1:]] == [(True, T0 + 600), (False, T0)]
