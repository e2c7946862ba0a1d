"""Chapter B: walking to and from stops, and all the way."""

import pytest

from tests.scenarios.riding import ride

# Near is 100 m north of Alpha in a straight line, so 130 m on foot: 104 s.
PLACES = {"Alpha": (60.1700, 24.94), "Near": (60.1708993, 24.94), "Gamma": (60.2500, 24.94), "Delta": (60.1706, 24.97)}
LINE = """
line A | Alpha 08:10:00 | Gamma 08:30
line N | Near 07:00 | Delta 07:30
"""


WALKED = ["walk 130m Alpha 08:10 A Gamma 08:30"]


@pytest.mark.parametrize(
    ("time", "max_walk_m", "found"),
    [
        pytest.param("08:08:16", 600.0, WALKED, id="b01: a walk to a stop that is in time"),
        pytest.param("08:08:17", 600.0, [], id="b02: a second later it is missed"),
        pytest.param("08:00", 130.0, WALKED, id="b03: a walk of the limit (B6)"),
        pytest.param("08:00", 129.0, [], id="b03: a walk longer than the limit is not offered (B6)"),
    ],
)
def test_a_walk_to_a_stop_is_in_time_and_within_the_limit(time, max_walk_m, found):
    assert ride(LINE, "Near", "Gamma", time, coordinates=PLACES, max_walk_m=max_walk_m) == found


def test_b04_walking_all_the_way_beats_a_slower_ride():
    drawing = "line A | Near 08:10 | Gamma 08:30 | Alpha 09:00"
    assert ride(drawing, "Near", "Alpha", "08:00", coordinates=PLACES) == ["walk 130m"]


def test_b05_the_stop_to_board_at_is_the_one_with_the_least_walk():
    """The line passes Far first, but the rider stands at Near: no walk back to catch the same vehicle earlier."""
    places = {"Far": (60.1700, 24.94), "Near": (60.1730, 24.94), "Gamma": (60.2500, 24.94)}
    drawing = "line A | Far 08:20 | Near 08:22 | Gamma 08:40"
    assert ride(drawing, "Near", "Gamma", "08:00", coordinates=places) == ["Near 08:22 A Gamma 08:40"]


# 167 m from Home to Corner, and from Market to Office.
CITY = {
    "Home": (60.1700, 24.90),
    "Corner": (60.1715, 24.90),
    "Market": (60.2500, 24.90),
    "Office": (60.2515, 24.90),
    "Middle": (60.2100, 24.90),
}


def test_b06_a_sum_of_walks_over_the_limit_does_not_hide_a_way_within_it():
    """B6: the quick way walks at both ends, 434 m in all; with a limit of 400 m the slower one with less is found."""
    drawing = """
    line Q | Corner 08:10 | Market 08:20
    line S | Home 08:10 | Middle 08:30 | Office 08:50
    """
    assert ride(drawing, "Home", "Office", "08:00", max_walk_m=1500.0, coordinates=CITY)[0] == (
        "walk 217m Corner 08:10 Q Market 08:20 walk 217m"
    )
    assert ride(drawing, "Home", "Office", "08:00", max_walk_m=400.0, coordinates=CITY) == ["Home 08:10 S Office 08:50"]


def test_b07_nor_does_it_hide_a_later_way_to_arrive_in_time():
    drawing = """
    line Q | Corner 08:30 | Market 08:54
    line K | Home 07:30 | Office 08:20
    line S | Home 08:10 | Office 08:58
    """
    found = ride(drawing, "Home", "Office", "09:00", arrive_by=True, max_walk_m=400.0, coordinates=CITY)
    assert sorted(found) == ["Home 07:30 K Office 08:20", "Home 08:10 S Office 08:58"]
