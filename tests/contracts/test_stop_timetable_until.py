"""The lookup contract: a timetable up to an instant, such as the last bus, and its size limit (rules D3, A11)."""

import pytest

from fingerpost.transit.tools.get_stop_timetable import MAX_ROWS
from tests.contracts.conftest import clock, leaving
from tests.contracts.test_stop_timetable_contract import NOW, ask, rows
from tests.rules.drawing import T0


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
