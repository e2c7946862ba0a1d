"""The lookup contract: the arguments and answers of planRoute."""

import re

import pytest

from fingerpost.errors import OutsideCalendar
from fingerpost.transit.model.itinerary import Mode, NearbyStop, StopPoint
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.model.provenance import FeedVersion, OutOfService, ServiceDays
from tests.contracts.conftest import clock, provenance
from tests.fakes import FakeNetwork, Journeys
from tests.rules.drawing import DAY, T0, ride, trip, walk

NOW = "2022-02-22T06:00:00Z"
ENDS = {"origin": {"rawText": "60.1,24.9"}, "destination": {"rawText": "60.2,24.9"}}
LEAVING = {**ENDS, "departureTime": NOW}


def tram(departs, arrives, **more):
    return ride("7", "A", "B", departs, arrives, mode=Mode.TRAM, **more)


def ask(over, network, **arguments):
    return over(network)("planRoute", {**LEAVING, **arguments})


def times(answer):
    return [(each["startTime"][11:16], each["endTime"][11:16]) for each in answer.body["itineraries"]]


def test_an_itinerary_has_the_contracts_fields(over):
    metro = ride("M1", "B", "C", 10, 11, mode=Mode.METRO, distance_m=1200.4, headsign="East", delay_s=0)
    network = FakeNetwork(journeys=[[trip(walk("home", "B", 8, 10, 150.6), metro)]])
    body = ask(over, network).body
    name = body["itineraries"][0].pop("id")

    assert re.fullmatch(r"[0-9a-f]{64}", name)
    assert body == {
        "itineraries": [
            {
                "durationMinutes": 3,
                "startTime": "2022-02-22T06:08:00Z",
                "endTime": "2022-02-22T06:11:00Z",
                "numberOfTransfers": 0,
                "totalWalkDistanceMeters": 151,
                "legs": [
                    {
                        "mode": "WALK",
                        "from": {"name": "home", "lat": 60.17, "lon": 24.94},
                        "to": {"name": "B", "lat": 60.17, "lon": 24.94},
                        "departureTime": "2022-02-22T06:08:00Z",
                        "arrivalTime": "2022-02-22T06:10:00Z",
                        "distanceMeters": 151,
                    },
                    {
                        "mode": "SUBWAY",
                        "lineName": "M1",
                        "headsign": "East",
                        "from": {"name": "B", "lat": 60.17, "lon": 24.94},
                        "to": {"name": "C", "lat": 60.17, "lon": 24.94},
                        "departureTime": "2022-02-22T06:10:00Z",
                        "arrivalTime": "2022-02-22T06:11:00Z",
                        "distanceMeters": 1200,
                    },
                ],
            }
        ],
        "window": {"requested": 45, "applied": 45, "clamped": False},
        "metadata": {"timeZone": "Europe/Helsinki"},
        "meta": {
            "network": "FAKE",
            "source": "fake",
            "retrievedAt": "2022-02-22T06:00:00Z",
            "language": "en",
            "walking": "unknown",
        },
    }


@pytest.mark.parametrize(("seconds", "minutes"), [(1, 1), (60, 1), (61, 2), (120, 2)])
def test_a_duration_is_rounded_up_and_at_least_a_minute(over, seconds, minutes):
    answer = ask(over, FakeNetwork(journeys=[[trip(tram(5, 5 + seconds / 60))]]))

    assert answer.body["itineraries"][0]["durationMinutes"] == minutes


def test_the_id_is_of_legs_and_times(over):
    def name(*legs, language="en"):
        origin = {**ENDS["origin"], "languagePreference": language}
        return ask(over, FakeNetwork(journeys=[[trip(*legs)]]), origin=origin).body["itineraries"][0]["id"]

    same = name(tram(5, 15))

    assert same == name(tram(5, 15), language="fi")
    assert len({same, name(tram(6, 15)), name(tram(5, 16)), name(ride("8", "A", "B", 5, 15))}) == 4


