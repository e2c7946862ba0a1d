"""Journeys: wall-clock times, limits that TfL does not have, alerts, and invalid journeys."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from fingerpost.errors import PlaceAmbiguous, PlaceUnknown, SourceChanged, SourceFailed
from fingerpost.transit.model.itinerary import LineSource, Optimize
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.port import JourneyQuery
from fingerpost.transit.remote.kit.journeys import draw_leg
from fingerpost.transit.remote.tfl.itineraries import TflRequest
from tests.tfl.asking import NO_JOURNEY, a_leg, a_point, asking, journeys

LONDON = ZoneInfo("Europe/London")
NINE = int(datetime(2026, 6, 10, 8, tzinfo=UTC).timestamp())
JOURNEYS = "/Journey/JourneyResults/"
HERE = Location(coordinate=Coordinate(51.5, -0.1), source=LocationSource.INPUT, label="home")
THERE = Location(coordinate=Coordinate(51.52, -0.1), source=LocationSource.INPUT, stop_ids=("TFL:940GZZLUOXC",))
QUERY = JourneyQuery(origin=HERE, destination=THERE, instant=NINE)


# Its stop of change has no coordinates.
TO_NOWHERE = {
    "startDateTime": "2026-06-10T09:05:00",
    "arrivalDateTime": "2026-06-10T09:25:00",
    "duration": 20,
    "legs": [
        a_leg("09:05", "09:15", 10, departurePoint={}, arrivalPoint={}),
        a_leg("09:15", "09:25", 10, departurePoint={}, arrivalPoint=a_point()),
    ],
}


async def plan(told, query=QUERY, **answers):
    async with asking({JOURNEYS: told, **answers}) as (network, server):
        return await network.plan_journeys(query), server


def utc(text):
    return int(datetime.fromisoformat(text).timestamp())


async def test_a_night_bus_through_the_clock_change_takes_twenty_minutes():
    leg = a_leg("2026-10-25T01:50:00", "2026-10-25T01:10:00", 20, mode="bus", line="N29")
    instant = utc("2026-10-25T00:45Z")
    answer, server = await plan(journeys(leg), replace(QUERY, instant=instant))
    (itinerary,) = answer.itineraries

    assert (itinerary.departure, itinerary.arrival) == (utc("2026-10-25T00:50Z"), utc("2026-10-25T01:10Z"))
    assert (server.questions[0]["date"], server.questions[0]["time"]) == ("20261025", "0145")


async def test_the_second_half_past_one_is_used_on_request():
    leg = a_leg("2026-10-25T01:30:00", "2026-10-25T01:40:00", 10, mode="bus")
    answer, _ = await plan(journeys(leg), replace(QUERY, instant=utc("2026-10-25T01:20Z")))

    assert [each.departure for each in answer.itineraries] == [utc("2026-10-25T01:30Z")]


@pytest.mark.parametrize(
    ("instant", "arrive_by", "expected"),
    [
        ("2026-06-10T08:00:00Z", False, ("20260610", "0900")),
        ("2026-06-10T08:00:01Z", False, ("20260610", "0901")),
        ("2026-06-10T08:00:59Z", True, ("20260610", "0900")),
        ("2026-01-10T23:59:30Z", False, ("20260111", "0000")),
    ],
)
def test_a_query_is_in_whole_minutes(instant, arrive_by, expected):
    asked = TflRequest(origin="A", destination="B", instant=utc(instant), arrive_by=arrive_by).list_params(LONDON)

    assert (asked["date"], asked["time"]) == expected


async def test_an_end_is_its_stop_or_its_position():
    street = a_point(name="Some Street")
    told = journeys(a_leg("09:05", "09:15", 10, departurePoint=street, arrivalPoint=street))
    answer, server = await plan(told, replace(QUERY, origin=replace(HERE, name="Home")))
    (leg,) = answer.itineraries[0].legs

    assert server.paths[0] == f"{JOURNEYS}51.500000,-0.100000/to/940GZZLUOXC"
    assert (leg.start.name, leg.end.name) == ("Home", "Some Street")


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        ({}, {"timeIs": "Departing", "journeyPreference": "LeastTime"}),
        ({"arrive_by": True}, {"timeIs": "Arriving"}),
        ({"optimize": Optimize.FEW_TRANSFERS}, {"journeyPreference": "LeastInterchange"}),
        ({"step_free": True}, {"accessibilityPreference": "StepFreeToVehicle"}),
    ],
)
async def test_preferences_are_sent_in_tfls_words(wishes, expected):
    _, server = await plan(journeys(a_leg("08:45", "09:00", 15)), replace(QUERY, **wishes))
    asked = server.questions[0]

    assert {key: asked[key] for key in expected} == expected
    assert asked["calcOneDirection"] == "true"


async def test_a_departed_trip_is_not_a_journey():
    answer, _ = await plan(journeys(a_leg("08:59", "09:10", 11), a_leg("09:00", "09:12", 12)))

    assert [each.arrival - NINE for each in answer.itineraries] == [12 * 60]


async def test_a_late_ride_keeps_its_scheduled_time():
    late = {"scheduledDepartureTime": "2026-06-10T09:05:00", "scheduledArrivalTime": "2026-06-10T09:20:00"}
    answer, _ = await plan(journeys(a_leg("09:12", "09:20", 8, **late)))
    (leg,) = answer.itineraries[0].legs

    assert (leg.departure_scheduled - NINE, leg.departure_delay_s, leg.arrival_delay_s) == (300, 420, 0)


async def test_the_walk_to_a_late_ride_is_late_too():
    walk = a_leg("09:07", "09:12", 5, mode="walking", distance=300)
    ride = a_leg("09:12", "09:20", 8, scheduledDepartureTime="2026-06-10T09:05:00")
    journey = {**TO_NOWHERE, "startDateTime": "2026-06-10T09:07:00", "legs": [walk, ride]}
    answer, _ = await plan((200, {"journeys": [journey]}))

    assert answer.itineraries[0].departure_scheduled - NINE == 0


async def test_too_much_walking_leads_to_a_search_with_less():
    far = a_leg("09:05", "09:40", 35, mode="walking", distance=3000)
    answer, server = await plan(journeys(far))

    assert answer.itineraries == ()
    assert [each["journeyPreference"] for each in server.questions] == ["LeastTime", "LeastWalking"]


async def test_no_journey_is_an_answer_with_a_reason():
    near, _ = await plan((404, NO_JOURNEY))
    far, _ = await plan((404, NO_JOURNEY), replace(QUERY, instant=NINE + 9 * 86_400))

    assert (near.itineraries, near.no_result_reason) == ((), "TfL found no journey (No journey found for your inputs)")
    assert far.no_result_reason == "TfL found no journey: it plans about 4 days ahead, and this trip is 9 days ahead"


async def test_a_stop_that_tfl_does_not_know_is_named():
    with pytest.raises(PlaceUnknown, match=r"no place for '940GZZLUOXC' \(destination\)"):
        await plan((404, {"message": "The following stop is not recognised: 940GZZLUOXC"}))


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ((404, {"message": "Something else"}), SourceFailed),
        ((200, {"journeys": [{"legs": []}]}), SourceChanged),
        ((409, {"message": "planner"}), SourceFailed),
    ],
)
async def test_a_failure_is_not_an_empty_answer(told, error):
    with pytest.raises(error):
        await plan(told)


async def test_a_disambiguation_is_one_whatever_its_status():
    """TfL has been seen to answer it with 200; its type tells."""
    kind = "Tfl.Api.Presentation.Entities.JourneyPlanner.DisambiguationResult, Tfl.Api.Presentation.Entities"
    end = {"matchStatus": "LIST", "disambiguationOptions": [{"parameterValue": "1", "matchQuality": 5}]}
    with pytest.raises(PlaceAmbiguous) as raised:
        await plan({"$type": kind, "fromLocationDisambiguation": end})

    assert [each["token"] for each in raised.value.details["candidates"]] == ["1"]


async def test_alerts_of_the_line_the_leg_and_the_lifts_go_with_the_ride():
    """B13: what TfL says of the leg, its line's status while the rider is there, and lifts at its stops."""

    def status(severity, word, *periods):
        return {
            "statusSeverity": severity,
            "statusSeverityDescription": word,
            "reason": f"{word}. Signal failure.",
            "validityPeriods": [{"fromDate": begin, "toDate": end} for begin, end in periods],
        }

    now, later = ("2026-06-10T07:00:00Z", "2026-06-10T09:00:00Z"), ("2026-06-11T00:00:00Z", "2026-06-12T00:00:00Z")
    victoria = {
        "id": "victoria",
        "name": "Victoria",
        "lineStatuses": [status(9, "Minor Delays", now), status(5, "Part Closure", later), status(10, "Good Service")],
    }
    told = journeys(
        a_leg("09:05", "09:15", 10, disruptions=[{"category": "PlannedWork", "description": "No  ladder"}]),
        lines=[victoria],
    )
    lifts = [
        {"stationUniqueId": "940GZZLUVIC", "disruptedLiftUniqueIds": ["1"], "message": "VICTORIA: no step free access"},
        {"stationUniqueId": "940GZZLUBNK", "message": "BANK: no lift"},
    ]
    answer, _ = await plan(told, **{"/Disruptions/Lifts": lifts})
    (leg,) = answer.itineraries[0].legs

    assert [(alert.header, alert.text, alert.effect) for alert in leg.alerts] == [
        ("No ladder", "", "UNKNOWN_EFFECT"),
        ("Minor Delays.", "Minor Delays. Signal failure.", "SIGNIFICANT_DELAYS"),
        ("VICTORIA: no step free access", "", "ACCESSIBILITY_ISSUE"),
    ]
    assert (leg.alerts[1].since, leg.alerts[1].until) == (utc(now[0]), utc(now[1]))


