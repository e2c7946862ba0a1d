"""The tools on the real Helsinki feed: boards compared with the feed's tables, sizes, labels, repeatability."""

import json
import random
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.shared_data import get_shared, read_table
from tests.tools.conftest import asker

ZONE = ZoneInfo("Europe/Helsinki")
QUESTION = {
    "origin": {"type": "coords", "value": {"lat": 60.1699, "lon": 24.9384}},
    "destination": {"type": "coords", "value": {"lat": 60.1875, "lon": 24.9600}},
    "limit": 3,
}


def _minified(body):
    return len(json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode())


@pytest.fixture(scope="module")
def tables():
    path = get_shared("gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip")
    return {name: read_table(path, f"{name}.txt") for name in ("stop_times", "trips", "routes", "frequencies")}


def _seconds(text):
    hours, minutes, seconds = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds)


@pytest.fixture(scope="module")
def departures_by_stop(tables):
    """(seconds of the day, line, headsign) of every departure at each stop on the feed's one day."""
    calls, starts, boards = {}, {}, {}
    for row in tables["stop_times"]:
        calls.setdefault(row["trip_id"], []).append(row)
    for row in tables["frequencies"]:
        begin, end = _seconds(row["start_time"]), _seconds(row["end_time"])
        starts.setdefault(row["trip_id"], []).extend(range(begin, end, int(row["headway_secs"])))
    line_of = {row["route_id"]: row["route_short_name"] for row in tables["routes"]}
    for trip in tables["trips"]:
        rows = sorted(calls.get(trip["trip_id"], []), key=lambda row: int(row["stop_sequence"]))
        if len(rows) < 2:
            continue
        first = _seconds(rows[0]["departure_time"])
        for start in starts.get(trip["trip_id"], [first]):
            # Nobody departs from the last stop of a trip, nor where boarding is not allowed.
            for row in rows[:-1]:
                if row["pickup_type"] != "1":
                    when = _seconds(row["departure_time"]) - first + start
                    sign = row["stop_headsign"] or trip["trip_headsign"]
                    boards.setdefault(row["stop_id"], []).append((when, line_of[trip["route_id"]], sign))
    return boards


@pytest.mark.parametrize("seed", range(10))
def test_a_board_agrees_with_the_feeds_own_tables(ask, departures_by_stop, seed):
    """D38: two hours of a stop's board are the feed's departures, cut to the limit of the contract."""
    stop_id = random.Random(seed).choice(sorted(departures_by_stop))
    answer = ask(
        "get_departures", {"stop": {"type": "id", "value": f"HSL:{stop_id}"}, "windowMinutes": 120, "limit": 50}
    )
    since = 8 * 3600
    expected = sorted(row for row in departures_by_stop[stop_id] if since <= row[0] <= since + 7200)

    shown = [
        (
            int((datetime.fromisoformat(row["scheduledTime"]) - datetime(2022, 2, 22, tzinfo=ZONE)).total_seconds()),
            row["line"],
            row["destination"],
        )
        for row in answer.body["departures"]
    ]
    # Of several that leave together at the very end of a full board, any may be the fiftieth.
    last = max(row[0] for row in shown)
    assert sorted(row for row in shown if row[0] < last) == [row for row in expected if row[0] < last]
    assert {row for row in shown if row[0] == last} <= {row for row in expected if row[0] == last}
    assert len(shown) == min(50, len(expected))
    assert ("truncated-results" in [w["code"] for w in answer.body.get("warnings", [])]) == (len(expected) > 50)


def test_the_issues_question_gives_real_lines_and_the_same_bytes_again(helsinki_home, tables, monkeypatch):
    """A3, P63: under a fixed clock an answer is the same byte for byte, also from newly built tools."""
    monkeypatch.setenv("FINGERPOST_NOW", "2022-02-22T06:00:00Z")
    first = asker(helsinki_home)("plan_trip", QUESTION)
    again = asker(helsinki_home)("plan_trip", QUESTION)
    lines = {leg["line"] for itinerary in first.body["itineraries"] for leg in itinerary["legs"] if "line" in leg}

    assert json.dumps(first.body) == json.dumps(again.body)
    assert first.body["meta"]["network"] == "HSL"
    assert lines
    assert lines <= {row["route_short_name"] for row in tables["routes"]}
    assert len(first.body["itineraries"]) == 3


@pytest.mark.parametrize(("limit", "most_bytes"), [(2, 10_000), (3, 15_000)])
def test_a_plan_stays_within_its_size(ask, limit, most_bytes):
    """A11, P62: default plans stay within 10 KB, three itineraries within 15 KB, anywhere in the feed."""
    dice = random.Random(limit)
    sizes = []
    for _ in range(25):
        ends = [
            {"type": "coords", "value": {"lat": dice.uniform(60.16, 60.24), "lon": dice.uniform(24.88, 24.98)}}
            for _ in "ab"
        ]
        answer = ask("plan_trip", {"origin": ends[0], "destination": ends[1], "limit": limit})
        if not answer.is_error:
            sizes.append(_minified(answer.body))

    assert len(sizes) >= 20
    assert max(sizes) <= most_bytes


@pytest.mark.parametrize(("limit", "most_bytes"), [(10, 2_500), (50, 11_000)])
def test_a_board_stays_within_its_size(ask, limit, most_bytes):
    """A11, D33, D34: ten rows stay within 2.5 KB, fifty within 11 KB, at the busiest places."""
    sizes = []
    for place in ("Rautatientori", "Kamppi", "Hakaniemi", "Lasipalatsi", "Pasilan asema"):
        answer = ask(
            "get_departures", {"stop": {"type": "label", "value": place}, "windowMinutes": 120, "limit": limit}
        )
        assert len(answer.body["departures"]) == limit
        sizes.append(_minified(answer.body))

    assert max(sizes) <= most_bytes
