"""The plan_trip contract: the answers of plan_trip. Legs are drawn; minutes count from the fixed clock."""

import json
import re
import uuid
from dataclasses import replace

import pytest

from fingerpost.errors import SourceFailed, SourceTimeout
from fingerpost.transit.model.itinerary import Access, Optimize
from fingerpost.transit.model.profile import Ability
from tests.contracts.conftest import at, codes, refusal
from tests.fakes import FakeNetwork, Journeys
from tests.rules.drawing import T0, ride, trip, walk

LEFT_OUT = "Left out because it is disrupted: Line 7 from A is cancelled (08:05)."
ENDS = {"origin": at(60.1699, 24.9384), "destination": at(60.2055, 24.6559)}


def found(*itineraries, **more):
    return Journeys(itineraries=itineraries, **more)


def bus(line="7", departs=5, delay_s=None, **more):
    return ride(line, "A", "B", departs, departs + 10, delay_s, **more)


def lines(answer):
    return [itinerary["legs"][0]["line"] for itinerary in answer.body["itineraries"]]


# ------------------------------------------------------------------------------------------- shape


def test_the_request_example_is_answered(demo):
    wishes = {"constraints": {"optimize": "balanced", "maxWalkingDistance": 1800}, "limit": 2}
    body = demo("plan_trip", {**ENDS, "when": {"type": "depart", "time": "now"}, **wishes}).body

    assert [leg["mode"] for leg in body["itineraries"][0]["legs"]] == ["WALK", "RAIL", "WALK"]
    assert len(body["itineraries"]) == 2
    assert (body["realtimeUsed"], body["dataFreshness"]) == ("scheduled", "2022-02-22T08:00:00+02:00")
    assert uuid.UUID(body["correlationId"]).version == 5


def test_an_answer_has_the_contracts_fields_and_ours_in_meta(over):
    """P23-P32, P77, P78, A10: there are no fields from a source, and none about emissions."""
    body = over(FakeNetwork(journeys=[found(trip(walk("home", "A", 0, 5, 300), bus()))]))("plan_trip", ENDS).body

    assert sorted(body) == [
        "constraints", "correlationId", "dataFreshness", "destination", "itineraries",
        "meta", "origin", "realtimeUsed", "requested",
    ]  # fmt: skip
    assert body["meta"] == {
        "network": "FAKE", "source": "fake", "retrievedAt": "2022-02-22T08:00:00+02:00",
        "timeZone": "Europe/Helsinki", "language": "en", "walking": "unknown",
    }  # fmt: skip


def test_an_itinerary_has_the_fields_of_rule_b1(over):
    journey = trip(walk("home", "A", 0, 5, 300), bus(delay_s=61, arrival_delay_s=120, last_realtime_update=T0))
    itinerary = over(FakeNetwork(journeys=[found(journey)]))("plan_trip", ENDS).body["itineraries"][0]
    fingerprint = itinerary.pop("fingerprint")
    place = {"lat": 60.17, "lon": 24.94}

    assert re.fullmatch(r"sha1:[0-9a-f]{40}", fingerprint)
    assert itinerary == {
        "legs": [
            {
                "mode": "WALK",
                "from": {"name": "home", "coordinate": place},
                "to": {"name": "A", "coordinate": place, "id": "T:A"},
                "departureTime": "2022-02-22T08:00:00+02:00",
                "arrivalTime": "2022-02-22T08:05:00+02:00",
                "duration": 300,
                "distance": 300,
            },
            {
                "mode": "BUS",
                "from": {"name": "A", "coordinate": place, "id": "T:A"},
                "to": {"name": "B", "coordinate": place, "id": "T:B"},
                "departureTime": "2022-02-22T08:06:01+02:00",
                "arrivalTime": "2022-02-22T08:17:00+02:00",
                "duration": 659,
                "line": "7",
                "tripId": "trip",
                "status": "delayed",
                "delaySeconds": 61,
                "lastRealtimeUpdate": "2022-02-22T08:00:00+02:00",
                "ref": "T:A|:B|20220222.21900.600|trip",
            },
        ],
        "totalDuration": 1020,
        "numberOfTransfers": 0,
        "walkingDistance": 300,
        "scheduleType": "realtime",
    }


# ---------------------------------------------------------------------------------------- realtime


def test_a_cancelled_ride_is_marked_and_has_no_delay(over):
    network = FakeNetwork(journeys=[found(timetabled=(trip(bus(delay_s=400, cancelled=True)),)), found()])
    leg = over(network)("plan_trip", ENDS).body["itineraries"][0]["legs"][0]

    assert (leg["status"], leg.get("delaySeconds")) == ("cancelled", None)


