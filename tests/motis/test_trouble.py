"""Every faulty response from the server becomes the error class that says what to do next."""

from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from fingerpost.errors import SourceFailed, SourceKeyRefused
from fingerpost.transit.networks.wrappers import CircuitBreakerNetwork, NetworkBreaker
from fingerpost.transit.remote.motis.network import MotisSource
from fingerpost.transit.remote.motis.server import UnknownToServer
from tests.motis.answers import LEARNED, LIMITS, Told, a_board, a_board_query, a_query, a_time, asking, new_record
from tests.net.local_server import FakeTime, answer, html, new_client, serving


@asynccontextmanager
async def told_bytes(told, environ=None, **record):
    async with serving(told) as local, new_client(environ={} if environ is None else environ) as client:
        made = new_record(url=local.url, **record)
        yield MotisSource(client.fetch, LIMITS).open(made, LEARNED), local


async def test_a_server_that_is_back_answers_a_query_of_several_requests():
    time = FakeTime()
    query = replace(a_board_query(), stop_ids=("NL:TOWN_A", "NL:TOWN_B"))
    async with serving(html("500 Oh")) as local, new_client() as client:
        network = MotisSource(client.fetch, LIMITS).open(new_record(url=local.url), LEARNED)
        guarded = CircuitBreakerNetwork(network, NetworkBreaker(clock_s=time.clock_s), "NL")
        for _ in range(6):
            with pytest.raises(SourceFailed):
                await guarded.list_departures(query)
            await time.sleep(30)
        local.answers[:] = [answer(body=b'{"stopTimes": []}')]
        board = await guarded.list_departures(query)

    assert board.departures == []


@pytest.mark.parametrize("window", ["[2025-02-29, 2026-03-01[", "[2026-03-01, 2026-03-01[", "[0001-01-01, 0001-01-01["])
async def test_days_of_a_timetable_that_cannot_be_are_not_reported(window):
    told = answer("400 Bad Request", f'{{"error": "is outside of loaded timetable window {window}"}}'.encode())
    async with told_bytes(told) as (network, _):
        board = await network.list_departures(a_board_query())

    assert (board.departures, board.provenance.first_day) == ([], None)


async def test_a_position_that_the_server_treats_as_a_stop_is_reported():
    told = Told(plan=("404 Not Found", {"error": 'unknown feed id ""'}))
    async with asking(told) as network:
        with pytest.raises(UnknownToServer, match="unknown feed id"):
            await network.plan_journeys(a_query())


async def test_a_ban_suggests_sending_a_contact():
    async with told_bytes(answer("403 Forbidden")) as (network, _):
        with pytest.raises(SourceKeyRefused) as banned:
            await network.list_departures(a_board_query())
    async with told_bytes(answer("403 Forbidden"), {"MY_KEY": "abc"}, key="MY_KEY") as (network, _):
        with pytest.raises(SourceKeyRefused) as refused:
            await network.list_departures(a_board_query())

    assert "FINGERPOST_CONTACT" in banned.value.hint
    assert "key is missing or was not accepted" in refused.value.message


async def test_an_answer_is_served_again_for_a_while_and_a_refusal_is_not():
    told = Told(stoptimes=[("404 Not Found", {"error": "no radius: stop_found=false"}), a_board(a_time())])
    async with asking(told) as network:
        boards = [await network.list_departures(a_board_query()) for _ in range(3)]

    assert [board.found_count for board in boards] == [0, 1, 1]
    assert len(told.asked) == 2
