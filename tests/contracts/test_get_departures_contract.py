"""The get_departures contract: the arguments and answers of get_departures."""

import json
import uuid
from datetime import timedelta

import pytest

from tests.contracts.conftest import board_of, codes, label, leaving, provenance, refusal, stop_place
from tests.fakes import FakeNetwork
from tests.rules.drawing import DAY, T0, departure

STOP = {"stop": {"type": "id", "value": "T:A"}}
KAMPPI = "DEMO-HELSINKI:KAMPPI"
LOOK_UP = "Look the stop up with findAddressOrStop or find_stops"


def rows(answer):
    return [(row["line"], row["scheduledTime"][11:16]) for row in answer.body["departures"]]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ({}, "stop id missing", None),
        ({"stop": {"type": "id"}}, "stop id missing", None),
        ({"stop": {"type": "id", "value": ""}}, "stop id missing", None),
        ({"stop": {"type": "id", "value": "HSL:1234"}}, "no stop has the id 'HSL:1234'", LOOK_UP),
        ({"stop": {"type": "name", "value": "A"}}, "stop.type must be 'id' or 'label'; you sent \"name\"", None),
        ({**STOP, "limit": 51}, "limit must be at most 50; you sent 51", None),
        ({**STOP, "limit": 0}, "limit must be at least 1; you sent 0", None),
        ({**STOP, "windowMinutes": 121}, "windowMinutes must be at most 120; you sent 121", None),
        ({**STOP, "windowMinutes": 0}, "windowMinutes must be at least 1; you sent 0", None),
        ({**STOP, "windowMinutes": "20"}, 'windowMinutes must be a whole number, not the text "20"', None),
        ({**STOP, "language": "de"}, "language must be 'fi', 'sv' or 'en'; you sent \"de\"", None),
        (
            {**STOP, "from": 1},
            "unknown field 'from'; allowed: at, language, limit, stop, walkFrom, windowMinutes",
            None,
        ),
    ],
)
def test_bad_input_is_a_validation_error(over, arguments, message, hint):
    assert refusal(over(board_of())("get_departures", arguments)) == ("validation-error", message, hint)


def test_the_request_example_is_answered_where_the_stop_exists(over):
    network = FakeNetwork(places={"x": [stop_place("HSL:1234", "Stop")]}, departures=[leaving(5)])
    request = {"stop": {"type": "id", "value": "HSL:1234"}, "windowMinutes": 20, "limit": 5}
    answer = over(network)("get_departures", request)

    assert answer.body["stopId"] == "HSL:1234"
    assert rows(answer) == [("7", "08:05")]
    assert network.asked[0].window_s == 1200


def test_a_board_has_the_contracts_fields(over):
    row = leaving(5, departure_delay_s=120, platform="2", last_realtime_update=T0 + 2)
    body = over(board_of(row))("get_departures", STOP).body

    assert uuid.UUID(body.pop("correlationId")).version == 5
    assert body == {
        "stopId": "T:A",
        "stopName": "A",
        "realtimeUsed": True,
        "dataFreshness": "2022-02-22T08:00:02+02:00",
        "departures": [
            {
                "line": "7",
                "mode": "TRAM",
                "destination": "B",
                "scheduledTime": "2022-02-22T08:05:00+02:00",
                "realtimeTime": "2022-02-22T08:07:00+02:00",
                "delaySeconds": 120,
                "status": "delayed",
                "platform": "2",
            }
        ],
        "meta": {
            "network": "FAKE",
            "source": "fake",
            "retrievedAt": "2022-02-22T08:00:00+02:00",
            "timeZone": "Europe/Helsinki",
            "language": "en",
            "realtimeAgeSeconds": 0,
        },
    }


@pytest.mark.parametrize(
    ("minute", "delay_s", "is_shown"),
    [(0, None, True), (-1, None, False), (20, None, True), (21, None, False), (19, 120, False), (-1, 60, True)],
)
def test_the_window_includes_both_its_ends(over, minute, delay_s, is_shown):
    """D4, D11, D42, C1: the window is [now, now + 20 min] in expected times; an empty list is not an error."""
    network = board_of(leaving(minute, departure_delay_s=delay_s))
    answer = over(network)("get_departures", {**STOP, "windowMinutes": 20})

    assert (answer.is_error, len(answer.body["departures"])) == (False, int(is_shown))


def test_a_cancelled_departure_has_no_other_time(over):
    row = over(board_of(departure(400, cancelled=True)))("get_departures", STOP).body["departures"][0]

    assert row == {
        "line": "7",
        "mode": "TRAM",
        "destination": "B",
        "scheduledTime": "2022-02-22T08:05:00+02:00",
        "status": "cancelled",
    }


@pytest.mark.parametrize(("limit", "told", "is_used"), [(1, ["truncated-results"], False), (2, [], True)])
def test_exceeding_the_limit_is_reported_and_not_counted(over, limit, told, is_used):
    """D13, D24, D26, D43, D46, C1: realtime data of a row beyond the limit does not count."""
    network = board_of(leaving(5), leaving(6, departure_delay_s=0))
    answer = over(network)("get_departures", {**STOP, "limit": limit})

    assert (codes(answer), answer.body["realtimeUsed"]) == (told, is_used)


def test_rows_are_sorted_by_expected_time_and_then_cut(over):
    network = board_of(leaving(5, "late", departure_delay_s=360), leaving(8, "punctual"), leaving(9, "third"))
    answer = over(network)("get_departures", {**STOP, "limit": 2})

    assert rows(answer) == [("punctual", "08:08"), ("third", "08:09")]


