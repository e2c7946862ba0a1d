"""Find faults in feeds and in their import, by comparison with the raw tables of the feeds."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

import numpy as np

from fingerpost.transit.check.check_report import FaultKind, Observation
from fingerpost.transit.check.raw_feed import RawTrip
from fingerpost.transit.check.trial import Trial
from fingerpost.transit.engine.gtfs.csv.findings import FindingKind, find_meaning
from fingerpost.transit.model.provenance import ServiceState


def list_import_faults(trial: Trial, today: date) -> Iterator[Observation]:
    """Yield faults that affect riders, in the feeds or in their import."""
    for feed in trial.report.feeds:
        for finding in feed.findings:
            meaning = find_meaning(finding.reason)
            place = finding.places[0]
            if meaning.kind is FindingKind.WITHOUT_EFFECT:
                continue
            kind = FaultKind.FEED_LEFT_OUT if meaning.is_loss else FaultKind.FEED_GUESSED
            example = f"{feed.feed}: {finding.count:,} {finding.reason}, first in {place.table} line {place.line}"
            yield Observation(kind, f"{example}: {meaning.text}", finding.count)
        if feed.service.state_on(today) is not ServiceState.IN_SERVICE:
            state = feed.service.format_service_state(today)
            yield Observation(FaultKind.FEED_OUT_OF_SERVICE, f"{feed.feed}: {state}")
        if feed.thin_after is not None:
            example = f"{feed.feed}: under a quarter of the usual trips between {feed.thin_after} and {feed.last_day}"
            yield Observation(FaultKind.FEED_THINS_OUT, example)


def compare_rows(trial: Trial) -> Iterator[Observation]:
    """Yield stops and trips that are missing from the network, and trips that differ from the feed."""
    table = trial.timetable
    first = table.trip_first_stop_time.tolist()
    columns = [
        column.tolist() for column in (table.stop_time_stop, table.stop_time_arrival_s, table.stop_time_departure_s)
    ]
    feeds = [table.feeds[feed].name for feed in table.route_feed[table.trip_route].tolist()]
    trips = {key: row for row, key in enumerate(zip(feeds, table.trip_local_id, strict=True))}
    service_days = [
        {table.calendar_start + timedelta(days=offset) for offset in np.flatnonzero(runs_on).tolist()}
        for runs_on in table.service_runs_on
    ]
    for feed in trial.feeds:
        for stop in feed.stops:
            if (feed.name, stop) not in trial.stop_rows:
                yield Observation(FaultKind.STOP_MISSING, f"{feed.name}: stop {stop}")
        for trip in feed.trips.values():
            row = trips.get((feed.name, trip.trip_id))
            if row is None:
                yield Observation(FaultKind.TRIP_MISSING, f"{feed.name}: trip {trip.trip_id}")
                continue
            imported = list(zip(*(column[first[row] : first[row + 1]] for column in columns), strict=True))
            stops = [trial.stop_rows.get((feed.name, call.stop)) for call in trip.calls]
            has_days = service_days[table.trip_service[row]] == feed.service_days[trip.service]
            if not has_days or not _is_same(trip, imported, stops):
                yield Observation(FaultKind.TRIP_DIFFERS, f"{feed.name}: trip {trip.trip_id}")


def _is_same(trip: RawTrip, imported: Sequence[tuple[int, int, int]], stops: Sequence[int | None]) -> bool:
    return len(imported) == len(stops) and all(
        (call.arrival_s, call.departure_s) in ((arrival_s, departure_s), (None, None)) and stop == row
        for call, stop, (row, arrival_s, departure_s) in zip(trip.calls, stops, imported, strict=True)
    )
