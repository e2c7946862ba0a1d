"""Conformance checks for a network's profile, journeys, departure boards and place look-ups, without realtime."""

import asyncio
from datetime import date
from zoneinfo import ZoneInfo

from fingerpost.errors import OutsideCalendar
from fingerpost.transit.model.itinerary import Access, Mode
from fingerpost.transit.model.place import Coordinate, PlaceKind
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.port import JourneyQuery
from tests.conformance.town import PLACES, ZONE, to_unix
from tests.conformance.town_network import NetworkBroken, expect, expect_same, format_board, format_trips, list_rides

TRAM, NEXT_TRAM, BUSES = "1 08:10-08:30", "1 08:40-09:00", "2 08:12-08:22, 3 08:27-08:45"
# West of Alpha, 450 m away in a straight line, and at most 600 m on foot.
NEAR_ALPHA = Coordinate(60.1700, 24.9319)
# East of Alpha, 55 m away; the next stop, Beta, is 1.6 km away.
BESIDE_ALPHA = Coordinate(60.1700, 24.9410)
_CONCURRENCY = 12


async def the_profile_describes_the_town(case):
    profile, town = case.network.profile, case.town
    expect_same(profile.name, town.name, "the network's name")
    expect_same(ZoneInfo(profile.zone).key, ZONE, "the network's time zone")
    expect_same(set(profile.feed_names), {town.name}, "the feeds in the profile")
    expect_same(set(profile.modes), {Mode.TRAM, Mode.BUS, Mode.RAIL}, "the modes in the profile")
    outside = [name for name in PLACES if not profile.bounds.covers(town.coordinate(name))]
    expect_same(outside, [], "stops outside the bounds")


async def concurrent_queries_get_the_same_answer(case):
    async def query():
        if case.can(Ability.PLANS):
            return format_trips((await case.plan("Alpha", "Gamma", "08:00")).itineraries)
        return format_board(await case.board("Alpha", "08:00", "09:00"))

    single = await query()
    concurrent = await asyncio.gather(*(query() for _ in range(_CONCURRENCY)))
    expect_same([answer for answer in concurrent if answer != single], [], f"answers that differ from {single}")


async def every_answer_reports_its_provenance(case):
    profile = case.network.profile
    expect(bool(profile.attribution), "the attribution is empty")
    for answer_name, observed in (await _list_provenance(case)).items():
        expect(bool(observed.source), f"{answer_name} has no source")
        wanted = (case.town.name, ZONE, to_unix("08:00"), (), profile.is_demo)
        actual = (observed.network, observed.zone, observed.retrieved_at, observed.lost, observed.demo)
        expect_same(actual, wanted, f"the provenance of {answer_name}")
        expect_same({feed.name for feed in observed.feeds}, {case.town.name}, f"the feeds of {answer_name}")
        missing = set(profile.attribution) - set(observed.attribution)
        expect_same(missing, set(), f"attribution that is missing from {answer_name}")


async def answers_without_realtime_report_none(case):
    for answer_name, observed in (await _list_provenance(case)).items():
        actual = observed.realtime_updated, tuple(observed.realtime_problems)
        expect_same(actual, (None, ()), f"the realtime data in {answer_name}")


async def _list_provenance(case):
    provenance = {}
    if case.can(Ability.PLANS):
        provenance["a plan"] = (await case.plan("Alpha", "Gamma", "08:00")).provenance
    if case.can(Ability.BOARDS):
        provenance["a board"] = (await case.board("Alpha", "08:00", "09:00")).provenance
    if case.can(Ability.STOPS):
        provenance["a list of stops"] = (await case.network.list_stops_near(BESIDE_ALPHA, 100.0)).provenance
    return provenance


async def a_plan_departs_at_the_requested_time(case):
    answer = await case.plan("Alpha", "Gamma", "08:00")
    expect(TRAM in format_trips(answer.itineraries), f"{TRAM} is missing", format_trips(answer.itineraries))
    early = [itinerary for itinerary in answer.itineraries if itinerary.departure < to_unix("08:00")]
    expect_same(format_trips(early), [], "itineraries that leave too early")
    on_time = format_trips((await case.plan("Alpha", "Gamma", "08:10:00")).itineraries)
    later = format_trips((await case.plan("Alpha", "Gamma", "08:11:00")).itineraries)
    expect_same((TRAM in on_time, TRAM in later), (True, False), f"whether {TRAM} is offered at 08:10 and at 08:11")


