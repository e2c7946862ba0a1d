"""Plans: what the server is asked, and what becomes of its answers."""

from dataclasses import replace

import pytest

from fingerpost.errors import OutsideCalendar
from fingerpost.transit.leg_line import LineSource
from fingerpost.transit.model import Access, Coordinate, Location, LocationSource, Mode
from tests.motis.answers import (
    HERE,
    LEARNED,
    NOON,
    Told,
    a_place,
    a_plan,
    a_query,
    a_ride,
    a_street,
    a_walk,
    asking,
    at,
    times,
)

TRIP = [a_walk(), a_ride()]
WORKS = ("Works", "", "UNKNOWN_EFFECT")


async def plan(told, learned=LEARNED, **wishes):
    async with asking(told, learned) as network:
        return await network.plan_journeys(a_query(**wishes))


async def ride_of(leg):
    """Return the only ride of a plan that holds this leg."""
    (itinerary,) = (await plan(Told(plan=a_plan([leg])))).itineraries
    return itinerary.legs[0]


async def test_a_ride_is_what_the_server_says_of_it():
    """Mode by its route type, line, headsign, ids, platform, service day and times."""
    ride = await ride_of(a_ride(late_s=90, realTime=True, wheelchairAccessible="ACCESSIBLE"))

    assert (ride.mode, ride.line, ride.headsign, ride.trip_id) == (Mode.TRAM, "14", "Flevopark", "GVB:trip_1")
    assert (ride.start.id, ride.end.id, ride.end.platform) == ("GVB:1", "GVB:2", "B")
    assert (ride.departure_scheduled, ride.departure_delay_s, ride.arrival_delay_s) == (NOON + 300, 90, 90)
    assert (ride.service_day.isoformat(), ride.wheelchair) == ("2026-03-10", Access.YES)


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ({"routeShortName": "", "routeLongName": "Long"}, ("Long", "Flevopark")),
        ({"routeShortName": None, "routeLongName": None, "displayName": "ICE 5"}, ("ICE 5", "Flevopark")),
        ({"routeShortName": "", "routeLongName": ""}, ("14", "Flevopark")),
        ({"headsign": ""}, ("14", "Flevopark")),
        ({"headsign": None, "tripTo": None}, ("14", None)),
    ],
)
async def test_what_is_empty_or_null_is_looked_for_elsewhere(told, known):
    """Short name, long name, what the server shows, the route's id; the trip's last stop for its headsign (rule A2)."""
    ride = await ride_of(a_ride(**told))

    assert (ride.line, ride.headsign) == known


@pytest.mark.parametrize(
    ("mode", "route_type", "known"),
    [
        ("SUBWAY", None, Mode.METRO),
        # Until version 5 of the API this was the suburban train.
        ("METRO", None, Mode.RAIL),
        ("SUBURBAN", 109, Mode.RAIL),
        ("HIGHSPEED_RAIL", None, Mode.RAIL),
        ("COACH", None, Mode.COACH),
        ("AERIAL_LIFT", None, Mode.OTHER),
        ("HOVERCRAFT_OF_TOMORROW", None, Mode.OTHER),
        ("OTHER", 900, Mode.TRAM),
    ],
)
async def test_a_mode_is_the_route_types_else_the_servers_word(mode, route_type, known):
    """What nobody has heard of is OTHER (rule A9)."""
    assert (await ride_of(a_ride(mode=mode, routeType=route_type))).mode is known


async def test_not_accessible_is_unknown():
    """The server says so also where its feed says nothing."""
    assert (await ride_of(a_ride(wheelchairAccessible="NOT_ACCESSIBLE"))).wheelchair is Access.UNKNOWN


@pytest.mark.parametrize(("real_time", "delay_s"), [(True, 0), (False, None)])
async def test_real_time_without_a_delay_is_real_time(real_time, delay_s):
    """And a time that differs without real time is no delay."""
    assert (await ride_of(a_ride(realTime=real_time))).departure_delay_s == delay_s


async def test_a_leg_without_scheduled_times_is_on_time():
    """Early servers left them out."""
    leg = a_ride(realTime=True)
    ride = await ride_of({name: each for name, each in leg.items() if not name.startswith("scheduled")})

    assert (ride.departure_scheduled, ride.departure_delay_s) == (NOON + 300, 0)


