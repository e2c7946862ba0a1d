"""Boards of predicted arrivals, stops by id, and names."""

from datetime import UTC, datetime

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.errors import RegionUnsupported
from fingerpost.store.variables import VariableStore
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Coordinate
from fingerpost.transit.remote.tfl.network import NOTE_BEYOND_REACH
from tests.fakes import FakeNetworks
from tests.tfl.asking import asking, list_board

NINE = int(datetime(2026, 6, 10, 8, tzinfo=UTC).timestamp())


def a_stop(own_id, name, kind="NaptanMetroStation", **more):
    return {"id": own_id, "commonName": name, "stopType": kind, "lat": 51.4965, "lon": -0.1447, **more}


VICTORIA = a_stop(
    "940GZZLUVIC",
    "Victoria Underground Station",
    naptanId="940GZZLUVIC",
    modes=["tube"],
    lines=[{"id": "victoria", "name": "Victoria"}],
)


def arriving(minute, number="1", **more):
    told = {
        "id": number,
        "naptanId": "940GZZLUVIC",
        "lineId": "victoria",
        "lineName": "Victoria",
        "platformName": "Northbound - Platform 3",
        "destinationNaptanId": "940GZZLUWWL",
        "destinationName": "Walthamstow Central Underground Station",
        "timestamp": "2026-06-10T07:59:40.1234567Z",
        "expectedArrival": f"2026-06-10T08:{minute:02d}:00Z",
        "timeToLive": f"2026-06-10T08:{minute:02d}:00Z",
        "modeName": "tube",
        "timing": {"source": "0001-01-01T00:00:00"},
    }
    return {**told, **more}


async def board(told, stop="TFL:940GZZLUVIC", window_min=30, first=NINE, **answers):
    async with asking({"/StopPoint/940GZZLUVIC/Arrivals": told, **answers}) as (network, server):
        return await list_board(network, stop, first, window_min * 60), server


def drawn(told):
    return [(row.line, (row.expected - NINE) // 60) for row in told.departures]


async def test_a_row_is_a_prediction():
    found, _ = await board([arriving(7)])
    (row,) = found.departures

    assert (row.expected - NINE, row.departure_delay_s, row.cancelled, row.mode) == (420, None, False, Mode.METRO)
    assert (row.destination, row.platform, row.stop_id) == (
        "Walthamstow Central Underground Station",
        "Northbound - Platform 3",
        "TFL:940GZZLUVIC",
    )
    assert (row.last_realtime_update, found.provenance.realtime_updated) == (NINE - 20, NINE - 20)
    assert "so delays and cancellations are unknown" in found.provenance.notes[0]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        # Its destination is this very stop.
        ([arriving(7), arriving(8, "2", destinationNaptanId="940GZZLUVIC")], 7),
        # Of two predictions of one train the later word holds.
        ([arriving(9, timestamp="2026-06-10T07:59:50Z"), arriving(7)], 9),
    ],
)
async def test_a_train_is_one_row_where_it_can_be_boarded(told, shown):
    found, _ = await board(told)

    assert drawn(found) == [("Victoria", shown)]


async def test_missing_values_are_not_invented():
    bare = arriving(7, towards="Check Front of Train", platformName="null")
    del bare["destinationName"], bare["destinationNaptanId"]
    found, _ = await board([bare])
    (row,) = found.departures

    assert (row.destination, row.platform) == ("Check Front of Train", None)


async def test_a_board_without_the_status_of_lines_reports_it():
    answers = {"/StopPoint/940GZZLUVIC/Disruption": [], "/Line/victoria/Status": (500, {})}
    found, _ = await board([arriving(7)], **answers)

    assert drawn(found) == [("Victoria", 7)]
    assert found.provenance.notes[1:] == ("TfL did not return the status of its lines.",)


async def test_a_window_beyond_the_predictions_is_noted():
    found, _ = await board([arriving(7)], window_min=60)

    assert found.provenance.notes[1] == NOTE_BEYOND_REACH


@pytest.mark.parametrize("first", [NINE + 1801, NINE - 3600])
async def test_a_window_outside_the_predictions_is_an_error(first):
    with pytest.raises(RegionUnsupported, match="TFL lists only the departures of the next half hour"):
        await board([arriving(7)], first=first)


async def test_the_timetable_tool_reports_that_there_are_no_timetables(tmp_path):
    async with asking({"/StopPoint/940GZZLUVIC": VICTORIA}) as (network, _):
        tools = list_tools(FakeNetworks(network), VariableStore(tmp_path / "variables.sqlite"))
        tool = next(tool for tool in tools if tool.name == "getStopTimetable")
        answered = await tool.answer({"stopId": "TFL:940GZZLUVIC"}, user="ann")

    assert (answered.body["error"]["category"], answered.body["error"]["message"]) == (
        "NO_RESULTS",
        "TFL has no timetables",
    )
    assert "Use get_departures for the next departures, or plan_trip for another time" in answered.text


