"""Random stop_times.txt against a slow reading of it, one trip and one call at a time."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fingerpost.testing.feeds import feed_from_drawing, timetable_from_tables

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
    """Return {trip: [(stop, arrival, departure)]} of the trips that can be used."""
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
            time_s = start_s + (end_s - start_s) * (at - before) // (after - before)
            times_s.append((time_s, time_s))
        flat = [time_s for pair in times_s for time_s in pair]
        if flat == sorted(flat):
            usable[trip] = [(call[1], *pair) for call, pair in zip(calls, times_s, strict=True)]
    return usable


@settings(max_examples=150, deadline=None)
@given(rows())
def test_stop_times_equal_the_slow_way(drawn):
    """Sorting, filling in and leaving out trips agree with a reading that does it call by call."""
    head = "trip_id,stop_id,stop_sequence,arrival_time,departure_time\n"
    text = "".join(f"{trip},{stop},{n},{clock(a)},{clock(d)}\n" for trip, stop, n, a, d in drawn)
    table = timetable_from_tables(feed_from_drawing(DRAWING) | {"stop_times.txt": head + SOUND + text})
    found = {}
    for trip, trip_id in enumerate(table.trip_local_id):
        found[trip_id] = [
            (
                table.stop_local_id[table.stop_time_stop[row]],
                int(table.stop_time_arrival_s[row]),
                int(table.stop_time_departure_s[row]),
            )
            for row in range(table.trip_first_stop_time[trip], table.trip_first_stop_time[trip + 1])
        ]

    sound = {"A-1": [("ALPHA", 28800, 28800), ("BETA", 29400, 29400)]}
    assert found == sound | slow_trips(drawn)
