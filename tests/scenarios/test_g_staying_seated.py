"""Chapter G: staying seated while the vehicle continues as another trip."""

from datetime import date

import pytest

from tests.feeds import feed_from_drawing
from tests.scenarios.riding import DAY, ride

BLOCK = """
line A | Alpha 08:00 | Beta 08:10 | block 7
line B | Beta 08:10 | Gamma 08:30 | block 7
"""
STAYED = ["Alpha 08:00 A Beta 08:10 = Beta 08:10 B Gamma 08:30"]


LINKED = BLOCK.replace("| block 7", "") + "stay | A-1 | B-1"
LINKED_ELSEWHERE = BLOCK + "line C | Beta 08:12 | Delta 08:20\nstay | A-1 | C-1"
STAYED_TO_DELTA = ["Alpha 08:00 A Beta 08:10 = Beta 08:12 C Delta 08:20"]


@pytest.mark.parametrize(
    ("drawing", "destination", "found"),
    [
        pytest.param(BLOCK, "Gamma", STAYED, id="g01: who stays in a block's vehicle needs no time to change"),
        pytest.param(BLOCK.replace("block 7", "block 8", 1), "Gamma", [], id="g01: in another block nobody could"),
        pytest.param(BLOCK + "leave | A-1 | B-1", "Gamma", [], id="g04: type 5 says that all must leave"),
        pytest.param(LINKED, "Gamma", STAYED, id="g05: type 4 needs no block"),
        pytest.param(LINKED_ELSEWHERE, "Gamma", [], id="g05: a block that says otherwise gives way to it"),
        pytest.param(LINKED_ELSEWHERE, "Delta", STAYED_TO_DELTA, id="g05: and its link is followed"),
    ],
)
def test_a_rider_stays_seated_on_an_in_seat_transfer(drawing, destination, found):
    assert ride(drawing, "Alpha", destination, "07:50") == found


@pytest.mark.parametrize(
    ("time", "arrive_by", "found"),
    [
        pytest.param("07:50", False, STAYED, id="g02: staying seated is no change"),
        pytest.param("08:30", True, STAYED, id="g03: it holds for arrivals too"),
        pytest.param("08:29", True, [], id="g03: a minute less is too early"),
    ],
)
def test_staying_seated_is_allowed_where_no_change_is(time, arrive_by, found):
    assert ride(BLOCK, "Alpha", "Gamma", time, arrive_by=arrive_by, max_transfers=0) == found


def test_g06_a_vehicle_that_divides_takes_riders_of_both_parts():
    drawing = """
    line A | Alpha 08:00 | Beta 08:10
    line B | Beta 08:12 | Gamma 08:30
    line C | Beta 08:15 | Delta 08:40
    stay | A-1 | B-1
    stay | A-1 | C-1
    """
    assert ride(drawing, "Alpha", "Gamma", "07:50") == ["Alpha 08:00 A Beta 08:10 = Beta 08:12 B Gamma 08:30"]
    assert ride(drawing, "Alpha", "Delta", "07:50") == ["Alpha 08:00 A Beta 08:10 = Beta 08:15 C Delta 08:40"]


def test_g07_vehicles_that_join_take_the_riders_of_both():
    drawing = """
    line A | Alpha 08:00 | Beta 08:10
    line C | Delta 08:00 | Beta 08:08
    line B | Beta 08:12 | Gamma 08:30
    line D | Gamma 08:31 | Epsilon 08:40
    stay | A-1 | B-1
    stay | C-1 | B-1
    stay | B-1 | D-1
    """
    last = "= Beta 08:12 B Gamma 08:30 = Gamma 08:31 D Epsilon 08:40"
    assert ride(drawing, "Alpha", "Epsilon", "07:50", max_transfers=0) == [f"Alpha 08:00 A Beta 08:10 {last}"]
    assert ride(drawing, "Delta", "Epsilon", "07:50", max_transfers=0) == [f"Delta 08:00 C Beta 08:08 {last}"]


