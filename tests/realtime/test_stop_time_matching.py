"""Matching a stop time update to a stop of its trip, and its pickup and drop-off."""

import pytest

from fingerpost.transit.engine.timetable.timetable import NO_ALIGHTING, NO_BOARDING
from tests.feeds import feed_from_drawing, timetable_from_drawing, timetable_from_tables
from tests.realtime.messages import call, draw, read, stop_time_with, update

LOOP = timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20 | Alpha 08:30")

STATION = """stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,platform_code
HUB,Hub,60.17,24.94,1,,
P1,Hub 1,60.17,24.94,0,HUB,1
P2,Hub 2,60.17,24.941,0,HUB,2
END,End,60.17,25.1,0,,
"""
TIMES = """trip_id,stop_id,stop_sequence,arrival_time,departure_time
A-1,END,5,08:00:00,08:00:00
A-1,P1,10,08:10:00,08:10:00
A-1,END,20,08:30:00,08:30:00
"""


# A trip from End to platform 1 of Hub and back, whose sequence is 5, 10, 20.
GAPPED = timetable_from_drawing(
    "line A | End 08:00 | Hub 08:10", tables={"stops.txt": STATION, "stop_times.txt": TIMES}
)


def test_sequence_zero_is_a_sequence():
    """A trip may be numbered from 0, which is also what protobuf says where nothing is stated."""
    feed = feed_from_drawing("line A | Alpha 08:00 | Beta 08:10")
    feed["stop_times.txt"] = feed["stop_times.txt"].replace(",1,08", ",0,08").replace(",2,08", ",1,08")
    timetable = timetable_from_tables(feed)
    told = read(timetable, update("A-1", call(depart=60, sequence=0)))
    assert draw(timetable, told) == "Alpha 08:01 | Beta 08:11"


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([call("BETA", 60, 60)], "Alpha 08:00 ? | Beta 08:11 | Gamma 08:21 | Alpha 08:31"),
        # Alpha before Beta is the first call there, Alpha after Gamma the second.
        ([call("ALPHA", 60, 60), call("BETA", 120, 120)], "Alpha 08:01 | Beta 08:12 | Gamma 08:22 | Alpha 08:32"),
        ([call("GAMMA", 60, 60), call("ALPHA", 120, 120)], "Alpha 08:00 ? | Beta 08:10 ? | Gamma 08:21 | Alpha 08:32"),
        # 08:33 is nearer to 08:30 than to 08:00.
        ([call("ALPHA", "08:33")], "Alpha 08:00 ? | Beta 08:10 ? | Gamma 08:20 ? | Alpha 08:33"),
        # Sequence 2 is Beta, yet Gamma is named: the numbering has moved, the stop has not.
        ([call("GAMMA", 60, 60, sequence=2)], "Alpha 08:00 ? | Beta 08:10 ? | Gamma 08:21 | Alpha 08:31"),
    ],
)
def test_a_stop_names_a_stop_time(calls, expected):
    assert draw(LOOP, read(LOOP, update("A-1", *calls))) == expected


@pytest.mark.parametrize(
    ("timetable", "made"),
    [
        (GAPPED, call(arrive=60, sequence=11)),
        # A delay alone does not say which of the two calls is meant.
        (LOOP, call("ALPHA", 60, 60)),
        # A stop of another feed version is not guessed from its sequence.
        (LOOP, call("OMEGA", 60, 60, sequence=2)),
    ],
)
def test_updates_without_a_stop_time_are_counted(timetable, made):
    told = read(timetable, update("A-1", made))
    assert (dict(told.rides), dict(told.counts)) == ({}, {"trip-calls-unmatched": 1})