def test_a_ride_of_unknown_length_uses_its_straight_line_and_is_reported(over):
    answer = ask(over, FakeNetwork(journeys=[[trip(tram(5, 15))]]))

    assert answer.body["itineraries"][0]["legs"][0]["distanceMeters"] == 0
    assert answer.body["meta"]["straightRides"] is True
    assert "straight-line distances" in answer.text


@pytest.mark.parametrize(
    ("given", "is_accepted"),
    [
        ({"departureTime": NOW}, True),
        ({"arrivalTime": clock(60)}, True),
        ({}, False),
        ({"departureTime": NOW, "arrivalTime": NOW}, False),
        ({"departureTime": None, "arrivalTime": None}, False),
        ({"departureTime": NOW, "arrivalTime": None}, True),
    ],
)
def test_exactly_one_time_is_required(over, given, is_accepted):
    answer = over(FakeNetwork(journeys=[[trip(tram(5, 15))]]))("planRoute", {**ENDS, **given})

    assert answer.is_error is not is_accepted
    if not is_accepted:
        error = answer.body["error"]
        assert (error["category"], error["code"]) == ("VALIDATION", "INVALID_PARAMETER")
        assert error["message"] == "Specify exactly one of departureTime or arrivalTime"
        assert error["details"]["field"] == "arrivalTime"


@pytest.mark.parametrize("text", ["2022-02-22T08:00:00", "2022-02-22", "08:00", "", "soon"])
def test_a_time_without_an_offset_is_refused(over, text):
    error = ask(over, FakeNetwork(), departureTime=text).body["error"]

    assert (error["category"], error["details"]["field"]) == ("VALIDATION", "departureTime")
    assert "2026-01-31T0" in error["recommendation"]


@pytest.mark.parametrize(("asked", "applied"), [(1, 1), (45, 45), (120, 120), (121, 120), (10_000, 120)])
def test_a_window_that_is_too_long_is_lowered_and_reported(over, asked, applied):
    network = FakeNetwork()
    answer = ask(over, network, searchWindowMinutes=asked)

    assert answer.body["window"] == {"requested": asked, "applied": applied, "clamped": asked != applied}
    assert network.journeys_asked[0].window_s == applied * 60
    assert ("was lowered" in answer.text) == (asked != applied)


@pytest.mark.parametrize(
    ("time", "trams", "shown"),
    [
        ({"departureTime": NOW}, [(0, 10), (10, 20), (11, 21)], [("06:00", "06:10"), ("06:10", "06:20")]),
        ({"arrivalTime": clock(60)}, [(44, 49), (45, 50), (55, 60)], [("06:55", "07:00"), ("06:45", "06:50")]),
        ({"arrivalTime": clock(20)}, [(-5, 15), (5, 18)], [("06:05", "06:18")]),
    ],
)
def test_a_window_includes_both_its_ends(over, time, trams, shown):
    """Rule D3, B12: [t, t + w] or [t - w, t], not a minute more; an arrival that had to be begun before now is none."""
    network = FakeNetwork(journeys=[[trip(tram(*minutes)) for minutes in trams]])
    answer = over(network)("planRoute", {**ENDS, **time, "searchWindowMinutes": 10})
    asked = network.journeys_asked[0]

    assert times(answer) == shown
    assert "arrivalTime" not in time or (asked.arrive_by, asked.not_before) == (True, T0)


def test_a_late_trip_has_its_expected_times(over):
    answer = ask(over, FakeNetwork(journeys=[[trip(tram(5, 15, delay_s=240))]]))

    assert (times(answer), "Realtime data is" in answer.text) == ([("06:09", "06:19")], False)


QUICK = trip(tram(2, 10), ride("8", "B", "C", 12, 20))
PLAIN = trip(walk("home", "A", 0, 8, 600), tram(8, 25))
EASY = trip(walk("home", "A", 4, 5, 50), tram(5, 12), ride("8", "B", "C", 15, 30))
SLOW = trip(walk("home", "A", 4, 5, 100), tram(10, 30))