async def test_positions_have_the_names_that_were_asked_for():
    """Else they are what they are; the server calls them START and END."""
    origin = Location(coordinate=HERE, source=LocationSource.INPUT, name="Home")
    to_street = a_walk(15, **{"from": a_place("Artis", "GVB_2"), "to": a_street("END")})
    (found,) = (await plan(Told(plan=a_plan([*TRIP, to_street])), origin=origin)).itineraries

    assert [(leg.start.name, leg.end.name) for leg in found.legs] == [
        ("Home", "Dam"),
        ("Dam", "Artis"),
        ("Artis", "Destination"),
    ]


# --------------------------------------------------------------------------------------------- what is asked


async def test_a_query_is_asked_in_the_servers_words():
    """Positions, an instant in UTC, counts, and walks as time at no more than a metre a second."""
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
            "withFares": "true",
        }
    ]


@pytest.mark.parametrize(
    ("window_s", "asked"), [(None, None), (3600, "3600"), (3601, "3660"), (4 * 86_400, str(95 * 3600))]
)
async def test_a_window_is_asked_for_in_whole_minutes(window_s, asked):
    """At most what the server takes."""
    told = Told(plan=a_plan())
    await plan(told, window_s=window_s)

    assert told.list_asked("plan")[0].get("searchWindow") == asked


@pytest.mark.parametrize(
    ("second", "arrive_by", "asked"),
    [(0, False, "11:00:00Z"), (1, False, "11:01:00Z"), (59, True, "11:00:00Z"), (60, True, "11:01:00Z")],
)
async def test_the_server_is_asked_for_whole_minutes(second, arrive_by, asked):
    """It counts minutes: up for who leaves, down for who arrives."""
    told = Told(plan=a_plan())
    await plan(told, instant=NOON + second, arrive_by=arrive_by)

    assert told.list_asked("plan")[0]["time"] == f"2026-03-10T{asked}"


@pytest.mark.parametrize(("second", "found"), [(300, 1), (301, 0)])
async def test_what_leaves_before_the_second_is_left_out(second, found):
    """A server that answers too early is not believed."""
    answer = await plan(Told(plan=a_plan([a_ride()])), instant=NOON + second)

    assert len(answer.itineraries) == found


@pytest.mark.parametrize(("second", "found"), [(900, 1), (899, 0)])
async def test_what_arrives_after_the_second_is_left_out(second, found):
    """Nor one that answers too late."""
    answer = await plan(Told(plan=a_plan([a_ride()])), instant=NOON + second, arrive_by=True)

    assert len(answer.itineraries) == found


@pytest.mark.parametrize(("api", "transfers"), [(1, "5"), (2, "5"), (3, "4"), (6, "4")])
async def test_early_versions_count_rides_where_later_ones_count_transfers(api, transfers):
    """Version 3 of the API changed it."""
    told = Told(plan=a_plan())
    await plan(told, replace(LEARNED, traits={"api": str(api)}), max_transfers=4)

    assert told.list_asked("plan")[0]["maxTransfers"] == transfers


async def test_step_free_is_the_wheelchair_profile_with_routed_transfers():
    """A slower walk is allowed more time; without a ride, one with steps is asked for."""
    told = Told(plan=[a_plan(), a_plan(TRIP)])
    answer = await plan(told, step_free=True, max_walk_m=750.0)
    first, second = told.list_asked("plan")

    assert (first["pedestrianProfile"], first["useRoutedTransfers"], first["maxPreTransitTime"]) == (
        "WHEELCHAIR",
        "true",
        "1000",
    )
    assert ("pedestrianProfile" in second, len(answer.itineraries)) == (False, 1)


async def test_a_network_with_languages_asks_in_one_of_them():
    """And says which (rule A7)."""
    told = Told(plan=a_plan())
    async with asking(told, languages=("nl", "en")) as network:
        answer = await network.plan_journeys(a_query(language="nl"))

    assert (told.asked[0][1]["language"], answer.provenance.language) == ("nl", "nl")


# ------------------------------------------------------------------------------------- walking and its limit


async def test_too_much_walking_is_left_out_and_shorter_walks_are_asked_for():
    """With half of it at either end, and not on foot alone; once."""
    told = Told(plan=[a_plan([a_walk(metres=800), a_ride()]), a_plan([a_walk(metres=400), a_ride()])])
    answer = await plan(told, max_walk_m=500.0)

    assert [each.walk_m for each in answer.itineraries] == [400.0]
    assert [(each["maxPreTransitTime"], each["directModes"]) for each in told.list_asked("plan")] == [
        ("500", "WALK"),
        ("250", ""),
    ]


