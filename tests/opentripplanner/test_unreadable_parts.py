"""Odd and unreadable values in an answer: the rest is returned, and omissions are reported."""

from itertools import chain
from math import isfinite

import pytest

from fingerpost.errors import SourceChanged
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.remote.kit.journeys import draw_leg
from tests.opentripplanner.answers import HERE, a_page, a_query, a_ride, a_walk, asking, at, data

STOP = {"gtfsId": "HSL:1040601", "name": "Kamppi", "lat": 60.169, "lon": 24.931}
IMPOSSIBLE = "Itineraries left out: 1 that arrive before they depart."
UNMEASURED = "The server reports no length for some walks; straight-line distances are used instead."


async def plan(*itineraries):
    async with asking(data(live=a_page(*itineraries))) as (network, _):
        return await network.plan_journeys(a_query())


@pytest.mark.parametrize(
    ("odd", "named"),
    [
        ({"distance": float("nan")}, "distance"),
        ({"distance": -5}, "distance"),
        ({"start": {**at(5), "estimated": {"delay": "P9999999D"}}}, "start.estimated.delay"),
        ({"start": {**at(5), "estimated": {"delay": f"PT{'9' * 400}S"}}}, "start.estimated.delay"),
        ({"legGeometry": {"points": "_p~iF~ps|U_ulLnnqC_mqNvx"}}, "legGeometry.points"),
    ],
)
async def test_an_unreadable_optional_value_is_unknown(odd, named):
    answered = await plan([a_walk(), a_ride(**odd)], [a_walk(200.0, 15), a_ride(20)])
    first, _ = answered.itineraries
    ride = first.legs[1]

    assert answered.provenance.notes == (
        f"Parts of the server's response could not be read and were dropped: live.edges.node.legs.{named} (1).",
    )
    assert all(map(isfinite, [ride.distance_m or 0, *chain.from_iterable(draw_leg(ride).points)]))


@pytest.mark.parametrize("end", [2**63 - 1, 1_893_456_000_000, 253_402_300_799])
async def test_an_alert_until_the_end_of_the_world_is_open(end):
    alert = {"id": "1", "alertHeaderText": "Detour", "effectiveStartDate": 0, "effectiveEndDate": end}
    answered = await plan([a_ride(alerts=[alert])])

    assert [alert.until for alert in answered.itineraries[0].legs[0].alerts] == [None]
    assert answered.provenance.notes == ()


async def test_more_faults_than_are_worth_the_time_are_an_unknown_answer():
    async with asking(data(stopsByBbox=[STOP, *({**STOP, "name": None} for _ in range(2001))])) as (network, _):
        with pytest.raises(SourceChanged):
            await network.list_stops_near(HERE, 500.0)


async def test_a_leg_of_unknown_mode_or_line_is_returned_without_it():
    answered = await plan([a_walk(mode="CAR")], [a_walk(10.0, mode=None)], [a_ride(0, route=None)])
    car, unknown, bus = (itinerary.legs[0] for itinerary in answered.itineraries)

    assert (car.mode, car.distance_m, unknown.mode) == (Mode.OTHER, 200.0, Mode.OTHER)
    assert (bus.mode, bus.line, bus.headsign) == (Mode.BUS, None, "Tapiola")


@pytest.mark.parametrize(
    "odd",
    [
        [a_ride(20, end=at(-40))],
        [a_ride(20, start=at(20, "PT15M"), end=at(30, "PT0S"), realTime=True)],
        # Each may be ridden, and the last ends before the first begins.
        [a_walk(minute=120), a_ride()],
    ],
)
async def test_a_ride_that_ends_before_it_begins_is_not_offered(odd):
    answered = await plan(odd, [a_walk(), a_ride(end=at(5))])

    assert ([each.duration_s for each in answered.itineraries], answered.provenance.notes) == ([300], (IMPOSSIBLE,))
    with pytest.raises(SourceChanged):
        await plan(odd)


@pytest.mark.parametrize("metres", [None, -5000])
async def test_a_walk_of_a_length_that_is_not_known_is_a_straight_line(metres):
    away = {"name": "Kamppi", "lat": 60.18, "lon": 24.95, "stop": None}
    answered = await plan([a_walk(metres, to=away), a_ride()])
    beyond = await plan([a_walk(metres, to={**away, "lat": 60.20}), a_ride()])

    assert [round(each.walk_m) for each in answered.itineraries] == [1242]
    assert (answered.provenance.notes[-1], beyond.itineraries) == (UNMEASURED, ())