async def test_a_plan_without_lift_data_is_returned_and_reports_it():
    answer, _ = await plan(journeys(a_leg("09:05", "09:15", 10)), **{"/Disruptions/Lifts": (500, {})})

    assert (len(answer.itineraries), answer.provenance.notes) == (
        1,
        ("TfL did not report which lifts are out of order.",),
    )


async def test_without_a_step_free_journey_none_with_steps_is_returned():
    """TfL does not say where the steps are, so no warning could name them."""
    answer, server = await plan((404, NO_JOURNEY), replace(QUERY, step_free=True))

    assert (answer.itineraries, len(server.questions)) == ((), 1)


async def test_a_journey_to_nowhere_is_left_out_and_counted():
    answer, _ = await plan({"journeys": [TO_NOWHERE]})

    assert answer.itineraries == ()
    assert answer.provenance.notes == ("Itineraries left out: 1 without coordinates.",)


async def test_dropped_parts_of_a_second_answer_are_reported():
    far = a_leg("09:05", "09:40", 35, mode="walking", distance=3000)

    async def reply(asked):
        is_first = "journeyPreference=LeastTime" in asked.target
        return journeys(far) if is_first else {"journeys": [TO_NOWHERE], "stopMessages": ["Victoria is closed"]}

    answer, server = await plan(reply)

    assert len(server.questions) == 2
    assert answer.provenance.notes == ("Victoria is closed", "Itineraries left out: 1 without coordinates.")


