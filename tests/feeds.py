"""Build GTFS feeds and timetables from text drawings.

A drawing has one trip per line; trips with the same name form one route::

    line A   | Alpha 08:00 | Beta 08:10-08:12 | Gamma 08:20
    tram 4   | Beta 08:15  | Delta 08:30 ask
    walk     | Gamma       | Delta 240
    change   | Beta 60
    stay     | A-1 | 4-1

The first cell contains the mode (``line`` is a bus) and the name. The other cells contain a stop, its times as
``arrival-departure`` or one time, and optional marks: ``noboard``, ``noalight``, ``ask`` (phone the agency).
If the last cell of a trip is ``block NAME``, NAME is the trip's block.
``walk`` is a footpath in both directions, in seconds; ``change`` is the transfer time at one stop; ``nowalk`` forbids a
transfer. ``stay`` is an in-seat transfer from the first trip to the second; ``leave`` forbids one. Stops are placed
from west to east in order of first mention, too far apart to walk. A stop's id is its name in upper case with
hyphens; a trip's id is its line and number: ``A-1``.
"""

import tempfile
import zipfile
from collections import Counter
from pathlib import Path

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds

_ROUTE_TYPE = {"tram": 0, "metro": 1, "rail": 2, "line": 3, "bus": 3, "ferry": 4, "coach": 200}
_TRANSFER_TYPE = {"walk": 2, "change": 2, "nowalk": 3}
_LINK_TYPE = {"stay": 4, "leave": 5}
_MARKS = {"noboard": ("1", "0"), "noalight": ("0", "1"), "ask": ("2", "2")}

# The position of the first stop, and the distance between stops (about 1 km).
_FIRST_STOP = (60.17, 24.94)
_SPACING_LON = 0.018


def feed_from_drawing(text, *, zone="Europe/Helsinki", days=None, coordinates=None):
    """Return the GTFS tables for a drawing, keyed by file name.

    All trips run on ``days``, or on every day of 2026. ``coordinates`` overrides the positions of stops:
    {name: (lat, lon)} in degrees.
    """
    drawing = _Drawing()
    for line in filter(None, map(str.strip, text.splitlines())):
        drawing.add_line(line)
    stops = []
    for index, (name, stop_id) in enumerate(drawing.stops.items()):
        lat, lon = (coordinates or {}).get(name, (_FIRST_STOP[0], round(_FIRST_STOP[1] + index * _SPACING_LON, 6)))
        stops.append(f"{stop_id},{name},{lat},{lon}")
    return {
        "agency.txt": _to_csv("agency_name,agency_url,agency_timezone", [f"Drawn,https://example.org,{zone}"]),
        "stops.txt": _to_csv("stop_id,stop_name,stop_lat,stop_lon", stops),
        "routes.txt": _to_csv("route_id,route_short_name,route_long_name,route_type", drawing.routes.values()),
        "trips.txt": _to_csv("route_id,service_id,trip_id,trip_headsign,block_id", drawing.trips),
        "stop_times.txt": _to_csv(
            "trip_id,stop_id,stop_sequence,arrival_time,departure_time,pickup_type,drop_off_type", drawing.stop_times
        ),
        "transfers.txt": _to_csv(
            "from_stop_id,to_stop_id,transfer_type,min_transfer_time,from_trip_id,to_trip_id", drawing.transfers
        ),
    } | _build_calendar(days)


class _Drawing:
    """Collects the rows of GTFS tables from the lines of a drawing."""

    def __init__(self):
        self.stops = {}
        self.routes = {}
        self.trips = []
        self.stop_times = []
        self.transfers = []
        self._trip_counts = Counter()

    def add_line(self, line):
        head, *cells = (cell.strip() for cell in line.split("|"))
        kind, _, name = head.partition(" ")
        if kind in _TRANSFER_TYPE:
            self._add_transfers(kind, cells)
        elif kind in _LINK_TYPE:
            self.transfers.append(f",,{_LINK_TYPE[kind]},,{cells[0]},{cells[1]}")
        elif kind not in _ROUTE_TYPE or not name or len(cells) < 1:
            raise ValueError(f"cannot parse line {line!r} of the drawing")
        else:
            self._add_trip(_ROUTE_TYPE[kind], name.strip(), cells)

    def _add_transfers(self, kind, cells):
        seconds = ""
        if kind != "nowalk":
            cells[-1], _, seconds = cells[-1].rpartition(" ")
        ids = [self.stops.setdefault(name.strip(), stop_id_of(name)) for name in cells]
        for from_id, to_id in {(ids[0], ids[-1]): None, (ids[-1], ids[0]): None}:
            self.transfers.append(f"{from_id},{to_id},{_TRANSFER_TYPE[kind]},{seconds},,")

    def _add_trip(self, route_type, route, cells):
        self.routes.setdefault(route, f"{route},{route},,{route_type}")
        self._trip_counts[route] += 1
        trip_id = f"{route}-{self._trip_counts[route]}"
        block = cells.pop().removeprefix("block ") if cells[-1].startswith("block ") else ""
        for sequence, cell in enumerate(cells, 1):
            stop, times = _parse_stop_time(cell)
            stop_id = self.stops.setdefault(stop, stop_id_of(stop))
            self.stop_times.append(f"{trip_id},{stop_id},{sequence},{times}")
        self.trips.append(f"{route},ALL,{trip_id},{stop},{block}")


def timetable_from_drawing(text, *, tables=None, **options):
    """Import a drawing with the options of ``feed_from_drawing``; ``tables`` replaces or adds GTFS tables."""
    return timetable_from_tables(feed_from_drawing(text, **options) | dict(tables or {}))


def timetable_from_tables(tables, *, network="TEST"):
    """Import GTFS tables, keyed by file name."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_feed(Path(folder) / "drawn", tables)
        return import_feeds(network, [FeedSource(path)]).timetable


def write_feed(path, tables):
    """Write tables, keyed by file name, to a zip file (if the path ends in ``.zip``) or a folder; return the path."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zip_file:
            for name, text in tables.items():
                zip_file.writestr(name, text)
        return path
    path.mkdir(parents=True, exist_ok=True)
    for name, text in tables.items():
        (path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def stop_id_of(name):
    """Return the feed's id for a drawn stop."""
    return "-".join(name.upper().split())


def _parse_stop_time(cell):
    """Return the stop in a cell, and its ``stop_times.txt`` columns from ``arrival_time`` on."""
    words = cell.split()
    marks = []
    while words and words[-1] in _MARKS:
        marks.append(_MARKS[words.pop()])
    if len(words) < 2 or not words[-1][0].isdigit():
        raise ValueError(f"a cell must have a stop, a time and optional marks, not {cell!r}")
    arrival, _, departure = words.pop().partition("-")
    pickup, drop_off = map(max, zip(("0", "0"), *marks, strict=True))
    times = [text if text.count(":") > 1 else f"{text}:00" for text in (arrival, departure or arrival)]
    return " ".join(words), ",".join([*times, pickup, drop_off])


def _build_calendar(days):
    if days is None:
        weekdays = "monday,tuesday,wednesday,thursday,friday,saturday,sunday"
        row = "ALL,1,1,1,1,1,1,1,20260101,20261231"
        return {"calendar.txt": _to_csv(f"service_id,{weekdays},start_date,end_date", [row])}
    rows = [f"ALL,{day:%Y%m%d},1" for day in days]
    return {"calendar_dates.txt": _to_csv("service_id,date,exception_type", rows)}


def _to_csv(header, rows):
    return "\n".join([header, *rows]) + "\n"