@pytest.mark.parametrize(
    ("preset", "ends"),
    [
        ("FASTEST", ["06:20", "06:25", "06:30"]),
        (None, ["06:20", "06:25", "06:30"]),
        ("FEWEST_TRANSFERS", ["06:25", "06:30", "06:20"]),
        ("LEAST_WALK", ["06:20", "06:30", "06:30"]),
    ],
)
def test_the_preset_decides_the_order(over, preset, ends):
    answer = ask(over, FakeNetwork(journeys=[[PLAIN, SLOW, EASY, QUICK]]), journeyPreset=preset)

    assert [end for _, end in times(answer)] == ends
    if preset == "LEAST_WALK":
        assert [each["totalWalkDistanceMeters"] for each in answer.body["itineraries"]] == [0, 50, 100]


def test_the_shorter_of_equal_ends_and_changes_comes_first(over):
    answer = ask(over, FakeNetwork(journeys=[[trip(tram(2, 20)), trip(ride("8", "A", "B", 6, 20))]]))

    assert times(answer) == [("06:06", "06:20"), ("06:02", "06:20")]


def test_least_walk_searches_again_with_less_walking(over):
    """D3: no source minimizes walking, so the search is repeated until no trip has less."""
    less = trip(walk("home", "A", 0, 2, 200), tram(3, 40))
    network = FakeNetwork(journeys=[[PLAIN], [less], []])
    answer = ask(over, network, journeyPreset="LEAST_WALK")

    assert [each["totalWalkDistanceMeters"] for each in answer.body["itineraries"]] == [200, 600]
    assert [each.max_walk_m for each in network.journeys_asked] == [1500, 599, 199]


def test_three_are_shown_and_the_rest_is_counted(over):
    found = [trip(tram(minute, minute + 10)) for minute in (0, 10, 20, 30)]
    answer = ask(over, FakeNetwork(journeys=[found]))
    (warning,) = answer.body["metadata"]["warnings"]

    assert times(answer) == [("06:00", "06:10"), ("06:10", "06:20"), ("06:20", "06:30")]
    assert warning == {
        "code": "truncated-results",
        "message": "4 itineraries are in the window; 3 are shown. For later ones, call again with departureTime "
        "2022-02-22T06:21:00Z.",
    }
    later = ask(over, FakeNetwork(journeys=[found]), departureTime="2022-02-22T06:21:00Z")
    assert times(later) == [("06:30", "06:40")]


def test_cancelled_and_missed_rides_are_dropped_and_counted(over):
    cancelled = trip(tram(5, 15, cancelled=True))
    missed = trip(tram(6, 20, delay_s=600), ride("8", "B", "C", 22, 30))
    outside = trip(tram(50, 60, cancelled=True))
    network = FakeNetwork(journeys=[Journeys([trip(tram(25, 35))], timetabled=[cancelled, missed, outside])])
    answer = ask(over, network)
    metadata = answer.body["metadata"]

    assert times(answer) == [("06:25", "06:35")]
    assert (metadata["cancelledLeftOut"], metadata["missedChangesLeftOut"]) == (1, 1)
    assert "! Left out because a ride is cancelled: 1." in answer.text
    assert "! Left out because a change would be missed: 1." in answer.text


FEED = FeedVersion(name="T", service=ServiceDays(first_day=DAY.replace(month=3), last_day=DAY.replace(month=4)))
STOPS = [NearbyStop(stop=StopPoint(name="A", coordinate=Coordinate(60.0, 24.0), id="T:A"), distance_m=5.0, modes=())]
NO_HELP = "More walking (3000 m) or changes (8) would not help; try another time or place."
CLOSED = provenance(out_of_service=(OutOfService(FEED, DAY),))


