"""``trips.txt``: what runs along a route on the days of a service."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.findings import Findings, Reason
from fingerpost.transit.gtfs.headsigns import Headsigns
from fingerpost.transit.timetable.draft import TripRow
from fingerpost.transit.timetable.timetable import WHEELCHAIR_NO, WHEELCHAIR_UNKNOWN

# In an index: the id is in the feed, its row was left out.
LEFT_OUT = -2

_DIRECTIONS = {"": -1, "0": 0, "1": 1}


class Trips(NamedTuple):
    """Trips of one feed.

    ``row_of`` maps a trip id to its row, or to LEFT_OUT; ``lines`` are the rows' lines in the table.
    """

    rows: list[TripRow]
    row_of: dict[str, int]
    lines: list[int]

    def keep(self, kept: npt.NDArray[np.bool_]) -> "Trips":
        """Return the trips whose rows are marked, numbered anew; the ids of the others map to LEFT_OUT."""
        new_rows = np.where(kept, np.cumsum(kept) - 1, LEFT_OUT).tolist()
        index = {trip_id: new_rows[row] if row >= 0 else LEFT_OUT for trip_id, row in self.row_of.items()}
        rows = np.flatnonzero(kept).tolist()
        return Trips([self.rows[row] for row in rows], index, [self.lines[row] for row in rows])


def read_trips(
    archive: Archive,
    route_index: Mapping[str, int],
    service_index: Mapping[str, int],
    headsigns: Headsigns,
    findings: Findings,
) -> Trips:
    """Read the trips; one whose route or service is not in the feed is left out and counted."""
    table = archive.get_table("trips.txt", "trip_id", "route_id", "service_id")
    trips = Trips([], {}, [])
    columns = ("trip_id", "route_id", "service_id", "trip_headsign", "wheelchair_accessible", "direction_id")
    for line, (trip_id, route_id, service_id, headsign, wheelchair_text, direction_text) in table.rows(*columns):
        if not trip_id or trip_id in trips.row_of:
            findings.add(Reason.ID_REPEATED if trip_id else Reason.ID_MISSING, table.name, line)
            continue
        route, service = route_index.get(route_id), service_index.get(service_id)
        if route is None or service is None:
            reason = Reason.TRIP_WITHOUT_ROUTE if route is None else Reason.TRIP_WITHOUT_SERVICE
            findings.add(reason, table.name, line)
            trips.row_of[trip_id] = LEFT_OUT
            continue
        wheelchair = table.integer(line, "wheelchair_accessible", wheelchair_text, empty=WHEELCHAIR_UNKNOWN)
        if not WHEELCHAIR_UNKNOWN <= wheelchair <= WHEELCHAIR_NO:
            findings.add(Reason.VALUE_UNKNOWN_ASSUMED, table.name, line)
            wheelchair = WHEELCHAIR_UNKNOWN
        direction = _DIRECTIONS.get(direction_text)
        if direction is None:
            findings.add(Reason.VALUE_UNKNOWN_ASSUMED, table.name, line)
            direction = -1
        trips.row_of[trip_id] = len(trips.rows)
        trips.rows.append(TripRow(trip_id, route, service, headsigns.row(headsign), wheelchair, direction))
        trips.lines.append(line)
    return trips
