"""Expands a demo network's tables to a draft: two trips a line, with all their departures, on every day."""

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from fingerpost.errors import SettingsInvalid
from fingerpost.transit.engine.demo.tables import DemoNetwork, Line
from fingerpost.transit.engine.timetable.draft import (
    RouteRow,
    ServiceRow,
    StopRow,
    TimetableDraft,
    TripDepartureRow,
    TripRow,
)
from fingerpost.transit.engine.timetable.timetable import Feed

AGENCY = "fingerpost demo"
PUBLISHER = "fingerpost demo (simplified from public knowledge)"
SOURCE = "shipped with fingerpost"

_EVERY_DAY_SERVICE = 0

# Apostrophes (straight, acute, curly) and full stops leave no hyphen behind.
_SILENT = re.compile("['\\u00b4\\u2019.]")


def expand(network: DemoNetwork) -> TimetableDraft:
    """Expand a network to a draft of one feed.

    Stop times count from the start of each trip; a trip departure's shift is when it leaves. Trips do not dwell.

    Raises:
        SettingsInvalid: two stops, or two lines, come to have one id.
    """
    return _Expansion(network).draft


class _Expansion:
    def __init__(self, network: DemoNetwork) -> None:
        self.network = network
        self.draft = TimetableDraft(
            feeds=[
                Feed(
                    name=network.name,
                    zone=network.zone,
                    language=network.language,
                    agencies=(AGENCY,),
                    publisher=PUBLISHER,
                    source=SOURCE,
                )
            ],
            services=[ServiceRow(feed=0, days=None)],
        )
        self.stop_rows: dict[tuple[str, str], int] = {}
        self.route_rows: dict[tuple[str, str], int] = {}
        self.headsign_rows: dict[str, int] = {}
        self.trips_of_route: dict[int, int] = {}
        self.stop_time_count: list[int] = []
        self.stop_time_stop: list[int] = []
        self.stop_time_s: list[int] = []
        self.add_stops()
        for line in network.lines:
            self.add_line(line)
        self.close_stop_times()

    def add_stops(self) -> None:
        network, draft = self.network, self.draft
        second_names: dict[int, str] = {}
        owner: dict[str, str] = {}
        for row, stop in enumerate(network.stops):
            local_id = slug(stop.name) + network.groups[stop.group].suffix
            if not slug(stop.name):
                message = f"{network.name}: the name of the stop '{stop.name}' has no letter or digit to make an id of."
                raise SettingsInvalid(message, hint="Give the stop another name.")
            if local_id in owner:
                message = f"{network.name}: the stops '{owner[local_id]}' and '{stop.name}' share the id {local_id}."
                raise SettingsInvalid(message, hint="Give their groups different suffixes.")
            owner[local_id] = stop.name
            self.stop_rows[stop.group, stop.name] = row
            draft.stops.append(StopRow(0, local_id, stop.name, stop.lat, stop.lon, wheelchair=stop.wheelchair))
            if stop.second_name:
                second_names[row] = stop.second_name
        if second_names:
            draft.stop_names[network.second_language] = second_names

    def add_line(self, line: Line) -> None:
        route = self.add_route(line)
        rows = [self.stop_rows[line.group, name] for name in line.stops]
        self.add_trip(line, route, line.towards[0], rows, line.minutes, line.departures_s)
        if line.back_s:
            self.add_trip(line, route, line.towards[1], rows[::-1], line.minutes[::-1], line.back_s)

    def add_route(self, line: Line) -> int:
        group = self.network.groups[line.group]
        key = (line.group, line.name)
        if key not in self.route_rows:
            self.route_rows[key] = len(self.draft.routes)
            local_id = slug(line.name)
            if any(route.local_id == local_id for route in self.draft.routes):
                message = f"{self.network.name}: two lines of different groups share the id {local_id}."
                raise SettingsInvalid(message, hint="Give one of the lines another name.")
            self.draft.routes.append(RouteRow(0, local_id, line.name, line.title, group.route_type, color=line.color))
        return self.route_rows[key]

    def add_trip(
        self,
        line: Line,
        route: int,
        headsign: str,
        stop_rows: Sequence[int],
        minutes: Sequence[int],
        departures_s: Sequence[int],
    ) -> None:
        draft = self.draft
        number = self.trips_of_route[route] = self.trips_of_route.get(route, 0) + 1
        headsign_row = self.headsign_rows.setdefault(headsign, len(self.headsign_rows))
        if headsign_row == len(draft.headsigns):
            draft.headsigns.append(headsign)
        wheelchair = self.network.groups[line.group].vehicle_wheelchair
        local_id = f"{draft.routes[route].local_id}-{number}"
        trip = len(draft.trips)
        draft.trips.append(TripRow(local_id, route, _EVERY_DAY_SERVICE, headsign_row, wheelchair))
        draft.trip_departures.extend(TripDepartureRow(trip, departure_s) for departure_s in departures_s)
        self.stop_time_count.append(len(stop_rows))
        self.stop_time_stop.extend(stop_rows)
        self.stop_time_s.extend((np.cumsum([0, *minutes]) * 60).tolist())

    def close_stop_times(self) -> None:
        draft = self.draft
        draft.trip_stop_time_count = np.array(self.stop_time_count, np.int32)
        draft.stop_time_stop = np.array(self.stop_time_stop, np.int32)
        draft.stop_time_arrival_s = np.array(self.stop_time_s, np.int32)
        draft.stop_time_departure_s = draft.stop_time_arrival_s.copy()
        draft.stop_time_flags = np.zeros(len(self.stop_time_s), np.uint8)


def slug(name: str) -> str:
    """Return a name as an id of plain capitals, digits and hyphens: ``Itäkeskus (M)`` becomes ``ITAKESKUS-M``."""
    folded = unicodedata.normalize("NFKD", _SILENT.sub("", name)).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Z0-9]+", "-", folded.upper()).strip("-")
