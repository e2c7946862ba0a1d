"""From the bytes of 5,000 trip updates to what searches use, beside merely reading fields: ``make bench-realtime``.

The message has Kingston's shape: 24 calls a trip, each with sequence, stop, and arrival and departure with delay, time
and uncertainty; the trips are those of Kingston's own timetable. Both sides run by turns in one process; what is
compared is the median of the ratios of neighbouring runs. Before that, every expected time must be the message's own.
"""

import statistics
import sys
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from figures import verdict
from google.transit.gtfs_realtime_pb2 import FeedMessage

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.engine.gtfs.realtime import FeedBytes, RealtimeIndex, read_realtime
from fingerpost.transit.engine.raptor.search_timetable.build import build_search_timetable
from fingerpost.transit.engine.timetable.overlay import Overlay
from fingerpost.transit.engine.timetable.service_days import service_day_start, services_on
from fingerpost.transit.engine.timetable.timetable import Timetable

UPDATES, CALLS, ROUNDS = 5_000, 24, 15
DAY = date(2026, 1, 15)
READING_BOUND, PUBLISHED_BOUND, PUBLISHED_GOAL = 1.5, 2.0, 1.3
KINGSTON = Path(__file__).resolve().parents[2] / "shared" / "data" / "gtfs" / "kingston" / "kingston_2026-01.gtfs.zip"


def write_message(timetable: Timetable, now: int) -> bytes:
    """Return updates for the last calls of trips that have enough of them, over as many days as that takes."""
    dice = np.random.default_rng(4)
    message = FeedMessage()
    message.header.gtfs_realtime_version, message.header.timestamp = "2.0", now
    zone, day = timetable.feeds[0].zone, DAY
    while len(message.entity) < UPDATES:
        start = service_day_start(day, zone)
        for trip in np.flatnonzero(services_on(timetable, day)[timetable.trip_service]).tolist():
            first, end = int(timetable.trip_first_stop_time[trip]), int(timetable.trip_first_stop_time[trip + 1])
            if end - first < CALLS or len(message.entity) == UPDATES:
                continue
            update = message.entity.add(id=str(len(message.entity))).trip_update
            update.trip.trip_id = timetable.trip_local_id[trip]
            update.trip.start_date, update.trip.start_time = f"{day:%Y%m%d}", "08:00:00"
            update.trip.route_id = timetable.route_local_id[int(timetable.trip_route[trip])]
            update.trip.schedule_relationship = 0
            delay_s = int(dice.integers(-60, 900))
            for event in range(end - CALLS, end):
                call = update.stop_time_update.add(stop_sequence=int(timetable.stop_time_sequence[event]))
                call.stop_id = timetable.stop_local_id[int(timetable.stop_time_stop[event])]
                call.schedule_relationship = 0
                for told, planned_s in (
                    (call.arrival, timetable.stop_time_arrival_s[event]),
                    (call.departure, timetable.stop_time_departure_s[event]),
                ):
                    told.delay, told.time, told.uncertainty = delay_s, start + int(planned_s) + delay_s, 0
        day += timedelta(days=1)
    return message.SerializeToString()


def read_fields(data: bytes) -> list[object]:
    """Read the fields of all updates with the bindings, and do nothing with them."""
    message = FeedMessage()
    message.ParseFromString(data)
    fields: list[object] = []
    for entity in message.entity:
        update = entity.trip_update
        trip = update.trip
        fields.append((trip.trip_id, trip.start_date, trip.start_time, trip.route_id, trip.schedule_relationship))
        for call in update.stop_time_update:
            arrival = departure = None
            if call.HasField("arrival"):
                arrival = (call.arrival.time, call.arrival.delay)
            if call.HasField("departure"):
                departure = (call.departure.time, call.departure.delay)
            fields.append((call.stop_sequence, call.stop_id, call.schedule_relationship, arrival, departure))
    return fields


def check_times(timetable: Timetable, data: bytes, overlay: Overlay) -> None:
    """Raise unless the overlay expects every call when the message does."""
    message = FeedMessage()
    message.ParseFromString(data)
    rows = {trip_id: row for row, trip_id in enumerate(timetable.trip_local_id)}
    for entity in message.entity:
        update = entity.trip_update
        trip, day = rows[update.trip.trip_id], date.fromisoformat(update.trip.start_date)
        ride = overlay.rides[trip, day.toordinal()]
        start = service_day_start(day, timetable.feeds[0].zone)
        last = slice(
            int(timetable.trip_first_stop_time[trip + 1]) - CALLS, int(timetable.trip_first_stop_time[trip + 1])
        )
        expected = (timetable.stop_time_departure_s[last] + start + ride.departure_delay_s[-CALLS:]).tolist()
        if expected != [call.departure.time for call in update.stop_time_update]:
            raise SystemExit(f"short: {update.trip.trip_id} is expected at other times than it is told")


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main() -> int:
    """Compare and print; return the exit status."""
    if not KINGSTON.exists():
        print("skipped: needs Kingston's timetable beside the project")
        return 0
    timetable = import_feeds("KINGSTON", [FeedSource(KINGSTON)]).timetable
    index = RealtimeIndex(timetable)
    now = service_day_start(DAY, timetable.feeds[0].zone) + 12 * 3600
    data = write_message(timetable, now)

    def to_overlay() -> Overlay:
        return read_realtime(timetable, index, [FeedBytes(data, now)], now)

    def to_slice() -> object:
        return build_search_timetable(timetable, DAY, mirrored=False, step_free=False, overlay=to_overlay())

    check_times(timetable, data, to_overlay())
    print(f"ok: {UPDATES} updates, {UPDATES * CALLS} calls, every expected time is the message's own")
    to_slice()
    rounds = [(seconds(lambda: read_fields(data)), seconds(to_overlay), seconds(to_slice)) for _ in range(ROUNDS)]
    reading = statistics.median(overlay / fields for fields, overlay, _ in rounds)
    published = statistics.median(search_timetable / fields for fields, _, search_timetable in rounds)
    print(
        f"bytes to overlay: {reading:.2f} times reading the fields (at most {READING_BOUND}) "
        f"{verdict(reading, READING_BOUND)}"
    )
    print(
        f"bytes to overlay and live slice: {published:.2f} times reading the fields "
        f"(at most {PUBLISHED_BOUND}, goal {PUBLISHED_GOAL}) {verdict(published, PUBLISHED_BOUND)}"
    )
    return 0 if reading <= READING_BOUND and published <= PUBLISHED_BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
