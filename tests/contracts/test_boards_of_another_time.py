"""get_departures at another time than now (rules C1, A4, B12)."""

import pytest

from tests.contracts.conftest import board_of, codes, refusal
from tests.contracts.test_get_departures_contract import STOP, leaving, rows
from tests.rules.drawing import T0

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
    """C1, B12, A4: both ends in; two minutes ago is now, of which nothing is said; without an offset Helsinki's."""
    answer = ask(over, at, *map(leaving, minutes))

    assert (rows(answer), codes(answer)) == ([("7", time) for time in shown], told)
    assert answer.body["meta"].get("at") == (since and f"2022-02-22T{since}+02:00")
    assert answer.body["dataFreshness"] == "2022-02-22T08:00:00+02:00"


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