@pytest.mark.parametrize(
    ("timetable", "updates", "delay", "expected"),
    [
        pytest.param(
            LOOP, [call("BETA", 60, 60), call("OMEGA", 90, 90)], None,
            "Alpha 08:00 ? | Beta 08:11 | Gamma 08:21 | Alpha 08:31", id="unknown stop",
        ),
        pytest.param(
            LOOP, [call("BETA", 60, 60), call("BETA", 120, 120)], None,
            "Alpha 08:00 ? | Beta 08:11 | Gamma 08:21 | Alpha 08:31", id="repeated, of which the first counts",
        ),
        pytest.param(
            LOOP, [call("BETA", 60, 60), call("GAMMA", 12 * 3600 + 1)], None,
            "Alpha 08:00 ? | Beta 08:11 | Gamma 08:21 | Alpha 08:31", id="delay too long",
        ),
        pytest.param(
            LOOP, [call("BETA", 60, 60)], 12 * 3600 + 1,
            "Alpha 08:00 ? | Beta 08:11 | Gamma 08:21 | Alpha 08:31", id="trip delay too long",
        ),
        pytest.param(
            GAPPED, [call("P1", 60, 60, platform="P9")], None,
            "End 08:00 ? | Hub 1 08:11 | End 08:31", id="unknown platform",
        ),
    ],
)  # fmt: skip
def test_a_trip_with_unused_updates_is_counted_as_updated_in_part(timetable, updates, delay, expected):
    other = update("A-1", call("OMEGA", 60, 60), day="20260311")
    told = read(timetable, update("A-1", *updates, delay=delay), other)
    assert (len(told.rides), draw(timetable, told)) == (1, expected)
    assert dict(told.counts) == {"trip-calls-unmatched": 1, "trip-updated-in-part": 1}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        # Sequence 20 is the third call, not the twentieth.
        (call(arrive=60, sequence=20), "End 08:00 ? | Hub 1 08:10 ? | End 08:31"),
        # An assigned stop is another platform, and needs no time beside it.
        (call("P1", 0, 0, platform="P2"), "End 08:00 ? | Hub 2 08:10 | End 08:30"),
        (call(sequence=10, platform="P2"), "End 08:00 ? | Hub 2 08:10 ? | End 08:30 ?"),
        # The other platform of the station is a platform change, the station itself is none.
        (call("P2", 60, 60, sequence=10), "End 08:00 ? | Hub 2 08:11 | End 08:31"),
        (call("P2", 60, 60), "End 08:00 ? | Hub 2 08:11 | End 08:31"),
        (call("HUB", 60, 60, sequence=10), "End 08:00 ? | Hub 1 08:11 | End 08:31"),
    ],
)
def test_sequences_with_gaps_and_platforms(made, expected):
    assert draw(GAPPED, read(GAPPED, update("A-1", made))) == expected


LINE = timetable_from_drawing("line A | Alpha 08:10 | Beta 08:20 | Gamma 08:30")
SHUT = timetable_from_drawing("line A | Alpha 08:10 noalight | Beta 08:20 noboard noalight | Gamma 08:30 noboard")


def flags(told):
    [ride] = told.rides.values()
    return None if ride.flags is None else ride.flags.tolist()


@pytest.mark.parametrize(
    ("told", "shut"),
    [
        ({"pickup_type": "NONE"}, NO_BOARDING),
        ({"drop_off_type": "NONE"}, NO_ALIGHTING),
        ({"pickup_type": "NONE", "drop_off_type": "NONE"}, NO_BOARDING | NO_ALIGHTING),
    ],
)
def test_a_stop_without_pickup_or_drop_off(told, shut):
    overlay = read(LINE, update("A-1", stop_time_with("BETA", **told)))

    assert flags(overlay) == [0, shut, 0]
    assert dict(overlay.counts) == {"trip-updated": 1}


def test_pickup_after_all_leaves_the_other_flags():
    overlay = read(SHUT, update("A-1", stop_time_with("BETA", pickup_type="REGULAR")))

    assert flags(overlay) == [NO_ALIGHTING, NO_ALIGHTING, NO_BOARDING]


@pytest.mark.parametrize(
    ("late_s", "drawn"),
    [(60, "Alpha 08:10 ? | Beta 08:21 | Gamma 08:31"), (None, "Alpha 08:10 ? | Beta 08:20 ? | Gamma 08:30 ?")],
)
def test_scheduled_types_change_nothing(late_s, drawn):
    overlay = read(LINE, update("A-1", stop_time_with("BETA", late_s, pickup_type="REGULAR")))

    assert (flags(overlay), draw(LINE, overlay)) == (None, drawn)
    assert dict(overlay.counts) == {"trip-updated": 1}
