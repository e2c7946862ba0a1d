"""Timetables of lines: any day, nights, directions, frequencies, and what is missing."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from fingerpost.apps.wiring import list_tools
from fingerpost.errors import SourceFailed
from fingerpost.store.variables import VariableStore
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.remote.tfl.timetables import MAX_LINES, read_option
from tests.fakes import FakeNetworks
from tests.tfl.asking import asking, list_board
from tests.tfl.test_boards import VICTORIA, arriving

ZONE = ZoneInfo("Europe/London")
VICTORIA_ID = "TFL:940GZZLUVIC"
STOP, TIMETABLE = "/StopPoint/940GZZLUVIC", "/Line/victoria/Timetable/940GZZLUVIC"
BRIXTON, WALTHAMSTOW = "940GZZLUBXN", "940GZZLUWWL"
NO_TIMETABLE = {"lineId": "victoria", "statusErrorMessage": "The stop has been removed from the route"}
STOPS = [
    {"id": BRIXTON, "name": "Brixton Underground Station"},
    {"id": WALTHAMSTOW, "name": "Walthamstow Central Underground Station"},
]


def schedule(name, times, pattern=0, **more):
    """Draw a timetable: ``05:36 24:10``, all of one pattern."""
    journeys = [
        {"hour": str(int(each[:2])), "minute": str(int(each[3:])), "intervalId": pattern} for each in times.split()
    ]
    return {"name": name, "knownJourneys": journeys, "periods": [], **more}


def timetable(*schedules, ends=(BRIXTON,), direction="outbound", **more):
    intervals = [
        {"id": str(at), "intervals": [{"stopId": end, "timeToArrival": 9.0}] if end else []}
        for at, end in enumerate(ends)
    ]
    routes = [{"stationIntervals": intervals, "schedules": list(schedules)}]
    told = {"lineId": "victoria", "lineName": "Victoria", "direction": direction, "stations": [], "stops": STOPS}
    return {**told, "timetable": {"departureStopId": "940GZZLUVIC", "routes": routes}, **more}


def at(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=ZONE).timestamp())


async def board(told, first="2026-06-12T10:00", last="2026-06-12T11:00", *, stop=VICTORIA, by_schedule=True, **answers):
    """Ask for a board, by default of a Friday from 10:00 to 11:00."""
    own = {STOP: stop, f"{STOP}/Arrivals": [], f"{STOP}/Disruption": [], TIMETABLE: told}
    async with asking({**own, **answers}) as (network, server):
        window_s = at(last) - at(first)
        found = await list_board(network, VICTORIA_ID, at(first), window_s, by_schedule=by_schedule)
        return found, server


def drawn(found):
    return [f"{datetime.fromtimestamp(row.scheduled, ZONE):%a %H:%M} {row.destination[:4]}" for row in found.departures]


def period(kind, first, last, lowest, highest):
    begin, end = ({"hour": each[:2], "minute": each[3:]} for each in (first, last))
    frequency = {"lowestFrequency": lowest, "highestFrequency": highest}
    return {"type": kind, "fromTime": begin, "toTime": end, "frequency": frequency}


async def test_a_timetable_of_another_day_is_listed():
    told = timetable(schedule("Monday - Thursday", "05:36"), schedule("Friday", "05:38 23:50"))
    found, server = await board(told, "2026-06-12T00:00", "2026-06-12T23:59")
    row = found.departures[0]

    assert drawn(found) == ["Fri 05:38 Brix", "Fri 23:50 Brix"]
    assert (row.line, row.mode, row.stop_id, row.destination) == (
        "Victoria",
        Mode.METRO,
        "TFL:940GZZLUVIC",
        "Brixton Underground Station",
    )
    assert (row.departure_delay_s, row.last_realtime_update, found.provenance.realtime_updated) == (None, None, None)
    assert "/StopPoint/940GZZLUVIC/Arrivals" not in server.paths
    assert ["apply to kinds of days" in note for note in found.provenance.notes] == [True]


async def test_the_ends_of_the_window_are_in_it():
    told = timetable(schedule("Friday", "10:00 10:10"))

    assert len((await board(told, "2026-06-12T10:00", "2026-06-12T10:10"))[0].departures) == 2
    assert not (await board(told, "2026-06-12T10:00:01", "2026-06-12T10:09:59"))[0].departures


@pytest.mark.parametrize(
    ("hour", "wanted"),
    # Clocks go back on 2026-10-25 at 02:00 summer time, and forward on 2026-03-29 at 01:00.
    [
        ("2026-10-24T25:30", "2026-10-25T00:30:00Z"),
        ("2026-10-24T26:30", "2026-10-25T02:30:00Z"),
        ("2026-03-28T24:59", "2026-03-29T00:59:00Z"),
        ("2026-03-28T25:30", "2026-03-29T01:30:00Z"),
        ("2026-03-28T26:30", "2026-03-29T01:30:00Z"),
    ],
)
async def test_a_time_is_the_wall_clocks_where_clocks_change(hour, wanted):
    _, time = hour.split("T")
    instant = int(datetime.fromisoformat(wanted).timestamp())
    async with asking({STOP: VICTORIA, TIMETABLE: timetable(schedule("Saturday", time))}) as (network, _):
        rows = (await list_board(network, VICTORIA_ID, instant - 7200, 14_400, by_schedule=True)).departures

    assert [row.scheduled for row in rows] == [instant]


async def test_every_direction_offered_by_tfl_is_requested():
    options = [
        {"description": "Outbound", "uri": "/Line/victoria/Timetable/940GZZLUVIC?direction=outbound"},
        {"description": "Towards Walthamstow", "uri": f"/Line/victoria/Timetable/940GZZLUVIC/to/{WALTHAMSTOW}"},
    ]
    first = {"lineId": "victoria", "disambiguation": {"disambiguationOptions": options}}

    async def reply(asked):
        if "/to/" in asked.target:
            return timetable(schedule("Friday", "10:05"), ends=(WALTHAMSTOW,), direction="inbound")
        return timetable(schedule("Friday", "10:00")) if "direction=outbound" in asked.target else first

    found, server = await board(reply)

    assert drawn(found) == ["Fri 10:00 Brix", "Fri 10:05 Walt"]
    assert [path for path in server.paths if "Timetable" in path] == [
        TIMETABLE,
        TIMETABLE,
        f"{TIMETABLE}/to/{WALTHAMSTOW}",
    ]


async def test_more_directions_than_are_requested_are_reported():
    options = [{"uri": f"{TIMETABLE}/to/{end}"} for end in range(7)]
    first = {"disambiguation": {"disambiguationOptions": options}}

    async def reply(asked):
        return timetable(schedule("Friday", "10:00")) if "/to/" in asked.target else first

    found, _ = await board(reply)

    assert [note for note in found.provenance.notes if "directions" in note] == [
        "There are too many directions to request all of their timetables; some are missing for Victoria."
    ]


async def test_a_disambiguation_with_status_300_is_one_too():
    first = (300, {"disambiguation": {"disambiguationOptions": [{"uri": "https://elsewhere.example/"}]}})

    async def reply(asked):
        if "direction=inbound" in asked.target:
            return NO_TIMETABLE
        return timetable(schedule("Friday", "10:00")) if "direction=outbound" in asked.target else first

    found, _ = await board(reply)

    assert drawn(found) == ["Fri 10:00 Brix"]


@pytest.mark.parametrize(
    ("uri", "asked"),
    [
        *((uri, None) for uri in ("/Line/../Timetable/x", "/Journey/x/Timetable/y", "/Line/a/Status/b", "")),
        (
            "https://elsewhere.example/Line/victoria/Timetable/A%2FB?direction=inbound&app_key=x",
            (("Line", "victoria", "Timetable", "A/B"), {"direction": "inbound"}),
        ),
    ],
)
def test_only_the_address_of_a_timetable_is_requested(uri, asked):
    """An answer must not lead the key to another address; what is asked is built anew from its parts."""
    assert read_option(uri) == asked


ALL_DAY = [{"hour": hour, "minute": minute, "intervalId": 0} for hour, minute in (("5", "36"), ("24", "10"))]
OFTEN = period("FrequencyMinutes", "10:00", "10:36", 12, 2)
NEVER = period("FrequencyMinutes", "11:00", "12:00", 0, 0)


@pytest.mark.parametrize(
    ("told", "first", "last", "shown"),
    [
        # The last train of Saturday leaves on Sunday; Sunday's own timetable stands beside it.
        (
            timetable(schedule("Saturday (also Good Friday)", "23:59 24:34"), schedule("Sunday", "07:10")),
            *("2026-06-13T23:00", "2026-06-14T08:00"),
            ["Sat 23:59 Brix", "Sun 00:34 Brix", "Sun 07:10 Brix"],
        ),
        # A night's hours count on beyond 23, or begin anew: the name says that they are the morning's.
        (
            timetable(schedule("Friday Night/Saturday Morning", "23:45 25:15 02:15")),
            *("2026-06-12T22:00", "2026-06-13T12:00"),
            ["Fri 23:45 Brix", "Sat 01:15 Brix", "Sat 02:15 Brix"],
        ),
        # Branches end elsewhere; what has no stop after this one ends here, and an unknown pattern is no departure.
        (
            timetable(
                *(schedule("Friday", f"10:{5 * at:02d}", at) for at in (0, 1, 2, 7)), ends=(BRIXTON, WALTHAMSTOW, None)
            ),
            *("2026-06-12T10:00", "2026-06-12T11:00"),
            ["Fri 10:00 Brix", "Fri 10:05 Walt"],
        ),
        # First and last stand in for journeys that are not told.
        (
            timetable(schedule("Friday", "", firstJourney=ALL_DAY[0], lastJourney=ALL_DAY[1])),
            *("2026-06-12T05:00", "2026-06-13T04:00"),
            ["Fri 05:36 Brix", "Sat 00:10 Brix"],
        ),
        # Where TfL states both, the journeys count; a frequency of 0 is no service.
        (
            timetable(schedule("Friday", "10:03", periods=[OFTEN, NEVER])),
            *("2026-06-12T10:00", "2026-06-12T12:00"),
            ["Fri 10:03 Brix"],
        ),
    ],
)
async def test_a_timetable_is_read_as_the_service_day_runs(told, first, last, shown):
    assert drawn((await board(told, first, last))[0]) == shown


async def test_a_frequency_without_journeys_is_left_out_and_reported():
    told = timetable(schedule("Friday", "09:00", periods=[OFTEN]))
    found, _ = await board(told, "2026-06-12T09:00", "2026-06-12T11:00")

    assert drawn(found) == ["Fri 09:00 Brix"]
    assert any("only how often trips run: Victoria" in note for note in found.provenance.notes)


@pytest.mark.parametrize("told", [(404, {"message": "The following line is not recognised"}), NO_TIMETABLE])
async def test_a_line_without_a_timetable_is_named(told):
    found, _ = await board(told)

    assert found.departures == []
    assert any(note == "TfL has no timetable at this stop for Victoria." for note in found.provenance.notes)


TWO = {**VICTORIA, "lines": [{"id": "victoria", "name": "Victoria"}, {"id": "circle", "name": "Circle"}]}


async def test_a_failing_line_does_not_affect_others():
    told = timetable(schedule("Friday", "10:00"))
    found, _ = await board(told, stop=TWO, **{"/Line/circle/Timetable": (500, {})})

    assert (drawn(found), found.provenance.notes[1]) == (
        ["Fri 10:00 Brix"],
        "TfL did not return the timetables for Circle.",
    )
    with pytest.raises(SourceFailed):
        await board((500, {}))


async def test_lines_beyond_the_boards_limit_are_named():
    lines = [{"id": f"l{number:02d}", "name": f"L{number:02d}"} for number in range(MAX_LINES + 1)]
    found, server = await board(NO_TIMETABLE, stop={**VICTORIA, "lines": lines}, **{"/Line/l": NO_TIMETABLE})

    assert sum("/Timetable/" in path for path in server.paths) == MAX_LINES
    assert any(note.endswith(f"the missing ones are L{MAX_LINES}.") for note in found.provenance.notes)


async def test_modes_come_from_the_groups_of_a_stops_lines():
    groups = [
        {"modeName": "bus", "lineIdentifier": ["circle"]},
        {"modeName": "tube", "lineIdentifier": ["victoria"]},
    ]
    stop = {**TWO, "modes": ["bus", "tube"], "lineModeGroups": groups}
    told = timetable(schedule("Friday", "10:00"))
    found, _ = await board(told, stop=stop, **{"/Line/circle/Timetable": told})

    assert sorted((row.line, row.mode) for row in found.departures) == [
        ("Circle", Mode.BUS),
        ("Victoria", Mode.METRO),
    ]


async def test_boards_are_predicted_for_half_an_hour_and_scheduled_after_it():
    told = timetable(schedule("Monday - Thursday", "09:06 09:40"))
    answers = {"/StopPoint/940GZZLUVIC/Arrivals": [arriving(7)]}
    found, _ = await board(told, "2026-06-10T09:00", "2026-06-10T10:00", by_schedule=False, **answers)

    assert drawn(found) == ["Wed 09:07 Walt", "Wed 09:40 Brix"]
    assert [row.last_realtime_update is None for row in found.departures] == [False, True]


async def test_planned_works_of_another_day_are_reported_with_its_rows():
    works = {
        "statusSeverity": 4,
        "statusSeverityDescription": "Planned Closure",
        "reason": "No service on Saturday.",
        "validityPeriods": [{"fromDate": "2026-06-13T03:00:00Z", "toDate": "2026-06-14T03:00:00Z"}],
    }
    line = {"id": "victoria", "name": "Victoria", "lineStatuses": [works]}
    path = "/Line/victoria/Status/2026-06-13/to/2026-06-14"
    told = timetable(schedule("Saturday", "10:00"))
    found, _ = await board(told, "2026-06-13T10:00", "2026-06-13T11:00", **{path: [line]})

    assert [[alert.header for alert in row.alerts] for row in found.departures] == [["No service on Saturday."]]


async def test_the_timetable_tool_answers_for_the_last_train_of_saturday(tmp_path):
    """D3: ``at`` and ``until``; guesses and what cannot be known reach the reader."""
    told = timetable(schedule("Saturday (also Good Friday)", "23:59 24:34"), schedule("Sunday", "07:10"))
    async with asking({STOP: VICTORIA, TIMETABLE: told}) as (network, _):
        tools = list_tools(FakeNetworks(network), VariableStore(tmp_path / "variables.sqlite"))
        tool = next(tool for tool in tools if tool.name == "getStopTimetable")
        asked = {"stopId": "TFL:940GZZLUVIC", "at": "2026-06-13T22:00:00Z", "until": "2026-06-14T02:00:00Z"}
        found = (await tool.answer(asked, user="ann")).body

    assert [(row["scheduledTime"], row["serviceDay"]) for row in found["departures"]] == [
        ("2026-06-13T22:59:00Z", "2026-06-13"),
        ("2026-06-13T23:34:00Z", "2026-06-13"),
    ]
    assert any("apply to kinds of days" in note for note in found["meta"]["notes"])