async def test_an_answer_names_tfl_and_when_it_was_retrieved():
    answer, _ = await plan(journeys(a_leg("09:05", "09:15", 10)))

    assert answer.provenance.attribution == (
        "Powered by TfL Open Data",
        "Contains OS data © Crown copyright and database rights 2016",
        "Geomni UK Map data © and database rights [2019]",
        "TfL, retrieved 2026-06-10T09:00:00+01:00",
    )


async def test_an_answer_about_a_window_reports_that_trips_may_be_missing():
    answer, _ = await plan(journeys(a_leg("09:05", "10:00", 55)), replace(QUERY, window_s=1800))

    assert answer.provenance.notes == ("TfL returns only three to five trips, so others in the window may be missing.",)


@pytest.mark.parametrize(
    "path", [None, "", "5", "[[51.5, NaN], [51.6, 0.0], [51.7, 0.0]]", "[[51.5", pytest.param("[" * 5_000, id="deep")]
)
async def test_a_leg_without_a_path_that_can_be_read_is_drawn_straight(path):
    """TfL writes the path as JSON inside a text."""
    answered, _ = await plan(journeys(a_leg("09:05", "09:15", 10, path=path and {"lineString": path})))
    line = draw_leg(answered.itineraries[0].legs[0])

    assert (line.source, line.points) == (LineSource.STRAIGHT, ((51.5, -0.1), (51.515, -0.141)))