async def a_plan_arrives_by_the_requested_time(case):
    answer = await case.plan("Alpha", "Gamma", "09:00", arrive_by=True)
    expect(NEXT_TRAM in format_trips(answer.itineraries), f"{NEXT_TRAM} is missing", format_trips(answer.itineraries))
    late = [itinerary for itinerary in answer.itineraries if itinerary.arrival > to_unix("09:00")]
    expect_same(format_trips(late), [], "itineraries that arrive too late")
    found = format_trips((await case.plan("Alpha", "Gamma", "08:59", arrive_by=True)).itineraries)
    expect_same((NEXT_TRAM in found, TRAM in found), (False, True), f"whether {NEXT_TRAM} and {TRAM} arrive by 08:59")


async def a_plan_respects_the_transfer_limit(case):
    one = (await case.plan("Alpha", "Älvsjö", "08:00", max_transfers=1)).itineraries
    none = (await case.plan("Alpha", "Älvsjö", "08:00", max_transfers=0)).itineraries
    expect(any(trip.rides for trip in one), "no trip with one change from Alpha to Älvsjö")
    expect_same([trip.transfers for trip in one if trip.transfers > 1], [], "trips with more than one change")
    expect_same(format_trips([trip for trip in none if trip.rides]), [], "trips without a change")


async def a_plan_respects_the_walking_limit(case):
    origin = case.point(NEAR_ALPHA)
    far = (await case.plan(origin, "Gamma", "08:00", max_walk_m=1500.0)).itineraries
    short = (await case.plan(origin, "Gamma", "08:00", max_walk_m=100.0)).itineraries
    expect(any(trip.rides and trip.walk_m > 0 for trip in far), "no trip with a walk", format_trips(far))
    expect_same([trip.walk_m for trip in far if trip.walk_m > 1500], [], "walks beyond 1500 m")
    expect_same(format_trips([trip for trip in short if trip.rides]), [], "trips with a walking limit of 100 m")


async def legs_join_end_to_start(case):
    for itinerary in (await case.plan(case.point(NEAR_ALPHA), "Älvsjö", "08:00")).itineraries:
        times = [instant for leg in itinerary.legs for instant in (leg.departure, leg.arrival)]
        expect(times == sorted(times), "time goes backwards within an itinerary", times)
        pairs = zip(itinerary.legs, itinerary.legs[1:], strict=False)
        gaps = [(a.end.name, b.start.name) for a, b in pairs if a.end.coordinate != b.start.coordinate]
        expect_same(gaps, [], "legs that do not join")


async def rides_include_line_mode_and_stops(case):
    rides = list_rides((await case.plan("Alpha", "Gamma", "08:00")).itineraries)
    trams = [ride for ride in rides if ride.line == "1"]
    observed = {(ride.mode, ride.line, ride.headsign, ride.start.id, ride.end.id) for ride in trams}
    wanted = {(Mode.TRAM, "1", "Gamma", case.town.stop_id("Alpha"), case.town.stop_id("Gamma"))}
    expect_same(observed, wanted, "mode, line, headsign and stops of line 1")


async def a_step_free_plan_avoids_steps(case):
    answer = await case.plan("Alpha", "Gamma", "08:00", step_free=True)
    expect(answer.step_free_supported, "step-free planning is declared but not supported")
    expect(BUSES in format_trips(answer.itineraries), f"{BUSES} is missing", format_trips(answer.itineraries))
    steps = [ride.line for ride in list_rides(answer.itineraries) if ride.line == "1" or ride.wheelchair is Access.NO]
    expect_same(steps, [], "rides with steps")


async def a_query_without_a_route_returns_no_trips(case):
    found = (await case.plan("Älvsjö", "Alpha", "08:00")).itineraries
    expect_same(format_trips([trip for trip in found if trip.rides]), [], "trips where there is no route")


async def a_day_outside_the_calendar_is_reported(case):
    instant = to_unix("08:00") + 2 * 366 * 86_400
    query = JourneyQuery(origin=case.stop("Alpha"), destination=case.stop("Gamma"), instant=instant)
    try:
        answer = await case.network.plan_journeys(query)
    except OutsideCalendar:
        return
    raise NetworkBroken(f"a query for a day outside the calendar returned {format_trips(answer.itineraries)}")


async def legs_have_lines(case):
    case.require(Ability.GEOMETRY)
    answer = await case.plan("Alpha", "Gamma", "08:00")
    for leg in list_rides(answer.itineraries):
        line = case.network.find_line(leg)
        points = () if line is None else line.points
        expect(len(points) > 1, "a line with fewer than two points", points)
        ends = (points[0], leg.start.coordinate), (points[-1], leg.end.coordinate)
        far = [(tip, end) for tip, end in ends if abs(tip[0] - end.lat) > 0.002 or abs(tip[1] - end.lon) > 0.004]
        expect_same(far, [], "lines that do not start and end with their legs")


