"""Conformance checks for a network's departure boards."""

from datetime import date

from fingerpost.testing.networks.checking import TownNetwork, draw_board, expect_same
from fingerpost.testing.networks.town import at
from fingerpost.transit.model.itinerary import Mode


async def a_board_lists_what_leaves(case: TownNetwork) -> None:
    board = await case.board("Alpha", "08:00", "09:00")
    expect_same(draw_board(board), ["1 08:10", "2 08:12", "1 08:40"], "the board of Alpha")


async def a_window_includes_both_ends(case: TownNetwork) -> None:
    both = draw_board(await case.board("Alpha", "08:10:00", "08:40:00"))
    inside = draw_board(await case.board("Alpha", "08:10:01", "08:39:59"))
    expect_same(
        (both, inside),
        (["1 08:10", "2 08:12", "1 08:40"], ["2 08:12"]),
        "boards with and without the departures at their ends",
    )


async def the_last_call_is_no_departure(case: TownNetwork) -> None:
    expect_same(draw_board(await case.board("Gamma", "08:00", "09:59")), ["R 09:10"], "the board of Gamma")


async def a_call_without_boarding_is_no_departure(case: TownNetwork) -> None:
    expect_same(draw_board(await case.board("Alpha", "09:00", "09:15")), ["2 09:12"], "the board of Alpha")


async def a_short_board_counts_the_rest(case: TownNetwork) -> None:
    board = await case.board("Alpha", "08:00", "09:00", wanted=1)
    expect_same((draw_board(board)[:1], board.found_count), (["1 08:10"], 3), "the first row and the count")


async def an_empty_board_is_an_answer(case: TownNetwork) -> None:
    board = await case.board("Alpha", "03:00", "03:30")
    expect_same((draw_board(board), board.found_count), ([], 0), "the board for a quiet hour")


async def rows_state_mode_destination_and_stop(case: TownNetwork) -> None:
    rows = (await case.board("Alpha", "08:10", "08:11")).departures
    observed = [(row.mode, row.destination, row.stop_id, row.service_day.isoformat()) for row in rows]
    expect_same(observed, [(Mode.TRAM, "Gamma", case.town.stop_id("Alpha"), "2026-03-10")], "the row of 08:10")


async def another_day_has_a_board_too(case: TownNetwork) -> None:
    day = date(2026, 3, 14)
    rows = (await case.board("Alpha", "08:00", "09:00", day=day)).departures
    observed = sorted((row.scheduled - at("08:00", day), row.line, row.service_day) for row in rows)
    expect_same(observed, [(600, "1", day), (720, "2", day), (2400, "1", day)], "the board for another day")
