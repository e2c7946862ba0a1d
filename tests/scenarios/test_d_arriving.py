"""Chapter D: arriving by a time."""

from tests.scenarios.riding import ride

LINE = """
line A | Alpha 08:00 | Beta 08:20
line A | Alpha 08:30 | Beta 08:50
line A | Alpha 09:00 | Beta 09:20
"""


def test_d01_the_latest_departure_that_is_in_time_is_offered():
    """Being at Beta by 08:55 means leaving at 08:30; an earlier one is offered too."""
    assert ride(LINE, "Alpha", "Beta", "08:55", arrive_by=True) == [
        "Alpha 08:00 A Beta 08:20",
        "Alpha 08:30 A Beta 08:50",
    ]


def test_d02_arriving_at_the_asked_second_is_in_time():
    """08:50:00 is in time for 08:50:00."""
    assert "Alpha 08:30 A Beta 08:50" in ride(LINE, "Alpha", "Beta", "08:50:00", arrive_by=True)


def test_d03_a_second_late_is_late():
    """And late for 08:49:59."""
    assert ride(LINE, "Alpha", "Beta", "08:49:59", arrive_by=True) == ["Alpha 08:00 A Beta 08:20"]


def test_d04_changes_work_backwards_too():
    """The change at Beta needs its two minutes."""
    drawing = """
    line A | Alpha 08:00 | Beta 08:10
    line A | Alpha 08:05 | Beta 08:15
    line B | Beta 08:16 | Gamma 08:30
    """
    assert ride(drawing, "Alpha", "Gamma", "09:00", arrive_by=True) == [
        "Alpha 08:00 A Beta 08:10 Beta 08:16 B Gamma 08:30"
    ]
