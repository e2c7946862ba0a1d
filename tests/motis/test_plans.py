"""Plans: the conversion of legs, lines and alerts, what is left out, and what realtime data removes."""

import pytest

from fingerpost.transit.model.itinerary import Access, LineSource, Mode
from fingerpost.transit.model.place import Location, LocationSource
from fingerpost.transit.remote.kit.journeys import draw_leg
from tests.motis.answers import HERE, NOON, Told, a_place, a_plan, a_ride, a_street, a_walk, at, plan, ride_of

TRIP = [a_walk(), a_ride()]
WORKS = ("Works", "", "UNKNOWN_EFFECT")


@pytest.mark.parametrize(
    ("told", "known"),
    [
        # Short name, long name, what the server shows, the route's id; the trip's last stop for its headsign (rule A2).
        ({"routeShortName": "", "routeLongName": "Long"}, {"line": "Long"}),
        ({"routeShortName": None, "routeLongName": None, "displayName": "ICE 5"}, {"line": "ICE 5"}),
        ({"routeShortName": "", "routeLongName": ""}, {"line": "14"}),
        ({"headsign": ""}, {"headsign": "Flevopark"}),
        ({"headsign": None, "tripTo": None}, {"headsign": None}),
        # The route's type, else the server's word; what nobody has heard of is OTHER (rule A9).
        ({"mode": "SUBWAY", "routeType": None}, {"mode": Mode.METRO}),
        ({"mode": "SUBURBAN", "routeType": 109}, {"mode": Mode.RAIL}),
        ({"mode": "HIGHSPEED_RAIL", "routeType": None}, {"mode": Mode.RAIL}),
        ({"mode": "COACH", "routeType": None}, {"mode": Mode.COACH}),
        ({"mode": "AERIAL_LIFT", "routeType": None}, {"mode": Mode.OTHER}),
        ({"mode": "HOVERCRAFT_OF_TOMORROW", "routeType": None}, {"mode": Mode.OTHER}),
        ({"mode": "OTHER", "routeType": 900}, {"mode": Mode.TRAM}),
        # A shared ride of the timetable has a trip, so the feed lists it.
        ({"mode": "RIDE_SHARING", "routeType": None}, {"mode": Mode.OTHER, "by_arrangement": True}),
        # Real time without a delay is real time, and a time that differs without real time is no delay.
        ({"realTime": True}, {"departure_delay_s": 0}),
        ({"realTime": False, "startTime": at(6)}, {"departure_delay_s": None}),
        # The server says so also where its feed says nothing.
        ({"wheelchairAccessible": "NOT_ACCESSIBLE"}, {"wheelchair": Access.UNKNOWN}),
    ],
)
async def test_an_empty_or_unknown_value_is_searched_elsewhere(told, known):
    ride = await ride_of(a_ride(**told))

    assert {name: getattr(ride, name) for name in known} == known


async def test_a_leg_without_scheduled_times_is_on_time():
    leg = a_ride(realTime=True)
    ride = await ride_of({name: each for name, each in leg.items() if not name.startswith("scheduled")})

    assert (ride.departure_scheduled, ride.departure_delay_s) == (NOON + 300, 0)


async def test_positions_have_the_requested_names():
    origin = Location(coordinate=HERE, source=LocationSource.INPUT, name="Home")
    to_street = a_walk(15, **{"from": a_place("Artis", "GVB_2"), "to": a_street("END")})
    (found,) = (await plan(Told(plan=a_plan([*TRIP, to_street])), origin=origin)).itineraries

    assert [(leg.start.name, leg.end.name) for leg in found.legs] == [
        ("Home", "Dam"),
        ("Dam", "Artis"),
        ("Artis", "Destination"),
    ]


@pytest.mark.parametrize(
    ("line", "points"),
    [
        *(({"points": damaged, "precision": 6}, None) for damaged in ("", "\x7f\x7f\x7f", "_")),
        ({"points": "_izlhA~rlgdF_{geC~ywl@", "precision": 6}, [(38.5, -120.2), (40.7, -120.95)]),
        ({"points": "_izlhA~rlgdF_{geC~ywl@"}, [(38.5, -120.2), (40.7, -120.95)]),
        ({"points": "_p~iF~ps|U_ulLnnqC", "precision": 5}, [(38.5, -120.2), (40.7, -120.95)]),
    ],
)
async def test_a_line_is_read_at_the_precision_that_it_states(line, points):
    answer = await plan(Told(plan=a_plan([a_ride(legGeometry=line)])))
    drawn = draw_leg(answer.itineraries[0].legs[0])

    if points is None:
        assert drawn.source is LineSource.STRAIGHT
    else:
        assert [(round(lat, 6), round(lon, 6)) for lat, lon in drawn.points] == points


