"""Small random networks with what real ones hold: overtaking, midnight, stops without pickup or drop-off, gaps."""

import random
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.draft import (
    RouteRow,
    ServiceRow,
    StopRow,
    TimetableDraft,
    TransferRow,
    TripDepartureRow,
    TripRow,
)
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
        draft.stops.append(
            StopRow(
                0,
                f"S{index}",
                f"Stop {index}",
                LAT + dice.uniform(0, 0.03),
                LON + dice.uniform(0, 0.06),
                wheelchair=dice.choice([0, 0, 1, 2]),
            )
        )
    days = [DAY + timedelta(days=offset) for offset in range(-1, 3)]
    draft.services = [
        ServiceRow(0, frozenset(days)),
        ServiceRow(0, frozenset(dice.sample(days, 2))),
        ServiceRow(0, None),
    ]
    draft.routes = [RouteRow(0, "L", "L", "", 3)]
    stops, arrivals, departures, flags, counts = [], [], [], [], []
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
            for stop, flag in zip(line, flags_of_line, strict=True):
                stops.append(stop)
                arrivals.append(clock)
                clock += dice.choice([0, 0, 30, 60])
                departures.append(clock)
                flags.append(flag)
                clock += dice.randint(1, 4) * pace
            counts.append(len(line))
            draft.trips.append(
                TripRow(f"T{len(draft.trips)}", 0, dice.choice([0, 0, 1, 2]), wheelchair=dice.choice([0, 1, 2]))
            )
            trip = len(draft.trips) - 1
            if dice.random() < 0.15:
                draft.trip_departures += [TripDepartureRow(trip, shift) for shift in range(0, 3600, 900)]
            else:
                draft.trip_departures.append(TripDepartureRow(trip))
            begin += dice.randint(0, 1500)
    for _ in range(dice.randint(0, 3)):
        a, b = dice.randrange(len(draft.stops)), dice.randrange(len(draft.stops))
        kind = dice.choice([0, 1, 2, 3])
        draft.transfers.append(TransferRow(a, b, kind, dice.randint(0, 900) if kind == 2 else -1))
    draft.trip_stop_time_count = np.array(counts, np.int32)
    draft.stop_time_stop = np.array(stops, np.int32)
    draft.stop_time_arrival_s = np.array(arrivals, np.int32)
    draft.stop_time_departure_s = np.array(departures, np.int32)
    draft.stop_time_flags = np.array(flags, np.uint8)
    return draft
