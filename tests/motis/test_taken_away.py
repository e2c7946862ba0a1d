"""Plans: what is left out because nobody asked for it, and what real time took away."""

from dataclasses import replace

import pytest

from fingerpost.transit.model.itinerary import Mode
from tests.motis.answers import (
    LEARNED,
    NOON,
    Told,
    a_place,
    a_plan,
    a_query,
    a_ride,
    a_walk,
    asking,
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


async def test_pages_have_an_end():
    """However often the server says that there is more."""
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
