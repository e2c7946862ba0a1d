"""``fingerpost timetable``."""

import json
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from fingerpost.apps.cli.clock_texts import find_clock_time


def test_a_bare_until_is_the_next_one_after_at(invoke, home):
    """From 23:00 to 00:30 the day after, as the envelope says."""
    done = invoke("timetable", "Kauklahti", "--at", "23:00", "--until", "00:30", "--json")

    assert json.loads(done.stdout)["applied"]["horizonMinutes"] == 90


def test_a_stop_that_is_not_clear_is_an_error_with_candidates(invoke, home):
    """Exit status 1; the envelope is the lookup contract's."""
    done = invoke("timetable", "kamp", "--json")

    assert (done.returncode, json.loads(done.stdout)["error"]["category"]) == (1, "DISAMBIGUATION_REQUIRED")


@pytest.mark.parametrize(
    ("at", "until", "minutes"),
    [
        ("tomorrow 9am", "tomorrow 11am", 120),
        ("tomorrow 9am", "11am", 120),
        ("tomorrow 23:00", "00:30", 90),
        ("today 23:00", "tomorrow 01:00", 120),
        ("monday 9am", "monday 11am", 120),
        ("tuesday 07:30", "tuesday 09:30", 120),
    ],
)
def test_a_named_day_of_until_counts_from_now(invoke, at, until, minutes):
    """It is Tuesday 08:00; only a bare time goes on from --at, and no weekday lies before it."""
    done = invoke("timetable", "Kauklahti", "--at", at, "--until", until, "--json")

    assert json.loads(done.stdout)["applied"]["horizonMinutes"] == minutes


@pytest.mark.parametrize(
    ("until", "told"),
    [
        ("2026-03-11T09:00", "2026-03-11T09:00 and 2026-03-11T09:00 (Europe/Helsinki)"),
        ("2026-03-12T07:01Z", "2026-03-11T09:00 and 2026-03-12T09:01 (Europe/Helsinki)"),
    ],
)
def test_an_impossible_window_is_an_error(invoke, until, told):
    done = invoke("timetable", "Kauklahti", "--at", "tomorrow 9am", "--until", until)

    assert (done.returncode, told in " ".join(done.stderr.replace("│", "").split())) == (2, True)


def test_a_window_of_a_whole_day_is_shown(invoke):
    assert invoke("timetable", "Kauklahti", "--at", "tomorrow 9am", "--until", "2026-03-12T09:00").returncode == 0


@pytest.mark.parametrize("text", ["tomorrow 09:00", "wednesday 09:00"])
def test_just_after_midnight_a_day_is_still_counted_from_now(text):
    """The two minutes that count as now belong to the day before."""
    now = datetime(2026, 3, 10, 0, 1, tzinfo=ZoneInfo("Europe/Helsinki"))

    assert find_clock_time(text).next(now - timedelta(seconds=120), now) == now.replace(day=11, hour=9, minute=0)