@pytest.mark.parametrize(
    ("network", "arguments", "reason", "why"),
    [
        (FakeNetwork(near=STOPS), {}, "NO_DEPARTURES", NO_HELP),
        (
            FakeNetwork(journeys=[[trip(tram(60, 70))]]),
            {},
            "NO_DEPARTURES",
            "The next one after the window is 2022-02-22T07:00:00Z to 2022-02-22T07:10:00Z.",
        ),
        (
            FakeNetwork(journeys=[[trip(tram(5, 10))]]),
            {"departureTime": None, "arrivalTime": clock(100)},
            "NO_DEPARTURES",
            "The last one before the window is 2022-02-22T06:05:00Z to 2022-02-22T06:10:00Z.",
        ),
        (
            FakeNetwork(journeys=[[], [trip(tram(5, 20))]]),
            {"departureTime": None, "arrivalTime": clock(10)},
            "IN_THE_PAST",
            "The trip with the earliest arrival is 2022-02-22T06:05:00Z to 2022-02-22T06:20:00Z.",
        ),
        (FakeNetwork(near=STOPS), {"departureTime": "2022-02-22T05:57:59Z"}, "IN_THE_PAST", NO_HELP),
        (FakeNetwork(near=STOPS), {"departureTime": "2022-02-22T05:58:00Z"}, "NO_DEPARTURES", NO_HELP),
        (
            FakeNetwork(journeys=[OutsideCalendar("The timetable of FAKE covers a to b only")]),
            {},
            "NO_SERVICE",
            "The timetable of FAKE covers a to b only.",
        ),
        (
            FakeNetwork(near=STOPS, provenance=CLOSED),
            {},
            "NO_SERVICE",
            "No service on 2022-02-22: T (begins on 2022-03-22). Try 2022-03-22.",
        ),
    ],
)
def test_an_empty_answer_is_a_success_with_a_reason(over, network, arguments, reason, why):
    network.asked.clear()
    answer = ask(over, network, **arguments)

    assert (answer.is_error, answer.body["itineraries"]) == (False, [])
    assert answer.body["metadata"]["noResultsReason"] == reason
    assert answer.body["meta"].get("whyEmpty") == why
    assert reason in answer.text
    assert (why or "").partition(" 2022-02-22T")[0] in answer.text


@pytest.mark.parametrize(("preset", "is_named"), [("FASTEST", True), ("LEAST_WALK", False)])
def test_a_much_better_trip_beyond_the_walking_limit_is_named(over, preset, is_named):
    better = trip(walk("home", "A", 0, 25, 2000), tram(25, 35))
    answer = ask(over, FakeNetwork(journeys=[[trip(tram(61, 70))], [better]]), journeyPreset=preset)

    assert ("! With 2000 m of walking and 0 changes, a trip departs at" in answer.text) is is_named


def test_on_a_day_without_service_the_earliest_arrival_is_not_looked_for(over):
    """A slow server would delay the answer, which does not name that arrival."""
    network = FakeNetwork(provenance=CLOSED)
    over(network)("planRoute", {**ENDS, "arrivalTime": "2022-02-22T09:00:00Z"})

    assert len(network.journeys_asked) == 1


def test_a_past_time_is_answered_and_reported(over):
    network = FakeNetwork(journeys=[[trip(tram(-110, -100))]])
    answer = ask(over, network, departureTime="2022-02-22T04:00:00Z")

    assert times(answer) == [("04:10", "04:20")]
    assert [each["code"] for each in answer.body["metadata"]["warnings"]] == ["in-the-past"]
    assert network.journeys_asked[0].not_before is None


def test_the_text_is_sufficient(over):
    legs = (walk("home", "A", 8, 10, 150), tram(10, 20, distance_m=3000.0, headsign="North"))
    network = FakeNetwork(
        journeys=[
            Journeys([trip(*legs), trip(tram(30, 1000, distance_m=1.0))], timetabled=[trip(tram(5, 9, cancelled=True))])
        ]
    )

    assert ask(over, network, searchWindowMinutes=121).text.splitlines() == [
        "2 within 120 min, Tue 2022-02-22 (Europe/Helsinki, UTC+02:00):",
        "1. 08:08 to 08:20, 12 min, 0 changes, 150 m walk",
        "   walk 150 m, 08:08 to 08:10, to A",
        "   TRAM 7 towards North 08:10 A to B 08:20, 3000 m",
        "2. 08:30 to 2022-02-23 00:40, 970 min, 0 changes, 0 m walk",
        "   TRAM 7 08:30 A to B 2022-02-23 00:40, 1 m",
        "! searchWindowMinutes was lowered from 121 to 120.",
        "! Left out because a ride is cancelled: 1.",
    ]
