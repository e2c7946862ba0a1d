"""``fingerpost timetable``, and the commands that it and ``plan`` offer for more."""

import json
import shlex


def offered(done, word):
    """Return the arguments of the command that stands behind a word at the end."""
    (line,) = (line for line in done.stdout.splitlines() if line.startswith(f"{word}: "))
    return shlex.split(line.partition(": ")[2])[1:]


def times(done):
    """Return the times in the first column, up to the table of lines."""
    table = done.stdout.partition("\nline ")[0]
    return [line[:5] for line in table.splitlines() if line[2:3] == ":"]


def test_later_and_earlier_go_on_where_the_timetable_ends(invoke, home):
    """An hour from 09:00; the hour after, and the hour before it again."""
    first = invoke("timetable", "Kauklahti", "--at", "09:00")
    later = invoke(*offered(first, "later"))
    again = invoke(*offered(later, "earlier"))

    assert (times(first)[0], times(later)[0]) == ("09:03", "10:03")
    assert times(again) == times(first)


def test_a_bare_until_is_the_next_one_after_at(invoke, home):
    """From 23:00 to 00:30 the day after, as the envelope says."""
    done = invoke("timetable", "Kauklahti", "--at", "23:00", "--until", "00:30", "--json")

    assert json.loads(done.stdout)["applied"]["horizonMinutes"] == 90


def test_a_stop_that_is_not_clear_is_an_error_with_candidates(invoke, home):
    """Exit status 1; the envelope is the lookup contract's."""
    done = invoke("timetable", "kamp", "--json")

    assert (done.returncode, json.loads(done.stdout)["error"]["category"]) == (1, "DISAMBIGUATION_REQUIRED")


def test_a_plan_offers_later_ones_and_no_earlier_ones_from_now(invoke, home):
    """What is later leaves after what was shown."""
    now = invoke("plan", "Kamppi", "Espoo", "--limit", "1")

    assert offered(now, "later") == ["plan", "Kamppi", "Espoo", "--limit", "1", "--at", "2026-03-10T08:02:00+02:00"]
    assert "earlier: " not in now.stdout