async def test_a_walk_without_a_length_is_measured_straight_and_said():
    """A server without streets says none; 222 m is from the Dam 0.002 degrees north."""
    walk = a_walk(**{"distance": None, "from": a_street(lat=52.372)})
    answer = await plan(Told(plan=a_plan([walk, a_ride()])))

    assert round(answer.itineraries[0].walk_m) == 222
    assert answer.provenance.notes == (
        "The server does not say how long some walks are; they are counted as straight lines.",
    )


async def test_a_walk_of_nothing_is_no_leg():
    """Older servers put one before the first ride from a stop."""
    nothing = a_walk(5, metres=0, **{**times(5, 5), "from": a_place()})
    (found,) = (await plan(Told(plan=a_plan([nothing, a_ride()])))).itineraries

    assert [leg.mode for leg in found.legs] == [Mode.TRAM]


async def test_the_way_on_foot_is_an_itinerary():
    """It stands beside the others in the server's answer."""
    answer = await plan(Told(plan=a_plan(direct=[[a_walk()]])))

    assert [len(each.rides) for each in answer.itineraries] == [0]


async def test_walks_are_as_late_as_the_rides_that_they_belong_to():
    """So their scheduled times stay, and the fingerprint with them; the server tells expected times only."""
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


# ------------------------------------------------------------------------------------------ what is left out


@pytest.mark.parametrize("mode", ["CAR", "BIKE", "RENTAL", "FLEX", "ODM", "RIDE_SHARING", "CAR_PARKING"])
async def test_what_nobody_asked_for_is_left_out_and_counted(mode):
    """A car, a bicycle, a rented or a booked vehicle."""
    answer = await plan(Told(plan=a_plan([a_walk(mode=mode), a_ride()], TRIP)))

    assert len(answer.itineraries) == 1
    assert answer.provenance.notes == (
        "1 itinerary was left out, because it needs a car, a bicycle, a rented or a booked vehicle.",
    )


async def test_a_shared_ride_of_the_timetable_is_one_by_arrangement():
    """It has a trip, so the feed lists it."""
    ride = await ride_of(a_ride(mode="RIDE_SHARING", routeType=None))

    assert (ride.mode, ride.by_arrangement) == (Mode.OTHER, True)


async def test_a_page_on_which_nothing_can_be_used_leads_to_the_next():
    """The cursor goes with the same question; the page behind it holds a trip."""
    told = Told(plan=[a_plan([a_walk(mode="CAR")], later="LATER|1"), a_plan(TRIP, later="LATER|2")])
    answer = await plan(told)
    first, second = told.list_asked("plan")

    assert (len(answer.itineraries), second) == (1, {**first, "pageCursor": "LATER|1"})


async def test_who_arrives_by_an_instant_pages_backwards():
    """Earlier trips may still be in time."""
    told = Told(plan=[a_plan([a_walk(mode="CAR")], later="LATER|1", earlier="EARLIER|1"), a_plan()])
    await plan(told, arrive_by=True)

    assert told.list_asked("plan")[1]["pageCursor"] == "EARLIER|1"


async def test_a_cursor_that_leads_nowhere_is_followed_once():
    """A server that goes in circles ends the search, and so do too many pages."""
    circle = Told(plan=a_plan([a_walk(mode="CAR")], later="LATER|1"))
    await plan(circle)
    numbers = iter(range(100))
    endless = Told(plan=lambda query: a_plan([a_walk(mode="CAR")], later=f"LATER|{next(numbers)}"))
    await plan(endless)

    assert (len(circle.list_asked("plan")), len(endless.list_asked("plan"))) == (2, 3)


# ------------------------------------------------------------------------------------------ what was promised


@pytest.mark.parametrize(
    "off",
    [
        {"cancelled": True},
        {"from": a_place(cancelled=True)},
        {"to": a_place("Artis", "GVB_2", cancelled=True)},
        {"from": a_place(pickupType="NOT_ALLOWED")},
        {"to": a_place("Artis", "GVB_2", dropoffType="NOT_ALLOWED")},
    ],
)
async def test_what_real_time_took_away_stays_visible(off):
    """A cancelled trip, or one that skips the stop at either end, without delays; what can be used is told once."""
    answer = await plan(Told([[a_ride(late_s=60, realTime=True, **off)], TRIP], plan=a_plan(TRIP)))
    ride = answer.timetabled[0].rides[0]

    assert (len(answer.itineraries), len(answer.timetabled)) == (1, 1)
    assert (ride.cancelled, ride.departure_delay_s, ride.departure) == (True, None, NOON + 300)


