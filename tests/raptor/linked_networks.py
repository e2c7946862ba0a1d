"""Random networks with trips that continue as other trips, and transfer rules that name trips and routes."""

import random
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from fingerpost.transit.engine.timetable.assembly import assemble
from fingerpost.transit.engine.timetable.columns import to_columns
from fingerpost.transit.engine.timetable.draft import InSeatColumns, RouteRow, SpecificTransferColumns, StopRow
from tests.raptor.networks import LAT, LON, add_trip, random_draft

# A transfer rule and an in-seat transfer are rows of these columns, with None for any route or trip.
Rule, Seat = namedtuple("Rule", SpecificTransferColumns._fields), namedtuple("Seat", InSeatColumns._fields)


@dataclass(frozen=True)
class Links:
    """What links the trips of a network; between the two ``ends`` one must change, leaving at ``leave_s``."""

    rules: tuple[Rule, ...] = ()
    seats: tuple[Seat, ...] = ()
    ends: tuple[int, int] = (0, 0)
    leave_s: int = 0


def random_linked(seed, *, with_rules=True, with_seats=True):
    draft, dice = random_draft(seed), random.Random(seed * 31 + 5)
    draft.routes = [RouteRow(0, f"L{index}", f"L{index}", "", 3) for index in range(3)]
    draft.trips = draft.trips._replace(route=np.array([dice.randrange(3) for _ in draft.trips.route], np.int32))
    grown = _grow_trips(draft, dice)
    begin, goal, leave_s, planted = _plant_crossing(draft, dice, grown)
    seats = [Seat(*seat) for seat in sorted(grown) if seat[0] != seat[1]] if with_seats else []
    is_of_trips = dice.random() < 0.4
    count = dice.randint(1, 10) if with_rules else 0
    rules = [_random_rule(draft, dice, planted, is_of_trips) for _ in range(count)]
    draft.in_seat, draft.specific_transfers = _to_table(InSeatColumns, seats), _to_table(SpecificTransferColumns, rules)
    return assemble(draft), Links(tuple(rules), tuple(seats), (begin, goal), leave_s)


def _to_table(kind, rows):
    columns = {name: [getattr(row, name) for row in rows] for name in kind._fields}
    return to_columns(kind, {name: [-1 if value is None else value for value in columns[name]] for name in columns})


def _grow_trips(draft, dice):
    """Add trips that begin where others end or stop, and link departures: in rows, dividing, coupling, at midnight."""
    seats = set()
    for _ in range(dice.randint(2, 6)):
        before = dice.randrange(len(draft.trips.route))
        last = int(draft.trip_stop_time_count[: before + 1].sum()) - 1
        is_linked = dice.random() < 0.5
        if not is_linked:
            last -= dice.randrange(int(draft.trip_stop_time_count[before]) - 1)
        length = dice.randint(2, min(5, len(draft.stops)))
        line = dice.sample(range(len(draft.stops)), length)
        if dice.random() < 0.7 or not is_linked:
            line[0] = int(draft.stop_times.stop[last])
        days_later = int(dice.random() < 0.15)
        clock = (
            int(draft.stop_times.departure_s[last]) + dice.choice([0, 0, 60, 150, 300, 600, -120]) - 86400 * days_later
        )
        if clock < 0:
            days_later, clock = 0, clock + 86400 * days_later
        stops, arrivals, departures = [], [], []
        for stop in line:
            stops.append(stop)
            arrivals.append(clock)
            clock += dice.choice([0, 0, 30])
            departures.append(clock)
            clock += dice.choice([60, 240, 600])
        service = dice.choice([int(draft.trips.service[before]), 0, 0, dice.randrange(3)])
        _add_trip(draft, dice, stops, arrivals, departures, service)
        linked = np.flatnonzero(draft.trip_departures.trip == before).tolist()
        if is_linked:
            seats.add((dice.choice(linked), len(draft.trip_departures.trip) - 1, days_later))
    for _ in range(dice.randint(0, 4)):
        seats.add((dice.randrange(len(draft.trip_departures.trip)), dice.randrange(len(draft.trip_departures.trip)), 0))
    return seats


