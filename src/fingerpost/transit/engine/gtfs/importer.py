"""Import GTFS feeds as one network: read them, merge them and assemble one timetable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fingerpost.errors import FeedUnusable, ParameterError
from fingerpost.transit.engine.gtfs.calendar import read_services
from fingerpost.transit.engine.gtfs.csv.archive import Archive, open_archive
from fingerpost.transit.engine.gtfs.csv.findings import Reason, find_meaning
from fingerpost.transit.engine.gtfs.csv.table import IdIndex
from fingerpost.transit.engine.gtfs.feed_info import has_same_times, read_feed_info
from fingerpost.transit.engine.gtfs.merging import FeedMerger
from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport
from fingerpost.transit.engine.gtfs.stop_times import read_stop_times, read_trip_departures
from fingerpost.transit.engine.gtfs.stops import read_pathways, read_stops
from fingerpost.transit.engine.gtfs.transfers import find_in_seat, list_departures, read_transfers
from fingerpost.transit.engine.gtfs.translations import read_translations
from fingerpost.transit.engine.gtfs.trips import read_routes, read_shapes, read_trips
from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.columns import list_starts, mark_rows
from fingerpost.transit.engine.timetable.draft import ServiceRow, TimetableDraft, TripColumns
from fingerpost.transit.engine.timetable.network_area import mark_area_stops, mark_distant_stops
from fingerpost.transit.engine.timetable.timetable import STOP, Int32, Timetable
from fingerpost.transit.engine.timetable.walks import FindWalks, straight_line_walks
from fingerpost.transit.model.provenance import find_service_days

ImportProgress = Callable[[str, int, int | None], None]
"""Called with the current FEED or step, the amount done, and the total (None: unknown)."""

_LINKING = "linking stops"

_TABLES_READ = frozenset({
    "agency.txt", "attributions.txt", "calendar.txt", "calendar_dates.txt", "feed_info.txt", "frequencies.txt",
    "pathways.txt", "routes.txt", "shapes.txt", "stop_times.txt", "stops.txt", "transfers.txt", "translations.txt",
    "trips.txt",
})  # fmt: skip

# Service is compared with the busiest 28 consecutive days, so that one week of extra trips does not set the norm.
_BUSIEST_DAYS = 28
_WEEK = 7


@dataclass(frozen=True, slots=True)
class FeedSource:
    """A zip file or folder to import, with an optional FEED for its stop ids (rule A8)."""

    path: Path
    feed_name: str | None = None


class ImportResult(NamedTuple):
    timetable: Timetable
    report: ImportReport


def import_feeds(
    network: str,
    sources: Sequence[FeedSource],
    *,
    zone: str | None = None,
    progress: ImportProgress = lambda _step, _done, _total: None,
    find_walks: FindWalks = straight_line_walks,
) -> ImportResult:
    """Import feeds as one network; ``progress`` is called on the caller's thread.

    ``zone`` applies to feeds without a valid time zone.

    Raises:
        FeedUnusable: a feed cannot be used; the message names the file, table and line, and says what to do.
        ParameterError: a feed's name is invalid, or two feeds have the same name.
    """
    merger = FeedMerger()
    headsigns = IdIndex()
    reports: list[FeedReport] = []
    zones: list[str] = []
    for source, name in zip(sources, list_feed_names(network, sources), strict=True):
        with open_archive(source.path) as archive:
            archive.advance = _new_progress_counter(name, archive.measure(_TABLES_READ), progress)
            feed = _read_feed(archive, name, headsigns, zone)
            zones.append(feed.feeds[0].zone)
            if not has_same_times(zones[-1], zones[0]):
                archive.findings.add(Reason.ZONE_OF_OTHER_FEED_UNAPPLIED, "agency.txt", 0, "agency_timezone")
            merger.add(feed, archive.findings)
            reports.append(_build_report(archive, feed))
    progress(_LINKING, 0, 1)
    timetable = assemble(merger.finish(headsigns), find_walks)
    progress(_LINKING, 1, 1)
    return ImportResult(timetable, ImportReport(network=network.upper(), feeds=tuple(reports)))


def _new_progress_counter(step: str, total: int, progress: ImportProgress) -> Callable[[int], None]:
    done = 0

    def advance(byte_count: int) -> None:
        nonlocal done
        done = min(done + byte_count, total)
        progress(step, done, total)

    advance(0)
    return advance


def list_feed_names(network: str, sources: Sequence[FeedSource]) -> list[str]:
    """Return each source's FEED: its ``feed_name`` or, by default, the network's name and the file name.

    The first feed's default omits the file name, so that its ids stay the same when feeds are added (rule A8).
    """
    names: list[str] = []
    default_names: set[str] = set()
    for number, source in enumerate(sources):
        if source.feed_name is not None:
            name = source.feed_name.strip().upper()
            if not name or name.startswith("DEMO-"):
                raise ParameterError(
                    f"A feed cannot be called {source.feed_name!r}. Choose a name that is not empty and does not "
                    "begin with DEMO-",
                    {"field": "feed"},
                )
        else:
            stem = source.path.name.removesuffix(".zip").removesuffix(".gtfs")
            name = f"{network}-{stem}".upper() if number else network.upper()
            if name in default_names:
                raise ParameterError(
                    f"Two of the feeds would both be called {name}. Name them: FEED=PATH", {"field": "feed"}
                )
            default_names.add(name)
        names.append(name)
    return names


def _read_feed(archive: Archive, name: str, headsigns: IdIndex, zone: str | None) -> TimetableDraft:
    feed = read_feed_info(archive, name, zone)
    stops = read_stops(archive, feed.zone)
    pathways = read_pathways(archive, stops)
    routes = read_routes(archive, feed.agency_ids)
    service_ids, all_days = read_services(archive)
    shape_ids = IdIndex()
    trips = read_trips(archive, routes, IdIndex(service_ids), shape_ids, headsigns)
    trips, stop_times = read_stop_times(archive, stops, trips, headsigns)
    trip_departures = read_trip_departures(archive, trips, stop_times)
    transfers, specific_transfers, trip_links = read_transfers(archive, stops, routes, trips)
    shapes, trip_shape = read_shapes(archive, shape_ids, trips)
    stop_names, route_names, headsign_names = read_translations(archive, stops, routes, trips, headsigns)
    is_used = mark_rows(len(all_days), trips.service)
    trip_service = (np.cumsum(is_used) - 1).astype(np.int32)[trips.service]
    days = [all_days[row] for row in np.flatnonzero(is_used).tolist()]
    departures = list_departures(stops.rows, trips, trip_service, trip_departures, stop_times)
    in_seat = find_in_seat(archive, trips, departures, days, trip_links)
    if not (len(trip_departures.trip) and any(map(len, days))):
        raise _new_no_trips_error(archive)
    return TimetableDraft(
        feeds=[feed],
        stops=stops.rows,
        routes=routes.rows,
        services=[ServiceRow(0, service) for service in days],
        trips=TripColumns(
            local_id=trips.ids.to_texts(),
            route=trips.route,
            service=trip_service,
            headsign=trips.headsign,
            wheelchair=trips.wheelchair,
            direction=trips.direction,
            shape=trip_shape,
        ),
        trip_departures=trip_departures,
        transfers=transfers,
        pathways=pathways,
        specific_transfers=specific_transfers,
        in_seat=in_seat,
        shapes=shapes,
        stop_names=stop_names,
        route_names=route_names,
        headsign_names=headsign_names,
        trip_stop_time_count=trips.stop_time_count,
        stop_times=stop_times,
    )


def _build_report(archive: Archive, draft: TimetableDraft) -> FeedReport:
    feed = draft.feeds[0]
    _report_distant_stops(archive, draft)
    services = [service.days for service in draft.services if service.days is not None]
    days = np.unique(np.concatenate(services))
    departures = np.bincount(draft.trips.service[draft.trip_departures.trip], minlength=len(draft.services))
    return FeedReport(
        feed=feed.name,
        stops=len(draft.stops),
        routes=len(draft.routes),
        trips=len(draft.trip_stop_time_count),
        events=len(draft.stop_times.stop),
        first_day=date.fromordinal(int(days[0])),
        last_day=date.fromordinal(int(days[-1])),
        gaps=find_service_days(map(date.fromordinal, days.tolist())).gaps,
        thin_after=_find_thin_after(services, departures.tolist(), days),
        zone=feed.zone,
        findings=archive.findings.list_all(),
        tables_not_read=tuple(table for table in archive.list_tables() if table not in _TABLES_READ),
    )


def _report_distant_stops(archive: Archive, draft: TimetableDraft) -> None:
    """Report stops with impossible positions, and unserved stops far outside the network's area."""
    lats, lons = np.array([stop.lat for stop in draft.stops]), np.array([stop.lon for stop in draft.stops])
    calls = draft.stop_times
    first = list_starts(draft.trip_stop_time_count)
    is_in_area = mark_area_stops(lats, lons, calls.stop, calls.arrival_s, calls.departure_s, first)
    is_distant = mark_distant_stops(lats, lons, is_in_area)
    served = mark_rows(len(lats), calls.stop)
    for row, stop in enumerate(draft.stops):
        if not is_in_area[row] and stop.kind == STOP and (served[row] or is_distant[row]):
            reason = Reason.STOP_POSITION_UNAPPLIED if served[row] else Reason.STOP_WITHOUT_TRIPS
            archive.findings.add(reason, "stops.txt", stop.line, "stop_lat")


