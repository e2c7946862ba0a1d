"""Read GTFS tables without the importer, to check the imported network against them.

This module shares no code with the importer. It skips rows that may be invalid; the import report covers those.
"""

import csv
import io
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from fingerpost.runtime.zip_members import read_member

_TEXT_DIRECTION = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class RawCall(NamedTuple):
    """A trip's call at a stop; times are in seconds of the service day, or None if they need interpolation."""

    sequence: int
    stop: str
    arrival_s: int | None
    departure_s: int | None
    can_board: bool
    can_alight: bool


class RawTrip(NamedTuple):
    """A trip; ``shifts_s`` has one offset for each departure, to be added to the times of the calls."""

    trip_id: str
    service: str
    calls: tuple[RawCall, ...]
    shifts_s: tuple[int, ...]


@dataclass(frozen=True)
class RawFeed:
    name: str
    path: Path

    @cached_property
    def zone(self) -> str:
        return next((row["agency_timezone"] for row in self.read_rows("agency.txt")), "UTC")

    def list_expected_findings(self) -> Iterator[str]:
        """Yield the finding codes that the import report must contain."""
        known_zones = available_timezones()
        for row in self.read_rows("stops.txt"):
            if _TEXT_DIRECTION.search(row["stop_name"]):
                yield "text-direction-removed"
            if (zone := row["stop_timezone"]) in known_zones and _list_offsets(zone) != _list_offsets(self.zone):
                yield "stop-zone-unapplied"
        if not self.path.is_dir():
            with zipfile.ZipFile(self.path) as archive:
                if max(Counter(name for name in archive.namelist() if name.endswith("stops.txt")).values()) > 1:
                    yield "table-repeated-assumed"

    def find_thin_after(self) -> date | None:
        """Return the last day with at least a quarter of the usual departures, or None if fewer than seven days follow.

        The usual number is the daily average of the busiest 28 consecutive days.
        """
        services: Counter[str] = Counter()
        for trip in self.trips.values():
            services[trip.service] += len(trip.shifts_s)
        counts: Counter[date] = Counter()
        for service, count in services.items():
            counts.update(dict.fromkeys(self.service_days[service], count))
        first, last = min(counts), max(counts)
        daily = [counts[first + timedelta(days=number)] for number in range((last - first).days + 1)]
        weeks = min(28, len(daily))
        usual = max(sum(daily[start : start + weeks]) for start in range(len(daily) - weeks + 1)) / weeks
        busy = max(number for number, count in enumerate(daily) if 4 * count >= usual)
        return first + timedelta(days=busy) if len(daily) - busy > 7 else None

    def find_sample_ride(self) -> tuple[str, date] | None:
        """Return the id of the first trip with one departure per service day, and the trip's first service day."""
        single = (trip for trip in self.trips.values() if len(trip.shifts_s) == 1)
        return next(((trip.trip_id, min(self.service_days[trip.service])) for trip in single), None)

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
        shifts = self._read_shifts(calls)
        trips = {}
        for trip, service in services.items():
            ordered, shifts_s = _order_calls(calls[trip]), shifts.get(trip, (0,))
            if ordered is not None and shifts_s is not None:
                trips[trip] = RawTrip(trip, service, ordered, shifts_s)
        return trips

    def _parse_call(self, row: Mapping[str, str]) -> RawCall | None:
        sequence, stop = row["stop_sequence"], row["stop_id"]
        texts = row["arrival_time"], row["departure_time"]
        times = [parse_time_s(text) for text in texts]
        pickup, drop_off = row["pickup_type"], row["drop_off_type"]
        if (
            not sequence.isdigit()
            or stop not in self.stops
            or any(text and time is None for text, time in zip(texts, times, strict=True))
            or any(kind not in ("", "0", "1", "2", "3") for kind in (pickup, drop_off))
            or row["start_pickup_drop_off_window"]
        ):
            return None
        arrival_s = times[1] if times[0] is None else times[0]
        departure_s = times[0] if times[1] is None else times[1]
        return RawCall(int(sequence), stop, arrival_s, departure_s, pickup != "1", drop_off != "1")

    def _read_shifts(self, calls: Mapping[str, list[RawCall | None]]) -> dict[str, tuple[int, ...] | None]:
        """Return the departure offsets of each trip in frequencies.txt.

        The value is None if any of the trip's rows may be invalid.
        """
        shifts: dict[str, tuple[int, ...] | None] = {}
        for row in self.read_rows("frequencies.txt"):
            ordered = _order_calls(calls.get(row["trip_id"], []))
            start_s, end_s = parse_time_s(row["start_time"]), parse_time_s(row["end_time"])
            headway_s = int(row["headway_secs"]) if row["headway_secs"].isdigit() else 0
            earlier = shifts.get(row["trip_id"], ())
            if ordered is None or earlier is None or start_s is None or end_s is None or not headway_s:
                shifts[row["trip_id"]] = None
                continue
            first_s = ordered[0].departure_s or 0
            shifts[row["trip_id"]] = (*earlier, *(time_s - first_s for time_s in range(start_s, end_s, headway_s)))
        return shifts

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


def _list_offsets(zone: str) -> list[timedelta | None]:
    return [datetime(2026, month, 1, tzinfo=ZoneInfo(zone)).utcoffset() for month in (1, 7)]


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
