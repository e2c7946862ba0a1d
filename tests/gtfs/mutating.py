"""Feeds with random damage: bytes, fields, rows, tables and archives.

Run as a program it imports feeds of a range of seeds, one after the other, and names each seed before it begins:
``python -m tests.gtfs.mutating FIRST LAST FOLDER``.
"""

import random
import resource
import sys
from pathlib import Path

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.timetable.array_file import open_timetable, save_timetable
from fingerpost.transit.engine.timetable.shapes import find_ride_line, find_ride_path
from tests.feeds import feed_from_drawing, write_feed

DRAWING = """
line A | Alpha 08:00 | Beta 08:10-08:12 | Gamma 08:20
line A | Alpha 09:00 | Beta 09:10-09:12 | Gamma 25:20
tram 4 | Beta 08:15  | Delta 08:30 ask  | Alpha 08:40 noboard
walk   | Gamma       | Delta 240
change | Beta 60
"""
EXTRA = {
    "frequencies.txt": "trip_id,start_time,end_time,headway_secs,exact_times\nA-2,09:00:00,10:00:00,600,1\n",
    "shapes.txt": "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence,shape_dist_traveled\n"
    "S,60.17,24.94,1,0\nS,60.17,24.95,2,0.5\nS,60.17,24.98,3,2\n",
    "trips.txt": "route_id,service_id,trip_id,trip_headsign,shape_id\nA,ALL,A-1,G,S\nA,ALL,A-2,G,\n4,ALL,4-1,D,S\n",
    "stop_times.txt": "trip_id,arrival_time,departure_time,stop_id,stop_sequence,shape_dist_traveled\n"
    "A-1,8:00:00,8:00:00,ALPHA,1,0\nA-1,8:10:00,8:12:00,BETA,2,0.9\nA-1,8:20:00,8:20:00,GAMMA,3,1.8\n"
    "A-2,9:00:00,9:00:00,ALPHA,1,\nA-2,25:20:00,25:20:00,GAMMA,2,\n"
    "4-1,8:15:00,8:15:00,BETA,1,1\n4-1,8:40:00,8:40:00,ALPHA,2,0\n",
    "feed_info.txt": "feed_publisher_name,feed_publisher_url,feed_lang,feed_version\nHSL,https://hsl.fi,fi,7\n",
    "translations.txt": "table_name,field_name,language,translation,record_id,field_value\n"
    "stops,stop_name,sv,Alfa,ALPHA,\nstops,stop_name,sv,Gammal,,Gamma\n",
    "attributions.txt": "organization_name,is_producer,attribution_url\nOSM,1,https://osm.org\n",
    "levels.txt": "level_id,level_index\nL0,0\nL1,-1\n",
    "pathways.txt": "pathway_id,from_stop_id,to_stop_id,pathway_mode,is_bidirectional,traversal_time,length\n"
    "P,ALPHA,BETA,5,1,60,\nQ,BETA,ALPHA,1,0,,30.5\n",
    "calendar_dates.txt": "service_id,date,exception_type\nALL,20260501,2\nALL,20270101,1\n",
}
NASTY = (
    b"", b'"', b'""', b",", b"\n", b"\r", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"-1", b"0", b"1", b"2147483648",
    b"999999999", b"99:59:59", b"999:59:59", b"-1:00:00", b"1e308", b"nan", b"20260230", b"00010101", b"99991231",
    b"ALPHA", b"A-1", b"..", b"../../etc/passwd", b" " * 70, b"9" * 400,
    "ÄÖ".encode("latin-1"), "東京".encode(), "東京".encode("utf-16"),
)  # fmt: skip


def mutate(seed: int, folder: Path) -> Path:
    dice = random.Random(seed)
    tables = feed_from_drawing(DRAWING) | EXTRA
    feed = {name: text.encode() for name, text in tables.items()}
    if dice.random() < 0.3:
        feed = dict(dice.sample(sorted(feed.items()), dice.randint(1, len(feed))))
    for _ in range(dice.choice([1, 1, 2, 3, 8])):
        name = dice.choice(sorted(feed))
        feed[name] = dice.choice([_change_bytes, _change_field, _change_rows])(dice, feed[name])
    path = folder / f"feed-{seed}.zip"
    write_feed(path, feed)
    if dice.random() < 0.15:
        path.write_bytes(_change_bytes(dice, path.read_bytes()))
    return path


def _change_bytes(dice: random.Random, data: bytes) -> bytes:
    at = dice.randint(0, len(data))
    kind = dice.randrange(4)
    if kind == 0:
        return data[:at] + dice.choice(NASTY) + data[at:]
    if kind == 1:
        return data[:at] + data[min(len(data), at + dice.choice([1, 2, 40])) :]
    if kind == 2:
        return data[:at] + dice.randbytes(dice.choice([1, 4, 300])) + data[at + 1 :]
    return data[:at]


def _change_field(dice: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    row = dice.randrange(len(lines))
    fields = lines[row].split(b",")
    fields[dice.randrange(len(fields))] = dice.choice(NASTY)
    lines[row] = b",".join(fields)
    return b"\n".join(lines)


def _change_rows(dice: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    kind = dice.randrange(4)
    if kind == 0:
        lines += [dice.choice(lines)] * dice.choice([1, 3, 200])
    elif kind == 1:
        dice.shuffle(lines)
    elif kind == 2:
        del lines[dice.randrange(len(lines))]
    else:
        return dice.choice([b"\r\n", b"\r", b"\n\n"]).join(lines)
    return b"\n".join(lines)


def outcome(path: Path) -> str:
    """Import a feed; return "imported" or "refused". The timetable of an imported one holds together."""
    try:
        imported = import_feeds("m", [FeedSource(path)])
    except FeedUnusable as error:
        return "refused" if 0 < len(error.message) < 5_000 else "no sentence"
    table, report = imported.timetable, imported.report.feeds[0]
    # Opening checks all row numbers.
    save_timetable(table, path.with_name("saved"))
    open_timetable(path.with_name("saved"))
    stops, trips, events = table.stop_count, len(table.trip_route), len(table.stop_time_stop)
    first = table.trip_first_stop_time
    assert len(first) == trips + 1
    assert ((first[1:] - first[:-1]) >= 2).all()
    assert (table.stop_time_departure_s >= table.stop_time_arrival_s).all()
    assert len(table.footpaths.first) == stops + 1
    assert len(set(table.stop_printed_id)) == stops
    assert all(len(column) == stops for column in table.stop_names.values())
    assert (report.stops, report.trips, report.events) == (stops, trips, events)
    assert all(found.count > 0 and found.places for found in report.findings)
    for trip in range(trips):
        find_ride_line(table, find_ride_path(table, trip, int(first[trip]), int(first[trip + 1]) - 1))
    return "imported"


def main(first: int, last: int, folder: Path) -> None:
    counts = {"imported": 0, "refused": 0}
    before = 0
    for seed in range(first, last):
        print(seed, flush=True)
        path = mutate(seed, folder)
        counts[outcome(path)] += 1
        path.unlink()
        if seed == first + 20:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    print(counts["imported"], counts["refused"], grown_mb)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
