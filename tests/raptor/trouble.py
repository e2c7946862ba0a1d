"""Random disruptions: GTFS-Realtime messages of every kind, and the resulting trips.

``draw_trouble`` writes a message about the oracle's trips, ``edited`` reads it again and edits them, trip by trip
and call by call. Neither uses anything of what it tests.
"""

from dataclasses import replace
from datetime import datetime, time
from zoneinfo import ZoneInfo

from google.transit.gtfs_realtime_pb2 import FeedMessage, TripDescriptor, TripUpdate

from tests.raptor.oracle import StopTime, TripInstance

SKIPPED = TripUpdate.StopTimeUpdate.SKIPPED
KINDS = ("SCHEDULED", "SCHEDULED", "LATE", "CANCELED", "DELETED", "REPLACEMENT", "NEW", "ADDED")
GONE = (TripDescriptor.CANCELED, TripDescriptor.DELETED, TripDescriptor.REPLACEMENT)
COMING = (TripDescriptor.NEW, TripDescriptor.ADDED)
REGULAR, NO_PICKUP = 0, 1
LATE_S = (0, 0, 60, 120, 300, 900, 1800, -60)


def draw_trouble(dice, timetable, instances, count, received):
    message = FeedMessage()
    message.header.gtfs_realtime_version, message.header.timestamp = "2.0", received
    for number, instance in enumerate(dice.sample(instances, min(count, len(instances)))):
        kind = dice.choice(KINDS)
        update = message.entity.add(id=f"{number}").trip_update
        update.trip.start_date = f"{instance.day:%Y%m%d}"
        update.trip.schedule_relationship = TripDescriptor.ScheduleRelationship.Value(kind.replace("LATE", "SCHEDULED"))
        if update.trip.schedule_relationship in COMING:
            update.trip.trip_id = f"EXTRA {number}"
            _draw_new_stop_times(dice, timetable, update, instance)
            continue
        update.trip.trip_id = _trip_id(timetable, instance)
        if _is_frequent(timetable, instance):
            update.trip.start_time = _clock(_start_s(timetable, instance))
        if kind == "SCHEDULED":
            _draw_all_stop_times(dice, timetable, update, instance)
        elif kind == "LATE":
            _draw_one_delay(dice, timetable, update, instance)
        elif kind == "REPLACEMENT":
            _draw_detour(dice, timetable, update, instance)
    return message


def _draw_all_stop_times(dice, timetable, update, instance):
    latest = 0
    for sequence, call in zip(_sequences(timetable, instance), instance.stop_times, strict=True):
        told = update.stop_time_update.add(stop_sequence=sequence)
        if dice.random() < 0.15:
            told.schedule_relationship = SKIPPED
            continue
        late_s = dice.choice(LATE_S)
        arrival = max(latest, call.arrival + late_s)
        latest = departure = max(arrival, call.departure + late_s)
        for event, instant, planned in (
            (told.arrival, arrival, call.arrival),
            (told.departure, departure, call.departure),
        ):
            if dice.random() < 0.5:
                event.time = instant
            else:
                event.delay = instant - planned
        _draw_pickup_drop_off(dice, told)
        platforms = _platforms(timetable, call.stop)
        if platforms and dice.random() < 0.2:
            told.stop_id = timetable.stop_local_id[dice.choice(platforms)]
        elif dice.random() < 0.1:
            other = dice.randrange(timetable.stop_count)
            if timetable.stop_kind[other] == 0:
                told.stop_time_properties.assigned_stop_id = timetable.stop_local_id[other]


def _draw_pickup_drop_off(dice, told):
    for name in ("pickup_type", "drop_off_type"):
        if dice.random() < 0.1:
            setattr(told.stop_time_properties, name, dice.choice((NO_PICKUP, REGULAR)))


def _draw_one_delay(dice, timetable, update, instance):
    sequence = dice.choice(_sequences(timetable, instance))
    told = update.stop_time_update.add(stop_sequence=sequence)
    told.arrival.delay = told.departure.delay = dice.choice((60, 300, 1200))


