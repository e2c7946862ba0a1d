"""A vehicle that goes on as another trip at the very second at which it arrives."""

import pytest

from tests.embedded.conftest import trips
from tests.realtime.messages import NOW, call, message, update

LINKED = "line A | Alpha 08:10 | Beta 08:20\nline B | Beta 08:20 | Gamma 08:30\nstay | A-1 | B-1"


@pytest.mark.parametrize("late_s", [None, 120])
def test_who_rides_on_without_a_stop_stays_seated(towns, late_s):
    """By the timetable, and where both trips are as late: no second lies between them, and nobody changes."""
    town = towns(LINKED)
    if late_s is not None:
        both = (update(trip, *(call(stop, late_s, late_s) for stop in stops))
                for trip, stops in (("A-1", ("ALPHA", "BETA")), ("B-1", ("BETA", "GAMMA"))))  # fmt: skip
        town.say(message(*both, timestamp=NOW))
    body = town.plan(limit=1)
    late = f"{10 + (late_s or 0) // 60:02}", f"{20 + (late_s or 0) // 60:02}"

    assert trips(body) == [f"A 08:{late[0]} B 08:{late[1]}"]
    assert [each["legs"] for each in body["meta"]["staySeated"]] == [[1]]
    assert (body["itineraries"][0]["numberOfTransfers"], "DisruptionNote" in body["itineraries"][0]) == (0, False)
