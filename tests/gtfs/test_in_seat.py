"""The trips that an import links for in-seat transfers: block_id, and types 4 and 5 in transfers.txt."""

import pytest

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.feeds import feed_from_drawing
from tests.gtfs.importing import findings_of, import_text
from tests.shared_data import get_shared

STATION = (
    "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n"
    "ALPHA,Alpha,60.17,24.94,0,\nBETA-1,Beta,60.17,24.96,0,BETA\nBETA-2,Beta,60.17,24.961,0,BETA\n"
    "BETA,Beta,60.17,24.96,1,\nGAMMA,Gamma,60.17,24.98,0,\n"
)


def seats_of(tmp_path, drawing, **tables):
    """Return the joined trips as ``A-1 B-1``, with ``+1`` for the next day's; and what the report names."""
    imported = import_text(tmp_path, {f"{name}.txt": text for name, text in tables.items()}, drawing)
    table = imported.timetable
    ids = [
        [table.trip_local_id[trip] for trip in table.trip_departure_trip[runs].tolist()]
        for runs in (table.in_seat_from, table.in_seat_to)
    ]
    later = ["+1" if days else "" for days in table.in_seat_days_later.tolist()]
    return [f"{one} {other}{day}" for one, other, day in zip(*ids, later, strict=True)], findings_of(imported)


def test_a_blocks_trips_are_joined_in_the_order_of_their_times(tmp_path):
    drawing = """
    line C | Gamma 08:30 | Delta 08:40 | block 7
    line A | Alpha 08:00 | Beta 08:10 | block 7
    line B | Beta 08:12 | Gamma 08:30 | block 7
    line E | Delta 08:40 | Alpha 09:00
    """
    assert seats_of(tmp_path, drawing) == (["A-1 B-1", "B-1 C-1"], [])


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ("line B | Beta 08:09 | Gamma 08:30 | block 7", "block-overlaps-unapplied"),
        ("line B | Bay 08:12 | Gamma 08:30 | block 7", "block-without-riders-unapplied"),
        ("line A | Beta 08:12 | Alpha 08:30 | block 7", "block-without-riders-unapplied"),
        ("line B | Beta 09:10:01 | Gamma 09:30 | block 7", "block-without-riders-unapplied"),
    ],
)
def test_rejected_in_seat_transfers_are_counted(tmp_path, second, reason):
    drawing = "line A | Alpha 08:00 | Beta 08:10 | block 7\n" + second
    assert seats_of(tmp_path, drawing) == ([], [(reason, 1, "trips.txt", 2)])


def test_platforms_of_one_station_are_one_place(tmp_path):
    drawing = "line A | Alpha 08:00 | Beta-1 08:10 | block 7\nline B | Beta-2 08:12 | Gamma 08:30 | block 7"
    assert seats_of(tmp_path, drawing, stops=STATION) == (["A-1 B-1"], [])


def test_a_block_is_one_of_a_service_where_days_differ(tmp_path):
    drawing = """
    line A | Alpha 08:00 | Beta 08:10 | block 7
    line B | Beta 08:20 | Gamma 08:30 | block 7
    line C | Alpha 08:05 | Beta 08:15 | block 7
    line D | Beta 08:16 | Gamma 08:26 | block 7
    """
    feed = feed_from_drawing(drawing)
    trips = feed["trips.txt"].replace("C,ALL", "C,NEVER").replace("D,ALL", "D,NEVER")
    days = "service_id,date,exception_type\nALL,20260302,1\nNEVER,20260303,1\n"
    assert seats_of(tmp_path, drawing, trips=trips, calendar=None, calendar_dates=days) == (["A-1 B-1", "C-1 D-1"], [])


def test_trips_of_a_block_are_consecutive_on_each_day_with_other_services(tmp_path):
    """B follows A on every day of A, so C never does; C follows B on the rest of B's days."""
    drawing = """
    line A | Alpha 08:00 | Beta 08:10 | block 7
    line B | Beta 08:12 | Beta 08:14 | block 7
    line C | Beta 08:15 | Gamma 08:30 | block 7
    """
    trips = feed_from_drawing(drawing)["trips.txt"].replace("B,ALL", "B,TWO").replace("C,ALL", "C,THREE")
    rows = "".join(
        f"{service},2026030{day},1\n"
        for service, days in (("ALL", "2"), ("TWO", "23"), ("THREE", "234"))
        for day in days
    )
    days = f"service_id,date,exception_type\n{rows}"
    assert seats_of(tmp_path, drawing, trips=trips, calendar=None, calendar_dates=days) == (["A-1 B-1", "B-1 C-1"], [])


