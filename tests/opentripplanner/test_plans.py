"""Plans: the query's variables, pages, walking limits, and the conversion of itineraries."""

import json

import pytest

from fingerpost.transit.model.itinerary import Access, Mode, Optimize
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from tests.opentripplanner.answers import (
    HERE,
    NOON,
    a_page,
    a_query,
    a_ride,
    a_stop,
    a_walk,
    asked_of,
    asking,
    at,
    data,
)

TRIP = (a_walk(), a_ride())
ROUTE = {"gtfsId": "HSL:1", "shortName": "1", "type": None}


async def _plan(*answers, **wishes):
    async with asking(*answers) as (network, local):
        return await network.plan_journeys(a_query(**wishes)), local


async def test_an_end_has_the_callers_name():
    home = Location(coordinate=HERE, source=LocationSource.USER_VARIABLE, name="Home")
    answered, local = await _plan(data(live=a_page(TRIP, cursor="a")), origin=home)

    assert answered.itineraries[0].legs[0].start.name == "Home"
    assert (len(local.asked), "searchWindow" in asked_of(local)["variables"]) == (1, False)


async def test_delays_are_read_with_their_sign():
    ride = a_ride(realTime=True, realtimeState="UPDATED", start=at(5, "-PT1M30S"), end=at(15, "PT2M"))
    answered, _ = await _plan(data(live=a_page([ride])))

    (leg,) = answered.itineraries[0].legs
    assert (leg.departure_delay_s, leg.arrival_delay_s) == (-90, 120)


async def test_a_cancelled_trip_stays_visible_among_running_ones():
    """The second search includes cancellations; only what cannot be used is taken from it (rule B5)."""
    off = a_ride(3, realTime=True, realtimeState="CANCELED", pickupType=None, dropoffType=None)
    answered, local = await _plan(data(live=a_page([a_ride()]), scheduled=a_page([off], [a_ride()])))
    asked = asked_of(local)["variables"]

    assert [leg.cancelled for each in answered.timetabled for leg in each.legs] == [True]
    assert [leg.cancelled for each in answered.itineraries for leg in each.legs] == [False]
    assert asked["scheduled"]["transit"]["timetable"] == {"includeRealTimeCancellations": True}
    assert "timetable" not in asked["preferences"]["transit"]


@pytest.mark.parametrize("gone", ["pickupType", "dropoffType"])
async def test_a_skipped_stop_makes_a_ride_unusable(gone):
    live = a_ride(**{"realTime": True, "realtimeState": "UPDATED", gone: None})
    planned = a_ride(**{gone: None})
    answered, _ = await _plan(data(live=a_page([live], [planned])))

    assert [each.is_unusable for each in answered.itineraries] == [True, False]


async def test_an_alert_in_force_is_reported_with_the_ride_late_or_not():
    alerts = [
        {
            "id": "a",
            "alertHeaderText": "Strike",
            "alertDescriptionText": "",
            "effectiveStartDate": NOON,
            "alertEffect": "DETOUR",
            "alertUrl": "https://a",
        },
        {"id": "b", "alertHeaderText": "Over", "effectiveStartDate": 0, "effectiveEndDate": NOON},
        {"id": "c", "alertHeaderText": "", "alertDescriptionText": "Snow", "effectiveEndDate": None},
    ]
    late = a_ride(realTime=True, start=at(5, "PT10M"), end=at(15, "PT10M"), alerts=alerts)
    answered, _ = await _plan(data(live=a_page([late], [a_ride(alerts=alerts)])))

    told = [
        [(alert.header, alert.text, alert.effect, alert.url) for alert in each.legs[0].alerts]
        for each in answered.itineraries
    ]
    assert told == [[("Strike", "", "DETOUR", "https://a"), ("", "Snow", "UNKNOWN_EFFECT", None)]] * 2


