"""The lookup contract: the arguments and answers of getStopTimetable."""

from datetime import date

import pytest

from fingerpost.errors import SourceFailed
from fingerpost.transit.model.itinerary import Departure, Mode
from fingerpost.transit.model.place import Coordinate, Place, PlaceKind, PlaceMatch
from fingerpost.transit.model.provenance import FeedVersion, OutOfService
from fingerpost.transit.tools.get_stop_timetable import MAX_ROWS
from tests.contracts.conftest import board_of, clock, leaving, provenance, stop_place
from tests.fakes import FakeNetwork
from tests.rules.drawing import DAY, T0, at

STOP = {"stopId": "T:A"}
NOW = "2022-02-22T06:00:00Z"


def ask(over, *departures, **arguments):
    return over(board_of(*departures))("getStopTimetable", {**STOP, **arguments})


def rows(answer):
    return [(row["routeShortName"], row["scheduledTime"][11:16]) for row in answer.body["departures"]]


def test_a_timetable_has_the_contracts_fields(over):
    row = Departure(
        line="M1",
        mode=Mode.METRO,
        destination="East",
        scheduled=at(5),
        stop_id="T:A",
        trip_id="t",
        service_day=date(2022, 2, 21),
        departure_delay_s=120,
        last_realtime_update=T0,
        long_name="West - East",
    )

    assert ask(over, row, leaving(7, "2")).body == {
        "departures": [
            {
                "scheduledTime": "2022-02-22T06:05:00Z",
                "routeShortName": "M1",
                "routeLongName": "West - East",
                "headsign": "East",
                "mode": "SUBWAY",
                "serviceDay": "2022-02-21",
            },
            {
                "scheduledTime": "2022-02-22T06:07:00Z",
                "routeShortName": "2",
                "headsign": "B",
                "mode": "TRAM",
                "serviceDay": "2022-02-22",
            },
        ],
        "applied": {"maxDepartures": 3, "horizonMinutes": 45, "clamped": False},
        "metadata": {"timeZone": "Europe/Helsinki"},
        "meta": {
            "network": "FAKE",
            "source": "fake",
            "retrievedAt": "2022-02-22T06:00:00Z",
            "language": "en",
            "realtimeAgeSeconds": 0,
            "stop": {"id": "T:A", "name": "A"},
        },
    }


@pytest.mark.parametrize(
    ("stop_id", "category", "code", "message"),
    [
        ("T:A", None, None, None),
        ("T:X", "NOT_FOUND", "STOP_NOT_FOUND", "no stop has the id 'T:X'"),
        ("t:a", "VALIDATION", "INVALID_PARAMETER", 'stopId must match ^[A-Z0-9:_-]+$; you sent "t:a"'),
        ("", "VALIDATION", "INVALID_PARAMETER", "stopId must not be empty"),
        (None, "VALIDATION", "INVALID_PARAMETER", "stopId is missing"),
    ],
)
def test_the_stop_is_an_id_of_the_contracts_pattern(over, stop_id, category, code, message):
    error = over(board_of(leaving(5)))("getStopTimetable", {"stopId": stop_id}).body.get("error", {})

    assert (error.get("category"), error.get("code"), error.get("message")) == (category, code, message)
    assert error.get("details", {}).get("field") == (category and "stopId")


