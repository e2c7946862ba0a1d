"""Conformance checks for a network's journeys."""

from fingerpost.errors import OutsideCalendar
from fingerpost.testing.networks.checking import NetworkBroken, TownNetwork, draw_all, expect, expect_same, list_rides
from fingerpost.testing.networks.town import at
from fingerpost.transit.model.itinerary import Access, Mode
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.port import JourneyQuery

TRAM, NEXT_TRAM, BUSES = "1 08:10-08:30", "1 08:40-09:00", "2 08:12-08:22, 3 08:27-08:45"
# West of Alpha, 450 m away in a straight line, and at most 600 m on foot.
NEAR_ALPHA = Coordinate(60.1700, 24.9319)


async def a_plan_departs_when_asked(case: TownNetwork) -> None:
    answer = await case.plan("Alpha", "Gamma", "08:00")
    expect(TRAM in draw_all(answer.itineraries), f"{TRAM} is missing", draw_all(answer.itineraries))
    early = [itinerary for itinerary in answer.itineraries if itinerary.departure < at("08:00")]
    expect_same(draw_all(early), [], "itineraries that leave too early")
    then = draw_all((await case.plan("Alpha", "Gamma", "08:10:00")).itineraries)
    later = draw_all((await case.plan("Alpha", "Gamma", "08:11:00")).itineraries)
    expect_same((TRAM in then, TRAM in later), (True, False), f"{TRAM} is offered at 08:10 and at 08:11")


async def a_plan_arrives_when_asked(case: TownNetwork) -> None:
    answer = await case.plan("Alpha", "Gamma", "09:00", arrive_by=True)
    expect(NEXT_TRAM in draw_all(answer.itineraries), f"{NEXT_TRAM} is missing", draw_all(answer.itineraries))
    late = [itinerary for itinerary in answer.itineraries if itinerary.arrival > at("09:00")]
    expect_same(draw_all(late), [], "itineraries that arrive too late")
    found = draw_all((await case.plan("Alpha", "Gamma", "08:59", arrive_by=True)).itineraries)
    expect_same((NEXT_TRAM in found, TRAM in found), (False, True), f"{NEXT_TRAM} and {TRAM} are offered by 08:59")


async def a_plan_keeps_the_limit_of_transfers(case: TownNetwork) -> None:
    one = (await case.plan("Alpha", "Älvsjö", "08:00", max_transfers=1)).itineraries
    none = (await case.plan("Alpha", "Älvsjö", "08:00", max_transfers=0)).itineraries
    expect(any(trip.rides for trip in one), "no trip with one change from Alpha to Älvsjö")
    expect_same([trip.transfers for trip in one if trip.transfers > 1], [], "trips with more than one change")
    expect_same(draw_all([trip for trip in none if trip.rides]), [], "trips without a change")


async def a_plan_keeps_the_limit_of_walking(case: TownNetwork) -> None:
    origin = case.point(NEAR_ALPHA)
    far = (await case.plan(origin, "Gamma", "08:00", max_walk_m=1500.0)).itineraries
    short = (await case.plan(origin, "Gamma", "08:00", max_walk_m=100.0)).itineraries
    expect(any(trip.rides and trip.walk_m > 0 for trip in far), "no trip with a walk", draw_all(far))
    expect_same([trip.walk_m for trip in far if trip.walk_m > 1500], [], "walks beyond 1500 m")
    expect_same(draw_all([trip for trip in short if trip.rides]), [], "trips with a walking limit of 100 m")


async def legs_join_end_to_start(case: TownNetwork) -> None:
    for itinerary in (await case.plan(case.point(NEAR_ALPHA), "Älvsjö", "08:00")).itineraries:
        times = [instant for leg in itinerary.legs for instant in (leg.departure, leg.arrival)]
        expect(times == sorted(times), "time goes backwards within an itinerary", times)
        joints = zip(itinerary.legs, itinerary.legs[1:], strict=False)
        apart = [(a.end.name, b.start.name) for a, b in joints if a.end.coordinate != b.start.coordinate]
        expect_same(apart, [], "legs that do not join")


async def rides_state_line_mode_and_stops(case: TownNetwork) -> None:
    rides = list_rides((await case.plan("Alpha", "Gamma", "08:00")).itineraries)
    observed = {
        (ride.mode, ride.line, ride.headsign, ride.start.id, ride.end.id) for ride in rides if ride.line == "1"
    }  # fmt: skip
    wanted = {(Mode.TRAM, "1", "Gamma", case.town.stop_id("Alpha"), case.town.stop_id("Gamma"))}
    expect_same(observed, wanted, "mode, line, headsign and stops of line 1")


async def a_step_free_plan_takes_no_step(case: TownNetwork) -> None:
    answer = await case.plan("Alpha", "Gamma", "08:00", step_free=True)
    expect(answer.step_free_supported, "step-free is declared but not supported")
    expect(BUSES in draw_all(answer.itineraries), f"{BUSES} is missing", draw_all(answer.itineraries))
    steps = [ride.line for ride in list_rides(answer.itineraries) if ride.line == "1" or ride.wheelchair is Access.NO]
    expect_same(steps, [], "rides with steps")


async def no_route_is_an_empty_answer(case: TownNetwork) -> None:
    found = (await case.plan("Älvsjö", "Alpha", "08:00")).itineraries
    expect_same(draw_all([trip for trip in found if trip.rides]), [], "trips without a route")


async def a_day_outside_the_calendar_is_reported(case: TownNetwork) -> None:
    query = JourneyQuery(
        origin=case.stop("Alpha"), destination=case.stop("Gamma"), instant=at("08:00") + 2 * 366 * 86_400
    )
    try:
        answer = await case.network.plan_journeys(query)
    except OutsideCalendar:
        return
    raise NetworkBroken(f"a query for a day outside the calendar returned {draw_all(answer.itineraries)}")


async def itineraries_are_priced(case: TownNetwork) -> None:
    answer = await case.plan("Alpha", "Gamma", "08:00")
    fares = [case.network.find_fare(itinerary) for itinerary in answer.itineraries if itinerary.rides]
    observed = {None if fare is None else (fare.amount, fare.currency) for fare in fares}
    expect_same(observed, {("3.00", "EUR")}, "the prices of trips")


async def legs_have_lines(case: TownNetwork) -> None:
    answer = await case.plan("Alpha", "Gamma", "08:00")
    for leg in list_rides(answer.itineraries):
        line = case.network.find_line(leg)
        points = () if line is None else line.points
        expect(len(points) > 1, "a line with fewer than two points", points)
        ends = [leg.start.coordinate, leg.end.coordinate]
        off = [
            (point, end)
            for point, end in zip((points[0], points[-1]), ends, strict=True)
            if abs(point[0] - end.lat) > 0.002 or abs(point[1] - end.lon) > 0.004
        ]
        expect_same(off, [], "lines whose ends are not the ends of their legs")
