"""Read GTFS tables without the importer, to check the imported network against them.

This module shares no code with the importer. It skips rows that may be invalid; the import report covers those.
"""

import csv
import io
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from fingerpost.runtime.zip_members import read_member

_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class RawCall(NamedTuple):
    """A trip's call at a stop; times are in seconds of the service day, or None if they need interpolation."""

    sequence: int
    stop: str
    arrival_s: int | None
    departure_s: int | None


class RawTrip(NamedTuple):
    trip_id: str
    service: str
    calls: tuple[RawCall, ...]


@dataclass(frozen=True)
class RawFeed:
    name: str
    path: Path

    @cached_property
    def zone(self) -> str:
        return next((row["agency_timezone"] for row in self.read_rows("agency.txt")), "UTC")

    @cached_property
    def stops(self) -> Mapping[str, None]:
        """The ids of boardable stops with a position, as mapping keys in feed order."""
        rows = (row for row in self.read_rows("stops.txt") if row["location_type"] in ("", "0") and row["stop_id"])
        return dict.fromkeys(
            row["stop_id"] for row in rows if _is_number(row["stop_lat"]) and _is_number(row["stop_lon"])
        )

    @cached_property
    def trips(self) -> Mapping[str, RawTrip]:
        """The valid trips, keyed by id."""
        routes = {row["route_id"] for row in self.read_rows("routes.txt")}
        services: dict[str, str] = {}
        for row in self.read_rows("trips.txt"):
            if row["route_id"] in routes and row["trip_id"] and self.service_days.get(row["service_id"]):
                services.setdefault(row["trip_id"], row["service_id"])
        calls: dict[str, list[RawCall | None]] = {trip: [] for trip in services}
        for row in self.read_rows("stop_times.txt"):
            if row["trip_id"] in calls:
                calls[row["trip_id"]].append(self._parse_call(row))
        for row in self.read_rows("frequencies.txt"):
            times_s = parse_time_s(row["start_time"]), parse_time_s(row["end_time"])
            if None in times_s or not row["headway_secs"].isdigit() or not int(row["headway_secs"]):
                services.pop(row["trip_id"], None)
        ordered = {trip: _order_calls(calls[trip]) for trip in services}
        return {trip: RawTrip(trip, services[trip], each) for trip, each in ordered.items() if each is not None}

    def _parse_call(self, row: Mapping[str, str]) -> RawCall | None:
        sequence, stop = row["stop_sequence"], row["stop_id"]
        texts = row["arrival_time"], row["departure_time"]
        times = [parse_time_s(text) for text in texts]
        if (
            not sequence.isdigit()
            or stop not in self.stops
            or any(text and time is None for text, time in zip(texts, times, strict=True))
            or any(row[kind] not in ("", "0", "1", "2", "3") for kind in ("pickup_type", "drop_off_type"))
            or row["start_pickup_drop_off_window"]
        ):
            return None
        arrival_s = times[1] if times[0] is None else times[0]
        departure_s = times[0] if times[1] is None else times[1]
        return RawCall(int(sequence), stop, arrival_s, departure_s)

    @cached_property
    def service_days(self) -> Mapping[str, frozenset[date]]:
        days: dict[str, set[date]] = {}
        for row in self.read_rows("calendar.txt"):
            first, last = _parse_day(row["start_date"]), _parse_day(row["end_date"])
            if first is None or last is None:
                continue
            is_service_day = [row[name] == "1" for name in _DAY_NAMES]
            period = (first + timedelta(days=number) for number in range(min((last - first).days + 1, 40_000)))
            days.setdefault(row["service_id"], set()).update(day for day in period if is_service_day[day.weekday()])
        for row in self.read_rows("calendar_dates.txt"):
            day = _parse_day(row["date"])
            if day is None or row["exception_type"] not in ("1", "2"):
                continue
            service_days = days.setdefault(row["service_id"], set())
            (service_days.add if row["exception_type"] == "1" else service_days.discard)(day)
        return {service: frozenset(service_days) for service, service_days in days.items()}

    def read_rows(self, table: str) -> Iterator[dict[str, str]]:
        """Yield the rows of a table; missing fields are empty."""
        data = self._load(table)
        if data is None:
            return
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
        rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
        header = [name.strip() for name in next(rows, [])]
        for row in rows:
            if any(row):
                fields = [field.strip() for field in row] + [""] * (len(header) - len(row))
                yield defaultdict(str, zip(header, fields, strict=False))

    def _load(self, table: str) -> bytes | None:
        if self.path.is_dir():
            file = next((each for each in (self.path / table, *self.path.glob(f"*/{table}")) if each.is_file()), None)
            return None if file is None else file.read_bytes()
        with zipfile.ZipFile(self.path) as archive:
            names = [name for name in archive.namelist() if "__MACOSX" not in name]
            folder = min((name[: -len("stops.txt")] for name in names if name.endswith("stops.txt")), key=len)
            return read_member(archive, f"{folder}{table}") if f"{folder}{table}" in names else None


def _order_calls(calls: list[RawCall | None]) -> tuple[RawCall, ...] | None:
    """Return the calls of a trip in order, or None if they may be invalid."""
    ordered = tuple(sorted((call for call in calls if call is not None), key=lambda call: call.sequence))
    if len({call.sequence for call in ordered}) < max(len(calls), 2):
        return None
    times = [time for call in ordered for time in (call.arrival_s, call.departure_s) if time is not None]
    is_timed = ordered[0].departure_s is not None and ordered[-1].arrival_s is not None
    return ordered if is_timed and times == sorted(times) else None


def parse_time_s(text: str) -> int | None:
    """Convert ``H:MM:SS`` or ``H:MM`` to seconds; return None for anything else."""
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(part.isdigit() for part in parts):
        return None
    hours, minutes, seconds = (*map(int, parts), 0)[:3]
    return hours * 3600 + minutes * 60 + seconds if minutes < 60 and seconds < 60 else None


def _parse_day(text: str) -> date | None:
    try:
        return datetime.strptime(text, "%Y%m%d").date()
    except ValueError:
        return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
