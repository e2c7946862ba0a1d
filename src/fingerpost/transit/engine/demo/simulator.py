"""Simulate GTFS-Realtime for the demo networks: late trips, a closed line, a broken lift."""

import zlib
from collections.abc import Iterator
from datetime import date

import numpy as np
from google.transit.gtfs_realtime_pb2 import Alert, FeedHeader, FeedMessage, TripDescriptor, TripUpdate

from fingerpost.transit.engine.timetable.service_days import find_service_day_start
from fingerpost.transit.engine.timetable.timetable import Timetable
from fingerpost.transit.rules.times import to_local_date

HOUR_S = 3600
# Trips that depart further ahead than this do not get an update.
HORIZON_S = HOUR_S
# The duration of a line closure, which begins on the hour.
CLOSURE_S = 2 * HOUR_S
# Stop times older than this do not get an update.
_PAST_S = 60
_DAY_S = 86_400

# Possible delays at the last stop of a trip.
_LATE_S = (0, 0, 0, 15, 20, 45, 75, 140, 260, 480)


# The closed route and the stop with a broken lift, by their ids in the feed.
_SCENARIOS = {"DEMO-HELSINKI": ("M1", "KAMPPI"), "DEMO-LONDON": ("VICTORIA", "GREEN-PARK")}


def simulate(timetable: Timetable, now: int) -> bytes:
    """Return a demo network's GTFS-Realtime message at ``now`` (Unix seconds); the result is deterministic."""
    closed_route, _ = _SCENARIOS[timetable.feeds[0].name]
    message = FeedMessage()
    message.header.gtfs_realtime_version = "2.0"
    message.header.incrementality = FeedHeader.FULL_DATASET
    message.header.timestamp = now
    for trip, start, departure_time, descriptor in _list_trip_instances(timetable, now):
        is_cancelled = descriptor.route_id == closed_route and departure_time < now - now % HOUR_S + CLOSURE_S
        if not is_cancelled and departure_time >= now + HORIZON_S:
            continue
        name = f"{descriptor.trip_id}-{descriptor.start_date}-{descriptor.start_time}"
        update = message.entity.add(id=name).trip_update
        update.timestamp = now
        update.trip.CopyFrom(descriptor)
        update.trip.schedule_relationship = TripDescriptor.CANCELED if is_cancelled else TripDescriptor.SCHEDULED
        if not is_cancelled:
            late_s = _LATE_S[zlib.crc32(name.encode()) % len(_LATE_S)]
            _add_stop_times(update, timetable, timetable.list_stop_times(trip), start, late_s, now)
    _add_alerts(message, timetable, now)
    return message.SerializeToString(deterministic=True)


def _list_trip_instances(timetable: Timetable, now: int) -> Iterator[tuple[int, int, int, TripDescriptor]]:
    """Yield the trips that are under way at ``now`` or depart within the next few hours; all trips run every day.

    Each item is (trip row, Unix time from which the stop times are counted, Unix time of departure, descriptor).
    """
    zone = timetable.feeds[0].zone
    first, last = timetable.trip_first_stop_time[:-1], timetable.trip_first_stop_time[1:] - 1
    trip, shift_s = timetable.trip_departure_trip, timetable.trip_departure_shift_s
    begin_s = timetable.stop_time_departure_s[first][trip] + shift_s
    end_s = timetable.stop_time_arrival_s[last][trip] + shift_s
    longest_days = int(end_s.max()) // _DAY_S + 1
    today = to_local_date(now, zone).toordinal()
    for day in map(date.fromordinal, range(today - longest_days, today + 2)):
        start = find_service_day_start(day, zone)
        is_selected = (start + end_s >= now - _PAST_S) & (start + begin_s < now + CLOSURE_S + HOUR_S)
        for trip_departure in np.flatnonzero(is_selected).tolist():
            row, begin = int(trip[trip_departure]), int(begin_s[trip_departure])
            descriptor = TripDescriptor(
                trip_id=timetable.trip_local_id[row],
                route_id=timetable.route_local_id[int(timetable.trip_route[row])],
                start_date=f"{day:%Y%m%d}",
                start_time=f"{begin // HOUR_S:02}:{begin % HOUR_S // 60:02}:{begin % 60:02}",
            )
            yield row, start + int(shift_s[trip_departure]), start + begin, descriptor


def _add_stop_times(update: TripUpdate, timetable: Timetable, rows: slice, start: int, late_s: int, now: int) -> None:
    """Add the stop times that have not passed; the delay grows from 0 at the first stop to ``late_s`` at the last."""
    for row in range(rows.start, rows.stop):
        delay_s = late_s * (row - rows.start) // (rows.stop - rows.start - 1)
        departure = start + int(timetable.stop_time_departure_s[row]) + delay_s
        if departure < now - _PAST_S:
            continue
        stop_time_update = update.stop_time_update.add()
        stop_time_update.stop_sequence = int(timetable.stop_time_sequence[row])
        stop_time_update.stop_id = timetable.stop_local_id[int(timetable.stop_time_stop[row])]
        stop_time_update.arrival.time = start + int(timetable.stop_time_arrival_s[row]) + delay_s
        stop_time_update.departure.time = departure


def _add_alerts(message: FeedMessage, timetable: Timetable, now: int) -> None:
    route, stop = _SCENARIOS[timetable.feeds[0].name]
    closure_begin = now - now % HOUR_S
    names = dict(zip(timetable.route_local_id, timetable.route_short_name, strict=True))
    name = names[route] or route
    alert = _add_alert(
        message, f"closed-{route}", Alert.NO_SERVICE, {"route_id": route},
        fi=(f"Linja {name} ei liikennöi", f"Linja {name} on poikki teknisen vian vuoksi."),
        en=(f"Line {name} is closed", f"Line {name} is not running because of a technical fault."),
        sv=(f"Linje {name} trafikerar inte", f"Linje {name} står stilla på grund av ett tekniskt fel."),
    )  # fmt: skip
    alert.active_period.add(start=closure_begin, end=closure_begin + CLOSURE_S)
    name = timetable.stop_name[list(timetable.stop_local_id).index(stop)]
    _add_alert(
        message, f"lift-{stop}", Alert.ACCESSIBILITY_ISSUE, {"stop_id": stop},
        fi=(f"Hissi epäkunnossa: {name}", f"Hissi ei ole käytössä: {name}."),
        en=(f"Lift out of order: {name}", f"The lift at {name} is out of order."),
        sv=(f"Hissen ur funktion: {name}", f"Hissen är ur funktion: {name}."),
    )  # fmt: skip


def _add_alert(
    message: FeedMessage, name: str, effect: Alert.Effect, selector: dict[str, str], **texts: tuple[str, str]
) -> Alert:
    alert = message.entity.add(id=name).alert
    alert.effect = effect
    alert.informed_entity.add(**selector)
    for language, (header, description) in texts.items():
        alert.header_text.translation.add(language=language, text=header)
        alert.description_text.translation.add(language=language, text=description)
    return alert