async def test_the_length_of_a_ride_is_its_lines():
    line = {"points": "_izlhA~rlgdF_{geC~ywl@", "precision": 6}

    assert round((await ride_of(a_ride(legGeometry=line))).distance_m, -3) == 253_000
    assert (await ride_of(a_ride())).distance_m is None


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
async def test_alerts_are_reported_while_the_rider_is_there(alert, told, where):
    ends = {"from": a_place(), "to": a_place("Artis", "GVB_2")}
    leg = a_ride(**({"alerts": [alert]} if where == "leg" else {where: {**ends[where], "alerts": [alert]}}))
    alerts = (await ride_of(leg)).alerts

    assert [(each.header, each.text, each.effect) for each in alerts] == told


async def test_a_repeated_alert_is_one():
    alert = {"headerText": "Works", "descriptionText": ""}

    assert len((await ride_of(a_ride(alerts=[alert], **{"from": a_place(alerts=[alert])}))).alerts) == 1


@pytest.mark.parametrize("mode", ["CAR", "BIKE", "RENTAL", "FLEX", "ODM", "RIDE_SHARING", "CAR_PARKING"])
async def test_unrequested_trips_are_dropped_and_counted(mode):
    answer = await plan(Told(plan=a_plan([a_walk(mode=mode), a_ride()], TRIP)))

    assert len(answer.itineraries) == 1
    assert answer.provenance.notes == ("Itineraries left out: 1 by car, bicycle, or a rented or booked vehicle.",)


@pytest.mark.parametrize(("arrive_by", "cursor"), [(False, "LATER|1"), (True, "EARLIER|1")])
async def test_a_page_without_usable_trips_leads_to_the_next(arrive_by, cursor):
    told = Told(
        plan=[a_plan([a_walk(mode="CAR")], later="LATER|1", earlier="EARLIER|1"), a_plan(TRIP, later="LATER|2")]
    )
    answer = await plan(told, arrive_by=arrive_by, instant=NOON + (3600 if arrive_by else 0))
    first, second = told.list_asked("plan")

    assert (len(answer.itineraries), second) == (1, {**first, "pageCursor": cursor})


async def test_pages_have_an_end():
    numbers = iter(range(100))
    endless = Told(plan=lambda query: a_plan([a_walk(mode="CAR")], later=f"LATER|{next(numbers)}"))
    await plan(endless)

    assert len(endless.list_asked("plan")) == 3


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
async def test_rides_removed_by_realtime_stay_visible(off):
    answer = await plan(Told([[a_ride(late_s=60, realTime=True, **off)], TRIP], plan=a_plan(TRIP)))
    ride = answer.timetabled[0].rides[0]

    assert (len(answer.itineraries), len(answer.timetabled)) == (1, 1)
    assert (ride.cancelled, ride.departure_delay_s, ride.departure) == (True, None, NOON + 300)


async def test_a_change_that_a_delay_breaks_stays_visible():
    late = a_ride(0, 360, realTime=True)
    onwards = a_ride(15, **{"from": a_place("Artis", "GVB_2"), "to": a_place("Zoo", "GVB_3")})
    answer = await plan(Told([[late, onwards]], plan=a_plan(TRIP)))

    assert [each.is_unusable for each in answer.timetabled] == [True]


async def test_a_walk_that_is_closed_cannot_be_used():
    answer = await plan(Told(plan=a_plan([a_walk(cancelled=True), a_ride()])))

    assert answer.itineraries[0].is_unusable


async def test_a_failed_second_search_is_reported_with_the_answer():
    answer = await plan(Told("503 Oh", plan=a_plan(TRIP)))

    assert len(answer.itineraries) == 1
    assert answer.provenance.notes == (
        "Realtime cancellations are unknown (town.example returned an error (HTTP 503)).",
    )


async def test_legs_without_a_change_are_one_ride_for_the_rider():
    onwards = a_ride(15, interlineWithPreviousLeg=True, **{"from": a_place("Artis", "GVB_2")})
    (found,) = (await plan(Told(plan=a_plan([a_ride(), onwards])))).itineraries

    assert ([leg.stays_seated for leg in found.legs], found.transfers) == ([False, True], 0)
