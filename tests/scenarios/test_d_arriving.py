"""Chapter D: arriving by a time."""

import pytest

from tests.scenarios.riding import ride

LINE = """
line A | Alpha 08:00 | Beta 08:20
line A | Alpha 08:30 | Beta 08:50
line A | Alpha 09:00 | Beta 09:20
"""
BOTH = ["Alpha 08:00 A Beta 08:20", "Alpha 08:30 A Beta 08:50"]


@pytest.mark.parametrize(
    ("time", "found"),
    [
        pytest.param("08:55", BOTH, id="d01: the latest departure that is in time is offered, and an earlier one"),
        pytest.param("08:50:00", BOTH, id="d02: arriving at the asked second is in time"),
        pytest.param("08:49:59", BOTH[:1], id="d03: a second late is late"),
    ],
)
def test_an_arrival_by_a_time_is_met(time, found):
    assert ride(LINE, "Alpha", "Beta", time, arrive_by=True) == found


def test_d04_changes_work_backwards_too():
    drawing = """
    line A | Alpha 08:00 | Beta 08:10
    line A | Alpha 08:05 | Beta 08:15
    line B | Beta 08:16 | Gamma 08:30
    """
    assert ride(drawing, "Alpha", "Gamma", "09:00", arrive_by=True) == [
        "Alpha 08:00 A Beta 08:10 Beta 08:16 B Gamma 08:30"
    ]