async def test_wishes_are_in_the_question():
    wishes = {"max_transfers": 1, "step_free": True, "arrive_by": True, "language": "sv"}
    _, local = await _plan(data(live=a_page(TRIP)), **wishes, optimize=Optimize.FEW_TRANSFERS)
    asked = asked_of(local, 0)["variables"]

    assert asked["preferences"]["transit"]["transfer"] == {"maximumTransfers": 1, "cost": 1200}
    assert asked["preferences"]["accessibility"] == {"wheelchair": {"enabled": True}}
    assert asked["dateTime"] == {"latestArrival": "2026-03-10T12:00:01+02:00"}
    assert local.asked[0].headers["accept-language"] == "sv"
    assert ("modes" in asked, b"null" in local.asked[0].body) == (False, False)


@pytest.mark.parametrize(
    ("asked_s", "walk", "ride"),
    [(299, [(-1, 299)], []), (300, [(0, 300)], []), (899, [(0, 300)], []), (900, [(0, 300)], [(300, 900)])],
)
async def test_an_arrival_time_is_never_exceeded(asked_s, walk, ride):
    """The question is a second later than the wish, so that a ride to the very second is found.

    A walk to that later second sets out a second earlier, and a ride that arrives in it or later is left out.
    """
    answered, _ = await _plan(data(live=a_page([a_walk()], [a_ride()])), arrive_by=True, instant=NOON + asked_s)
    told = {len(each.rides): (each.departure - NOON, each.arrival - NOON) for each in answered.itineraries}

    assert ([told[0]], [told[1]] if 1 in told else []) == (walk, ride)


async def test_an_unlisted_language_is_chosen_by_the_chain():
    """The server has fi and sv; de falls back on fi (rule A7)."""
    answered, local = await _plan(data(live=a_page(TRIP)), language="de")

    assert (local.asked[0].headers["accept-language"], answered.provenance.language) == ("fi", "fi")


async def test_a_stop_is_queried_by_its_id_not_its_coordinate():
    stop = Location(coordinate=HERE, source=LocationSource.INPUT, stop_ids=("TAMPERE:0001",))
    _, local = await _plan(data(live=a_page(TRIP)), origin=stop)

    assert asked_of(local)["variables"]["origin"] == {"location": {"stopLocation": {"stopLocationId": "tampere:0001"}}}


@pytest.mark.parametrize(("lat", "asked"), [(60.172, "stopLocation"), (60.173, "coordinate")])
async def test_a_saved_place_is_at_its_stop_only_where_the_two_are_one_place(lat, asked):
    """222 m away they are, 334 m away they are not (rule D2)."""
    stop = {"gtfsId": "HSL:1", "name": "Kamppi", "lat": lat, "lon": 24.94, "parentStation": None}
    saved = Location(coordinate=Coordinate(60.17, 24.94), source=LocationSource.USER_VARIABLE, stop_ids=("HSL:1",))
    _, local = await _plan(data(stops=[stop], stations=[]), data(live=a_page(TRIP)), origin=saved)

    assert list(asked_of(local)["variables"]["origin"]["location"]) == [asked]


async def test_too_much_walking_is_searched_again_with_shorter_walks():
    far, near = data(live=a_page([a_walk(2000.0)])), data(live=a_page([a_walk(400.0), a_ride()]))
    answered, local = await _plan(far, near, max_walk_m=1500.0)
    asked = asked_of(local)["variables"]

    assert [each.walk_m for each in answered.itineraries] == [400.0]
    assert (asked["modes"], asked["preferences"]["street"]) == ({"transitOnly": True}, {"walk": {"reluctance": 10.0}})


async def test_an_empty_result_has_the_reasons_of_both_queries():
    answered, local = await _plan(
        data(live=a_page([a_walk(2000.0)], errors=[("WALKING_BETTER_THAN_TRANSIT", None)])),
        data(live=a_page(errors=[("NO_TRANSIT_CONNECTION", None)])),
        max_walk_m=1500.0,
    )

    assert (answered.itineraries, len(local.asked)) == ((), 2)
    assert answered.no_result_reason == (
        "Walking is quicker than any ride, but exceeds the walking limit; raise the limit. "
        "No service connects the two places on that day or the next"
    )


