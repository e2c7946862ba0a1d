"""Trouble drawn at random: GTFS-Realtime messages of every kind, and the vehicles as they then run.

``draw_trouble`` writes a message about the oracle's vehicles, ``edited`` reads it again and edits them, trip by trip
and call by call. Neither uses anything of what it tests.
"""

from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from google.transit.gtfs_realtime_pb2 import FeedMessage, TripDescriptor, TripUpdate

from tests.raptor.oracle import Call, Vehicle

SKIPPED = TripUpdate.StopTimeUpdate.SKIPPED
KINDS = ("SCHEDULED", "SCHEDULED", "LATE", "CANCELED", "DELETED", "REPLACEMENT", "DUPLICATED", "NEW", "ADDED")
GONE = (TripDescriptor.CANCELED, TripDescriptor.DELETED, TripDescriptor.REPLACEMENT)
COMING = (TripDescriptor.NEW, TripDescriptor.ADDED)
REGULAR, NO_PICKUP = 0, 1
LATE_S = (0, 0, 60, 120, 300, 900, 1800, -60)


def draw_trouble(dice, timetable, vehicles, count, received):
    """A message about some vehicles, one entity each, or added rides instead."""
    message = FeedMessage()
    message.header.gtfs_realtime_version, message.header.timestamp = "2.0", received
    for number, vehicle in enumerate(dice.sample(vehicles, min(count, len(vehicles)))):
        kind = dice.choice(KINDS)
        update = message.entity.add(id=f"{number}").trip_update
        update.trip.start_date = f"{vehicle.day:%Y%m%d}"
        update.trip.schedule_relationship = TripDescriptor.ScheduleRelationship.Value(kind.replace("LATE", "SCHEDULED"))
        if update.trip.schedule_relationship in COMING:
            update.trip.trip_id = f"EXTRA {number}"
            _draw_new_calls(dice, timetable, update, vehicle)
            continue
        update.trip.trip_id = _trip_id(timetable, vehicle)
        if _is_frequent(timetable, vehicle):
            update.trip.start_time = _clock(_start_s(timetable, vehicle))
        if kind == "SCHEDULED":
            _draw_all_calls(dice, timetable, update, vehicle)
        elif kind == "LATE":
            _draw_one_delay(dice, timetable, update, vehicle)
        elif kind == "REPLACEMENT":
            _draw_detour(dice, timetable, update, vehicle)
        elif kind == "DUPLICATED":
            update.trip_properties.trip_id = f"COPY {number}"
            update.trip_properties.start_date = update.trip.start_date
            update.trip_properties.start_time = _clock(dice.randrange(5 * 3600, 24 * 3600))
            if dice.random() < 0.5:
                _draw_one_delay(dice, timetable, update, vehicle)
    return message


def _draw_all_calls(dice, timetable, update, vehicle):
    """Every call is told: late or early, skipped, or at another stop."""
    latest = 0
    for sequence, call in zip(_sequences(timetable, vehicle), vehicle.calls, strict=True):
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
        _draw_doors(dice, told)
        platforms = _platforms(timetable, call.stop)
        if platforms and dice.random() < 0.2:
            told.stop_id = timetable.stop_local_id[dice.choice(platforms)]
        elif dice.random() < 0.1:
            other = dice.randrange(timetable.stop_count)
            if timetable.stop_kind[other] == 0:
                told.stop_time_properties.assigned_stop_id = timetable.stop_local_id[other]


def _draw_doors(dice, told):
    """One call in ten lets nobody on, or off, or everybody whatever the timetable says."""
    for name in ("pickup_type", "drop_off_type"):
        if dice.random() < 0.1:
            setattr(told.stop_time_properties, name, dice.choice((NO_PICKUP, REGULAR)))


def _draw_one_delay(dice, timetable, update, vehicle):
    """One delay, from some call on."""
    sequence = dice.choice(_sequences(timetable, vehicle))
    told = update.stop_time_update.add(stop_sequence=sequence)
    told.arrival.delay = told.departure.delay = dice.choice((60, 300, 1200))


