"""The plan_trip contract: the arguments that plan_trip accepts, and its messages about invalid ones."""

import pytest

from fingerpost.transit.model.itinerary import Optimize
from tests.contracts.conftest import at, codes, label, refusal
from tests.fakes import FakeNetwork, Journeys
from tests.rules.drawing import ride, trip

ORIGIN, DESTINATION = at(60.1699, 24.9384), at(60.2055, 24.6559)
ENDS = {"origin": ORIGIN, "destination": DESTINATION}
FOUND = Journeys(itineraries=(trip(ride("7", "A", "B", 5, 15)),))
CONSTRAINTS = ("accessibility", "language", "maxTransfers", "maxWalkingDistance", "optimize")


def _constraints(**given):
    return {**ENDS, "constraints": given}


REFUSED = [
    ({"origin": ORIGIN}, "destination is missing"),
    ({"destination": DESTINATION}, "origin is missing"),
    ({"origin": ORIGIN, "destination": ORIGIN}, "origin and destination must differ"),
    ({**ENDS, "origin": at(91, 24.9)}, "origin.value.lat must be at most 90; you sent 91"),
    ({**ENDS, "origin": at(-91, 24.9)}, "origin.value.lat must be at least -90; you sent -91"),
    ({**ENDS, "destination": at(60, 181)}, "destination.value.lon must be at most 180; you sent 181"),
    ({**ENDS, "origin": at(60, -181)}, "origin.value.lon must be at least -180; you sent -181"),
    ({**ENDS, "limit": 4}, "limit must be at most 3; you sent 4"),
    ({**ENDS, "limit": 0}, "limit must be at least 1; you sent 0"),
    ({**ENDS, "limit": "3"}, 'limit must be a whole number, not the text "3"'),
    ({**ENDS, "limit": True}, "limit must be a whole number, not true"),
    ({**ENDS, "limit": 2.5}, "limit must be a whole number, not the number 2.5"),
    (_constraints(maxWalkingDistance=0), "constraints.maxWalkingDistance must be at least 1; you sent 0"),
    (_constraints(maxWalkingDistance=3001), "constraints.maxWalkingDistance must be at most 3000; you sent 3001"),
    (_constraints(maxTransfers=9), "constraints.maxTransfers must be at most 8; you sent 9"),
    (_constraints(maxTransfers=-1), "constraints.maxTransfers must be at least 0; you sent -1"),
    (_constraints(language="de"), "constraints.language must be 'fi', 'sv' or 'en'; you sent \"de\""),
    (_constraints(optimize="fast"),
     "constraints.optimize must be 'balanced', 'few_transfers' or 'shortest_time'; you sent \"fast\""),
    (_constraints(accessibility={"stepFree": "yes"}),
     'constraints.accessibility.stepFree must be true or false, not the text "yes"'),
    ({**ENDS, "when": {"type": "arrive"}}, "when: arrive requires a time; now is valid only with depart"),
    ({**ENDS, "when": {"type": "arrive", "time": " now"}},
     "when: arrive requires a time; now is valid only with depart"),
    ({**ENDS, "when": {"type": "sometime"}}, "when.type must be 'depart' or 'arrive'; you sent \"sometime\""),
    ({**ENDS, "fromage": 1},
     "unknown field 'fromage'; allowed: constraints, destination, includeDisruptionAlt, limit, origin, when"),
    (_constraints(speed=1), f"unknown field 'constraints.speed'; allowed: {', '.join(CONSTRAINTS)}"),
    ({**ENDS, "origin": {"type": "place", "value": "x"}},
     "origin.type must be one of 'coords', 'label', 'id'; you sent \"place\""),
    ({**ENDS, "origin": label("")}, "origin.value must not be empty"),
    ([], "the arguments must be a JSON object, not a list"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_bad_input_is_refused_with_a_sentence_that_helps(demo, arguments, sentence):
    assert refusal(demo("plan_trip", arguments)) == ("validation-error", sentence, None)


def test_an_invalid_time_is_answered_with_an_example(demo):
    answer = demo("plan_trip", {**ENDS, "when": {"time": "tomorrow"}})

    expected = (
        "validation-error",
        "'tomorrow' is not a valid time",
        "Write it like 2026-01-31T08:00:00+02:00, or now.",
    )
    assert refusal(answer) == expected


@pytest.mark.parametrize(("north", "is_refused"), [(60.169908, True), (60.169910, False)])
def test_one_metre_apart_is_the_same_point(over, north, is_refused):
    answer = over(FakeNetwork(journeys=[FOUND]))(
        "plan_trip", {"origin": at(60.1699, 24.9384), "destination": at(north, 24.9384)}
    )

    assert answer.is_error is is_refused


@pytest.mark.parametrize(
    "arguments",
    [
        {**ENDS, "limit": 1},
        {**ENDS, "limit": 3},
        {**ENDS, "limit": 2.0},
        {**ENDS, "limit": None},
        _constraints(maxWalkingDistance=1),
        _constraints(maxWalkingDistance=3000),
        _constraints(maxTransfers=0),
        _constraints(maxTransfers=8),
        {"origin": at(-90, -180), "destination": at(90, 180)},
    ],
)
def test_the_bounds_themselves_are_accepted(over, arguments):
    assert not over(FakeNetwork(journeys=[FOUND]))("plan_trip", arguments).is_error


def test_defaults_are_filled_in_and_echoed(over):
    body = over(FakeNetwork(journeys=[FOUND]))("plan_trip", ENDS).body

    assert body["requested"] == {"type": "depart", "time": "2022-02-22T08:00:00+02:00"}
    assert body["constraints"] == {
        "optimize": "balanced",
        "maxWalkingDistance": 1500,
        "maxTransfers": 4,
        "accessibility": {"stepFree": False, "lowWalkingDistance": False},
        "language": "en",
    }


def test_no_search_sees_the_limit(over):
    network = FakeNetwork(journeys=[FOUND])
    for limit in (1, 2, 3):
        over(network)("plan_trip", {**ENDS, "limit": limit})

    assert len(set(network.journeys_asked)) == 1


def test_the_query_reaches_the_source(over):
    network = FakeNetwork(journeys=[FOUND])
    constraints = {"optimize": "few_transfers", "maxWalkingDistance": 800, "maxTransfers": 1}
    when = {"type": "arrive", "time": "2022-02-22T09:00:00+02:00"}
    over(network)("plan_trip", {**ENDS, "when": when, "constraints": constraints, "limit": 3})
    asked = network.journeys_asked[0]

    assert (asked.instant, asked.arrive_by) == (1_645_513_200, True)
    assert (asked.max_walk_m, asked.max_transfers, asked.optimize, asked.wanted) == (800, 1, Optimize.FEW_TRANSFERS, 3)


def test_a_time_without_an_offset_is_local_and_reported(over):
    answer = over(FakeNetwork(journeys=[FOUND]))("plan_trip", {**ENDS, "when": {"time": "2022-02-22T12:00:00"}})

    assert answer.body["requested"]["time"] == "2022-02-22T12:00:00+02:00"
    assert codes(answer) == ["timezone-assumed"]
