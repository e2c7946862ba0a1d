"""Faults by kind of source, kind of fault and tool: each has its error code, and none returns an empty answer.

Rule A5: a wait is reported at once, a field that is null or absent is a failure of the source.
"""

import asyncio
import gzip
import json
import re
from dataclasses import replace
from datetime import date

import pytest

from fingerpost.runtime import retry
from tests.net.local_server import FakeTime, answer
from tests.net.reply_server import Port, serving_replies
from tests.net.skipped_time import skip_waits
from tests.resilience.remote_servers import (
    KINDS,
    LEARNED,
    NOW,
    PATIENT,
    VARIABLE,
    as_json,
    ask,
    ask_over,
    new_client,
    new_record,
    tools_over,
)

SLOW, REFUSED, MISSING = "slow", "refused", "no key is set"
PAGE = b"<html><body>Bad gateway</body></html>"
FAULTS = {
    REFUSED: None,
    SLOW: None,
    MISSING: None,
    "cut": answer(body=gzip.compress(b"{}" * 1000)[:-9], Content_Encoding="gzip"),
    "429": answer("429 Too Many Requests", PAGE),
    "429 with Retry-After": answer("429 Too Many Requests", b"{}", Retry_After="60"),
    "400": answer("400 Bad Request", PAGE),
    "401": answer("401 Unauthorized", b"{}"),
    "500": answer("500 Oh", PAGE),
    "504": answer("504 Gateway Time-out", PAGE),
    "page": answer(body=PAGE, Content_Type="text/html"),
    "page of 404": answer("404 Not Found", PAGE),
    "empty": answer(body=b""),
    "null": answer(body=b"null"),
    "object": as_json({}),
    "other types": as_json({"data": 5, "itineraries": 5, "stopTimes": 5, "journeys": 5, "stopPoints": 5, "matches": 5}),
    "without fields": as_json({"data": {}}),
    "null beside errors": as_json({"data": None, "errors": [{"message": "no"}], "itineraries": None, "journeys": None}),
    "other version": {
        "tfl": answer("404 Not Found", b'{"message": "Resource not found: /StopPoint", "timestampUtc": "?"}'),
        "motis": answer("404 Not Found", b"no such path"),
        "opentripplanner": as_json(
            {"errors": [{"message": "Unknown field", "extensions": {"classification": "ValidationError"}}]}
        ),
    },
}
# By fault: the code of trips, of boards and stops, of timetables and names, and of journeys.
CODES = {
    REFUSED: ("network-error", "upstream-error", "NETWORK_ERROR", "UPSTREAM_ERROR"),
    SLOW: ("upstream-timeout", "upstream-timeout", "UPSTREAM_TIMEOUT", "UPSTREAM_TIMEOUT"),
    MISSING: ("upstream-error", "upstream-error", "MISSING_API_KEY", "UPSTREAM_ERROR"),
    "cut": ("network-error", "upstream-error", "NETWORK_ERROR", "UPSTREAM_ERROR"),
    "429": ("rate-limited", "rate-limited", "RATE_LIMITED", "RATE_LIMIT_EXCEEDED"),
    "429 with Retry-After": ("rate-limited", "rate-limited", "RATE_LIMITED", "RATE_LIMIT_EXCEEDED"),
    "401": ("upstream-error", "upstream-error", "INVALID_API_KEY", "UPSTREAM_ERROR"),
    "504": ("upstream-timeout", "upstream-timeout", "UPSTREAM_TIMEOUT", "UPSTREAM_TIMEOUT"),
}
_OTHER = ("upstream-error", "upstream-error", "UPSTREAM", "UPSTREAM_ERROR")
ASKED = {"trip": 0, "board": 1, "stops": 1, "route": 2, "timetable": 2, "name": 2, "journey": 3}


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    monkeypatch.setattr(retry, "sleep", lambda _seconds: asyncio.sleep(0))


def find_error_code(body):
    if "error" not in body:
        return body.get("code", "OK")
    code = body["error"]["code"]
    return "UPSTREAM" if code.endswith(("_FAILED", "_UNREADABLE")) else code


