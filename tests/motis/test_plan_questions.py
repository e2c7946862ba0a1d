"""Plans: the requests to the server, their parameters and their number."""

import pytest

from fingerpost.transit.model.place import Location, LocationSource
from fingerpost.transit.places.trip_ends import NetworkJourney
from fingerpost.transit.tools.no_trip import explain_no_trip
from fingerpost.transit.tools.trip_search import search_trips
from tests.motis.answers import (
    HERE,
    NOON,
    Told,
    a_place,
    a_plan,
    a_query,
    a_ride,
    a_street,
    a_walk,
    asking,
    plan,
    times,
)

TRIP = [a_walk(), a_ride()]


async def test_a_query_uses_the_servers_words():
    told = Told(plan=a_plan(TRIP))
    await plan(told, max_walk_m=1200.0, max_transfers=2, wanted=3)

    assert told.list_asked("plan") == [
        {
            "fromPlace": "52.3700000,4.9000000",
            "toPlace": "52.3100000,4.9400000",
            "time": "2026-03-10T11:00:00Z",
            "arriveBy": "false",
            "numItineraries": "6",
            "maxTransfers": "2",
            "maxPreTransitTime": "1200",
            "maxPostTransitTime": "1200",
            "maxDirectTime": "1200",
            "preTransitModes": "WALK",
            "postTransitModes": "WALK",
            "directModes": "WALK",
            "joinInterlinedLegs": "false",
        }
    ]


@pytest.mark.parametrize(
    ("wishes", "asked"),
    [
        # A window in whole minutes, at most what the server takes.
        ({}, {"searchWindow": None}),
        ({"window_s": 3600}, {"searchWindow": "3600"}),
        ({"window_s": 3601}, {"searchWindow": "3660"}),
        ({"window_s": 4 * 86_400}, {"searchWindow": str(95 * 3600)}),
        # The server counts minutes: up for who leaves, down for who arrives.
        ({"instant": NOON + 1}, {"time": "2026-03-10T11:01:00Z"}),
        ({"instant": NOON + 59, "arrive_by": True}, {"time": "2026-03-10T11:00:00Z"}),
        ({"instant": NOON + 60, "arrive_by": True}, {"time": "2026-03-10T11:01:00Z"}),
    ],
)
async def test_preferences_are_sent_in_the_servers_units(wishes, asked):
    told = Told(plan=a_plan())
    await plan(told, **wishes)
    question = told.list_asked("plan")[0]

    assert {name: question.get(name) for name in asked} == asked


@pytest.mark.parametrize(
    ("second", "arrive_by", "found"), [(300, False, 1), (301, False, 0), (900, True, 1), (899, True, 0)]
)
async def test_departures_a_second_outside_are_dropped(second, arrive_by, found):
    answer = await plan(Told(plan=a_plan([a_ride()])), instant=NOON + second, arrive_by=arrive_by)

    assert len(answer.itineraries) == found


async def test_step_free_is_the_wheelchair_profile_with_routed_transfers():
    told = Told(plan=[a_plan(), a_plan(TRIP)])
    answer = await plan(told, step_free=True, max_walk_m=750.0)
    first, second = told.list_asked("plan")

    assert (first["pedestrianProfile"], first["useRoutedTransfers"], first["maxPreTransitTime"]) == (
        "WHEELCHAIR",
        "true",
        "1000",
    )
    assert ("pedestrianProfile" in second, len(answer.itineraries)) == (False, 1)


async def test_a_network_with_languages_is_queried_in_one_of_them():
    told = Told(plan=a_plan())
    async with asking(told, languages=("nl", "en")) as network:
        answer = await network.plan_journeys(a_query(language="nl"))

    assert (told.asked[0][1]["language"], answer.provenance.language) == ("nl", "nl")


async def test_too_much_walking_is_skipped_and_shorter_walks_are_requested():
    told = Told(plan=[a_plan([a_walk(metres=800), a_ride()]), a_plan([a_walk(metres=400), a_ride()])])
    answer = await plan(told, max_walk_m=500.0)

    assert [each.walk_m for each in answer.itineraries] == [400.0]
    assert [(each["maxPreTransitTime"], each["directModes"]) for each in told.list_asked("plan")] == [
        ("500", "WALK"),
        ("250", ""),
    ]


async def test_the_way_on_foot_is_an_itinerary():
    answer = await plan(Told(plan=a_plan(direct=[[a_walk()]])))

    assert [len(each.rides) for each in answer.itineraries] == [0]


async def test_walks_are_as_late_as_the_rides_that_they_belong_to():
    late = a_ride(late_s=120, realTime=True)
    onwards = a_ride(25, **{"from": a_place("Artis", "GVB_2"), "to": a_place("Zoo", "GVB_3")})
    between = a_walk(17, **{**times(17, 20), "from": a_place("Artis", "GVB_2"), "to": a_place("Artis", "GVB_2")})
    legs = [a_walk(2), late, between, onwards, a_walk(35, **{"from": a_place("Zoo", "GVB_3"), "to": a_street("END")})]
    (found,) = (await plan(Told(plan=a_plan(legs)))).itineraries
    walks = [leg for leg in found.legs if not leg.is_transit]

    assert [(leg.departure_scheduled - NOON, leg.departure_delay_s) for leg in walks] == [
        (0, 120),
        (900, 120),
        (2100, None),
    ]
    assert [leg.arrival_expected - NOON for leg in walks] == [420, 1200, 2400]


@pytest.mark.parametrize(
    ("tz", "zone"),
    [("Europe/London", "Europe/London"), (None, "Europe/Amsterdam"), ("Mars/Utopia", "Europe/Amsterdam")],
)
async def test_times_are_in_the_zone_of_the_first_stop(tz, zone):
    answer = await plan(Told(plan=a_plan([a_ride(**{"from": a_place(tz=tz)})])))

    assert answer.provenance.zone == zone


@pytest.mark.parametrize(
    ("parents", "asked"), [(("GVB_S", "GVB_S"), "GVB_S"), (("GVB_S", "GVB_T"), "GVB_2"), ((None, None), "GVB_2")]
)
async def test_the_shared_station_of_several_stops_is_queried_or_the_nearest(parents, asked):
    """Stop 2 lies where the place does, stop 1 a hundred metres away (rule D2)."""
    stops = {
        "GVB_1": a_place("Dam", "GVB_1", 52.371, parentId=parents[0]),
        "GVB_2": a_place("Dam", "GVB_2", 52.370, parentId=parents[1]),
    }
    told = Told(plan=a_plan(), stoptimes=lambda query: {"stopTimes": [], "place": stops[query["stopId"]]})
    await plan(told, origin=Location(coordinate=HERE, source=LocationSource.GEOCODE, stop_ids=("GVB:1", "GVB:2")))

    assert told.list_asked("plan")[0]["fromPlace"] == asked


async def test_no_board_is_requested_to_explain_a_missing_trip():
    """The server has a request for each stop, and measures no walks."""
    stops = [a_place(f"Stop {number}", f"GVB_{number}", 52.37 + number / 10_000) for number in range(30)]
    told = Told(plan=a_plan(), map__stops=stops)
    async with asking(told) as network:
        found = await search_trips([NetworkJourney(network, a_query())], lambda _: None)
        why = await explain_no_trip(found)

    assert why == "No stop is within the longest walk allowed (3000 m) of the destination"
    assert {question for question, _ in told.asked} == {"map/stops", "plan"}
