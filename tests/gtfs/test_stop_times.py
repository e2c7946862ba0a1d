"""stop_times.txt and frequencies.txt: stop times of trips, and how often trips run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.transit.engine.timetable.timetable import BY_ARRANGEMENT, INTERPOLATED, NO_ALIGHTING, NO_BOARDING
from tests.feeds import feed_from_drawing, timetable_from_tables
from tests.gtfs.importing import findings_of, import_text

HEAD = "trip_id,stop_id,stop_sequence,arrival_time,departure_time,pickup_type,drop_off_type,stop_headsign\n"
TWO_TRIPS = """
line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20
line A | Alpha 08:00 | Beta 08:10 | Gamma 08:20
"""


def import_stop_times(tmp_path, rows, **tables):
    return import_text(tmp_path, {"stop_times.txt": HEAD + rows, **tables}, TWO_TRIPS)


def stop_times_of(table):
    trips = np.repeat(list(table.trip_local_id), np.diff(table.trip_first_stop_time)).tolist()
    stops = [table.stop_local_id[stop] for stop in table.stop_time_stop.tolist()]
    times_s = table.stop_time_arrival_s.tolist(), table.stop_time_departure_s.tolist()
    return list(zip(trips, stops, *times_s, strict=True))


def test_blank_times_between_timepoints_are_interpolated_by_distance(tmp_path):
    """From Alpha to Beta and on to Gamma it is as far; back to Alpha it is twice as far."""
    imported = import_stop_times(
        tmp_path,
        "A-1,ALPHA,1,8:00:00,8:02:00\nA-1,BETA,2,,\nA-1,GAMMA,3,,\nA-1,ALPHA,4,8:12:01,8:15:00\nA-1,BETA,5,8:20:00,\n",
    )

    assert stop_times_of(imported.timetable)[1:3] == [("A-1", "BETA", 29070, 29070), ("A-1", "GAMMA", 29220, 29220)]
    assert imported.timetable.stop_time_flags.tolist() == [0, INTERPOLATED, INTERPOLATED, 0, 0]
    assert findings_of(imported)[1] == ("call-time-worked-out", 2, "stop_times.txt", 3)


def test_times_without_seconds_are_read(tmp_path):
    imported = import_stop_times(tmp_path, "A-1,ALPHA,1,8:00,08:02\nA-1,BETA,2,24:10,24:10\n")

    assert stop_times_of(imported.timetable) == [("A-1", "ALPHA", 28800, 28920), ("A-1", "BETA", 87000, 87000)]


@pytest.mark.parametrize("blank", [1, 3])
def test_a_trip_with_a_blank_time_at_an_end_is_left_out(tmp_path, blank):
    rows = ["A-1,ALPHA,1,8:00:00,", "A-1,BETA,2,8:10:00,", "A-1,GAMMA,3,8:20:00,"]
    rows[blank - 1] = rows[blank - 1].rsplit(",", 2)[0] + ",,"
    imported = import_stop_times(
        tmp_path, "A-2,ALPHA,1,7:00:00,\nA-2,BETA,2,7:10:00,\n" + "\n".join(rows) + "\nA-2,GAMMA,3,9:00:00,\n"
    )

    assert stop_times_of(imported.timetable) == [
        ("A-2", "ALPHA", 25200, 25200),
        ("A-2", "BETA", 25800, 25800),
        ("A-2", "GAMMA", 32400, 32400),
    ]
    assert findings_of(imported) == [("trip-without-end-times", 1, "trips.txt", 2)]


@pytest.mark.parametrize(
    ("second_arrival", "second_departure", "kept"),
    [
        ("8:00:01", "8:00:01", ["A-1", "A-2"]),
        ("8:00:00", "8:00:00", ["A-2"]),
        ("8:05:00", "8:05:00", ["A-1", "A-2"]),
        ("8:05:00", "8:04:59", ["A-2"]),
    ],
)
def test_a_trip_that_runs_backwards_is_left_out(tmp_path, second_arrival, second_departure, kept):
    imported = import_stop_times(
        tmp_path,
        f"A-1,ALPHA,1,7:59:00,8:00:01\nA-1,BETA,2,{second_arrival},{second_departure}\n"
        "A-2,ALPHA,1,7:00:00,\nA-2,BETA,2,7:10:00,\n",
    )

    assert list(imported.timetable.trip_local_id) == kept
    assert findings_of(imported) == ([] if len(kept) == 2 else [("trip-runs-backwards", 1, "trips.txt", 2)])


def test_pickup_and_drop_off_types_become_flags(tmp_path):
    imported = import_stop_times(
        tmp_path,
        "A-1,ALPHA,1,8:00:00,,0,1\nA-1,BETA,2,8:10:00,,1,\nA-1,GAMMA,3,8:20:00,,2,0\n"
        "A-1,BETA,4,8:30:00,,,3\nA-1,ALPHA,5,8:40:00,,1,1\nA-1,BETA,6,8:50:00,,,\nA-1,GAMMA,7,8:55:00,,1,2\n",
    )

    assert imported.timetable.stop_time_flags.tolist() == [
        NO_ALIGHTING, NO_BOARDING, BY_ARRANGEMENT, BY_ARRANGEMENT, NO_BOARDING | NO_ALIGHTING, 0,
        NO_BOARDING | BY_ARRANGEMENT,
    ]  # fmt: skip


def test_the_headsign_of_a_stop_is_stored_next_to_the_trips(tmp_path):
    table = import_stop_times(
        tmp_path, "A-1,ALPHA,1,8:00:00,,,,via Beta\nA-1,BETA,2,8:10:00,,,,\nA-1,GAMMA,3,8:20:00,,,,Gamma\n"
    ).timetable

    signs = [table.headsign[row] if row >= 0 else None for row in table.stop_time_headsign.tolist()]
    assert (signs, table.headsign[int(table.trip_headsign[0])]) == (["via Beta", None, "Gamma"], "Gamma")


def test_stop_times_of_unknown_trips_or_stops_are_left_out(tmp_path):
    stops = (
        "stop_id,stop_name,stop_lat,stop_lon,location_type\nALPHA,Alpha,60.1,24.9,\nBETA,Beta,60.1,24.8,\n"
        "GAMMA,Gamma,,,\nC,Central,60.1,24.7,1\n"
    )
    imported = import_stop_times(
        tmp_path,
        "A-1,ALPHA,1,8:00:00,\nA-1,C,2,8:01:00,\nA-1,X,3,8:02:00,\nA-1,GAMMA,4,8:03:00,\nA-1,BETA,5,8:04:00,\n"
        "A-9,ALPHA,1,8:00:00,\nA-2,ALPHA,1,8:00:00,\n",
        **{"stops.txt": stops},
    )

    assert stop_times_of(imported.timetable) == [("A-1", "ALPHA", 28800, 28800), ("A-1", "BETA", 29040, 29040)]
    assert findings_of(imported) == [
        ("stop-without-place", 1, "stops.txt", 4),
        ("trip-with-fewer-than-two-calls", 1, "trips.txt", 3),
        ("call-of-unknown-trip", 1, "stop_times.txt", 7),
        ("call-at-unknown-stop", 2, "stop_times.txt", 4),
        ("call-at-station-entrance-or-node", 1, "stop_times.txt", 3),
    ]


def test_stop_times_of_one_sequence_stay_in_the_order_of_the_file(tmp_path):
    imported = import_stop_times(tmp_path, "A-1,GAMMA,2,8:20:00,\nA-1,ALPHA,1,8:00:00,\nA-1,BETA,2,8:20:00,\n")

    assert [call[1] for call in stop_times_of(imported.timetable)] == ["ALPHA", "GAMMA", "BETA"]
    assert findings_of(imported)[-1] == ("call-order-assumed", 1, "stop_times.txt", 4)


A_AND_B = """
line A | Alpha 06:30 | Beta 06:40
line B | Alpha 07:00 | Beta 07:10
"""
FREQUENCIES = "trip_id,start_time,end_time,headway_secs,exact_times\n"


def trip_departures_of(table):
    first_s = (
        table.stop_time_departure_s[table.trip_first_stop_time[table.trip_departure_trip]]
        + table.trip_departure_shift_s
    )
    trips = [table.trip_local_id[trip] for trip in table.trip_departure_trip.tolist()]
    return list(zip(trips, first_s.tolist(), table.trip_departure_headway_s.tolist(), strict=True))


@pytest.mark.parametrize(
    ("rows", "departures", "findings"),
    [
        # With exact times, a departure a second before the end is one, a departure at the end is none.
        (
            "A-1,05:00:00,05:15:01,900,1\nB-1,05:00:00,05:15:00,900,1\n",
            [("A-1", 18000, 0), ("A-1", 18900, 0), ("B-1", 18000, 0)],
            [],
        ),
        # Without exact times departures carry the headway, which is all that is promised; other trips run once.
        (
            "A-1,05:00,5:20,600,0\nA-1,24:00:00,24:10:00,300,\n",
            [("A-1", 18000, 600), ("A-1", 18600, 600), ("A-1", 86400, 300), ("A-1", 86700, 300), ("B-1", 25200, 0)],
            [],
        ),
        # A trip whose row ends before it begins never runs.
        (
            "X,05:00:00,05:20:00,600,0\nA-1,05:00:00,05:00:00,600,0\n",
            [("B-1", 25200, 0)],
            [("frequency-of-unknown-trip", 1, "frequencies.txt", 2), ("frequency-unreadable", 1, "frequencies.txt", 3)],
        ),
    ],
)
def test_trips_that_run_again_and_again(tmp_path, rows, departures, findings):
    imported = import_text(tmp_path, {"frequencies.txt": FREQUENCIES + rows}, A_AND_B)

    assert (trip_departures_of(imported.timetable), findings_of(imported)) == (departures, findings)


SOUND = "A-1,ALPHA,1,8:00:00,8:00:00\nA-1,BETA,2,8:10:00,8:10:00\n"
DRAWING = "line A | Alpha 08:00 | Beta 08:10\n" * 4
MINUTE_S = 60


def clock(minute):
    return "" if minute is None else f"{minute // 60}:{minute % 60:02}:00"


@st.composite
def rows(draw):
    """Draw calls of three trips in any order: sequences differ within a trip, times grow mostly and are often blank."""
    drawn = []
    for trip in ("A-2", "A-3", "A-4"):
        minute = draw(st.integers(400, 1500))
        for sequence in sorted(draw(st.lists(st.integers(0, 60), max_size=7, unique=True))):
            minute += draw(st.sampled_from([0, 1, 2, 7, 7, 7, -1]))
            dwell = draw(st.sampled_from([0, 0, 0, 3, -1]))
            arrival, departure = draw(
                st.sampled_from([(minute, minute + dwell)] * 3 + [(None, None)] * 2 + [(minute, None), (None, minute)])
            )
            stop = draw(st.sampled_from(["ALPHA", "BETA", "ALPHA", "BETA", "NOWHERE"]))
            drawn.append((trip, stop, sequence, arrival, departure))
    return draw(st.permutations(drawn))


def slow_trips(drawn):
    trips = {}
    for trip, stop, sequence, arrival, departure in drawn:
        if stop != "NOWHERE":
            arrival, departure = (departure, departure) if arrival is None else (arrival, departure)
            departure = arrival if departure is None else departure
            trips.setdefault(trip, []).append((sequence, stop, arrival, departure))
    usable = {}
    for trip, calls in sorted(trips.items()):
        calls.sort()
        if len(calls) < 2 or calls[0][2] is None or calls[-1][2] is None:
            continue
        times_s = []
        for at, (_, _, arrival, departure) in enumerate(calls):
            if arrival is not None:
                times_s.append((arrival * MINUTE_S, departure * MINUTE_S))
                continue
            before = max(n for n in range(at) if calls[n][2] is not None)
            after = min(n for n in range(at, len(calls)) if calls[n][2] is not None)
            start_s, end_s = calls[before][3] * MINUTE_S, calls[after][2] * MINUTE_S
            # Alpha and Beta are the only stops.
            hops = [calls[n][1] != calls[n - 1][1] for n in range(before + 1, after + 1)]
            done, whole = (sum(hops[: at - before]), sum(hops)) if any(hops) else (at - before, after - before)
            time_s = start_s + (end_s - start_s) * done // whole
            times_s.append((time_s, time_s))
        flat = [time_s for pair in times_s for time_s in pair]
        if flat == sorted(flat):
            usable[trip] = [(call[1], *pair) for call, pair in zip(calls, times_s, strict=True)]
    return usable


@settings(max_examples=150, deadline=None)
@given(rows())
def test_stop_times_equal_the_slow_way(drawn):
    head = "trip_id,stop_id,stop_sequence,arrival_time,departure_time\n"
    text = "".join(f"{trip},{stop},{n},{clock(a)},{clock(d)}\n" for trip, stop, n, a, d in drawn)
    table = timetable_from_tables(feed_from_drawing(DRAWING) | {"stop_times.txt": head + SOUND + text})
    found = {}
    for trip_id, *stop_time in stop_times_of(table):
        found.setdefault(trip_id, []).append(tuple(stop_time))

    sound = {"A-1": [("ALPHA", 28800, 28800), ("BETA", 29400, 29400)]}
    assert found == sound | slow_trips(drawn)