async def test_a_change_that_a_delay_breaks_stays_visible():
    """The first tram is six minutes late for a change of five."""
    late = a_ride(0, 360, realTime=True)
    onwards = a_ride(15, **{"from": a_place("Artis", "GVB_2"), "to": a_place("Zoo", "GVB_3")})
    answer = await plan(Told([[late, onwards]], plan=a_plan(TRIP)))

    assert [each.is_unusable for each in answer.timetabled] == [True]


async def test_a_walk_that_is_closed_cannot_be_used():
    """The server cancels it where a lift is out of order."""
    answer = await plan(Told(plan=a_plan([a_walk(cancelled=True), a_ride()])))

    assert answer.itineraries[0].is_unusable


async def test_where_the_second_search_fails_the_answer_stands_and_says_so():
    """The trips that can be made are worth more than what cannot."""
    answer = await plan(Told("503 Oh", plan=a_plan(TRIP)))

    assert len(answer.itineraries) == 1
    assert answer.provenance.notes == (
        "What real time took away is not known (town.example answered with a failure (HTTP 503)).",
    )


async def test_before_version_6_nobody_asks_what_was_promised():
    """The parameter came with it."""
    told = Told([[a_ride(cancelled=True)]], plan=a_plan(TRIP))
    answer = await plan(told, replace(LEARNED, traits={"api": "5"}))

    assert (len(told.asked), answer.timetabled) == (1, ())


async def test_legs_without_a_change_are_one_ride_for_the_rider():
    """The server marks them, because it is asked not to join them."""
    onwards = a_ride(15, interlineWithPreviousLeg=True, **{"from": a_place("Artis", "GVB_2")})
    (found,) = (await plan(Told(plan=a_plan([a_ride(), onwards])))).itineraries

    assert ([leg.stays_seated for leg in found.legs], found.transfers) == ([False, True], 0)


# ------------------------------------------------------------------------------------------------ its lines


@pytest.mark.parametrize(
    ("line", "api", "points"),
    [
        ({"points": "_izlhA~rlgdF_{geC~ywl@", "precision": 6}, 6, [(38.5, -120.2), (40.7, -120.95)]),
        ({"points": "_izlhA~rlgdF_{geC~ywl@"}, 6, [(38.5, -120.2), (40.7, -120.95)]),
        ({"points": "_p~iF~ps|U_ulLnnqC", "precision": 5}, 6, [(38.5, -120.2), (40.7, -120.95)]),
        ({"points": "_izlhA~rlgdF_{geC~ywl@"}, 1, [(3.85, -12.02), (4.07, -12.095)]),
    ],
)
async def test_a_line_is_read_at_the_precision_that_it_states(line, api, points):
    """Else at 6, and at 7 in the first version: never at OpenTripPlanner's 5."""
    answer = await plan(Told(plan=a_plan([a_ride(legGeometry=line)])), replace(LEARNED, traits={"api": str(api)}))
    drawn = answer.draw(answer.itineraries[0].legs[0])

    assert ([(round(lat, 6), round(lon, 6)) for lat, lon in drawn.points], drawn.source) == (points, LineSource.SHAPE)


@pytest.mark.parametrize("points", ["", "\x7f\x7f\x7f", "_"])
async def test_a_line_that_cannot_be_read_is_straight(points):
    """Damaged, or left out because nobody asked for details."""
    answer = await plan(Told(plan=a_plan([a_ride(legGeometry={"points": points, "precision": 6})])))

    assert answer.draw(answer.itineraries[0].legs[0]).source is LineSource.STRAIGHT


async def test_the_length_of_a_ride_is_its_lines():
    """From (38.5, -120.2) to (40.7, -120.95) it is some 253 km."""
    line = {"points": "_izlhA~rlgdF_{geC~ywl@", "precision": 6}

    assert round((await ride_of(a_ride(legGeometry=line))).distance_m, -3) == 253_000
    assert (await ride_of(a_ride())).distance_m is None


# ------------------------------------------------------------------------------------------------ its alerts


