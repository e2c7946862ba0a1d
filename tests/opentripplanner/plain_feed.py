"""A GTFS feed read as simply as possible: the departures from a stop, and whether a ride is among them."""

import csv
import io
import zipfile
from collections import defaultdict
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class PlainFeed:
    def __init__(self, path, feed, zone):
        self._feed = feed
        self._zone = ZoneInfo(zone)
        with zipfile.ZipFile(path) as archive:
            tables = {name: self._read(archive, name) for name in archive.namelist() if name.endswith(".txt")}
        self.stops = {row["stop_id"]: row for row in tables["stops.txt"]}
        self._routes = {row["route_id"]: row for row in tables["routes.txt"]}
        self._trips = {row["trip_id"]: row for row in tables["trips.txt"]}
        self._calls = defaultdict(list)
        for row in tables["stop_times.txt"]:
            self._calls[row["trip_id"]].append(row)
        self._calling = defaultdict(list)
        for trip_id, calls in self._calls.items():
            calls.sort(key=lambda row: int(row["stop_sequence"]))
            for row in calls[:-1]:
                self._calling[row["stop_id"]].append((trip_id, row))
        self._weekly = {row["service_id"]: row for row in tables.get("calendar.txt", [])}
        self._changed = {
            (row["service_id"], row["date"]): row["exception_type"] for row in tables["calendar_dates.txt"]
        }

    @staticmethod
    def _read(archive, name):
        with archive.open(name) as raw:
            return list(csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8-sig")))

    def runs(self, trip_id, day: date):
        service, written = self._trips[trip_id]["service_id"], day.strftime("%Y%m%d")
        changed = self._changed.get((service, written))
        if changed is not None:
            return changed == "1"
        week = self._weekly.get(service)
        return (
            bool(week) and week[_WEEKDAYS[day.weekday()]] == "1" and week["start_date"] <= written <= week["end_date"]
        )

    def instant(self, day: date, clock: str):
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=self._zone)
        hours, minutes, seconds = map(int, clock.split(":"))
        return int(noon.timestamp()) - 12 * 3600 + hours * 3600 + minutes * 60 + seconds

    def list_departures(self, stop_id, first, last):
        """Return (instant, line, trip id) of what leaves a stop between two instants, both included, sorted."""
        day = datetime.fromtimestamp(first, self._zone).date()
        found = []
        for trip_id, row in self._calling[stop_id]:
            if row.get("pickup_type", "") == "1":
                continue
            for service_day in (day - timedelta(days=1), day):
                leaves = self.instant(service_day, row["departure_time"])
                if first <= leaves <= last and self.runs(trip_id, service_day):
                    found.append((leaves, self.line(trip_id), f"{self._feed}:{trip_id}"))
        return sorted(found)

    def line(self, trip_id):
        route = self._routes[self._trips[trip_id]["route_id"]]
        return route["route_short_name"] or route["route_long_name"] or route["route_id"]

    def find_fault(self, leg):
        """Return what the feed says against a ride, None where it can be ridden as it stands."""
        trip_id = leg.trip_id.partition(":")[2]
        if trip_id not in self._trips:
            return f"no trip {trip_id}"
        if not self.runs(trip_id, leg.service_day):
            return f"{trip_id} does not run on {leg.service_day}"
        board, alight = (end.id.partition(":")[2] for end in (leg.start, leg.end))
        times = [
            (row["stop_id"], self.instant(leg.service_day, row["arrival_time"]), row) for row in self._calls[trip_id]
        ]
        begins = [
            number
            for number, (stop, _, row) in enumerate(times)
            if stop == board
            and self.instant(leg.service_day, row["departure_time"]) == leg.departure_scheduled
            and row.get("pickup_type", "") != "1"
        ]
        ends = [
            number
            for number, (stop, arrives, row) in enumerate(times)
            if (stop, arrives) == (alight, leg.arrival_scheduled) and row.get("drop_off_type", "") != "1"
        ]
        if not any(begin < end for begin in begins for end in ends):
            return f"{trip_id} is not ridden from {board} to {alight} at these times"
        return None if leg.line == self.line(trip_id) else f"{trip_id} is line {self.line(trip_id)}, not {leg.line}"