def _find_thin_after(services: Sequence[Int32], departures: Sequence[int], days: Int32) -> date | None:
    """Return ``FeedReport.thin_after``; ``departures`` gives each service's departures per day."""
    departures_by_day = np.zeros(int(days[-1] - days[0]) + 1, np.int64)
    for service, count in zip(services, departures, strict=True):
        departures_by_day[service - days[0]] += count
    span = min(_BUSIEST_DAYS, len(departures_by_day))
    busiest = np.convolve(departures_by_day, np.ones(span, np.int64), "valid").max() / span
    last = int(np.flatnonzero(4 * departures_by_day >= busiest)[-1])
    return None if len(departures_by_day) - last <= _WEEK else date.fromordinal(int(days[0]) + last)


def _new_no_trips_error(archive: Archive) -> FeedUnusable:
    findings = archive.findings.list_all()
    reasons = "; ".join(
        f"{finding.count:,} {finding.reason} ({find_meaning(finding.reason).text}), "
        f"first in {finding.places[0].table} line {finding.places[0].line}"
        for finding in findings
    )
    return FeedUnusable(
        f"{archive.name} has no usable trips on any day: {reasons or 'its tables are empty'}",
        {"file": archive.name, "trips": 0},
        hint="Use a feed with fixed timetables; trips on demand (GTFS-Flex) are not supported"
        if any(finding.reason == Reason.TRIP_ON_DEMAND_UNSUPPORTED.code for finding in findings)
        else "Ask its publisher for a complete feed",
    )
