"""What holds of alerts: until 09:00 bus 2 makes a detour, and there are works at Alpha (rule B13)."""

from collections.abc import Iterable

from fingerpost.testing.networks.checking import AskedNetwork, expect_same, list_rides
from fingerpost.testing.networks.town import DETOUR, WORKS, at
from fingerpost.transit.model.itinerary import ServiceAlert

_TOLD_OF_ALPHA = [WORKS]
_TOLD_OF_BUS_2 = [(DETOUR, "DETOUR")]


async def an_alert_of_a_line_is_told_with_its_ride(asked: AskedNetwork) -> None:
    """Is the detour told with bus 2 of 08:12, which is not late, and not with bus 3?"""
    rides = list_rides((await asked.plan("Alpha", "Gamma", "08:00")).itineraries)
    observed = {ride.line: _effects(ride.alerts) for ride in rides if ride.departure_scheduled <= at("08:27")}
    told = [each for each in observed.get("2", ()) if each[0] != WORKS]
    expect_same((told, observed.get("3")), (_TOLD_OF_BUS_2, []), "alerts of bus 2 and of bus 3")


async def an_alert_that_is_over_is_not_told(asked: AskedNetwork) -> None:
    """Does bus 2 of 09:12, which leaves when the alerts are over, carry none?"""
    rides = list_rides((await asked.plan("Alpha", "Gamma", "09:05")).itineraries)
    observed = [_headers(ride.alerts) for ride in rides if ride.departure_scheduled == at("09:12")]
    expect_same(observed[:1], [[]], "alerts of bus 2 of 09:12")


async def a_board_tells_the_alerts_of_its_stop(asked: AskedNetwork) -> None:
    """Are the works told with the board of Alpha until they end, and with no other stop's?"""
    during = _headers((await asked.board("Alpha", "08:00", "09:00")).alerts)
    later = _headers((await asked.board("Alpha", "09:05", "10:00")).alerts)
    elsewhere = _headers((await asked.board("Beta", "08:00", "09:00")).alerts)
    expect_same((during, later, elsewhere), (_TOLD_OF_ALPHA, [], []), "alerts of Alpha, of Alpha later, of Beta")


async def a_board_tells_the_alerts_of_its_rows(asked: AskedNetwork) -> None:
    """Is the detour told with the row of bus 2 and with no other?"""
    board = await asked.board("Alpha", "08:00", "09:00")
    observed = {row.line: DETOUR in _headers(row.alerts) for row in board.departures}
    expect_same(observed, {"1": False, "2": True}, "rows of Alpha that tell the detour")


def _headers(alerts: Iterable[ServiceAlert]) -> list[str]:
    return sorted(each.header for each in alerts)


def _effects(alerts: Iterable[ServiceAlert]) -> list[tuple[str, str]]:
    return sorted((each.header, each.effect) for each in alerts)