async def test_a_hub_is_queried_by_its_stations():
    """TfL predicts nothing for a hub; entrances below it are not asked."""
    entrance = a_stop("4900ZZLUVIC1", "Entrance", "NaptanMetroEntrance")
    station = a_stop("940GZZLUVIC", "Victoria Underground Station", children=[entrance])
    pole = a_stop("490000248S", "Victoria", "NaptanPublicBusCoachTram")
    pair = a_stop("490G000VIC", "Victoria", "NaptanOnstreetBusCoachStopPair", children=[pole])
    hub = a_stop("HUBVIC", "Victoria", "TransportInterchange", children=[station, pair])
    bus = arriving(5, "b", naptanId="490000248S", lineId="38", lineName="38", modeName="bus")
    found, server = await board(
        [arriving(7)], "tfl:hubvic", **{"/StopPoint/HUBVIC": hub, "/StopPoint/490000248S/Arrivals": [bus]}
    )

    assert drawn(found) == [("38", 5), ("Victoria", 7)]
    assert [path for path in server.paths if path.endswith("/Arrivals")] == [
        "/StopPoint/940GZZLUVIC/Arrivals",
        "/StopPoint/490000248S/Arrivals",
    ]


async def test_line_status_and_lifts_go_with_the_board():
    """B13: the worst is told by what it means: 20 is closed, and 10 is good."""
    statuses = [
        {"statusSeverity": 10, "statusSeverityDescription": "Good Service"},
        {"statusSeverity": 20, "statusSeverityDescription": "Service Closed", "reason": "Closed tonight."},
    ]
    line = {"id": "victoria", "name": "Victoria", "lineStatuses": statuses}
    lifts = [{"naptanCode": "940GZZLUVIC", "message": "No lift"}, {"stationUniqueId": "940GZZLUBNK", "message": "Bank"}]
    moved = [{"description": "Stop moved. Board at stop S.", "fromDate": "2026-06-10T00:00:00Z"}]
    over = [{"description": "Over", "toDate": "2026-06-10T08:00:00Z"}]
    answers = {"/Line/victoria/Status": [line], "/Disruptions/Lifts": lifts}
    found, _ = await board([arriving(7)], **answers, **{"/StopPoint/940GZZLUVIC/Disruption": [*moved, *over]})
    (row,) = found.departures

    assert [(alert.header, alert.effect) for alert in row.alerts] == [("Closed tonight.", "NO_SERVICE")]
    assert [(alert.header, alert.effect) for alert in found.alerts] == [
        ("Stop moved.", "UNKNOWN_EFFECT"),
        ("No lift", "ACCESSIBILITY_ISSUE"),
    ]


async def test_a_suspended_line_without_predictions_has_its_alert():
    suspended = {"statusSeverity": 20, "statusSeverityDescription": "Suspended", "reason": "No trains today."}
    line = {"id": "victoria", "name": "Victoria", "lineStatuses": [suspended]}
    answers = {"/StopPoint/940GZZLUVIC": VICTORIA, "/Line/victoria/Status": [line]}
    found, _ = await board([], **answers, **{"/StopPoint/940GZZLUVIC/Disruption": []})

    assert (found.departures, [alert.header for alert in found.alerts]) == ([], ["No trains today."])


async def test_a_platform_represents_its_station_and_a_station_its_hub():
    """As a token the whole place, as an id itself (rule D2)."""
    platform = a_stop("9400ZZLUVIC1", "Victoria", None, stationNaptan="940GZZLUVIC")
    station = a_stop("940GZZLUVIC", "Victoria Underground Station")
    answers = {"/StopPoint/9400ZZLUVIC1": platform, "/StopPoint/940GZZLUVIC": station}
    async with asking(answers) as (network, _):
        whole = await network.find_stop("TFL:9400ZZLUVIC1", whole_place=True)
        itself = await network.find_stop("TFL:9400ZZLUVIC1")
        elsewhere = await network.find_stop("HSL:9400ZZLUVIC1")

    assert (whole.id, itself.id, itself.member_ids, elsewhere) == (
        "TFL:940GZZLUVIC",
        "TFL:9400ZZLUVIC1",
        ("TFL:9400ZZLUVIC1",),
        None,
    )


async def test_a_hub_and_its_stations_are_one_place_among_names():
    matches = [
        {"id": "HUBVIC", "name": "Victoria", "lat": 51.4965, "lon": -0.1447},
        {"id": "940GZZLUVIC", "name": "Victoria Underground Station", "topMostParentId": "HUBVIC", "lat": 51, "lon": 0},
        {"id": "940GZZLUVST", "name": "Victoria Street", "lat": 51.49, "lon": -0.13},
    ]
    async with asking({"/StopPoint/Search": {"matches": matches}}) as (network, server):
        found = await network.find_places("victoria", focus=Coordinate(51.4965, -0.1447))

    assert [(match.place.id, match.score >= 0.8) for match in found[:1]] == [("TFL:HUBVIC", True)]
    assert "TFL:940GZZLUVIC" not in [match.place.id for match in found]
    assert (found[0].distance_m, server.paths) == (0.0, ["/StopPoint/Search"])
