"""Chapter A: one line."""

from tests.scenarios.riding import ride

LINE = """
line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20
line A | Alpha 08:30 | Beta 08:40 | Gamma 08:50
"""


def test_a01_the_next_departure_is_taken():
    """Both departures after the asked instant are offered, the earlier first."""
    assert ride(LINE, "Alpha", "Gamma", "07:50") == [
        "Alpha 08:00 A Gamma 08:20",
        "Alpha 08:30 A Gamma 08:50",
    ]


def test_a02_a_departure_at_the_asked_second_is_caught():
    """Asking at 08:00:00 catches 08:00."""
    assert ride(LINE, "Alpha", "Beta", "08:00:00")[0] == "Alpha 08:00 A Beta 08:10"


def test_a03_a_departure_one_second_before_is_missed():
    """Asking at 08:00:01 leaves 08:30 alone."""
    assert ride(LINE, "Alpha", "Beta", "08:00:01") == ["Alpha 08:30 A Beta 08:40"]


def test_a04_nobody_rides_backwards():
    """The line does not run from Gamma to Alpha."""
    assert ride(LINE, "Gamma", "Alpha", "07:00") == []


def test_a05_a_later_vehicle_that_overtakes_is_preferred():
    """The express leaves later and arrives earlier, so the slow one is not offered at all."""
    drawing = """
    line A | Alpha 08:00 | Beta 08:30 | Gamma 09:00
    line A | Alpha 08:10 | Beta 08:15 | Gamma 08:20
    """
    assert ride(drawing, "Alpha", "Gamma", "08:00") == ["Alpha 08:10 A Gamma 08:20"]