async def test_an_empty_page_leads_to_the_next():
    answered, local = await _plan(
        data(live=a_page(cursor="A", errors=[("NO_TRANSIT_CONNECTION_IN_SEARCH_WINDOW", "DATE_TIME")])),
        data(live=a_page(TRIP)),
    )
    first, second = asked_of(local, 0)["variables"], asked_of(local, 1)["variables"]

    assert len(answered.itineraries) == 1
    assert (second.pop("after"), second.pop("withScheduled"), first.pop("withScheduled")) == ("A", False, True)
    assert second == first


async def test_a_window_is_requested_and_followed_to_its_end():
    pages = [data(live=a_page([a_ride(minute)], cursor=cursor)) for minute, cursor in ((5, "a"), (29, "b"), (31, "c"))]
    answered, local = await _plan(*pages, window_s=1800)
    asked = [json.loads(each.body)["variables"] for each in local.asked]

    assert len(answered.itineraries) == 3
    assert [(each["searchWindow"], each["first"], each.get("after")) for each in asked] == [
        ("PT1800S", 40, None),
        ("PT1800S", 40, "a"),
        ("PT1800S", 40, "b"),
    ]


async def test_entries_repeated_on_two_pages_appear_once():
    far = [a_walk(5000.0), a_ride()]
    answered, _ = await _plan(
        data(live=a_page(far, cursor="A")), data(live=a_page(TRIP, TRIP)), data(live=a_page()), max_walk_m=1500.0
    )

    assert len(answered.itineraries) == 1


async def test_an_itinerary_that_lacks_a_leg_is_left_out():
    answered, _ = await _plan(data(live=a_page([a_walk(), None], TRIP)))

    assert [len(each.legs) for each in answered.itineraries] == [2]


@pytest.mark.parametrize(
    ("code", "field", "sentence"),
    [
        ("LOCATION_NOT_FOUND", "FROM", "There is no street or stop near the origin"),
        ("NO_STOPS_IN_RANGE", None, "No stop is within walking distance of the origin or destination"),
        ("BRAND_NEW", "FROM", None),
    ],
)
async def test_an_empty_result_is_explained(code, field, sentence):
    answered, _ = await _plan(data(live=a_page(errors=[(code, field)])))

    assert (answered.itineraries, answered.no_result_reason) == ((), sentence)


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        # The route's type decides where there is one (rule A9).
        ({"mode": "BUS", "route": {**ROUTE, "type": 702}}, {"mode": Mode.BUS}),
        ({"mode": "BUS", "route": {**ROUTE, "type": 200}}, {"mode": Mode.COACH}),
        ({"mode": "MAGLEV", "route": ROUTE}, {"mode": Mode.OTHER}),
        ({"mode": None, "route": ROUTE}, {"mode": Mode.OTHER}),
        ({"trip": {"gtfsId": "HSL:1014_2", "wheelchairAccessible": "NOT_POSSIBLE"}}, {"wheelchair": Access.NO}),
        # Short name, else long name, else route id (rule A2).
        ({"route": {"gtfsId": "HSL:1014", "shortName": None, "longName": "Ring"}}, {"line": "Ring"}),
        ({"route": {"gtfsId": "HSL:1014", "shortName": "", "longName": ""}}, {"line": "1014"}),
    ],
)
async def test_an_unknown_or_missing_value_is_searched_elsewhere(told, shown):
    answered, _ = await _plan(data(live=a_page([a_ride(**told)])))
    (leg,) = answered.itineraries[0].legs

    assert {name: getattr(leg, name) for name in shown} == shown


async def test_a_platform_without_a_name_still_has_one():
    ride = a_ride(**{"from": {"name": "Kamppi", "lat": 1.0, "lon": 2.0, "stop": {**a_stop("HSL:1", None)}}})
    answered, _ = await _plan(data(live=a_page([ride])))

    assert answered.itineraries[0].legs[0].start.name == "Kamppi"
