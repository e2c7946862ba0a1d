"""Conformance checks for a network's realtime data.

The 08:10 departure of tram 1 is cancelled, and the 08:40 one is two minutes late. Until 09:00, bus 2 is diverted and
there is construction at Alpha (rule B13).
"""

from fingerpost.transit.model.itinerary import Itinerary
from tests.conformance.town import DETOUR, REALTIME_AGE_S, WORKS, to_unix
from tests.conformance.town_network import expect, expect_same, format_board, format_trip, list_rides


async def a_cancelled_trip_is_not_offered(case):
    rides = list_rides((await case.plan("Alpha", "Gamma", "08:00")).itineraries)
    lines = [ride.line for ride in rides if ride.departure_scheduled == to_unix("08:10") and not ride.cancelled]
    expect_same(lines, [], "rides on the cancelled tram")


async def a_cancelled_trip_stays_visible(case):
    answer = await case.plan("Alpha", "Gamma", "08:00")
    rides = list_rides([*answer.itineraries, *answer.timetabled])
    cancelled = [ride.departure_scheduled for ride in rides if ride.line == "1" and ride.cancelled]
    timetabled = [format_trip(trip) for trip in answer.timetabled]
    expect(to_unix("08:10") in cancelled, "the cancelled tram at 08:10 is not shown anywhere", timetabled)


async def a_late_trip_reports_its_delay(case):
    rides = list_rides((await case.plan("Alpha", "Gamma", "08:30")).itineraries)
    late = [ride for ride in rides if ride.departure_scheduled == to_unix("08:40")]
    observed = {(ride.departure_delay_s, ride.arrival_delay_s) for ride in late}
    expect_same(observed, {(120, 120)}, "delays of the tram at 08:40")


async def a_ref_finds_its_ride_again(case):
    early, late = [await case.plan("Alpha", "Gamma", clock) for clock in ("08:00", "08:30")]
    rides = await case.find_rides([*early.itineraries, *early.timetabled, *late.itineraries])
    found_rides = [None if found is None else _describe_ride(found) for _, found in rides]
    expect_same(found_rides, [_describe_ride(ride) for ride, _ in rides], "the rides of the refs")
    gone = await case.find_rides([Itinerary((ride._replace(line="X", trip_id="X:1"),)) for ride, _ in rides])
    expect_same([found for _, found in gone if found is not None], [], "rides of unknown trips")


def _describe_ride(ride):
    delays_s = ride.cancelled or (ride.departure_delay_s, ride.arrival_delay_s)
    return ride.line, ride.start.id, ride.end.id, ride.departure_scheduled, ride.arrival_scheduled, delays_s


async def a_board_shows_cancellations_and_delays(case):
    board = await case.board("Alpha", "08:00", "09:00")
    wanted = ["1 08:10 cancelled", "2 08:12", "1 08:40 +120"]
    expect_same((format_board(board), board.found_count), (wanted, 3), "the board at Alpha")


async def a_window_uses_expected_times(case):
    after = format_board(await case.board("Alpha", "08:41", "08:50"))
    before = format_board(await case.board("Alpha", "08:39", "08:41"))
    expect_same((after, before), (["1 08:40 +120"], []), "boards around the departure of a late tram")


async def a_timetable_uses_scheduled_times(case):
    before = (await case.board("Alpha", "08:39", "08:41", by_schedule=True)).departures
    after = (await case.board("Alpha", "08:41", "08:50", by_schedule=True)).departures
    observed = [row.scheduled for row in before], list(after)
    expect_same(observed, ([to_unix("08:40")], []), "timetables around the departure of a late tram")


async def a_timetable_shows_cancellations_and_delays(case):
    board = format_board(await case.board("Alpha", "08:00", "09:00", by_schedule=True))
    expect_same(board, ["1 08:10 cancelled", "2 08:12", "1 08:40 +120"], "the timetable at Alpha")


async def answers_report_the_age_of_realtime(case):
    provenance = (await case.board("Alpha", "08:00", "09:00")).provenance
    observed = provenance.realtime_updated, tuple(provenance.realtime_problems)
    expect_same(observed, (to_unix("08:00") - REALTIME_AGE_S, ()), "the realtime data in the answer")


async def a_ride_has_the_alerts_for_its_line(case):
    rides = list_rides((await case.plan("Alpha", "Gamma", "08:00")).itineraries)
    early = [ride for ride in rides if ride.departure_scheduled <= to_unix("08:27")]
    observed = {ride.line: [(alert.header, alert.effect) for alert in ride.alerts] for ride in early}
    alerts = [alert for alert in observed.get("2", ()) if alert[0] != WORKS]
    expect_same((alerts, observed.get("3")), ([(DETOUR, "DETOUR")], []), "alerts for bus 2 and for bus 3")
    later = list_rides((await case.plan("Alpha", "Gamma", "09:05")).itineraries)
    expired = [_headers(ride.alerts) for ride in later if ride.departure_scheduled == to_unix("09:12")]
    expect_same(expired[:1], [[]], "alerts for bus 2 at 09:12")


async def a_board_has_the_alerts_for_its_stop(case):
    during = _headers((await case.board("Alpha", "08:00", "09:00")).alerts)
    later = _headers((await case.board("Alpha", "09:05", "10:00")).alerts)
    elsewhere = _headers((await case.board("Beta", "08:00", "09:00")).alerts)
    expect_same((during, later, elsewhere), ([WORKS], [], []), "alerts at Alpha, at Alpha later, and at Beta")


async def rows_have_their_alerts(case):
    board = await case.board("Alpha", "08:00", "09:00")
    observed = {row.line: DETOUR in _headers(row.alerts) for row in board.departures}
    expect_same(observed, {"1": False, "2": True}, "whether rows at Alpha have the detour alert")


def _headers(alerts):
    return sorted(alert.header for alert in alerts)
