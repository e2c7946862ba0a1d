"""frequencies.txt: trips that run again and again."""

from tests.gtfs.importing import findings_of, import_text

DRAWING = """
line A | Alpha 06:30 | Beta 06:40
line B | Alpha 07:00 | Beta 07:10
"""
HEAD = "trip_id,start_time,end_time,headway_secs,exact_times\n"


def trip_departures_of(table):
    """Return (trip, first departure, headway) of every trip departure."""
    first_s = (
        table.stop_time_departure_s[table.trip_first_stop_time[table.trip_departure_trip]]
        + table.trip_departure_shift_s
    )
    trips = [table.trip_local_id[trip] for trip in table.trip_departure_trip.tolist()]
    return list(zip(trips, first_s.tolist(), table.trip_departure_headway_s.tolist(), strict=True))


def test_end_is_not_a_departure(tmp_path):
    """With exact times, a departure a second before the end is one, a departure at the end is none."""
    rows = "A-1,05:00:00,05:15:01,900,1\nB-1,05:00:00,05:15:00,900,1\n"
    table = import_text(tmp_path, {"frequencies.txt": HEAD + rows}, DRAWING).timetable

    assert trip_departures_of(table) == [("A-1", 18000, 0), ("A-1", 18900, 0), ("B-1", 18000, 0)]


def test_headways(tmp_path):
    """Without exact times departures carry the headway, which is all that is promised; other trips run once.

    Times without seconds are read, and counted.
    """
    rows = "A-1,05:00,5:20,600,0\nA-1,24:00:00,24:10:00,300,\n"
    imported = import_text(tmp_path, {"frequencies.txt": HEAD + rows}, DRAWING)

    assert trip_departures_of(imported.timetable) == [
        ("A-1", 18000, 600),
        ("A-1", 18600, 600),
        ("A-1", 86400, 300),
        ("A-1", 86700, 300),
        ("B-1", 25200, 0),
    ]
    assert findings_of(imported) == [("call-time-without-seconds-assumed", 2, "frequencies.txt", 2)]


def test_rows_that_make_no_departure(tmp_path):
    """Rows of unknown trips and rows that end before they begin are counted; such a trip never runs."""
    rows = "X,05:00:00,05:20:00,600,0\nA-1,05:00:00,05:00:00,600,0\n"
    imported = import_text(tmp_path, {"frequencies.txt": HEAD + rows}, DRAWING)

    assert trip_departures_of(imported.timetable) == [("B-1", 25200, 0)]
    assert findings_of(imported) == [
        ("frequency-of-unknown-trip", 1, "frequencies.txt", 2),
        ("frequency-without-departures", 1, "frequencies.txt", 3),
    ]