@pytest.mark.parametrize(
    ("delays", "of_itinerary", "of_answer"),
    [
        ([(0, 0)], ["realtime"], "realtime"),
        ([(None, None)], ["scheduled"], "scheduled"),
        ([(0, None)], ["mixed"], "mixed"),
        ([(0, 0), (None, None)], ["realtime", "scheduled"], "mixed"),
    ],
)
def test_mixed_realtime_is_reported_per_itinerary_and_in_all(over, delays, of_itinerary, of_answer):
    journeys = [
        trip(ride("7", "A", "B", 5 + late, 10, first), ride("9", "B", "C", 12, 20 + late, second))
        for late, (first, second) in enumerate(delays)
    ]
    body = over(FakeNetwork(journeys=[found(*journeys)]))("plan_trip", ENDS).body

    assert [itinerary["scheduleType"] for itinerary in body["itineraries"]] == of_itinerary
    assert body["realtimeUsed"] == of_answer


@pytest.mark.parametrize(("minutes", "expected"), [(-1, "08:00:00"), (1, "08:01:00")])
def test_data_freshness_is_the_latest_of_updates_and_request(over, minutes, expected):
    journey = trip(bus(delay_s=0, last_realtime_update=T0 + minutes * 60))
    body = over(FakeNetwork(journeys=[found(journey)]))("plan_trip", ENDS).body

    assert body["dataFreshness"] == f"2022-02-22T{expected}+02:00"


@pytest.mark.parametrize(("age_s", "expected"), [(90, []), (91, ["realtime-stale"])])
def test_old_realtime_is_called_stale(over, age_s, expected):
    journey = trip(bus(delay_s=0, last_realtime_update=T0 - age_s))
    answer = over(FakeNetwork(journeys=[found(journey)]))("plan_trip", ENDS)

    assert codes(answer) == expected
    assert answer.body["meta"]["realtimeAgeSeconds"] == age_s


# -------------------------------------------------------------------------------------- disruption


@pytest.mark.parametrize(
    ("rides", "asked"),
    [
        ([bus(departs=10, delay_s=300)], 1),
        ([bus(departs=10, delay_s=301)], 2),
        ([bus(departs=10, delay_s=-301)], 1),
        ([bus(cancelled=True), bus("9", 20)], 2),
    ],
)
def test_more_than_five_minutes_late_or_cancelled_searches_again(over, rides, asked):
    """P14, P44, P70: 301 s late or a cancelled ride, but not 300 s late or early."""
    network = FakeNetwork(journeys=[found(*map(trip, rides))])
    over(network)("plan_trip", ENDS)

    assert len(network.journeys_asked) == asked


def test_no_alternatives_when_none_are_wanted(over):
    late, later = trip(bus("7", 5, 400)), trip(bus("9", 20))
    network = FakeNetwork(journeys=[found(late, later)])
    answer = over(network)("plan_trip", {**ENDS, "includeDisruptionAlt": False})

    assert len(network.journeys_asked) == 1
    assert lines(answer) == ["7", "9"]
    assert [each.get("DisruptionFlag") for each in answer.body["itineraries"]] == [None, None]


@pytest.mark.parametrize(("asked_m", "relaxed_m"), [(1, 1.25), (2400, 3000), (2401, 3000), (3000, 3000)])
def test_the_second_query_is_relaxed(over, asked_m, relaxed_m):
    network = FakeNetwork(journeys=[found(trip(bus(delay_s=400)))])
    constraints = {"optimize": "few_transfers", "maxWalkingDistance": asked_m}
    over(network)("plan_trip", {**ENDS, "constraints": constraints})
    first, second = network.journeys_asked

    assert second == replace(first, optimize=Optimize.BALANCED, max_walk_m=relaxed_m)


def test_only_a_new_itinerary_is_flagged_and_the_limit_comes_last(over):
    """P13, P43, P47, P48, P50, P67-P73, B5: usable trips first; a known one has no flag; a dropped one is named."""
    gone, known, new = trip(bus("7", 5, cancelled=True)), trip(bus("8", 30)), trip(bus("9", 20))
    answers = [
        over(FakeNetwork(journeys=[found(gone, known), found(known, new)]))("plan_trip", {**ENDS, "limit": limit})
        for limit in (3, 2)
    ]
    told = [(each.get("DisruptionFlag"), each.get("DisruptionNote")) for each in answers[0].body["itineraries"]]

    assert [lines(answer) for answer in answers] == [["9", "8", "7"], ["9", "8"]]
    assert told == [(True, None), (None, None), (None, "Line 7 from A is cancelled.")]
    assert codes(answers[1]) == ["disrupted-itinerary-replaced", "truncated-results"]
    assert answers[1].body["warnings"][0]["message"] == LEFT_OUT
    assert answers[1].body["meta"]["deduplicatedFrom"] == 4


