"""Notes about trips that an answer does not show: disruptions, long gaps, and which hour is meant."""

from datetime import date

import pytest

from tests.embedded.conftest import trips, warnings
from tests.realtime.messages import at, call, message, update

THREE = """
rail R | Alpha 08:10 | Gamma 08:30
rail R | Alpha 08:40 | Gamma 09:00
rail R | Alpha 09:10 | Gamma 09:30
"""
OFF = {"relationship": "CANCELED"}


@pytest.mark.parametrize("trouble", [update("R-2", **OFF), update("R-3", call("ALPHA", 600, 600))])
def test_a_punctual_train_has_no_notice_of_a_later_trains_delay(towns, trouble):
    """The 08:10 replaces neither the 08:40 nor the 09:10, and the warning names their departures."""
    town = towns(THREE, entities=[update("R-1", call("ALPHA", 0, 0)), trouble])
    body = town.plan(limit=1)

    assert (trips(body), "differences" in body["meta"]) == (["R 08:10"], False)
    assert warnings(body)["disrupted-itinerary-replaced"].endswith(
        ("Line R from Alpha is cancelled (08:40).", "Line R from Alpha leaves 10 min late (09:10).")
    )


def test_the_train_after_a_cancelled_one_replaces_it(towns):
    town = towns(THREE, entities=[update("R-2", **OFF)])
    body = town.plan(limit=2)

    [difference] = body["meta"]["differences"]
    assert difference["fingerprint"] == body["itineraries"][1]["fingerprint"]
    assert (difference["laterMinutes"], difference["cause"]["text"]) == (30, "Line R from Alpha is cancelled (08:40).")


@pytest.mark.parametrize("limit", [1, 2])
def test_early_departures_beyond_the_cut_count(towns, limit):
    town = towns(
        "rail D | Alpha 18:00 | Gamma 18:20\nline B | Alpha 08:15 | Delta 08:30\nline C | Delta 08:34 | Gamma 08:55"
    )
    body = town.plan(limit=limit, constraints={"optimize": "few_transfers"})

    assert (trips(body)[0], "preference-unmet" in warnings(body)) == ("D 18:00", False)


@pytest.mark.parametrize("limit", [1, 2])
def test_a_cancelled_train_does_not_leave_soon(towns, limit):
    town = towns("rail D | Alpha 08:10 | Gamma 08:20", entities=[update("D-1", **OFF)])

    assert warnings(town.plan(limit=limit))["preference-unmet"] == (
        "No usable trip departs soon; the first one departs at 2026-03-11T08:10:00+02:00. "
        "There are no departures near the origin before 2026-03-11."
    )


def test_no_cancelled_train_is_named_as_the_first_that_leaves(towns, clock):
    """The timetable has trains on days 10, 11 and 14; after that of day 10, with that of day 11 cancelled."""
    clock(at("09:00"))
    town = towns("rail R | Alpha 08:10 | Gamma 08:30", days=[date(2026, 3, day) for day in (10, 11, 14)])
    town.publish(message(update("R-1", **OFF, day="20260311"), timestamp=at("09:00")))

    assert warnings(town.plan(limit=2))["preference-unmet"].endswith(
        "departs at 2026-03-14T08:10:00+02:00. There are no departures near the origin before 2026-03-14."
    )


REPEATED = """
rail M | Alpha 03:10 | Gamma 03:30
rail O | Alpha 27:30 | Gamma 27:50
"""


@pytest.fixture
def night(towns, clock):
    """The night in which Helsinki sets its clocks back from four to three: O leaves at 00:30 UTC, M at 01:10 UTC."""
    clock(at("03:05", date(2026, 10, 25)))
    return towns(REPEATED)


def test_texts_distinguish_repeated_hours(night):
    """A11: times after the change have their offset."""
    night.board(windowMinutes=120)
    assert [line[:20] for line in night.text.splitlines()[1:3]] == ["03:30 RAIL O to Gamm", "03:10+02:00 RAIL M t"]
    night.plan(limit=2)
    assert [line[:30] for line in night.text.splitlines() if line[:2] in ("1.", "2.")] == [
        "1. 03:30 to 03:50, 20 min, 0 c",
        "2. 03:10+02:00 to 03:30+02:00,",
    ]
