"""Chapter C: changes."""

import pytest

from tests.scenarios.riding import ride


def _cross(arrival, rule=""):
    return f"""
    line A | Alpha 08:00 | Beta {arrival}
    line B | Beta 08:12 | Gamma 08:30
    {rule}
    """


@pytest.mark.parametrize(
    ("arrival", "rule", "count"),
    [
        pytest.param("08:10:00", "", 1, id="c01: two minutes are enough to change at a stop"),
        pytest.param("08:10:01", "", 0, id="c02: a second less is not"),
        pytest.param("08:07:00", "change | Beta 300", 1, id="c03: the feed's own minimum time replaces ours"),
        pytest.param("08:07:01", "change | Beta 300", 0, id="c03: a second less than it is not enough"),
        pytest.param("08:05", "nowalk | Beta | Beta", 0, id="c07: a forbidden change is not made"),
    ],
)
def test_a_change_needs_its_time(arrival, rule, count):
    found = ride(_cross(arrival, rule), "Alpha", "Gamma", "07:50")
    assert found == [f"Alpha 08:00 A Beta {arrival[:5]} Beta 08:12 B Gamma 08:30"] * count


DIRECT_AND_CHANGE = """
line A | Alpha 08:00 | Beta 08:10
line B | Beta 08:15 | Gamma 08:30
line D | Alpha 08:00 | Gamma 09:00
"""


@pytest.mark.parametrize(
    ("most", "found"),
    [
        pytest.param(
            4, ["Alpha 08:00 A Beta 08:10 Beta 08:15 B Gamma 08:30", "Alpha 08:00 D Gamma 09:00"],
            id="c04: fewer changes are offered beside the faster trip",
        ),
        pytest.param(0, ["Alpha 08:00 D Gamma 09:00"], id="c05: no more changes than asked for"),
    ],
)  # fmt: skip
def test_changes_are_weighed_against_time(most, found):
    assert ride(DIRECT_AND_CHANGE, "Alpha", "Gamma", "07:50", max_transfers=most) == found


def test_c06_a_stated_footpath_is_walked():
    """The feed's two minutes from Beta to Nearby hold, whatever the distance says: 08:12:00 is caught, 08:11:59 not."""
    places = {"Alpha": (60.17, 24.90), "Beta": (60.17, 24.92), "Nearby": (60.174, 24.92), "Gamma": (60.25, 24.92)}

    def drawing(departure):
        return f"""
        line A | Alpha 08:00 | Beta 08:10
        line B | Nearby {departure} | Gamma 08:30
        walk   | Beta | Nearby 120
        """

    assert ride(drawing("08:12:00"), "Alpha", "Gamma", "07:50", coordinates=places) == [
        "Alpha 08:00 A Beta 08:10 walk 579m Nearby 08:12 B Gamma 08:30"
    ]
    assert ride(drawing("08:11:59"), "Alpha", "Gamma", "07:50", coordinates=places) == []
