"""Faults of an import that ``fingerpost network check`` does not look for, found in the raw tables of its feeds."""

import re
import zipfile
from collections import Counter
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
from google.transit.gtfs_realtime_pb2 import FeedMessage

from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes
from fingerpost.transit.engine.gtfs.realtime.reader import read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from fingerpost.transit.engine.timetable.service_days import find_midnight
from fingerpost.transit.engine.timetable.walks import PACE_M_PER_S
from fingerpost.transit.osm.streets.stop_access import METRO_ENTRANCE
from tests.gtfs.boards import read_shifts

TEXT_DIRECTION = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
# Realtime updates for a day this far from today must be rejected.
YEARS = timedelta(days=800)
# The minimum time down to a metro platform, in addition to a level walk from the entrance.
MIN_DEPTH_S = 30


def list_import_faults(trial):
    """Return the oddities that the import report omits, realtime updates that are misread, and shallow platforms."""
    faults = [("stop-too-shallow", stop) for stop in _list_shallow_stops(trial)]
    for raw, feed in zip(trial.feeds, trial.report.feeds, strict=True):
        unreported = {*_list_expected_findings(raw)} - {finding.reason for finding in feed.findings}
        faults += [("feed-unreported", f"{feed.feed}: {code}") for code in sorted(unreported)]
        # If the import and the raw tables have the same number of trips, they must agree on this day.
        if raw.trips and len(raw.trips) == feed.trips and (thin_after := _find_thin_after(raw)) != feed.thin_after:
            faults.append(("feed-unreported", f"{feed.feed}: few trips after {thin_after or 'no day'}"))
        faults += [("realtime-misread", text) for text in _list_misread(trial, raw)]
    return faults


def _list_shallow_stops(trial):
    """Return the metro platforms that walks from their entrances reach as if at street level."""
    if trial.network.walks.streets is None:
        return []
    access = trial.network.walks.streets.access
    level_s = access.inside_m / PACE_M_PER_S
    is_shallow = (access.entrance == METRO_ENTRANCE) & (access.in_s >= 0) & (access.in_s < level_s + MIN_DEPTH_S)
    return [trial.timetable.stop_printed_id[stop] for stop in np.unique(access.stop[is_shallow]).tolist()]


def _list_expected_findings(raw):
    """Yield the finding codes that the import report must contain."""
    known_zones = available_timezones()
    for row in raw.read_rows("stops.txt"):
        if TEXT_DIRECTION.search(row["stop_name"]):
            yield "text-direction-removed"
        if (zone := row["stop_timezone"]) in known_zones and _list_offsets(zone) != _list_offsets(raw.zone):
            yield "stop-zone-unapplied"
    if not raw.path.is_dir():
        with zipfile.ZipFile(raw.path) as archive:
            if max(Counter(name for name in archive.namelist() if name.endswith("stops.txt")).values()) > 1:
                yield "table-repeated-assumed"


def _list_offsets(zone):
    return [datetime(2026, month, 1, tzinfo=ZoneInfo(zone)).utcoffset() for month in (1, 7)]


def _find_thin_after(raw):
    """Return the last day with at least a quarter of the usual departures, or None if fewer than seven days follow.

    The usual number is the daily average of the busiest 28 consecutive days.
    """
    counts = Counter()
    for trip in raw.trips.values():
        departures = len(read_shifts(raw).get(trip.trip_id, [0]))
        counts.update(dict.fromkeys(raw.service_days[trip.service], departures))
    first, last = min(counts), max(counts)
    daily = [counts[first + timedelta(days=number)] for number in range((last - first).days + 1)]
    weeks = min(28, len(daily))
    usual = max(sum(daily[start : start + weeks]) for start in range(len(daily) - weeks + 1)) / weeks
    busy = max(number for number, count in enumerate(daily) if 4 * count >= usual)
    return first + timedelta(days=busy) if len(daily) - busy > 7 else None


def _list_misread(trial, raw):
    """Read updates for a trip with one departure a day, on a service day and on a day years later."""
    shifts = read_shifts(raw)
    trip = next((trip for trip in raw.trips.values() if len(shifts.get(trip.trip_id, [0])) == 1), None)
    if trip is None or sum(trip.trip_id in feed.trips for feed in trial.feeds) > 1:
        return
    day = min(raw.service_days[trip.service])
    now, message = find_midnight(day, trial.network.profile.zone), FeedMessage()
    message.header.gtfs_realtime_version = "2.0"
    for number, start in enumerate((day, day + YEARS)):
        update = message.entity.add(id=f"{number}").trip_update
        update.delay, update.trip.trip_id, update.trip.start_date = 60, trip.trip_id, f"{start:%Y%m%d}"
    data = [FeedBytes(message.SerializeToString(), now, raw.name)]
    counts = dict(read_realtime(RealtimeIndex(trial.timetable), data, now).counts)
    if counts != {"trip-updated": 1, "start-date-far-from-today": 1}:
        yield f"{raw.name}: trip {trip.trip_id} on {day}: {counts}"
