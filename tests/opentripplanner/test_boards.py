"""Departure boards from the server's stop times."""

from datetime import UTC, date, datetime

import pytest

from tests.opentripplanner.answers import NOON, a_board, a_board_query, a_time, asked_of, asking, data

LIVE = {"realtime": True, "realtimeState": "UPDATED"}


async def _board(*times, **wishes):
    async with asking(data(stops=[a_board(*times)])) as (network, local):
        return await network.list_departures(a_board_query(**wishes)), local


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ({"realtime": True, "realtimeState": "CANCELED", "pickupType": None}, [(True, None, False)]),
        # Real time took the pickup type away, so the call is skipped; one that never was there says nothing.
        ({**LIVE, "pickupType": None}, [(True, None, False)]),
        ({"pickupType": None}, [(False, None, False)]),
        # The last call: its pickup type is gone, its position is not.
        ({"realtime": True, "realtimeState": "CANCELED", "pickupType": None, "stopPositionInPattern": 9}, []),
        ({"pickupType": "CALL_AGENCY"}, [(False, None, True)]),
        ({**LIVE, "departureDelay": 60}, [(False, 60, False)]),
    ],
)
async def test_a_row_states_whether_and_when_the_stop_is_served(told, shown):
    board, _ = await _board(a_time(**told))

    assert [(row.cancelled, row.departure_delay_s, row.by_arrangement) for row in board.departures] == shown
    assert {row.scheduled for row in board.departures} <= {NOON}


async def test_a_destination_is_the_stops_headsign_then_the_trips_then_the_last_stop():
    bare = {**a_time()["trip"], "tripHeadsign": None}
    nameless = {**bare, "arrivalStoptime": None}
    board, _ = await _board(
        a_time(0),
        a_time(1, headsign=None),
        a_time(2, headsign=None, trip=bare),
        a_time(3, headsign=None, trip=nameless),
    )

    assert [row.destination for row in board.departures] == ["Tapiola", "Otaniemi", "Aalto", "14"]


async def test_the_query_names_every_stop_once_and_excludes_no_cancellation():
    _, local = await _board(stop_ids=["HSL:1040601", "hsl:1040601", "TAMPERE:0001"])
    asked = asked_of(local)

    assert (asked["variables"]["ids"], len(local.asked)) == (["HSL:1040601", "tampere:0001"], 1)
    assert asked["variables"]["from"] < NOON
    assert "omitCanceled: false" in asked["query"]


def _alert(name, **bounds):
    return {"id": name, "alertHeaderText": name, "alertDescriptionText": "", "alertEffect": "DETOUR", **bounds}


async def test_alerts_of_the_stop_and_of_a_ride_are_reported_while_in_force():
    """B13: a row's are judged when it leaves, the stop's over the whole window; both ends are held."""
    row = a_time(
        10, trip={**a_time()["trip"], "alerts": [_alert("route"), _alert("over", effectiveEndDate=NOON + 600)]}
    )
    stop = {
        **a_board(row),
        "alerts": [
            _alert("stop", effectiveStartDate=NOON + 600),
            _alert("later", effectiveStartDate=NOON + 601, effectiveEndDate=NOON + 9000),
            _alert("tomorrow", effectiveStartDate=NOON + 3601),
        ],
    }
    async with asking(data(stops=[stop])) as (network, _):
        board = await network.list_departures(a_board_query())

    assert [alert.id for alert in board.departures[0].alerts] == ["route", "stop"]
    assert [alert.id for alert in board.alerts] == ["stop", "later"]
    assert board.alerts[0].effect == "DETOUR"


@pytest.mark.parametrize(
    ("day", "begins", "hours", "leaves"),
    [
        # Clocks go forward at 03:00: noon minus twelve hours is 23:00 of the day before, and 08:00 is 05:00Z.
        (date(2026, 3, 29), datetime(2026, 3, 28, 21, tzinfo=UTC), 8, datetime(2026, 3, 29, 5, tzinfo=UTC)),
        # Clocks go back at 04:00: it is 01:00 of the day itself, and 08:00 is 06:00Z.
        (date(2026, 10, 25), datetime(2026, 10, 24, 22, tzinfo=UTC), 8, datetime(2026, 10, 25, 6, tzinfo=UTC)),
        # A trip at 24:30.
        (date(2026, 3, 10), datetime(2026, 3, 9, 22, tzinfo=UTC), 24.5, datetime(2026, 3, 10, 22, 30, tzinfo=UTC)),
    ],
)
async def test_a_departure_counts_from_noon_minus_twelve_hours_of_its_service_day(day, begins, hours, leaves):
    instant = int(leaves.timestamp())
    time = a_time(serviceDay=int(begins.timestamp()), scheduledDeparture=int(hours * 3600))
    async with asking(data(stops=[a_board(time)])) as (network, _):
        board = await network.list_departures(a_board_query(instant=instant, window_s=0))

    assert [(row.scheduled, row.service_day) for row in board.departures] == [(instant, day)]
