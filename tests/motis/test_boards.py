"""Departure boards: the requests to the server, and the conversion of its stop times."""

from datetime import date

import pytest

from fingerpost.errors import SourceFailed
from tests.motis.answers import NOON, ZONE, Told, a_board, a_board_query, a_time, asking, at

TOO_MANY = ("422 Unprocessable Entity", {"error": "requesting for more than 1024 datapoints is not allowed"})
CANCELLED = {"cancelled": True, "departure_delay_s": None, "expected": NOON + 300}


async def board(told, **wishes):
    async with asking(told) as network:
        return await network.list_departures(a_board_query(**wishes))


async def row_of(time):
    (row,) = (await board(Told(stoptimes=a_board(time)))).departures
    return row


async def test_the_stop_is_queried_for_its_window_in_whole_minutes():
    told = Told(stoptimes=a_board())
    await board(told, instant=NOON + 30, window_s=600)

    assert told.asked == [
        (
            "stoptimes",
            {"stopId": "GVB_1", "exactRadius": "true", "radius": "0", "time": "2026-03-10T10:59:00Z", "window": "780"},
        )
    ]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        # That nobody may board a cancelled call is no reason to leave it out; nor does it have a delay.
        ({"pickupDropoffType": "NOT_ALLOWED", "cancelled": True}, CANCELLED),
        ({"pickupDropoffType": "NOT_ALLOWED", "tripCancelled": True}, CANCELLED),
        # A stop of the station that was asked for names it as its parent.
        ({"place": {"stopId": "GVB_1_P2", "parentId": "GVB_1"}}, {"stop_id": "GVB:1_P2"}),
        # Without a trip id the day is that of the departure, in the zone of its stop.
        ({"tripId": None}, {"service_day": date(2026, 3, 10)}),
    ],
)
async def test_a_row_names_its_oddities(told, shown):
    row = await row_of(a_time(5, 90, **told))

    assert {name: getattr(row, name) for name in shown} == shown


@pytest.mark.parametrize(
    "time",
    [
        a_time(pickupDropoffType="NOT_ALLOWED"),
        a_time(place={"departure": None, "arrival": at(5)}),
        # On the very same spot, and nobody asked for it.
        a_time(place={"stopId": "GVB_7"}),
        a_time(place={"stopId": None}),
    ],
)
async def test_arrivals_without_departure_are_not_rows(time):
    assert list((await board(Told(stoptimes=a_board(time)))).departures) == []


async def test_several_stops_are_one_board_by_time():
    rows = {"GVB_1": [a_time(20), a_time(5)], "GVB_2": [a_time(10, place={"stopId": "GVB_2"})]}
    told = Told(stoptimes=lambda query: a_board(*rows[query["stopId"]]))
    answer = await board(told, stop_ids=["GVB:1", "GVB:2"], wanted=2)

    assert [(row.scheduled - NOON) // 60 for row in answer.departures] == [5, 10]
    assert answer.found_count == 3


async def test_a_window_with_too_many_departures_is_halved():

    def answer(query):
        wide = int(query["window"]) > 2000
        return TOO_MANY if wide else a_board(a_time(0), a_time(30), a_time(60))

    told = Told(stoptimes=answer)
    answer = await board(told)

    assert [(row.scheduled - NOON) // 60 for row in answer.departures] == [0, 30, 60]
    assert [query["window"] for _, query in told.asked] == ["3780", "1980", "1980"]
    never = Told(stoptimes=TOO_MANY)
    with pytest.raises(SourceFailed, match="does not return that many results at once"):
        await board(never)
    assert len(never.asked) == 6


async def test_an_id_in_one_case_is_requested_in_both():

    def answer(query):
        known = query["stopId"] == "nl-ovapi_ab1"
        time = a_time(place={"stopId": "nl-ovapi_ab1"})
        return a_board(time) if known else ("404 Not Found", {"error": "no radius: stop_found=false"})

    told = Told(stoptimes=answer)
    answer = await board(told, stop_ids=["NL-OVAPI:AB1"])

    assert sorted(query["stopId"] for _, query in told.asked) == ["nl-ovapi_AB1", "nl-ovapi_ab1"]
    assert [row.stop_id for row in answer.departures] == ["NL-OVAPI:AB1"]


async def test_rows_have_the_alerts_in_force_at_their_departure():
    during, over = (
        {"headerText": name, "impactPeriod": [{"end": at(end)}]} for name, end in (("Works", 6), ("Past", 5))
    )
    row = await row_of(a_time(5, place={"alerts": [during, over]}))

    assert [alert.header for alert in row.alerts] == ["Works"]


@pytest.mark.parametrize(("tz", "zone"), [("Europe/London", "Europe/London"), (None, ZONE), ("?", ZONE)])
async def test_times_are_in_the_zone_of_the_stop(tz, zone):
    answer = await board(Told(stoptimes=a_board(a_time(place={"tz": tz}))))

    assert answer.provenance.zone == zone
