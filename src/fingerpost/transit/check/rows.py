"""Compare the stops, trips and departure boards of a network with the raw tables of its feeds."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from google.transit.gtfs_realtime_pb2 import FeedMessage

from fingerpost.transit.check.check_report import FaultKind, Observation
from fingerpost.transit.check.raw_feed import RawFeed, RawTrip
from fingerpost.transit.check.trial import Trial
from fingerpost.transit.engine.gtfs.csv.findings import FindingKind, find_meaning
from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.timetable.service_days import find_midnight
from fingerpost.transit.model.provenance import ServiceState
from fingerpost.transit.port import DepartureQuery

# The number of earlier service days whose trips may still be running.
_MAX_TRIP_DAYS = 3
_EVERYTHING = 1_000_000
# Realtime updates for a day this far from today must be rejected.
_YEARS = timedelta(days=800)


def list_import_faults(trial: Trial, today: date) -> Iterator[Observation]:
    """Yield faults in the feeds or their import that affect riders."""
    for raw, feed in zip(trial.feeds, trial.report.feeds, strict=True):
        for code in sorted({*raw.list_expected_findings()} - {finding.reason for finding in feed.findings}):
            yield Observation(FaultKind.FEED_UNREPORTED, f"{feed.feed}: {code}")
        for finding in feed.findings:
            meaning, place = find_meaning(finding.reason), finding.places[0]
            if meaning.kind is FindingKind.WITHOUT_EFFECT:
                continue
            kind = FaultKind.FEED_LEFT_OUT if meaning.is_loss else FaultKind.FEED_GUESSED
            example = f"{feed.feed}: {finding.count:,} {finding.reason}, first in {place.table} line {place.line}"
            yield Observation(kind, f"{example}: {meaning.text}", finding.count)
        if feed.service.state_on(today) is not ServiceState.IN_SERVICE:
            state = feed.service.format_service_state(today)
            yield Observation(FaultKind.FEED_OUT_OF_SERVICE, f"{feed.feed}: {state}")
        # If the import and the raw tables have the same number of trips, they must agree on this day.
        if raw.trips and len(raw.trips) == feed.trips and (thin_after := raw.find_thin_after()) != feed.thin_after:
            yield Observation(FaultKind.FEED_UNREPORTED, f"{feed.feed}: few trips after {thin_after or 'no day'}")
        yield from _check_realtime(trial, raw)
        if feed.thin_after is not None:
            example = f"{feed.feed}: under a quarter of the usual trips between {feed.thin_after} and {feed.last_day}"
            yield Observation(FaultKind.FEED_THINS_OUT, example)


def _check_realtime(trial: Trial, raw: RawFeed) -> Iterator[Observation]:
    """Read realtime updates of a trip on a service day and on a day years later; yield unexpected outcomes."""
    sample = raw.find_sample_ride()
    if sample is None or sum(sample[0] in feed.trips for feed in trial.feeds) > 1:
        return
    trip, day = sample
    now, message = find_midnight(day, trial.network.profile.zone), FeedMessage()
    message.header.gtfs_realtime_version = "2.0"
    for number, start in enumerate((day, day + _YEARS)):
        update = message.entity.add(id=f"{number}").trip_update
        update.delay, update.trip.trip_id, update.trip.start_date = 60, trip, f"{start:%Y%m%d}"
    overlay = read_realtime(
        RealtimeIndex(trial.timetable), [FeedBytes(message.SerializeToString(), now, raw.name)], now
    )
    if dict(overlay.counts) != {"trip-updated": 1, "start-date-far-from-today": 1}:
        yield Observation(FaultKind.REALTIME_MISREAD, f"{raw.name}: trip {trip} on {day}: {dict(overlay.counts)}")


def compare_rows(trial: Trial) -> Iterator[Observation]:
    """Yield stops and trips that are missing from the network, and trips that differ from the feed."""
    table = trial.timetable
    first = table.trip_first_stop_time.tolist()
    columns = [
        column.tolist() for column in (table.stop_time_stop, table.stop_time_arrival_s, table.stop_time_departure_s)
    ]
    feeds = [table.feeds[feed].name for feed in table.route_feed[table.trip_route].tolist()]
    trips = {key: row for row, key in enumerate(zip(feeds, table.trip_local_id, strict=True))}
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
            if not _is_same(trip, imported, [trial.stop_rows.get((feed.name, call.stop)) for call in trip.calls]):
                yield Observation(FaultKind.TRIP_DIFFERS, f"{feed.name}: trip {trip.trip_id}")


def _is_same(trip: RawTrip, imported: Sequence[tuple[int, int, int]], stops: Sequence[int | None]) -> bool:
    return len(imported) == len(stops) and all(
        (call.arrival_s, call.departure_s) in ((arrival_s, departure_s), (None, None)) and stop == row
        for call, stop, (row, arrival_s, departure_s) in zip(trip.calls, stops, imported, strict=True)
    )


async def compare_boards(trial: Trial, day: date, stops: Sequence[tuple[RawFeed, str]]) -> list[Observation]:
    """Compare the departure boards of stops on a day with the raw tables."""
    observations: list[Observation] = []
    zone = trial.network.profile.zone
    begin, end = find_midnight(day, zone), find_midnight(day + timedelta(days=1), zone) - 1
    for (feed, stop), (certain, possible) in _list_expected(stops, day).items():
        row = trial.stop_rows.get((feed.name, stop))
        if row is None:
            continue
        stop_id = trial.timetable.stop_printed_id[row]
        query = DepartureQuery(
            stop_ids=[stop_id], instant=begin, window_s=end - begin, wanted=_EVERYTHING, by_schedule=True
        )
        board = await trial.network.list_departures(query)
        actual = Counter((row.trip_id.partition(":")[2], row.scheduled) for row in board.departures)
        expected = Counter({key: count for key, count in certain.items() if begin <= key[1] <= end})
        label = f"{stop_id} on {day}"
        observations += [
            Observation(FaultKind.BOARD_LACKS_DEPARTURE, f"{label}: trip {trip} at {instant}", count)
            for (trip, instant), count in (expected - actual).items()
        ]
        observations += [
            Observation(FaultKind.BOARD_INVENTS_DEPARTURE, f"{label}: trip {trip} at {instant}", count)
            for (trip, instant), count in (actual - expected).items()
            if trip in feed.trips and possible.isdisjoint(((trip, instant), (trip, 0)))
        ]
    return observations


_Departure = tuple[str, int]
"""Trip and instant (Unix seconds); the instant is 0 if it must be interpolated."""


def _list_expected(
    stops: Sequence[tuple[RawFeed, str]], day: date
) -> dict[tuple[RawFeed, str], tuple[Counter[_Departure], set[_Departure]]]:
    """Return, for each stop, the departures that its board must show around a day, and those that it may show."""
    expected = {stop: (Counter[_Departure](), set[_Departure]()) for stop in stops}
    days = [day + timedelta(days=number) for number in range(-_MAX_TRIP_DAYS, 2)]
    for feed in dict.fromkeys(feed for feed, _ in stops):
        for trip in feed.trips.values():
            last = max((position for position, call in enumerate(trip.calls) if call.can_alight), default=0)
            calls = [(position, call) for position, call in enumerate(trip.calls) if (feed, call.stop) in expected]
            starts = [start for each in days for start in feed.list_starts(trip, each)] if calls else []
            for position, call in calls:
                certain, possible = expected[feed, call.stop]
                if call.departure_s is None:
                    possible.add((trip.trip_id, 0))
                    continue
                keys = [(trip.trip_id, start + call.departure_s) for start in starts]
                if call.can_board and position < last:
                    certain.update(keys)
                else:
                    possible.update(keys)
    return expected
