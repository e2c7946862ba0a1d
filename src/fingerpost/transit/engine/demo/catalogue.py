"""The demo networks that ship with the package, read from their GTFS tables (``feeds/``).

The tables are read directly, because loading the importer would triple the time to the first answer. A test compares
the result with that of the importer.
"""

import csv
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files

import numpy as np

from fingerpost.errors import DataNotFound
from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.columns import TextColumn
from fingerpost.transit.engine.timetable.draft import (
    RouteRow,
    ServiceRow,
    StopRow,
    StopTimeColumns,
    TimetableDraft,
    TripColumns,
    TripDepartureColumns,
)
from fingerpost.transit.engine.timetable.timetable import Feed, Timetable
from fingerpost.transit.model.line_colors import parse_color

SOURCE = "shipped with fingerpost"
NAMES = ("DEMO-HELSINKI", "DEMO-LONDON")


def build_demo(name: str) -> Timetable:
    """Build the timetable of a demo network, which is valid on any day; raise DataNotFound for unknown names."""
    if name not in NAMES:
        raise DataNotFound(
            f"There is no demo network '{name}'", {"name": name}, hint=f"Choose one of: {', '.join(NAMES)}"
        )
    return assemble(_read_draft(name))


def _read_draft(name: str) -> TimetableDraft:
    """Read the tables of a demo feed; its calendar is ignored, because the demo runs every day."""
    agency, info = next(_read_rows(name, "agency.txt")), next(_read_rows(name, "feed_info.txt"))
    draft = TimetableDraft(
        feeds=[
            Feed(
                name=name,
                zone=agency["agency_timezone"],
                language=info["feed_lang"],
                agencies=(agency["agency_name"],),
                publisher=info["feed_publisher_name"],
                source=SOURCE,
            )
        ],
        services=[ServiceRow(feed=0, days=None)],
    )
    for row in _read_rows(name, "stops.txt"):
        lat, lon, wheelchair = float(row["stop_lat"]), float(row["stop_lon"]), int(row["wheelchair_boarding"])
        draft.stops.append(StopRow(0, row["stop_id"], row["stop_name"], lat, lon, wheelchair=wheelchair))
    stop_rows = {stop.local_id: number for number, stop in enumerate(draft.stops)}
    for row in _read_rows(name, "translations.txt"):
        draft.stop_names.setdefault(row["language"], {})[stop_rows[row["record_id"]]] = row["translation"]
    for row in _read_rows(name, "routes.txt"):
        names, color = (row["route_short_name"], row["route_long_name"]), parse_color(row["route_color"])
        draft.routes.append(RouteRow(0, row["route_id"], *names, int(row["route_type"]), color=color))
    _add_trips(draft, name)
    _add_stop_times(draft, name, stop_rows)
    return draft


def _add_trips(draft: TimetableDraft, name: str) -> None:
    trips = list(_read_rows(name, "trips.txt"))
    route_rows = {route.local_id: number for number, route in enumerate(draft.routes)}
    headsigns = list(dict.fromkeys(row["trip_headsign"] for row in trips))
    draft.headsigns = TextColumn.of(headsigns)
    draft.trips = TripColumns(
        local_id=TextColumn.of(row["trip_id"] for row in trips),
        route=np.array([route_rows[row["route_id"]] for row in trips], np.int32),
        service=np.zeros(len(trips), np.int32),
        headsign=np.array([headsigns.index(row["trip_headsign"]) for row in trips], np.int32),
        wheelchair=np.array([int(row["wheelchair_accessible"]) for row in trips], np.int8),
        direction=np.full(len(trips), -1, np.int8),
        shape=np.full(len(trips), -1, np.int32),
    )
    trip_rows = {trip_id: number for number, trip_id in enumerate(draft.trips.local_id)}
    departures = [
        (trip_rows[row["trip_id"]], start_s, 0)
        for row in _read_rows(name, "frequencies.txt")
        for start_s in range(_parse_time_s(row["start_time"]), _parse_time_s(row["end_time"]), int(row["headway_secs"]))
    ]
    draft.trip_departures = TripDepartureColumns(*np.array(departures, np.int32).T.copy())


def _add_stop_times(draft: TimetableDraft, name: str, stop_rows: dict[str, int]) -> None:
    """Add the stop times, which the file lists in the order of trips.txt and, within each trip, in stop order."""
    stop_times = list(_read_rows(name, "stop_times.txt"))
    counts = Counter(row["trip_id"] for row in stop_times)
    draft.trip_stop_time_count = np.array([counts[trip_id] for trip_id in draft.trips.local_id], np.int32)
    draft.stop_times = StopTimeColumns(
        stop=np.array([stop_rows[row["stop_id"]] for row in stop_times], np.int32),
        sequence=np.array([int(row["stop_sequence"]) for row in stop_times], np.int32),
        arrival_s=np.array([_parse_time_s(row["arrival_time"]) for row in stop_times], np.int32),
        departure_s=np.array([_parse_time_s(row["departure_time"]) for row in stop_times], np.int32),
        flags=np.zeros(len(stop_times), np.uint8),
    )


def _read_rows(name: str, table: str) -> Iterator[dict[str, str]]:
    file = files(__package__) / "feeds" / name / table
    if file.is_file():
        with file.open(encoding="utf-8") as lines:
            yield from csv.DictReader(lines)


def _parse_time_s(time: str) -> int:
    hours, minutes, seconds = map(int, time.split(":"))
    return (hours * 60 + minutes) * 60 + seconds