def _add_trip(draft, dice, stops, arrivals, departures, service):
    flags_of_line = [dice.choice([0, 0, 0, 0, 0, 1, 2]) for _ in stops]
    stop_times = list(zip(stops, arrivals, departures, flags_of_line, strict=True))
    add_trip(draft, stop_times, route=dice.randrange(3), service=service, wheelchair=dice.choice([0, 1]))


def _plant_crossing(draft, dice, seats):
    """Add two far ends that only one change joins, whose waits lie around what changes take; return what to ask of it.

    One or two trips lead from the one end to a stop and end there, or go on; up to three lead on to the other end.
    """
    begin, goal = len(draft.stops), len(draft.stops) + 1
    middle = dice.randrange(begin)
    other = dice.randrange(begin)
    draft.stops += [StopRow(0, "BEGIN", "Begin", LAT + 0.3, LON), StopRow(0, "GOAL", "Goal", LAT - 0.3, LON)]
    is_night = dice.random() < 0.4
    leave_s = dice.randint(85_300, 86_300) if is_night else dice.randint(20_000, 60_000)
    into, out_of = [], []
    for late_s in (0, 240)[: dice.randint(1, 2)]:
        times = [leave_s + late_s, leave_s + late_s + 900, leave_s + late_s + 1200]
        stops = [begin, middle, other][: dice.choice([2, 2, 3])]
        _add_trip(draft, dice, stops, times[: len(stops)], times[: len(stops)], dice.choice([0, 0, 1, 2]))
        into.append((len(draft.trip_departures.trip) - 1, len(draft.stop_times.stop) - len(stops) + 1))
    for _ in range(dice.randint(1, 3)):
        clock = leave_s + 900 + dice.choice([0, 30, 60, 119, 120, 121, 240, 300, 600])
        days_later = int(clock >= 86_400 and dice.random() < 0.7)
        clock -= 86_400 * days_later
        times = [clock, clock + 600]
        _add_trip(draft, dice, [dice.choice([*4 * [middle], other]), goal], times, times, dice.choice([0, 0, 1, 2]))
        out_of.append(len(draft.stop_times.stop) - 2)
        for trip_departure, _ in into:
            if dice.random() < 0.4:
                seats.add((trip_departure, len(draft.trip_departures.trip) - 1, days_later))
    return begin, goal, leave_s, [(event, then) for _, event in into for then in out_of]


def _random_rule(draft, dice, planted, is_of_trips):
    trips = np.repeat(np.arange(len(draft.trips.route)), draft.trip_stop_time_count)
    one, other = dice.choice(planted) if dice.random() < 0.7 else _find_two_stop_times(draft, trips, dice)
    here, there = (int(draft.stop_times.stop[event]) for event in (one, other))
    from_trip, to_trip = int(trips[one]), int(trips[other])
    names = {
        "from_route": int(draft.trips.route[from_trip]), "to_route": int(draft.trips.route[to_trip]),
        "from_trip": from_trip, "to_trip": to_trip,
    }  # fmt: skip
    chosen = dice.sample(sorted(names), dice.choice([1, 1, 2, 2, 3]))
    if is_of_trips:
        chosen = ["from_trip", "to_trip"]
    # Where a trip is named its route is not looked at.
    kept = {side for side in chosen if not (side.endswith("route") and side.replace("route", "trip") in chosen)}
    kind = dice.choice([0, 1, 1, 2, 2, 3, 3])
    wait_s = int(draft.stop_times.departure_s[other] - draft.stop_times.arrival_s[one])
    return Rule(
        here,
        there,
        **{name: row if name in kept else None for name, row in names.items()},
        type=kind,
        min_s=max(0, dice.choice([wait_s, wait_s + 1, dice.randint(0, 900)])) if kind == 2 else -1,
    )


def _find_two_stop_times(draft, trips, dice):
    one = dice.randrange(len(trips))
    wait_s = draft.stop_times.departure_s - draft.stop_times.arrival_s[one]
    is_soon = (wait_s >= 0) & (wait_s < 1800) & (trips != trips[one])
    at_once = np.flatnonzero(is_soon & (draft.stop_times.stop == draft.stop_times.stop[one])).tolist()
    return one, dice.choice(at_once or np.flatnonzero(is_soon).tolist() or list(range(len(trips))))
