"""get_departures at another time than now (rules C1, A4, B12)."""

import pytest

from tests.contracts.conftest import board_of, codes, refusal
from tests.contracts.test_get_departures_contract import STOP, leaving, rows
from tests.rules.drawing import T0


def ask(over, at, *departures):
    return over(board_of(*departures))("get_departures", {**STOP, "at": at})


@pytest.mark.parametrize("at", ["2022-02-22T10:00:00+02:00", "2022-02-22T08:00:00Z"])
def test_at_moves_the_window(over, at):
    """C1: from then on, both ends in; the answer says from when, and stays as fresh as it is."""
    answer = ask(over, at, leaving(119), leaving(120), leaving(150), leaving(151))

    assert rows(answer) == [("7", "10:00"), ("7", "10:30")]
    assert answer.body["meta"]["at"] == "2022-02-22T10:00:00+02:00"
    assert answer.body["dataFreshness"] == "2022-02-22T08:00:00+02:00"


@pytest.mark.parametrize("at", [None, "now", "2022-02-22T08:00:00+02:00", "2022-02-22T05:58:00Z"])
def test_now_is_now(over, at):
    """C1, B12: absent, said, or up to two minutes ago; then nothing is said of it."""
    answer = ask(over, at, leaving(-1), leaving(5))

    assert (rows(answer), codes(answer), "at" in answer.body["meta"]) == ([("7", "08:05")], [], False)


def test_the_past_is_answered_and_said(over):
    """B12: 121 seconds ago."""
    answer = ask(over, "2022-02-22T05:57:59Z", leaving(-2))

    assert (rows(answer), codes(answer)) == ([("7", "07:58")], ["in-the-past"])


def test_a_time_without_an_offset_is_the_networks_and_said(over):
    """A4: read in Helsinki."""
    answer = ask(over, "2022-02-22T10:00:00", leaving(125))

    assert (rows(answer), codes(answer)) == ([("7", "10:05")], ["timezone-assumed"])


def test_what_is_no_time_is_refused_before_the_stop_is_looked_up(over):
    """A6: ranges before labels."""
    wrong = {"stop": {"type": "label", "value": "nowhere"}, "at": "soon"}

    assert refusal(over(board_of())("get_departures", wrong))[1] == "'soon' is not an instant"


def test_the_age_of_real_time_is_counted_from_now(over):
    """B4: not from the time that is asked for."""
    answer = ask(over, "2022-02-22T10:00:00Z", leaving(245, departure_delay_s=60, last_realtime_update=T0 - 30))

    assert answer.body["meta"]["realtimeAgeSeconds"] == 30


def test_the_text_says_from_when(over):
    """A11: rows of that day without a date."""
    answer = ask(over, "2022-02-23T08:00:00+02:00", leaving(24 * 60 + 5))

    assert answer.text.splitlines() == [
        "Departures from A (T:A), Europe/Helsinki, from 2022-02-23 08:00 on:",
        "08:05 TRAM 7 to B",
    ]