@pytest.mark.parametrize(
    ("alert", "told"),
    [
        ({"headerText": "Works", "descriptionText": "till May", "effect": "DETOUR"}, [("Works", "till May", "DETOUR")]),
        ({"headerText": "Works"}, [WORKS]),
        ({"headerText": "Works", "impactPeriod": [{"start": at(15), "end": at(60)}]}, [WORKS]),
        ({"headerText": "Works", "impactPeriod": [{"start": at(16)}]}, []),
        ({"headerText": "Works", "impactPeriod": [{"end": at(5)}]}, []),
        ({"headerText": "Works", "communicationPeriod": [{"end": at(5)}]}, []),
        ({"headerText": "Works", "communicationPeriod": [{"end": at(5)}], "impactPeriod": [{"start": at(0)}]}, [WORKS]),
        ({"headerText": "", "descriptionText": None}, []),
        ({"headerText": "Power sockets", "code": "PS"}, []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["leg", "from", "to"])
async def test_alerts_are_told_while_the_rider_is_there(alert, told, where):
    """From minute 5 to 15: what begins after it or ended before it is not; nor what says nothing, nor a remark."""
    ends = {"from": a_place(), "to": a_place("Artis", "GVB_2")}
    leg = a_ride(**({"alerts": [alert]} if where == "leg" else {where: {**ends[where], "alerts": [alert]}}))
    alerts = (await ride_of(leg)).alerts

    assert [(each.header, each.text, each.effect) for each in alerts] == told


async def test_an_alert_that_is_told_twice_is_one():
    """With the leg and with its stop."""
    alert = {"headerText": "Works", "descriptionText": ""}

    assert len((await ride_of(a_ride(alerts=[alert], **{"from": a_place(alerts=[alert])}))).alerts) == 1


# -------------------------------------------------------------------------------------------- zones and days


@pytest.mark.parametrize(
    ("tz", "zone"),
    [("Europe/London", "Europe/London"), (None, "Europe/Amsterdam"), ("Mars/Utopia", "Europe/Amsterdam")],
)
async def test_times_are_told_in_the_zone_of_the_first_stop(tz, zone):
    """Else in the network's, where the server knows none, or one that nobody here knows."""
    answer = await plan(Told(plan=a_plan([a_ride(**{"from": a_place(tz=tz)})])))

    assert answer.provenance.zone == zone


async def test_a_day_outside_the_timetable_is_told():
    """The server refuses it in a sentence."""
    words = "query time 2028-01-01 00:00 is outside of loaded timetable window [2026-01-01 00:00, 2027-01-01 00:00["
    with pytest.raises(OutsideCalendar, match="does not cover that day"):
        await plan(Told(plan=("400 Bad Request", {"error": words})))


async def test_a_stop_that_the_server_has_renamed_is_a_position():
    """Ids change with its data; the answer says so."""
    gone = "Could not find timetable location"

    def answer(query):
        return ("404 Not Found", {"error": gone}) if query["fromPlace"] == "GVB_1" else a_plan(TRIP)

    origin = Location(coordinate=HERE, source=LocationSource.INPUT, stop_ids=("GVB:1",))
    told = Told(plan=answer)
    found = await plan(told, origin=origin)

    assert [each["fromPlace"] for each in told.list_asked("plan")] == ["GVB_1", "52.3700000,4.9000000"]
    assert found.provenance.notes[0].startswith("The server no longer knows a stop's id")


@pytest.mark.parametrize(
    ("parents", "asked"), [(("GVB_S", "GVB_S"), "GVB_S"), (("GVB_S", "GVB_T"), "GVB_2"), ((None, None), "GVB_2")]
)
async def test_of_several_stops_the_shared_station_is_asked_for_else_the_nearest(parents, asked):
    """Stop 2 lies where the place does, stop 1 a hundred metres away (rule D2)."""
    stops = {
        "GVB_1": a_place("Dam", "GVB_1", 52.371, parentId=parents[0]),
        "GVB_2": a_place("Dam", "GVB_2", 52.370, parentId=parents[1]),
    }
    told = Told(plan=a_plan(), stoptimes=lambda query: {"stopTimes": [], "place": stops[query["stopId"]]})
    await plan(told, origin=Location(coordinate=HERE, source=LocationSource.GEOCODE, stop_ids=("GVB:1", "GVB:2")))

    assert told.list_asked("plan")[0]["fromPlace"] == asked


async def test_a_saved_stop_that_lies_elsewhere_is_left_alone():
    """A saved place is its position where its stop is more than 300 m away."""
    told = Told(plan=a_plan(), stoptimes={"stopTimes": [], "place": a_place(lat=52.38)})
    saved = Location(coordinate=Coordinate(52.37, 4.90), source=LocationSource.USER_VARIABLE, stop_ids=("GVB:1",))
    await plan(told, origin=saved)

    assert told.list_asked("plan")[0]["fromPlace"] == "52.3700000,4.9000000"
