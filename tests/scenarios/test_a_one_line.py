"""Chapter A: one line."""

import pytest

from tests.scenarios.riding import ride

LINE = """
line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20
line A | Alpha 08:30 | Beta 08:40 | Gamma 08:50
"""
# The express leaves later and arrives earlier.
OVERTAKING = """
line A | Alpha 08:00 | Beta 08:30 | Gamma 09:00
line A | Alpha 08:10 | Beta 08:15 | Gamma 08:20
"""
BOTH = ["Alpha 08:00 A Gamma 08:20", "Alpha 08:30 A Gamma 08:50"]


@pytest.mark.parametrize(
    ("drawing", "origin", "destination", "time", "found"),
    [
        pytest.param(LINE, "Alpha", "Gamma", "07:50", BOTH, id="a01: the next departures are taken, the earlier first"),
        pytest.param(LINE, "Alpha", "Gamma", "08:00:00", BOTH, id="a02: a departure at the asked second is caught"),
        pytest.param(LINE, "Alpha", "Gamma", "08:00:01", BOTH[1:], id="a03: a departure one second before is missed"),
        pytest.param(LINE, "Gamma", "Alpha", "07:00", [], id="a04: nobody rides backwards"),
        pytest.param(
            OVERTAKING, "Alpha", "Gamma", "08:00", ["Alpha 08:10 A Gamma 08:20"],
            id="a05: a later vehicle that overtakes is preferred, and the slow one is not offered",
        ),
    ],
)  # fmt: skip
def test_one_line_is_ridden(drawing, origin, destination, time, found):
    assert ride(drawing, origin, destination, time) == found