# ------------------------------------------------------------------------------------------ labels


@pytest.mark.parametrize("value", [KAMPPI, {"stopId": KAMPPI}, {"id": KAMPPI}, {"stopId": "demo-helsinki:kamppi"}])
def test_a_saved_stop_is_a_label(demo, value):
    """D2, D3, C2: the variable's value is or contains a stop id; a location without one has no board."""
    demo("save_user_variable", {"key": "work", "type": "other", "value": value})
    demo("save_user_variable", {"key": "home", "type": "location", "value": {"lat": 60.17, "lon": 24.94}})

    assert demo("get_departures", {"stop": label("work")}).body["stopId"] == KAMPPI
    assert refusal(demo("get_departures", {"stop": label("home")})) == (
        "validation-error",
        "the variable 'home' does not refer to a stop",
        "Save it again with save_user_variable: a stop by its id, a place as a location with lat and lon",
    )


def test_a_stop_name_is_a_label_and_is_reported(demo):
    answer = demo("get_departures", {"stop": label("Kamppi")})

    assert answer.body["stopName"] == "Kamppi"
    assert answer.body["warnings"][0] == {
        "code": "label-geocoded",
        "message": f"stop 'Kamppi' was resolved to Kamppi ({KAMPPI}).",
    }


def test_an_ambiguous_stop_returns_candidates_whose_tokens_work(demo):
    candidates = demo("get_departures", {"stop": label("asema")}).body["error"]["candidates"]
    tokens = [each["token"] for each in candidates]
    kinds = ("id", "label")
    boards = [demo("get_departures", {"stop": {"type": kind, "value": token}}) for token in tokens for kind in kinds]

    assert [board.is_error for board in boards] == [False] * 10


# ------------------------------------------------------------------------------------------- sizes


@pytest.mark.parametrize(("limit", "bound"), [(10, 2_500), (50, 11_000)])
def test_a_board_stays_small(demo, limit, bound):
    """D33, D34, A11: bytes of minified JSON; decision 0001 says why not five thousand."""
    body = demo("get_departures", {"stop": label("Pasila"), "limit": limit, "windowMinutes": 120}).body

    assert len(body["departures"]) == limit
    assert len(json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()) <= bound


def test_a_board_looks_half_an_hour_ahead_and_shows_ten_rows(over):
    """D4, D5: of 31 departures, one a minute, 30 are in the window and 10 are shown."""
    network = board_of(*(leaving(minute) for minute in range(1, 32)))
    body = over(network)("get_departures", STOP).body

    assert (len(body["departures"]), body["departures"][-1]["scheduledTime"][11:16]) == (10, "08:10")
    assert body["warnings"][0]["message"] == "30 departures are in the window; the first 10 are shown."


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(0, 5, []), (-5, 0, []), (1, 5, ["outside-calendar"]), (-5, -1, ["outside-calendar"])],
)
def test_the_first_and_the_last_day_of_a_timetable_are_inside_it(over, first, last, expected):
    network = board_of()
    days = [DAY + timedelta(days=each) for each in (first, last)]
    network.provenance = provenance(first_day=days[0], last_day=days[1])

    assert codes(over(network)("get_departures", STOP)) == expected


# ------------------------------------------------------------------------------------ another time

TENS = ("2022-02-22T10:00:00+02:00", "2022-02-22T08:00:00Z")
NOWS = (None, "now", "2022-02-22T08:00:00+02:00", "2022-02-22T05:58:00Z")


def ask(over, at, *departures):
    return over(board_of(*departures))("get_departures", {**STOP, "at": at})


@pytest.mark.parametrize(
    ("at", "minutes", "shown", "told", "since"),
    [
        *((at, (119, 120, 150, 151), ["10:00", "10:30"], [], "10:00:00") for at in TENS),
        *((at, (-1, 5), ["08:05"], [], None) for at in NOWS),
        ("2022-02-22T05:57:59Z", (-2,), ["07:58"], ["in-the-past"], "07:57:59"),
        ("2022-02-22T10:00:00", (125,), ["10:05"], ["timezone-assumed"], "10:00:00"),
    ],
)
def test_at_moves_the_window(over, at, minutes, shown, told, since):
    """C1, B12, A4: both ends are included; two minutes ago counts as now; without an offset, Helsinki time applies."""
    answer = ask(over, at, *map(leaving, minutes))

    assert (rows(answer), codes(answer)) == ([("7", time) for time in shown], told)
    assert answer.body["meta"].get("at") == (since and f"2022-02-22T{since}+02:00")
    assert answer.body["dataFreshness"] == "2022-02-22T08:00:00+02:00"


def test_an_invalid_time_is_refused_before_the_stop_is_looked_up(over):
    wrong = {"stop": {"type": "label", "value": "nowhere"}, "at": "soon"}

    assert refusal(over(board_of())("get_departures", wrong))[1] == "'soon' is not a valid time"


def test_the_age_of_real_time_is_counted_from_now(over):
    answer = ask(over, "2022-02-22T10:00:00Z", leaving(245, departure_delay_s=60, last_realtime_update=T0 - 30))

    assert answer.body["meta"]["realtimeAgeSeconds"] == 30


def test_the_text_states_its_start(over):
    answer = ask(over, "2022-02-23T08:00:00+02:00", leaving(24 * 60 + 5))

    assert answer.text.splitlines() == [
        "Departures from A (T:A), Europe/Helsinki, from 2022-02-23 08:00 on:",
        "08:05 TRAM 7 to B",
    ]
