"""Every faulty response from the server becomes the error class that says what to do next."""

import pytest

from fingerpost.errors import SourceChanged, SourceFailed, SourceKeyRefused, SourceLimited, SourceTimeout
from tests.net.local_server import answer, html
from tests.opentripplanner.answers import a_board, a_board_query, a_page, a_query, a_ride, a_time, asking, body

GRAPHQL_ERROR = {"message": "Exception while fetching data (/planConnection)", "path": ["live"], "locations": []}


def refused(kind):
    return body({"errors": [{"message": "Field 'x' is undefined", "extensions": {"classification": kind}}]})


@pytest.mark.parametrize(
    ("told", "branch"),
    [
        (body({"statusCode": 403, "message": "Forbidden"}, "403 Forbidden"), SourceKeyRefused),
        (refused("ValidationError"), SourceChanged),
        (refused("InvalidSyntax"), SourceChanged),
        (refused("ExecutionAborted"), SourceFailed),
        (body({"errors": [{"message": "java.util.concurrent.TimeoutException"}]}), SourceTimeout),
        (answer(body=b"NaN"), SourceChanged),
        (body({"data": {"live": {"edges": [{"node": {"legs": [{"mode": "BUS"}]}}]}}}), SourceChanged),
    ],
)
async def test_an_invalid_answer_is_reported_as_such(told, branch):
    async with asking(told) as (network, _):
        with pytest.raises(branch) as raised:
            await network.plan_journeys(a_query())

    assert type(raised.value) is branch


@pytest.mark.parametrize(
    ("told", "counts"),
    [(body({"data": {"live": None}, "errors": [GRAPHQL_ERROR]}), False), (html("503 Service Unavailable"), True)],
)
async def test_a_refusal_by_a_healthy_server_does_not_count_as_a_failure(told, counts):
    async with asking(told) as (network, _):
        with pytest.raises(SourceFailed) as raised:
            await network.plan_journeys(a_query())

    assert raised.value.retryable is counts


@pytest.mark.parametrize(
    ("status", "message", "headers", "wait_s"),
    [
        ("429 Too Many Requests", "Slow down", {}, 5.0),
        ("429 Too Many Requests", "Slow down", {"Retry_After": "12"}, 12.0),
        ("403 Quota Exceeded", "Out of call volume quota.", {"Retry_After": "12"}, 12.0),
        ("403 Forbidden", "Out of call volume quota.", {}, 3600.0),
    ],
)
async def test_a_limit_states_how_long_to_wait(status, message, headers, wait_s):
    async with asking(body({"statusCode": 0, "message": message}, status, **headers)) as (network, _):
        with pytest.raises(SourceLimited) as raised:
            await network.list_departures(a_board_query())

    assert raised.value.retry_after_s == wait_s


@pytest.mark.parametrize(
    ("data", "errors", "note"),
    [
        (
            {"live": a_page([a_ride()])},
            [{"message": "no alerts here", "path": ["live", "edges", 0, "node", "legs", 0, "alerts"]}],
            "The server's response lacks live.edges.node.legs.alerts (no alerts here).",
        ),
        # The search for cancelled trips failed alone.
        (
            {"live": a_page([a_ride()]), "scheduled": None},
            [{"message": "broken", "path": ["scheduled"]}],
            "The server's response lacks scheduled (broken).",
        ),
    ],
)
async def test_data_with_errors_is_an_answer_that_names_the_missing_parts(data, errors, note):
    async with asking(body({"data": data, "errors": errors})) as (network, _):
        answered = await network.plan_journeys(a_query())

    assert (len(answered.itineraries), answered.timetabled, answered.provenance.notes) == (1, (), (note,))


async def test_many_errors_of_a_server_are_reported_in_one_sentence():
    errors = [{"message": "no", "path": ["live", f"{number}" + "x" * 100_000]} for number in range(7)]
    async with asking(body({"data": {"live": a_page([a_ride()])}, "errors": errors})) as (network, _):
        (note,) = (await network.plan_journeys(a_query())).provenance.notes

    assert (note.count("live."), note[-16:], len(note) < 1_000) == (5, "and 2 more (no).", True)


async def test_unknown_fields_values_and_nulls_are_ignored():
    time = a_time(realtimeState="SPLIT", pickupType="BY_DRONE", news=[1])
    sparse = a_time(5, headsign=None, departureDelay=None, realtime=None, realtimeState=None)
    stops = [None, a_board(time, None, sparse), {"gtfsId": "HSL:2", "stoptimesWithoutPatterns": None}]
    async with asking(body({"data": {"stops": stops}, "extensions": {}})) as (network, _):
        board = await network.list_departures(a_board_query())

    assert [(row.destination, row.departure_delay_s, row.cancelled) for row in board.departures] == [
        ("Tapiola", None, False),
        ("Otaniemi", None, False),
    ]
