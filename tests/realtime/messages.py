"""GTFS-Realtime messages written by hand, and overlays drawn like the timetables of ``tests.feeds``."""

from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

import numpy as np
from google.transit.gtfs_realtime_pb2 import Alert, FeedEntity, FeedMessage, TripDescriptor, TripUpdate

from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes
from fingerpost.transit.engine.gtfs.realtime.reader import read_realtime
from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
from fingerpost.transit.engine.timetable.overlay import AddedRide, Overlay
from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from fingerpost.transit.engine.timetable.timetable import Timetable

DAY = date(2026, 3, 10)
ZONE = "Europe/Helsinki"

Call = TripUpdate.StopTimeUpdate


def at(clock: str, day: date = DAY, zone: str = ZONE) -> int:
    return int(datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=ZoneInfo(zone)).timestamp())


NOW = at("08:00")


def call(
    stop: str = "",
    arrive: int | str | None = None,
    depart: int | str | None = None,
    *,
    sequence: int | None = None,
    platform: str = "",
    relationship: str = "SCHEDULED",
) -> Call:
    """Return a stop time update; a number is a delay in seconds, a text a clock time."""
    made = Call(schedule_relationship=relationship)
    if stop:
        made.stop_id = stop
    if sequence is not None:
        made.stop_sequence = sequence
    for event, told in ((made.arrival, arrive), (made.departure, depart)):
        if isinstance(told, str):
            event.time = at(told)
        elif told is not None:
            event.delay = told
    if platform:
        made.stop_time_properties.assigned_stop_id = platform
    return made


def stop_time_with(stop: str, arrive: int | str | None = None, **told: str) -> Call:
    made = call(stop, arrive)
    for name, value in told.items():
        setattr(made.stop_time_properties, name, made.stop_time_properties.DropOffPickupType.Value(value))
    return made


def update(
    trip_id: str = "A-1",
    *calls: Call,
    relationship: str = "SCHEDULED",
    day: str = f"{DAY:%Y%m%d}",
    delay: int | None = None,
    timestamp: int = 0,
    **trip: object,
) -> FeedEntity:
    entity = FeedEntity(id=f"{trip_id}-{relationship}")
    made = entity.trip_update
    made.trip.MergeFrom(TripDescriptor(trip_id=trip_id, schedule_relationship=relationship, start_date=day, **trip))
    if not trip_id:
        made.trip.ClearField("trip_id")
    made.stop_time_update.extend(calls)
    if delay is not None:
        made.delay = delay
    if timestamp:
        made.timestamp = timestamp
    return entity


def alert(
    entity_id: str = "works",
    header: str = "Works",
    text: str = "",
    effect: str = "DETOUR",
    period: Sequence[str] = (),
    url: str = "",
    **selector: object,
) -> FeedEntity:
    """Return an entity with an alert in English; ``period`` is two clock times, ``selector`` its only selector."""
    entity = FeedEntity(id=entity_id, alert=Alert(effect=Alert.Effect.Value(effect)))
    entity.alert.informed_entity.add(**selector)
    if period:
        entity.alert.active_period.add(start=at(period[0]), end=at(period[1]))
    for field, words in (("header_text", header), ("description_text", text), ("url", url)):
        if words:
            getattr(entity.alert, field).translation.add(language="en", text=words)
    return entity


def message(*entities: FeedEntity, timestamp: int = NOW, **header: object) -> bytes:
    made = FeedMessage(entity=entities)
    made.header.gtfs_realtime_version = "2.0"
    if timestamp:
        made.header.timestamp = timestamp
    for name, value in header.items():
        setattr(made.header, name, value)
    return made.SerializeToString()


def read(timetable: Timetable, *entities: FeedEntity, now: int = NOW, timestamp: int = NOW) -> Overlay:
    return read_bytes(timetable, message(*entities, timestamp=timestamp), now=now)


def read_bytes(timetable: Timetable, *messages: bytes, now: int = NOW, feed_name: str | None = None) -> Overlay:
    return read_realtime(RealtimeIndex(timetable), [FeedBytes(data, now, feed_name) for data in messages], now)


def draw(
    timetable: Timetable, overlay: Overlay, trip_id: str = "A-1", day: date = DAY, departure_of_trip: int = 0
) -> str:
    """Draw a ride as it is expected: stops and times, ``?`` where nothing is known, ``skip`` where it passes."""
    trip = list(timetable.trip_local_id).index(trip_id)
    run = [row for row, own in enumerate(timetable.trip_departure_trip.tolist()) if own == trip][departure_of_trip]
    told = overlay.rides.get((run, day.toordinal()))
    if told is None:
        return "nothing"
    if told.is_cancelled:
        return "deleted" if told.is_deleted else "cancelled"
    rows = timetable.list_stop_times(trip)
    feed = timetable.feeds[int(timetable.route_feed[int(timetable.trip_route[trip])])]
    start = find_service_day_start(day, feed.zone) + int(timetable.trip_departure_shift_s[run])
    stops = timetable.stop_time_stop[rows] if told.stop is None else told.stop
    arrivals = timetable.stop_time_arrival_s[rows] + start + told.arrival_delay_s
    departures = timetable.stop_time_departure_s[rows] + start + told.departure_delay_s
    marks = np.where(told.is_skipped, " skip", np.where(told.is_known, "", " ?"))
    return _draw_columns(timetable, (stops, arrivals, departures, marks), feed.zone)


def draw_added(timetable: Timetable, ride: AddedRide) -> str:
    marks = np.where(ride.is_skipped, " skip", "")
    return _draw_columns(timetable, (ride.stop, ride.arrival, ride.departure, marks), timetable.feeds[0].zone)


def _draw_columns(timetable: Timetable, columns: Sequence[np.ndarray], zone: str) -> str:
    cells = []
    for stop, arrival, departure, mark in zip(*(column.tolist() for column in columns), strict=True):
        times = list(dict.fromkeys((_clock(arrival, zone), _clock(departure, zone))))
        cells.append(f"{timetable.stop_name[stop]} {'-'.join(times)}{mark}")
    return " | ".join(cells)


def _clock(instant: int, zone: str) -> str:
    return datetime.fromtimestamp(instant, ZoneInfo(zone)).strftime("%H:%M:%S").removesuffix(":00")