async def a_window_includes_both_ends(case):
    both = format_board(await case.board("Alpha", "08:10:00", "08:40:00"))
    inside = format_board(await case.board("Alpha", "08:10:01", "08:39:59"))
    wanted = ["1 08:10", "2 08:12", "1 08:40"], ["2 08:12"]
    expect_same((both, inside), wanted, "boards with and without the departures at the ends of the window")


async def the_last_call_is_not_a_departure(case):
    expect_same(format_board(await case.board("Gamma", "08:00", "09:59")), ["R 09:10"], "the board at Gamma")


async def a_call_without_boarding_is_not_a_departure(case):
    expect_same(format_board(await case.board("Alpha", "09:00", "09:15")), ["2 09:12"], "the board at Alpha")


async def a_truncated_board_has_the_total_count(case):
    board = await case.board("Alpha", "08:00", "09:00", wanted=1)
    expect_same((format_board(board)[:1], board.found_count), (["1 08:10"], 3), "the first row and the count")


async def an_empty_board_is_not_an_error(case):
    board = await case.board("Gamma", "08:00", "08:30")
    expect_same((format_board(board), board.found_count), ([], 0), "the board for a period without departures")


async def rows_include_mode_destination_and_stop(case):
    rows = (await case.board("Alpha", "08:10", "08:11")).departures
    observed = [(row.mode, row.destination, row.stop_id, row.service_day.isoformat()) for row in rows]
    expect_same(observed, [(Mode.TRAM, "Gamma", case.town.stop_id("Alpha"), "2026-03-10")], "the row for 08:10")


async def another_day_has_a_board(case):
    day = date(2026, 3, 14)
    rows = (await case.board("Alpha", "08:00", "09:00", day=day)).departures
    observed = sorted((row.scheduled - to_unix("08:00", day), row.line, row.service_day) for row in rows)
    expect_same(observed, [(600, "1", day), (720, "2", day), (2400, "1", day)], "the board for another day")


async def an_exact_name_comes_first(case):
    matches = await case.places.find_places("Gamma")
    first = [(match.place.name, match.place.kind, match.score >= 0.8) for match in matches[:1]]
    expect_same(first, [("Gamma", PlaceKind.STOP, True)], "the first candidate for Gamma")
    scores = [match.score for match in matches]
    expect(scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores), "wrong scores", scores)


async def case_and_accents_do_not_matter(case):
    names = [match.place.name for match in (await case.places.find_places("ALVSJO"))[:1]]
    expect_same(names, ["Älvsjö"], "the first candidate for ALVSJO")


async def unknown_names_have_no_matches(case):
    found = [(match.place.name, match.score) for match in await case.places.find_places("qqxxzz") if match.score >= 0.8]
    expect_same(found, [], "candidates for qqxxzz")


async def a_token_resolves_to_its_place(case):
    for match in (await case.places.find_places("Beta"))[:1]:
        for token in (match.place.token, match.place.token.lower()):
            place = await case.places.find_stop(token, whole_place=True)
            observed = None if place is None else (place.name, place.coordinate)
            expect_same(observed, (match.place.name, match.place.coordinate), f"the place for the token {token}")
        return
    expect(False, "no candidate for Beta")


async def a_stop_is_found_by_its_id(case):
    printed = case.town.stop_id("Delta")
    for stop_id in (printed, printed.lower()):
        place = await case.places.find_stop(stop_id)
        observed = None if place is None else (place.id, place.name, place.coordinate, place.member_ids)
        wanted = (printed, "Delta", case.town.coordinate("Delta"), (printed,))
        expect_same(observed, wanted, f"the stop {stop_id}")


async def an_unknown_id_has_no_match(case):
    stop_id = f"{case.town.name}:NOWHERE"
    found = [await case.places.find_stop(stop_id, whole_place=whole) for whole in (False, True)]
    expect_same(found, [None, None], "the results for an unknown id")


async def nearby_stops_are_sorted_by_distance(case):
    near = (await case.places.list_stops_near(BESIDE_ALPHA, 2000.0)).stops
    expect_same([stop.stop.name for stop in near], ["Alpha", "Beta"], "stops within 2 km")
    distances = [stop.distance_m for stop in near]
    expect(abs(distances[0] - 55) < 10 and abs(distances[1] - 1605) < 30, "wrong distance to Alpha or Beta", distances)


async def nearby_stops_include_id_and_modes(case):
    near, none = [(await case.places.list_stops_near(BESIDE_ALPHA, radius_m)).stops for radius_m in (100.0, 10.0)]
    observed = [(stop.stop.id, frozenset(stop.modes)) for stop in near]
    wanted = [(case.town.stop_id("Alpha"), frozenset({Mode.BUS, Mode.TRAM}))]
    expect_same((observed, len(none)), (wanted, 0), "stops within 100 m, and how many within 10 m")