def test_a_trip_between_two_others_on_some_days_interrupts_them(tmp_path):
    drawing = """
    line A | Alpha 08:00 | Beta 08:10 | block 7
    line B | Beta 08:12 | Beta 08:14 | block 7
    line C | Beta 08:15 | Gamma 08:30 | block 7
    """
    trips = feed_from_drawing(drawing)["trips.txt"].replace("B,ALL", "B,ONE")
    days = "service_id,date,exception_type\nALL,20260302,1\nALL,20260303,1\nONE,20260303,1\n"
    told = seats_of(tmp_path, drawing, trips=trips, calendar=None, calendar_dates=days)
    assert told == (["A-1 B-1", "B-1 C-1"], [("block-overlaps-unapplied", 1, "trips.txt", 2)])


def test_a_trip_by_headway_has_no_in_seat_transfer(tmp_path):
    drawing = "line A | Alpha 08:00 | Beta 08:10 | block 7\nline B | Beta 08:12 | Gamma 08:30 | block 7"
    often = "trip_id,start_time,end_time,headway_secs,exact_times\nA-1,08:00:00,09:00:00,600,0\n"
    assert seats_of(tmp_path, drawing, frequencies=often) == ([], [("block-of-headways-unapplied", 1, "trips.txt", 2)])


@pytest.mark.parametrize(
    ("link", "seats", "unapplied"),
    [
        ("A-1 | B-1", ["A-1 B-1"], 0),
        ("D-1 | E-1", ["D-1 E-1+1"], 0),
        ("D-1 | F-1", [], 1),
        ("B-1 | A-1", [], 1),
        ("A-1 | X-1", [], 1),
        ("C-1 | B-1", [], 1),
    ],
)
def test_linked_trips(tmp_path, link, seats, unapplied):
    """In order; the next day's, three hours later and a second more, and a day later; to none; from one under way."""
    drawing = f"""
    line A | Alpha 08:00 | Beta 08:10
    line B | Beta 08:12 | Gamma 08:30
    line C | Alpha 08:00 | Beta 34:00
    line D | Beta 23:30 | Gamma 23:40
    line E | Gamma 02:40 | Delta 02:50
    line F | Gamma 02:40:01 | Delta 02:50
    stay | {link}
    """
    found, findings = seats_of(tmp_path, drawing)
    assert (found, [count for _, count, *_ in findings]) == (seats, [1] * unapplied)


@pytest.mark.parametrize(
    ("ends", "joined"),
    [("BETA-1,BETA-2", 1), ("BETA,BETA", 1), (",", 1), ("ALPHA,BETA-2", 0), ("BETA-1,GAMMA", 0), ("X,", 0)],
)
def test_stops_of_a_link_are_the_end_and_the_beginning(tmp_path, ends, joined):
    drawing = "line A | Alpha 08:00 | Beta-1 08:10\nline B | Beta-2 08:12 | Gamma 08:30"
    link = f"from_stop_id,to_stop_id,transfer_type,from_trip_id,to_trip_id\n{ends},4,A-1,B-1\n"
    seats, findings = seats_of(tmp_path, drawing, stops=STATION, transfers=link)
    assert (len(seats), len(findings)) == (joined, 1 - joined)


@pytest.mark.parametrize(
    ("path", "in_seat", "specific"),
    [
        ("kingston/kingston_2026-01.gtfs.zip", 2895, 0),
        ("tampere/tampere_nysse_2021-22.gtfs.zip", 287, 0),
        ("nyc/lirr.gtfs.zip", 0, 383),
        ("nyc/mnr.gtfs.zip", 0, 23438),
        ("small/google_example.gtfs.zip", 2, 0),
    ],
)
def test_real_feeds_use_all_in_seat_and_specific_transfers(path, in_seat, specific):
    imported = import_feeds("real", [FeedSource(get_shared(f"gtfs/{path}"))])
    table = imported.timetable
    assert (len(table.in_seat_from), len(table.specific_transfer_s)) == (in_seat, specific)
    reasons = {found.reason for found in imported.report.feeds[0].findings}
    assert reasons.isdisjoint({"transfer-in-seat-unapplied", "transfer-too-many"})