@pytest.mark.parametrize(
    ("sent", "applied", "clamped"),
    [
        ({}, (3, 45), False),
        ({"maxDepartures": 1, "horizonMinutes": 1}, (1, 1), False),
        ({"maxDepartures": 5, "horizonMinutes": 90}, (5, 90), False),
        ({"maxDepartures": 6}, (5, 45), True),
        ({"horizonMinutes": 91}, (3, 90), True),
        ({"maxDepartures": 10_000, "horizonMinutes": 10_000}, (5, 90), True),
        ({"maxDepartures": None, "horizonMinutes": None}, (3, 45), False),
    ],
)
def test_limits_that_are_too_large_are_lowered_and_reported(over, sent, applied, clamped):
    network = board_of(*map(leaving, range(0, 120, 10)))
    answer = over(network)("getStopTimetable", {**STOP, **sent})
    most, minutes = applied

    assert answer.body["applied"] == {"maxDepartures": most, "horizonMinutes": minutes, "clamped": clamped}
    assert len(answer.body["departures"]) == min(most, 1 + minutes // 10)
    assert network.asked[0].window_s == minutes * 60
    assert ("was lowered" in answer.text) == clamped


def test_the_window_is_of_scheduled_times_and_includes_both_its_ends(over):
    """D3: scheduled at its first and its last minute, however late or early; not a minute before or after."""
    answer = ask(
        over,
        leaving(-1, departure_delay_s=300),
        leaving(0, departure_delay_s=-120),
        leaving(45, departure_delay_s=600),
        leaving(46, departure_delay_s=-120),
    )

    assert rows(answer) == [("7", "06:00"), ("7", "06:45")]


def test_the_source_is_queried_for_scheduled_times(over):
    network = board_of(leaving(5))
    over(network)("getStopTimetable", STOP)

    assert (network.asked[0].by_schedule, network.asked[0].stop_ids) == (True, ("T:A",))


@pytest.mark.parametrize(
    ("cancelled", "running", "shown", "count", "reason"),
    [((5, 40, 50), (10,), [("7", "06:10")], 2, None), ((5,), (), [], 1, "NO_DEPARTURES")],
)
def test_cancelled_rides_are_dropped_and_counted(over, cancelled, running, shown, count, reason):
    answer = ask(over, *(leaving(minute, cancelled=True) for minute in cancelled), *map(leaving, running))
    metadata = {"timeZone": "Europe/Helsinki", "cancelledLeftOut": count}

    assert rows(answer) == shown
    assert answer.body["metadata"] == (metadata if reason is None else metadata | {"noResultsReason": reason})
    assert f"! Cancelled departures left out: {count}." in answer.text


def test_rows_are_in_the_order_of_the_timetable(over):
    answer = ask(over, leaving(9, "1"), leaving(5, "2"), leaving(5, "1"), leaving(7, "3"))
    (warning,) = answer.body["metadata"]["warnings"]

    assert rows(answer) == [("1", "06:05"), ("2", "06:05"), ("3", "06:07")]
    assert warning == {
        "code": "truncated-results",
        "message": "4 departures are in the window; the first 3 are shown. For later ones, call again with at "
        "2022-02-22T06:09:00Z; for all of them, with until.",
    }
    assert answer.body["meta"]["nextDeparture"] == "2022-02-22T06:09:00Z"


@pytest.mark.parametrize(
    ("at", "minutes", "shown", "told"),
    [
        ("2022-02-22T09:00:00+02:00", (5, 65), "07:05", []),
        ("2022-02-22T05:58:00Z", (-1, 45), "06:45", []),
        ("2022-02-22T05:57:59Z", (-2,), "05:58", ["in-the-past"]),
    ],
)
def test_at_moves_the_window(over, at, minutes, shown, told):
    """D3, B12: any instant with an offset; two minutes ago means now, a second more is the past."""
    answer = ask(over, *map(leaving, minutes), at=at)

    assert rows(answer) == [("7", shown)]
    assert [each["code"] for each in answer.body["metadata"].get("warnings", ())] == told


@pytest.mark.parametrize("field", ["at", "until"])
@pytest.mark.parametrize("text", ["2022-02-22T10:00:00", "2022-02-22", "10:00", "later"])
def test_a_time_without_an_offset_is_refused(over, field, text):
    error = ask(over, **{field: text}).body["error"]

    assert (error["category"], error["details"]["field"]) == ("VALIDATION", field)


OUT = OutOfService(FeedVersion(name="T"), DAY)


@pytest.mark.parametrize(
    ("told", "since", "reason"),
    [
        (None, None, "NO_DEPARTURES"),
        (None, "2022-02-22T05:58:00Z", "NO_DEPARTURES"),
        (None, "2022-02-22T05:57:59Z", "IN_THE_PAST"),
        (provenance(first_day=DAY, last_day=DAY), None, "NO_DEPARTURES"),
        (provenance(first_day=date(2022, 2, 23), last_day=date(2022, 3, 1)), None, "NO_SERVICE"),
        (provenance(first_day=date(2022, 1, 1), last_day=date(2022, 2, 21)), None, "NO_SERVICE"),
        (provenance(first_day=date(2022, 1, 1), last_day=date(2022, 1, 2)), "2022-01-05T12:00:00Z", "NO_SERVICE"),
        (provenance(out_of_service=(OUT,)), None, "NO_SERVICE"),
    ],
)
def test_an_empty_timetable_is_a_success_with_a_reason(over, told, since, reason):
    network = FakeNetwork(places={"A": [stop_place("T:A", "A")]}, provenance=told)
    answer = over(network)("getStopTimetable", {**STOP, **({"at": since} if since else {})})

    assert (answer.is_error, answer.body["departures"]) == (False, [])
    assert answer.body["metadata"]["noResultsReason"] == reason
    assert reason in answer.text


PAIR = Place(
    id="T:A", name="A", coordinate=Coordinate(60.17, 24.94), kind=PlaceKind.STOP, member_ids=("T:A", "T:B"),
    zero_walk_ids=("T:A",),
)  # fmt: skip
ALONE = Place(id="T:A", name="A", coordinate=Coordinate(60.17, 24.94), kind=PlaceKind.STOP, member_ids=("T:A",))


class PairNetwork(FakeNetwork):
    async def find_stop(self, stop_id, *, language=None, whole_place=False):
        return PAIR if whole_place else ALONE


def test_an_id_is_one_stop_and_its_place_is_reported(over):
    network = PairNetwork(places={"A": [PlaceMatch(place=PAIR, score=1.0)]}, departures=[leaving(5)])
    one = over(network)("getStopTimetable", STOP)
    all_of_them = over(network)("getStopTimetable", {**STOP, "wholePlace": True})

    assert [asked.stop_ids for asked in network.asked] == [("T:A",), ("T:A", "T:B")]
    assert one.body["meta"]["stop"] == {"id": "T:A", "name": "A", "otherStops": ["T:B"]}
    assert "! Only this stop is shown, not the others at the same place (T:B); wholePlace shows all." in one.text
    assert all_of_them.body["meta"]["stop"] == {"id": "T:A", "name": "A"}


def test_the_text_is_sufficient_for_a_short_timetable(over):
    night = leaving(970, "9", long_name="A - B", destination="B")
    answer = ask(over, leaving(965), night, at="2022-02-22T21:45:00Z")

    assert answer.text.splitlines() == [
        "Timetable for A (T:A), Wed 2022-02-23 (Europe/Helsinki, UTC+02:00), at most 3 within 45 min:",
        "00:05 TRAM 7 to B, service day 2022-02-22",
        "00:10 TRAM 9 to B (A - B), service day 2022-02-22",
    ]


def test_every_time_has_its_offset_when_clocks_change(over):
    """A11: on the night of 26 March 2022 03:30 comes right after 02:59."""
    spring = 1_648_342_800  # 2022-03-27 03:00 in Helsinki, which clocks show as 04:00
    before, after = ((spring + shift - T0) // 60 for shift in (-1800, 1800))
    answer = ask(over, leaving(before), leaving(after), at="2022-03-27T00:00:00Z", until="2022-03-27T02:00:00Z")

    assert answer.text.splitlines()[:3] == [
        "Timetable for A (T:A), Sun 2022-03-27 (Europe/Helsinki, UTC+02:00), at most 200 within 120 min:",
        "02:30 TRAM 7 to B, service day 2022-02-22",
        "04:30+03:00 TRAM 7 to B, service day 2022-02-22",
    ]


@pytest.mark.parametrize(
    ("until", "message"),
    [
        ("2022-02-22T06:00:01Z", None),
        ("2022-02-23T06:00:00Z", None),
        ("2022-02-22T06:00:00Z", "until must be after at; at is 2022-02-22T06:00:00Z"),
        ("2022-02-23T06:00:01Z", "until must be at most 24 hours after at; at is 2022-02-22T06:00:00Z"),
    ],
)
def test_until_is_up_to_a_day_later(over, until, message):
    answer = ask(over, until=until)

    assert answer.body.get("error", {}).get("message") == message


def test_with_until_everything_is_listed_up_to_the_last_bus(over):
    evening = [leaving(minute, "7") for minute in range(0, 900, 60)] + [leaving(845, "9", destination="C")]
    answer = ask(over, *evening, until="2022-02-22T21:00:00Z")

    assert len(answer.body["departures"]) == 16
    assert answer.body["applied"] == {"maxDepartures": MAX_ROWS, "horizonMinutes": 900, "clamped": False}
    assert "warnings" not in answer.body["metadata"]
    assert answer.text.splitlines() == [
        "Timetable for A (T:A), Tue 2022-02-22 (Europe/Helsinki, UTC+02:00), at most 200 within 900 min:",
        "TRAM 7 to B: 08:00 09:00 10:00 11:00 12:00 13:00 14:00 15:00 16:00 17:00 18:00 19:00 20:00 21:00 22:00",
        "TRAM 9 to C: 22:05",
    ]


def test_the_first_of_a_longer_timetable_are_the_same_with_a_limit(over):
    evening = [leaving(minute) for minute in range(0, 600, 60)]
    whole = ask(over, *evening, until=clock(600)).body
    cut = ask(over, *evening, until=clock(600), maxDepartures=7).body

    assert cut["departures"] == whole["departures"][:7]
    assert cut["applied"]["maxDepartures"] == 7


def test_a_truncated_timetable_continues_where_it_was_cut(over):
    """A11: the bound holds, whole instants are shown, and asking on shows every departure once."""
    long_name = "Ö" * 120
    many = [leaving(minute, f"{minute}-{twin}", long_name=long_name) for minute in range(400) for twin in (1, 2)]
    seen, since = [], NOW
    for _ in range(60):
        answer = ask(over, *many, at=since, until="2022-02-22T13:00:00Z")
        assert len(str(answer.body).encode()) <= 48_000
        seen += rows(answer)
        since = answer.body["meta"].get("nextDeparture")
        told = [each["message"] for each in answer.body["metadata"].get("warnings", ())]
        assert (since is None and not told) or f"call again with at {since}" in told[0]
        if since is None:
            break

    assert seen == sorted(
        ((each.line, clock((each.scheduled - T0) // 60)[11:16]) for each in many), key=lambda row: (row[1], row[0])
    )


def test_more_rows_than_the_most_are_lowered(over):
    for asked, clamped in ((MAX_ROWS, False), (MAX_ROWS + 1, True)):
        applied = ask(over, leaving(5), until=clock(60), maxDepartures=asked).body["applied"]
        assert (applied["maxDepartures"], applied["clamped"]) == (MAX_ROWS, clamped)


class LonelyNetwork(FakeNetwork):
    async def find_stop(self, stop_id, *, language=None, whole_place=False):
        if whole_place:
            raise SourceFailed("The server failed")
        return ALONE


@pytest.mark.parametrize("whole", [False, True])
def test_a_failed_query_for_the_other_stops_is_reported(over, whole):
    network = LonelyNetwork(places={"A": [PlaceMatch(place=ALONE, score=1.0)]}, departures=[leaving(5)])
    answer = over(network)("getStopTimetable", {**STOP, "wholePlace": whole})

    assert (answer.is_error, "The server failed" in answer.text) == (whole, True)