GONE, HOURS_LATER = trip(bus(cancelled=True)), trip(bus("9", 300))


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (
            found(trip(bus("8", 400)), HOURS_LATER),
            ". The next usable trip leaves at 2022-02-22T13:00:00+02:00 and arrives at 2022-02-22T13:10:00+02:00.",
        ),
        (found(GONE), ", and no later trip was found."),
        (SourceFailed("The source answered 503"), ", and the query for later trips failed."),
    ],
)
def test_without_a_usable_trip_the_next_departure_is_named(over, later, message):
    answer = over(FakeNetwork(journeys=[found(GONE), found(), later]))("plan_trip", ENDS)

    assert answer.body["warnings"][0] == {
        "code": "no-usable-itinerary",
        "message": f"None of the trips found is usable{message}",
    }


def test_an_unusable_itinerary_has_its_scheduled_times(over):
    """B5: line 7 arrives at 08:35 instead of 08:15, and line 9 leaves at 08:20."""
    broken = trip(bus("7", 5, 0, arrival_delay_s=1200), ride("9", "B", "C", 20, 30, 0))
    itinerary = over(FakeNetwork(journeys=[found(broken)]))("plan_trip", ENDS).body["itineraries"][0]

    assert [(leg["departureTime"][11:16], leg["arrivalTime"][11:16]) for leg in itinerary["legs"]] == [
        ("08:05", "08:15"), ("08:20", "08:30"),
    ]  # fmt: skip
    assert (itinerary["totalDuration"], itinerary["DisruptionNote"]) == (
        1500,
        "Line 7 from A arrives at B 20 min late. The change from line 7 to line 9 at B is missed by 15 min.",
    )


# ------------------------------------------------------------------------------ dedupe, limit, none


@pytest.mark.parametrize(("asked", "shown", "expected"), [({}, 2, ["truncated-results"]), ({"limit": 3}, 3, [])])
def test_exceeding_the_limit_is_reported(over, asked, shown, expected):
    journeys = [trip(bus(line, departs)) for line, departs in (("7", 5), ("8", 20), ("9", 35))]
    answer = over(FakeNetwork(journeys=[found(*journeys)]))("plan_trip", {**ENDS, **asked})

    assert (len(answer.body["itineraries"]), codes(answer)) == (shown, expected)


def test_no_result_after_one_relaxed_attempt(over):
    """P38, P66, P71: no-itinerary-found with the contract's hint, because the search for a cause fails here."""
    network = FakeNetwork(journeys=[found(), found(), SourceTimeout("late")], abilities=frozenset({Ability.PLANS}))
    answer = over(network)("plan_trip", ENDS)

    assert refusal(answer) == (
        "no-itinerary-found",
        "No itineraries for given constraints",
        "Try increasing maxWalkingDistance or adjusting departure time",
    )
    assert [question.max_walk_m for question in network.journeys_asked] == [1500, 1875, 3000]


@pytest.mark.parametrize(
    ("sent", "limit"), [({}, "the default of 1500 m"), ({"maxWalkingDistance": 1500}, "the requested 1500 m")]
)
def test_a_trip_found_only_by_the_relaxed_query_states_what_is_unmet(over, sent, limit):
    """P38, P52, B6: all walks together are 1500.5 m."""
    journey = trip(walk("home", "A", 0, 10, 700), bus(departs=10), walk("B", "work", 20, 30, 800.5))
    answer = over(FakeNetwork(journeys=[found(), found(journey)]))("plan_trip", {**ENDS, "constraints": sent})

    assert answer.body["warnings"] == [
        {"code": "preference-unmet", "message": f"Up to 1501 m of walking, more than {limit}."}
    ]


def test_a_failed_second_query_costs_only_the_alternatives(over):
    """P39, A13: the itineraries found are shown with a warning; if none was found, the call fails."""
    failed = SourceFailed("The source answered 503")
    answer = over(FakeNetwork(journeys=[found(trip(bus(delay_s=400))), failed]))("plan_trip", ENDS)
    told = {each["code"]: each["message"] for each in answer.body["warnings"]}

    assert (len(answer.body["itineraries"]), told["network-left-out"]) == (
        1,
        "FAKE returned no alternatives to disrupted itineraries: The source answered 503.",
    )
    answer = over(FakeNetwork(journeys=[found(), failed]))("plan_trip", ENDS)
    assert refusal(answer)[:2] == ("upstream-error", "The source answered 503")


@pytest.mark.parametrize(
    ("optimize", "expected"), [("shortest_time", ["two rides", "direct"]), ("few_transfers", ["direct", "two rides"])]
)
def test_the_most_requested_comes_first(over, optimize, expected):
    direct = trip(ride("direct", "A", "C", 5, 30))
    changing = trip(ride("two rides", "A", "B", 5, 10), ride("x", "B", "C", 12, 20))
    network = FakeNetwork(journeys=[found(direct, changing)])

    assert lines(over(network)("plan_trip", {**ENDS, "constraints": {"optimize": optimize}})) == expected


