"""Doors that stay shut today, in boards and trips."""

from tests.embedded.conftest import rows, trips
from tests.realtime.messages import NOW, doors_at, message, update

DRAWING = """
line A | Alpha 08:10 | Beta 08:20 | Gamma 08:30
line B | Alpha 08:15 | Gamma 08:40
"""


def test_nobody_is_sent_to_a_shut_door(towns):
    """A lets nobody on at Alpha: the board says that it does not go from there, and the trip takes the next."""
    town = towns(DRAWING)
    town.say(message(update("A-1", doors_at("ALPHA", pickup_type="NONE")), timestamp=NOW))

    assert [row[:3] for row in rows(town.board())] == [("A", "08:10", "cancelled"), ("B", "08:15", "scheduled_only")]
    assert trips(town.plan(limit=1)) == ["B 08:15"]


def test_whoever_gets_off_at_a_shut_door_is_sent_another_way(towns):
    """A lets nobody off at Gamma; its board at Alpha is as ever."""
    town = towns(DRAWING)
    town.say(message(update("A-1", doors_at("GAMMA", drop_off_type="NONE")), timestamp=NOW))

    assert [row[:2] for row in rows(town.board())] == [("A", "08:10"), ("B", "08:15")]
    assert trips(town.plan(limit=1)) == ["B 08:15"]