def _draw_detour(dice, timetable, update, instance):
    late_s = dice.choice(LATE_S)
    before = None
    for call in instance.stop_times:
        if dice.random() < 0.3:
            continue
        if before is not None and dice.random() < 0.4:
            _tell(dice, timetable, update, dice.randrange(timetable.stop_count), (before + call.arrival) // 2 + late_s)
        told = update.stop_time_update.add(stop_id=timetable.stop_local_id[call.stop])
        told.arrival.time, told.departure.time = call.arrival + late_s, call.departure + late_s
        before = call.departure


def _draw_new_stop_times(dice, timetable, update, instance):
    instant = instance.stop_times[0].departure + dice.randrange(-3600, 3600)
    for stop in dice.sample(range(timetable.stop_count), dice.randint(2, 4)):
        _tell(dice, timetable, update, stop, instant)
        instant += dice.randrange(60, 900)


def _tell(dice, timetable, update, stop, instant):
    told = update.stop_time_update.add(stop_id=timetable.stop_local_id[stop])
    if dice.random() < 0.5:
        told.arrival.time = instant
    if dice.random() < 0.5 or not told.HasField("arrival"):
        told.departure.time = instant
    _draw_pickup_drop_off(dice, told)
    if dice.random() < 0.1:
        told.schedule_relationship = SKIPPED


def edited(timetable, instances, message):
    """The trips as they really run. An added ride's ``trip_departure`` is its trip id."""
    told = {_name(entity.trip_update): entity.trip_update for entity in message.entity}
    running = []
    for instance in instances:
        clock = _clock(_start_s(timetable, instance)) if _is_frequent(timetable, instance) else ""
        update = told.get((_trip_id(timetable, instance), f"{instance.day:%Y%m%d}", clock))
        relationship = TripDescriptor.SCHEDULED if update is None else update.trip.schedule_relationship
        if update is None:
            running.append(instance)
        elif relationship not in GONE:
            running.append(replace(instance, stop_times=tuple(_late(timetable, instance, instance.stop_times, update))))
        if relationship == TripDescriptor.REPLACEMENT:
            running += _placed(timetable, update, instance) or [instance]
    for update in told.values():
        if update.trip.schedule_relationship in COMING:
            running += _placed(timetable, update, None)
    return running


def _late(timetable, instance, stop_times, update):
    told = {call.stop_sequence: call for call in update.stop_time_update}
    stops = {stop_id: row for row, stop_id in enumerate(timetable.stop_local_id)}
    carried_s = 0
    for sequence, call in zip(_sequences(timetable, instance), stop_times, strict=True):
        news = told.get(sequence)
        if news is None:
            yield replace(call, arrival=call.arrival + carried_s, departure=call.departure + carried_s)
        elif news.schedule_relationship == SKIPPED:
            yield replace(call, flags=3)
        else:
            arrival = news.arrival.time or call.arrival + news.arrival.delay
            departure = news.departure.time or call.departure + news.departure.delay
            carried_s = departure - call.departure
            stop = news.stop_time_properties.assigned_stop_id or news.stop_id
            yield StopTime(stops[stop] if stop else call.stop, arrival, departure, _flags(news, call.flags))


def _flags(told, flags):
    for name, bit in (("pickup_type", 1), ("drop_off_type", 2)):
        if told.stop_time_properties.HasField(name):
            shut = getattr(told.stop_time_properties, name) == NO_PICKUP
            flags = flags | bit if shut else flags & ~bit
    return flags


def _placed(timetable, update, original):
    planned_flags = {call.stop: call.flags for call in original.stop_times} if original else {}
    stops = {stop_id: row for row, stop_id in enumerate(timetable.stop_local_id)}
    stop_times = []
    for told in update.stop_time_update:
        flags = _flags(told, planned_flags.get(stops[told.stop_id], 0))
        instants = told.arrival.time or told.departure.time, told.departure.time or told.arrival.time
        stop_times.append(
            StopTime(stops[told.stop_id], *instants, 3 if told.schedule_relationship == SKIPPED else flags)
        )
    served = [told for told in update.stop_time_update if told.schedule_relationship != SKIPPED]
    day = datetime.strptime(update.trip.start_date, "%Y%m%d").date()
    return [TripInstance(update.trip.trip_id, day, tuple(stop_times))] if len(served) > 1 else []


def _name(update):
    return update.trip.trip_id, update.trip.start_date, update.trip.start_time


def _trip_id(timetable, instance):
    return timetable.trip_local_id[int(timetable.trip_departure_trip[instance.trip_departure])]


def _is_frequent(timetable, instance):
    return int((timetable.trip_departure_trip == timetable.trip_departure_trip[instance.trip_departure]).sum()) > 1


def _sequences(timetable, instance):
    trip = int(timetable.trip_departure_trip[instance.trip_departure])
    return timetable.stop_time_sequence[
        timetable.trip_first_stop_time[trip] : timetable.trip_first_stop_time[trip + 1]
    ].tolist()


def _platforms(timetable, stop):
    parent = int(timetable.stop_parent[stop])
    rows = (timetable.stop_parent == parent).nonzero()[0].tolist() if parent >= 0 else []
    return [row for row in rows if row != stop and timetable.stop_kind[row] == 0]


def _start_s(timetable, instance):
    noon = datetime.combine(instance.day, time(12), ZoneInfo(timetable.feeds[0].zone))
    return instance.stop_times[0].departure - int(noon.timestamp()) + 12 * 3600


def _clock(seconds):
    return f"{seconds // 3600:02}:{seconds % 3600 // 60:02}:{seconds % 60:02}"