def _draw_detour(dice, timetable, update, vehicle):
    """Some calls are kept, all late by the same; in between there are others."""
    late_s = dice.choice(LATE_S)
    before = None
    for sequence, call in zip(_sequences(timetable, vehicle), vehicle.calls, strict=True):
        if dice.random() < 0.3:
            continue
        if before is not None and dice.random() < 0.4:
            _tell(dice, timetable, update, dice.randrange(timetable.stop_count), (before + call.arrival) // 2 + late_s)
        told = update.stop_time_update.add(stop_sequence=sequence)
        told.arrival.delay = told.departure.delay = late_s
        before = call.departure


def _draw_new_calls(dice, timetable, update, vehicle):
    """A ride from stop to stop of the network, some time around the vehicle's own."""
    instant = vehicle.calls[0].departure + dice.randrange(-3600, 3600)
    for stop in dice.sample(range(timetable.stop_count), dice.randint(2, 4)):
        _tell(dice, timetable, update, stop, instant)
        instant += dice.randrange(60, 900)


def _tell(dice, timetable, update, stop, instant):
    told = update.stop_time_update.add(stop_id=timetable.stop_local_id[stop])
    if dice.random() < 0.5:
        told.arrival.time = instant
    if dice.random() < 0.5 or not told.HasField("arrival"):
        told.departure.time = instant
    _draw_doors(dice, told)
    if dice.random() < 0.1:
        told.schedule_relationship = SKIPPED


def edited(timetable, vehicles, message):
    """The vehicles as they really run. An added ride's ``run`` is its trip id."""
    told = {_name(entity.trip_update): entity.trip_update for entity in message.entity}
    running = []
    for vehicle in vehicles:
        clock = _clock(_start_s(timetable, vehicle)) if _is_frequent(timetable, vehicle) else ""
        update = told.get((_trip_id(timetable, vehicle), f"{vehicle.day:%Y%m%d}", clock))
        relationship = TripDescriptor.SCHEDULED if update is None else update.trip.schedule_relationship
        if update is None or relationship == TripDescriptor.DUPLICATED:
            running.append(vehicle)
        elif relationship not in GONE:
            running.append(replace(vehicle, calls=tuple(_late(timetable, vehicle, vehicle.calls, update))))
        if relationship == TripDescriptor.REPLACEMENT:
            running += _placed(timetable, update, vehicle)
        if relationship == TripDescriptor.DUPLICATED:
            copy = update.trip_properties
            later = _midnight(timetable, vehicle.day) + _seconds(copy.start_time) - vehicle.calls[0].departure
            calls = [replace(call, arrival=call.arrival + later, departure=call.departure + later)
                     for call in vehicle.calls]  # fmt: skip
            calls = tuple(_late(timetable, vehicle, calls, update))
            running.append(Vehicle(copy.trip_id, vehicle.day, calls))
    for update in told.values():
        if update.trip.schedule_relationship in COMING:
            running += _placed(timetable, update, None)
    return running


def _late(timetable, vehicle, calls, update):
    """The calls with what is told of them; what is told of one holds for those behind it."""
    told = {call.stop_sequence: call for call in update.stop_time_update}
    stops = {stop_id: row for row, stop_id in enumerate(timetable.stop_local_id)}
    carried_s = 0
    for sequence, call in zip(_sequences(timetable, vehicle), calls, strict=True):
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
            yield Call(stops[stop] if stop else call.stop, arrival, departure, _doors(news, call.flags))


def _doors(told, flags):
    """Which of boarding (1) and alighting (2) are shut: as told, else as they were."""
    for name, bit in (("pickup_type", 1), ("drop_off_type", 2)):
        if told.stop_time_properties.HasField(name):
            shut = getattr(told.stop_time_properties, name) == NO_PICKUP
            flags = flags | bit if shut else flags & ~bit
    return flags


def _placed(timetable, update, original):
    """A ride call by call as it is told; one that nobody could ride is none."""
    planned = dict(zip(_sequences(timetable, original), original.calls, strict=True)) if original else {}
    stops = {stop_id: row for row, stop_id in enumerate(timetable.stop_local_id)}
    calls = []
    for told in update.stop_time_update:
        if told.stop_sequence:
            call = planned[told.stop_sequence]
            calls.append(
                replace(
                    call, arrival=call.arrival + told.arrival.delay, departure=call.departure + told.departure.delay
                )
            )
            continue
        flags = _doors(told, 0)
        instants = told.arrival.time or told.departure.time, told.departure.time or told.arrival.time
        calls.append(Call(stops[told.stop_id], *instants, 3 if told.schedule_relationship == SKIPPED else flags))
    served = [told for told in update.stop_time_update if told.schedule_relationship != SKIPPED]
    day = datetime.strptime(update.trip.start_date, "%Y%m%d").date()
    return [Vehicle(update.trip.trip_id, day, tuple(calls))] if len(served) > 1 else []


def is_ridden(timetable, overlay, journey, vehicles):
    """Whether every ride of a journey is what some running vehicle does, and its doors open at both ends."""
    by_name = {}
    for vehicle in vehicles:
        by_name.setdefault((vehicle.run, vehicle.day), []).append(vehicle.calls)
    for ride in journey.rides:
        name, first = ride.run, 0
        if ride.run < 0:
            name = overlay.added[-1 - ride.run].trip_id
        else:
            first = int(timetable.trip_first_event[timetable.run_trip[ride.run]])
        board, alight = ride.board_event - first, ride.alight_event - first
        if not any(
            board < alight < len(calls)
            and (calls[board].departure, calls[alight].arrival) == (ride.departure, ride.arrival)
            and not calls[board].flags & 1
            and not calls[alight].flags & 2
            for calls in by_name.get((name, ride.service_day), ())
        ):
            return False
    return True


def _name(update):
    return update.trip.trip_id, update.trip.start_date, update.trip.start_time


def _trip_id(timetable, vehicle):
    return timetable.trip_local_id[int(timetable.run_trip[vehicle.run])]


def _is_frequent(timetable, vehicle):
    return int((timetable.run_trip == timetable.run_trip[vehicle.run]).sum()) > 1


def _sequences(timetable, vehicle):
    trip = int(timetable.run_trip[vehicle.run])
    return timetable.event_sequence[timetable.trip_first_event[trip] : timetable.trip_first_event[trip + 1]].tolist()


def _platforms(timetable, stop):
    """The other stops of a stop's station."""
    parent = int(timetable.stop_parent[stop])
    rows = (timetable.stop_parent == parent).nonzero()[0].tolist() if parent >= 0 else []
    return [row for row in rows if row != stop and timetable.stop_kind[row] == 0]


def _midnight(timetable, day: date):
    """Twelve hours before noon."""
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(timetable.feeds[0].zone))
    return int((noon.astimezone(ZoneInfo("UTC")) - timedelta(hours=12)).timestamp())


def _start_s(timetable, vehicle):
    return vehicle.calls[0].departure - _midnight(timetable, vehicle.day)


def _clock(seconds):
    return f"{seconds // 3600:02}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def _seconds(clock):
    hours, minutes, rest = map(int, clock.split(":"))
    return hours * 3600 + minutes * 60 + rest
