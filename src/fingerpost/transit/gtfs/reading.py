"""One feed, table after table."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from fingerpost.errors import FeedUnusable
from fingerpost.transit.gtfs.agency import read_agencies
from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.calendar import Services, read_services
from fingerpost.transit.gtfs.feed_info import find_primary_language, read_feed_info
from fingerpost.transit.gtfs.findings import Findings, Reason
from fingerpost.transit.gtfs.frequencies import read_runs
from fingerpost.transit.gtfs.headsigns import Headsigns
from fingerpost.transit.gtfs.report import FeedReport, Finding
from fingerpost.transit.gtfs.routes import read_routes
from fingerpost.transit.gtfs.stop_times import Events, read_stop_times
from fingerpost.transit.gtfs.stops import read_stops
from fingerpost.transit.gtfs.transfers import read_transfers
from fingerpost.transit.gtfs.trips import Trips, read_trips
from fingerpost.transit.timetable.draft import RouteRow, RunRow, StopRow, TransferRow, TripRow
from fingerpost.transit.timetable.timetable import Feed

_READ = frozenset(
    f"{table}.txt"
    for table in (
        "agency",
        "calendar",
        "calendar_dates",
        "feed_info",
        "frequencies",
        "routes",
        "stop_times",
        "stops",
        "transfers",
        "trips",
    )
)


class FeedTables(NamedTuple):
    """One feed's rows; row numbers count from its own first row, headsigns are those of the network's pool."""

    feed: Feed
    stops: Sequence[StopRow]
    routes: Sequence[RouteRow]
    services: Sequence[set[date]]
    trips: Sequence[TripRow]
    runs: Sequence[RunRow]
    transfers: Sequence[TransferRow]
    events: Events


def read_feed(archive: Archive, name: str, headsigns: Headsigns) -> tuple[FeedTables, FeedReport]:
    """Read one feed and say what became of it.

    Raises:
        FeedUnusable: nothing in it can be used; the message says where and why.
    """
    findings = Findings()
    agencies = read_agencies(archive)
    info = read_feed_info(archive)
    stops = read_stops(archive, findings)
    routes = read_routes(archive, agencies.ids, findings)
    services = read_services(archive, findings)
    trips = read_trips(archive, routes.row_of, services.row_of, headsigns, findings)
    trips, events = read_stop_times(archive, stops, trips, headsigns, findings)
    runs = read_runs(archive, trips, events, findings)
    transfers = read_transfers(archive, stops, findings)
    trip_rows, days = _drop_idle_services(trips, services, findings)
    served = [day for service in days for day in service]
    if not (runs and served):
        raise FeedUnusable(_nothing_left(archive, findings))
    feed = Feed(
        name=name,
        zone=agencies.zone,
        language=find_primary_language(info.language or agencies.language),
        first_day=min(served),
        last_day=max(served),
        agencies=agencies.names,
        agency_ids=agencies.ids,
        publisher=info.publisher or None,
        version=info.version or None,
        source=archive.name,
    )
    report = FeedReport(
        feed=name,
        source=archive.name,
        stops=len(stops.rows),
        routes=len(routes.rows),
        trips=len(trip_rows),
        runs=len(runs),
        events=len(events.stop),
        first_day=min(served),
        last_day=max(served),
        findings=tuple(
            Finding(reason=reason.value, count=count, table=table, line=line)
            for reason, count, table, line in findings.list_all()
        ),
        tables_not_read=tuple(table for table in archive.list_tables() if table not in _READ),
    )
    return FeedTables(feed, stops.rows, routes.rows, days, trip_rows, runs, transfers, events), report


def _drop_idle_services(trips: Trips, services: Services, findings: Findings) -> tuple[list[TripRow], list[set[date]]]:
    """Leave out services that no trip uses, so that the calendar covers the days on which something runs."""
    used = {trip.service for trip in trips.rows}
    new_rows: dict[int, int] = {}
    for row, (table, line) in enumerate(services.places):
        if row in used:
            new_rows[row] = len(new_rows)
        else:
            findings.add(Reason.SERVICE_WITHOUT_TRIPS, table, line)
    rows = [trip._replace(service=new_rows[trip.service]) for trip in trips.rows]
    return rows, [services.days[row] for row in new_rows]


def _nothing_left(archive: Archive, findings: Findings) -> str:
    reasons = ", ".join(
        f"{reason.value} {count} times, first in {table} line {line}"
        for reason, count, table, line in findings.list_all()
    )
    return (
        f"{archive.name} has no usable trips on any day ({reasons or 'its tables are empty'}). "
        "Ask its publisher for a complete feed."
    )