@pytest.mark.parametrize("origin", ["Kamppi", "Rautatientori"])
def test_an_answer_of_default_size_stays_small(demo, origin):
    """P62, A11: ten thousand bytes of minified JSON for two itineraries."""
    body = demo("plan_trip", {"origin": {"type": "label", "value": origin}, "destination": ENDS["destination"]}).body

    assert len(json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()) <= 10_000


# ------------------------------------------------------------------------------------------- the past


@pytest.mark.parametrize(
    ("time", "requested", "expected"),
    [
        ("2022-02-22T07:57:59+02:00", "07:57:59", ["in-the-past"]),
        ("2022-02-22T07:58:00+02:00", "08:00:00", []),
        ("2022-02-22T08:00:01+02:00", "08:00:01", []),
    ],
)
def test_a_past_time_is_used_as_is_and_reported(over, time, requested, expected):
    """B12: 120 s ago counts as now, 121 s ago as the past."""
    answer = over(FakeNetwork(journeys=[found(trip(bus()))]))("plan_trip", {**ENDS, "when": {"time": time}})

    assert (answer.body["requested"]["time"][11:19], codes(answer)) == (requested, expected)


def arrive(time):
    return {**ENDS, "when": {"type": "arrive", "time": f"2022-02-22T{time}+02:00"}}


@pytest.mark.parametrize(
    ("by", "departs", "shown", "told"),
    [("09:00:00", {"7": -1, "8": 0}, ["8"], []), ("07:30:00", {"7": -60}, ["7"], ["in-the-past"])],
)
def test_a_departed_trip_is_offered_only_for_a_past_arrival_time(over, by, departs, shown, told):
    """B12: a trip that left a minute ago is dropped, one that leaves now is shown."""
    network = FakeNetwork(journeys=[found(*(trip(bus(line, minute)) for line, minute in departs.items()))])
    answer = over(network)("plan_trip", arrive(by))

    assert (lines(answer), codes(answer)) == (shown, told)


def test_a_wanted_arrival_that_has_become_impossible_names_the_earliest_possible(over):
    network = FakeNetwork(journeys=[found(), found(), found(trip(bus("8", 30)), trip(bus("7", 20)))])
    answer = over(network)("plan_trip", arrive("08:10:00"))

    assert refusal(answer) == (
        "no-itinerary-found",
        "No itineraries for given constraints",
        "The earliest possible arrival is at 2022-02-22T08:30:00+02:00, if you leave at 2022-02-22T08:20:00+02:00",
    )
    assert [(each.arrive_by, each.instant) for each in network.journeys_asked[1:]] == [(True, T0 + 600), (False, T0)]


# -------------------------------------------------------------------------------------- accessibility


@pytest.mark.parametrize(
    ("is_known", "code", "message"),
    [(False, "unsupported-accessibility-flag", None), (True, "preference-unmet", "A is not known to be step-free.")],
)
def test_unconfirmed_step_free_access_is_reported(over, is_known, code, message):
    found_trips = found(trip(bus(wheelchair=Access.YES)), step_free_supported=is_known)
    network = FakeNetwork(journeys=[found_trips])
    answer = over(network)("plan_trip", {**ENDS, "constraints": {"accessibility": {"stepFree": True}}})
    [warning] = answer.body["warnings"]

    assert (warning["code"], message in (None, warning["message"])) == (code, True)
    assert network.journeys_asked[0].step_free is True


@pytest.mark.parametrize(("metres", "shown", "unmet"), [(500, 500, False), (500.1, 501, True)])
def test_low_walking_annotates_and_filters_nothing(over, metres, shown, unmet):
    """P11, B14: the best itinerary is shown even with a long walk; the least walking found is reported."""
    journey = trip(walk("home", "A", 0, 5, metres), bus())
    far = trip(walk("home", "A", 0, 5, 899.2), bus("8", 1))
    network = FakeNetwork(journeys=[found(far, journey)])
    wish = {"constraints": {"accessibility": {"lowWalkingDistance": True}, "optimize": "shortest_time"}, "limit": 1}
    answer = over(network)("plan_trip", {**ENDS, **wish})

    note = f"Walking 900 m; the itinerary with the least walking requires {shown} m."
    told = "Even the itinerary with the least walking requires 501 m, more than 500 m."
    assert answer.body["itineraries"][0]["accessibilityNotes"] == [note]
    assert codes(answer) == ["preference-unmet", "truncated-results"][not unmet :]
    assert (answer.body["warnings"][0]["message"] == told) is unmet