def list_asked(kind):
    """TfL alone plans journeys, and has no timetables."""
    left_out = "timetable" if kind == "tfl" else "journey"
    return [word for word in ASKED if word != left_out]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_has_its_code_and_the_next_call_recovers(kind, fault, tmp_path):
    time, is_wrong, sent, take_s = FakeTime(), True, [], skip_waits(asyncio.get_running_loop())
    wrong = FAULTS[fault][kind] if isinstance(FAULTS[fault], dict) else FAULTS[fault]

    async def reply(asked):
        sent.append(asked)
        if is_wrong and fault == SLOW:
            await take_s(20)
        return wrong if is_wrong and wrong else as_json(KINDS[kind].tell(asked, "Victoria"))

    limits = None if fault == SLOW else PATIENT
    environ = {} if fault == MISSING else {VARIABLE: "s3cr3t-k3y"}
    found, waits, often = {}, set(), []
    async with serving_replies(reply) as served:
        port = Port(None if fault == REFUSED else served.number)
        record = new_record(kind, key=VARIABLE)
        async with tools_over(tmp_path, port, record, environ=environ, limits=limits, time=time) as (tools, _):
            for word in list_asked(kind):
                body = await ask(tools, kind, word)
                found[word] = find_error_code(body)
                often.append(len(sent))
                error = body.get("error", {})
                waits.add(error.get("retryAfter") or error.get("details", {}).get("retryAfter"))
            slept = list(time.slept)
            is_wrong, port.number = False, served.number
            environ[VARIABLE] = "s3cr3t-k3y"
            time.now_ms += 61_000
            recovered = {word: find_error_code(await ask(tools, kind, word)) for word in list_asked(kind)}

    codes = CODES.get(fault, _OTHER)
    assert found == {word: codes[ASKED[word]] for word in list_asked(kind)}
    assert set(recovered.values()) == {"OK"}
    assert fault != MISSING or often[-1] == 0
    if fault.startswith("429"):
        assert (waits - {None}, slept, len(set(often))) == ({60 if "Retry" in fault else 5}, [], 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("seconds", "late"), [(1, []), (4, ["motis name"]), (6, ["motis name", "board", "timetable"])])
async def test_a_slow_server_is_waited_for_while_the_call_has_time(kind, seconds, late, tmp_path):
    """A call has 11 s for all answers, and 8 s for a step. Optional parts may be missing."""
    take_s = skip_waits(asyncio.get_running_loop())

    async def reply(asked):
        await take_s(seconds)
        return as_json(KINDS[kind].tell(asked, "Victoria"))

    found = {}
    for word in list_asked(kind):
        home = tmp_path / word
        home.mkdir()
        (body,) = await ask_over(kind, home, reply, word, limits=None)
        found[word] = find_error_code(body)

    too_late = {word: CODES[SLOW][ASKED[word]] for word in found if word in late or f"{kind} {word}" in late}
    assert found == dict.fromkeys(found, "OK") | too_late


@pytest.mark.parametrize("kind", ["motis", "opentripplanner"])
async def test_an_expired_timetable_names_its_days(kind, tmp_path):
    """TfL publishes no days."""
    words = "query time 2026-06-10 is outside of loaded timetable window [2026-01-31 00:00, 2026-03-01 00:00["
    learned = replace(LEARNED, first_day=date(2026, 1, 31), last_day=date(2026, 2, 28))

    async def reply(asked):
        if kind == "motis" and re.search("plan|stoptimes", asked.target) and "time=2026-01-31" not in asked.target:
            return answer("400 Bad Request", json.dumps({"error": words}).encode())
        told = KINDS[kind].tell(asked, "Victoria")
        if kind == "opentripplanner" and "live" in told["data"]:
            told["data"]["live"] |= {"edges": [], "routingErrors": [{"code": "OUTSIDE_SERVICE_PERIOD"}]}
        if kind == "opentripplanner" and "query Board" in asked.body.decode():
            told["data"]["stops"][0]["stoptimesWithoutPatterns"] = []
        return as_json(told)

    asked = ("trip", "route", "board", "timetable", "stops")
    trip, route, board, timetable, stops = await ask_over(kind, tmp_path, reply, *asked, learned=learned)

    assert (trip["error"]["code"], trip["error"]["message"].endswith("covers 2026-01-31 to 2026-02-28 only")) == (
        "no-itinerary-found",
        True,
    )
    assert [each["metadata"]["noResultsReason"] for each in (route, timetable)] == ["NO_SERVICE", "NO_SERVICE"]
    warned = [each["message"] for each in board["warnings"]]
    assert (board["departures"], warned) == ([], ["The timetable covers only 2026-01-31 to 2026-02-28."])
    assert len(stops["stops"]) == 1


async def test_old_predictions_are_called_old(tmp_path):
    """Only TfL states when it made a prediction."""

    async def reply(asked):
        told = KINDS["tfl"].tell(asked, "Victoria")
        return as_json(
            json.loads(json.dumps(told).replace(f'"timestamp": "{NOW}"', '"timestamp": "2026-06-10T07:00:00Z"'))
        )

    (board,) = await ask_over("tfl", tmp_path, reply, "board")

    assert [each["code"] for each in board["warnings"]] == ["realtime-stale"]


