"""Small random networks with features of real ones: overtaking, midnight, stops without pickup or drop-off, gaps."""

import random
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.columns import TextColumn, to_columns
from fingerpost.transit.engine.timetable.draft import RouteRow, ServiceRow, StopRow, TimetableDraft, TransferColumns
from fingerpost.transit.engine.timetable.timetable import Feed

DAY = date(2026, 3, 28)  # clocks go forward in Helsinki in the following night
MIDNIGHT = int(datetime(DAY.year, DAY.month, DAY.day, tzinfo=ZoneInfo("Europe/Helsinki")).timestamp())
LAT, LON = 60.17, 24.94


def random_timetable(seed, *, zone="Europe/Helsinki"):
    return assemble(random_draft(seed, zone=zone))


def random_draft(seed, *, zone="Europe/Helsinki"):
    dice = random.Random(seed)
    draft = TimetableDraft(feeds=[Feed(name="R", zone=zone)])
    for index in range(dice.randint(4, 12)):
        lat, lon = LAT + dice.uniform(0, 0.03), LON + dice.uniform(0, 0.06)
        wheelchair = dice.choice([0, 0, 1, 2])
        draft.stops.append(StopRow(0, f"S{index}", f"Stop {index}", lat, lon, wheelchair=wheelchair))
    days = [DAY + timedelta(days=offset) for offset in range(-1, 3)]
    draft.services = [
        ServiceRow(0, to_ordinals(days)),
        ServiceRow(0, to_ordinals(dice.sample(days, 2))),
        ServiceRow(0, None),
    ]
    draft.routes = [RouteRow(0, "L", "L", "", 3)]
    for _ in range(dice.randint(2, 6)):
        length = dice.randint(2, min(6, len(draft.stops)))
        line = dice.sample(range(len(draft.stops)), length)
        if dice.random() < 0.2:
            line.append(line[0])
        flags_of_line = [dice.choice([0, 0, 0, 0, 0, 1, 2]) for _ in line]
        begin = dice.choice([dice.randint(0, 3600 * 5), dice.randint(3600 * 6, 3600 * 20), dice.randint(80000, 95000)])
        for _ in range(dice.randint(1, 5)):
            clock = begin
            pace = dice.choice([60, 120, 300])
            stop_times = []
            for stop, flags in zip(line, flags_of_line, strict=True):
                arrival = clock
                clock += dice.choice([0, 0, 30, 60])
                stop_times.append((stop, arrival, clock, flags))
                clock += dice.randint(1, 4) * pace
            trip = {"service": dice.choice([0, 0, 1, 2]), "wheelchair": dice.choice([0, 1, 2])}
            add_trip(draft, stop_times, range(0, 3600, 900) if dice.random() < 0.15 else (0,), **trip)
            begin += dice.randint(0, 1500)
    transfers = []
    for _ in range(dice.randint(0, 3)):
        a, b = dice.randrange(len(draft.stops)), dice.randrange(len(draft.stops))
        kind = dice.choice([0, 1, 2, 3])
        transfers.append((a, b, kind, dice.randint(0, 900) if kind == 2 else -1))
    if transfers:
        draft.transfers = to_columns(
            TransferColumns, dict(zip(TransferColumns._fields, np.array(transfers).T, strict=True))
        )
    return draft


def to_ordinals(days):
    return np.array([day.toordinal() for day in days], np.int32)


def add_trip(draft, stop_times, shifts=(0,), *, service, route=0, wheelchair=0):
    row, count = len(draft.trips.route), len(stop_times)
    stops, arrivals_s, departures_s, flags = zip(*stop_times, strict=True)
    draft.stop_times = _append(
        draft.stop_times,
        stop=stops, sequence=range(1, count + 1), arrival_s=arrivals_s, departure_s=departures_s, flags=flags,
    )  # fmt: skip
    draft.trip_stop_time_count = np.append(draft.trip_stop_time_count, np.int32(count))
    draft.trip_departures = _append(
        draft.trip_departures, trip=[row] * len(shifts), shift_s=shifts, headway_s=[0] * len(shifts)
    )
    local_id = TextColumn.of([*draft.trips.local_id, f"T{row}"])
    draft.trips = _append(
        draft.trips._replace(local_id=local_id),
        route=[route], service=[service], headsign=[-1], wheelchair=[wheelchair], direction=[-1], shape=[-1],
    )  # fmt: skip


def _append(table, **columns):
    added = {
        name: np.append(getattr(table, name), values).astype(getattr(table, name).dtype)
        for name, values in columns.items()
    }
    return table._replace(**added)
