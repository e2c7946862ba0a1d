"""Doors that stay shut today, in boards and trips."""

from tests.embedded.conftest import rows, trips, warnings
from tests.realtime.messages import NOW, message, stop_time_with, update

DRAWING = """
line A | Alpha 08:10 | Beta 08:20 | Gamma 08:30
line B | Alpha 08:15 | Gamma 08:40
"""


def test_nobody_is_sent_to_a_shut_door(towns):
    """A lets nobody on at Alpha: the board says that it does not go from there, and the trip takes the next."""
    town = towns(DRAWING)
    town.say(message(update("A-1", stop_time_with("ALPHA", pickup_type="NONE")), timestamp=NOW))

    assert [row[:3] for row in rows(town.board())] == [("A", "08:10", "cancelled"), ("B", "08:15", "scheduled_only")]
    assert trips(town.plan(limit=1)) == ["B 08:15"]


def test_whoever_gets_off_at_a_shut_door_is_sent_another_way(towns):
    """A lets nobody off at Gamma; its board at Alpha is as ever."""
    town = towns(DRAWING)
    town.say(message(update("A-1", stop_time_with("GAMMA", drop_off_type="NONE")), timestamp=NOW))

    assert [row[:2] for row in rows(town.board())] == [("A", "08:10"), ("B", "08:15")]
    assert trips(town.plan(limit=1)) == ["B 08:15"]


def test_a_promised_trip_that_needs_a_shut_door_is_named(towns):
    """Line A would be there first; what stands in for it is compared with it."""
    town = towns(DRAWING)
    town.say(message(update("A-1", stop_time_with("ALPHA", pickup_type="NONE")), timestamp=NOW))
    body = town.plan(limit=1)

    assert "Line A from Alpha" in warnings(body)["disrupted-itinerary-replaced"]


def test_whoever_stays_seated_needs_no_door(towns):
    """A goes on as B at Beta, where nobody may board or alight: who came with A rides on; nothing is disrupted."""
    linked = "line A | Alpha 08:10 | Beta 08:20\nline B | Beta 08:21 | Gamma 08:30\nstay | A-1 | B-1"
    town = towns(linked, coordinates={"Beta": (60.25, 24.94), "Gamma": (60.17, 25.1)})
    shut = {"pickup_type": "NONE", "drop_off_type": "NONE"}
    town.say(message(*(update(trip, stop_time_with("BETA", **shut)) for trip in ("A-1", "B-1")), timestamp=NOW))
    body = town.plan(limit=1)

    assert (trips(body), warnings(body)) == (["A 08:10 B 08:21"], {})