REQUIRED = {
    "tfl": {
        "trip": ["journeys", "legs"],
        "journey": ["journeys", "legs"],
        "stops": ["stopPoints"],
        "name": ["matches"],
    },
    "motis": {"trip": ["itineraries", "legs"], "board": ["stopTimes", "place"], "timetable": ["stopTimes", "place"]},
    "opentripplanner": {
        "trip": ["live", "edges", "node", "legs"],
        "board": ["stops", "stations", "stoptimesWithoutPatterns"],
        "timetable": ["stops", "stations"],
        "stops": ["stopsByBbox"],
        "name": ["stops", "stations"],
    },
}
ROWS = [(kind, word, name) for kind, words in REQUIRED.items() for word, names in words.items() for name in names]


def spoil(told, name, *, is_absent):
    if isinstance(told, list):
        return [spoil(each, name, is_absent=is_absent) for each in told]
    if not isinstance(told, dict):
        return told
    kept = {key: spoil(value, name, is_absent=is_absent) for key, value in told.items() if key != name}
    return kept if is_absent or name not in told else {**kept, name: None}


@pytest.mark.parametrize(("kind", "word", "name"), ROWS)
@pytest.mark.parametrize("is_absent", [False, True], ids=["null", "absent"])
@pytest.mark.parametrize("errors", [[], [{"message": "no", "path": ["x"]}]], ids=["alone", "beside errors"])
async def test_a_null_or_absent_requested_field_is_a_failure_of_the_source(
    kind, word, name, is_absent, errors, tmp_path
):
    async def reply(asked):
        told = spoil(KINDS[kind].tell(asked, "Victoria"), name, is_absent=is_absent)
        return as_json({**told, "errors": errors} if errors and isinstance(told, dict) else told)

    (body,) = await ask_over(kind, tmp_path, reply, word)

    assert find_error_code(body) == _OTHER[ASKED[word]], body


@pytest.mark.parametrize("kind", KINDS)
async def test_a_short_pause_is_waited_out_and_the_answer_is_complete(kind, tmp_path):
    """The contracts' own test: rate limit path, retry then success."""
    limited, time = [answer("429 Too Many Requests", Retry_After="2")], FakeTime()

    async def reply(asked):
        return limited.pop() if limited else as_json(KINDS[kind].tell(asked, "Victoria"))

    (body,) = await ask_over(kind, tmp_path, reply, "stops", time=time)

    assert (find_error_code(body), time.slept) == ("OK", [2.0])


@pytest.mark.parametrize("kind", KINDS)
async def test_adding_a_network_waits_as_long_as_its_server_requests(kind, tmp_path):
    """Nobody waits for an answer then, and a failure would mean to start over."""
    limited, time = [answer("429 Too Many Requests", Retry_After="20")], FakeTime()

    async def reply(asked):
        return limited.pop() if limited else as_json(KINDS[kind].tell(asked, "Victoria"))

    async with (
        serving_replies(reply) as port,
        new_client(tmp_path, port, {"TFL_API_KEY": "s3cr3t-k3y"}, time) as client,
    ):
        learned = await KINDS[kind].new_source(client.fetch).learn(new_record(kind))

    assert (learned.bounds is not None, time.slept[0]) == (True, 20.0)


async def test_an_end_outside_the_servers_area_is_an_unsupported_region(tmp_path):
    async def reply(asked):
        told = KINDS["opentripplanner"].tell(asked, "Victoria")
        if "live" in told["data"]:
            told["data"]["live"] |= {"edges": [], "routingErrors": [{"code": "OUTSIDE_BOUNDS", "inputField": "TO"}]}
        return as_json(told)

    trip, route = await ask_over("opentripplanner", tmp_path, reply, "trip", "route")

    assert (trip["error"]["code"], route["error"]["code"]) == ("unsupported-region", "OUT_OF_BOUNDS")
    assert trip["error"]["message"] == "The destination lies outside the area that TOWN covers"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "lon"), [("", "-0.1"), ("Victoria", "1e30")], ids=["no names", "off the globe"])
async def test_absurd_names_and_positions_cause_no_internal_error(kind, name, lon, tmp_path):
    async def reply(asked):
        body = json.dumps(KINDS[kind].tell(asked, name)).replace('"lon": -0.1', f'"lon": {lon}')
        return answer(body=body.encode(), Content_Type="application/json")

    codes = [find_error_code(body) for body in await ask_over(kind, tmp_path, reply, *list_asked(kind))]

    assert [code for code in codes if "internal" in code.lower()] == []