def test_g08_the_next_trip_may_begin_elsewhere_if_the_feed_states_it():
    """Beta and Bay are too far apart to walk; a block alone is not enough for that, type 4 is."""
    drawing = """
    line A | Alpha 08:00 | Beta 08:10 | block 7
    line B | Bay 08:15 | Gamma 08:30 | block 7
    """
    assert ride(drawing, "Alpha", "Gamma", "07:50") == []
    assert ride(drawing + "stay | A-1 | B-1", "Alpha", "Gamma", "07:50") == [
        "Alpha 08:00 A Beta 08:10 = Bay 08:15 B Gamma 08:30"
    ]


def test_g09_no_rider_stays_only_to_reach_the_next_trips_start():
    drawing = """
    line A | Alpha 08:00 | Beta 08:10
    line B | Bay 08:15 | Gamma 08:30
    stay | A-1 | B-1
    """
    assert ride(drawing, "Alpha", "Bay", "07:50") == []
    assert ride(drawing, "Beta", "Gamma", "07:50") == []


def test_g10_over_midnight_on_one_service_day():
    drawing = """
    line A | Alpha 23:50 | Beta 24:00 | block 7
    line B | Beta 24:01 | Gamma 24:30 | block 7
    """
    assert ride(drawing, "Alpha", "Gamma", "23:00", max_transfers=0) == [
        "Alpha 23:50 A Beta 00:00 = Beta 00:01 B Gamma 00:30"
    ]


def test_g11_over_midnight_to_the_next_service_day():
    drawing = """
    line A | Alpha 23:50 | Beta 24:00
    line B | Beta 00:01 | Gamma 00:30
    stay | A-1 | B-1
    """
    days = (DAY, date(2026, 5, 7))
    assert ride(drawing, "Alpha", "Gamma", "23:00", days=days, max_transfers=0) == [
        "Alpha 23:50 A Beta 00:00 = Beta 00:01 B Gamma 00:30"
    ]
    assert ride(drawing, "Alpha", "Gamma", "23:00", day=days[1], days=days, max_transfers=0) == []


@pytest.mark.parametrize(
    ("exact_times", "found"),
    [
        pytest.param(
            1, "Gamma 08:10 L Alpha 08:15 = Alpha 08:20 L Beta 08:25",
            id="g12: each vehicle goes round again, and one stays seated",
        ),
        pytest.param(0, None, id="g13: a headway promises no vehicle, so which goes round again is not known"),
    ],
)  # fmt: skip
def test_a_frequent_loop_goes_round_again_with_exact_times(exact_times, found):
    drawing = "line L | Alpha 08:00 | Beta 08:05 | Gamma 08:10 | Alpha 08:15 | block 7"
    head = "trip_id,start_time,end_time,headway_secs,exact_times"
    tables = {"frequencies.txt": f"{head}\nL-1,08:00:00,09:00:00,1200,{exact_times}\n"}
    assert next(iter(ride(drawing, "Gamma", "Beta", "08:00", max_transfers=0, tables=tables)), None) == found


def test_g16_a_block_whose_next_trip_depends_on_the_day_offers_only_the_next_trip_of_all_days():
    """B runs on the first day only, and C after it on both: on the second day nobody is told to stay seated until C."""
    days = (DAY, date(2026, 5, 7))
    drawing = """
    line A | Alpha 08:00 | Beta 08:10 | block 7
    line B | Beta 08:11 | Gamma 08:20 | block 7
    line C | Beta 08:40 | Gamma 08:50 | block 7
    """
    feed = feed_from_drawing(drawing, days=days)
    tables = {
        "trips.txt": feed["trips.txt"].replace("B,ALL", "B,FIRST"),
        "calendar_dates.txt": feed["calendar_dates.txt"] + "FIRST,20260506,1\n",
    }
    asked = {"days": days, "tables": tables, "max_transfers": 0}
    assert ride(drawing, "Alpha", "Gamma", "07:50", **asked) == ["Alpha 08:00 A Beta 08:10 = Beta 08:11 B Gamma 08:20"]
    assert ride(drawing, "Alpha", "Gamma", "07:50", day=days[1], **asked) == []
