"""Random realtime data, and the trips as a message changes them, stop by stop.

``draw`` writes messages, ``apply`` reads them, recorded ones too; neither uses anything of what it tests.
"""

from dataclasses import dataclass

from google.transit.gtfs_realtime_pb2 import FeedMessage, TripDescriptor, TripUpdate

from tests.realtime.oracle import Told, expect
from tests.riders.feed_tables import NO_ALIGHTING, NO_BOARDING, Trip

SKIPPED, NO_DATA = TripUpdate.StopTimeUpdate.SKIPPED, TripUpdate.StopTimeUpdate.NO_DATA
MIXED = ("late", "late", "late", "each", "each", "cancelled", "skipped", "added")
# So little runs that answers are left with what cannot be travelled.
OUTAGE = (*["cancelled"] * 12, "skipped", "each", "each", "late")
DELAYS_S = (-120, -60, 0, 30, 60, 61, 120, 240, 300, 301, 360, 480, 600, 900, 1800)
NOTHING = Told()
# What neither boards nor lets off.
SHUT = NO_BOARDING | NO_ALIGHTING


@dataclass(frozen=True, slots=True)
class Running:
    """A trip and its expected ``calls``, none if it is cancelled; ``known`` says whose departure real time tells."""

    planned: Trip
    calls: tuple[tuple[int, int, int, int], ...]
    known: tuple[bool, ...]


def draw(dice, tables, trips, now, share, kinds=MIXED):
    """Return a message a feed about a share of the trips."""
    messages = {}
    for number, trip in enumerate(dice.sample(trips, int(len(trips) * share))):
        message = messages.get(trip.feed)
        if message is None:
            message = messages[trip.feed] = FeedMessage()
            message.header.gtfs_realtime_version, message.header.timestamp = "2.0", now
        update = message.entity.add(id=f"{number}").trip_update
        update.trip.trip_id, update.trip.start_date = trip.trip_id, trip.day
        if trip.start:
            update.trip.start_time = trip.start
        kind = dice.choice(kinds)
        if kind == "cancelled":
            update.trip.schedule_relationship = TripDescriptor.CANCELED
        elif kind == "late":
            told = update.stop_time_update.add(stop_sequence=dice.choice(trip.sequences))
            told.arrival.delay = told.departure.delay = dice.choice(DELAYS_S)
        elif kind == "each":
            _draw_each(dice, update, trip)
        elif kind == "skipped":
            for sequence in dice.sample(trip.sequences, min(3, len(trip.sequences))):
                update.stop_time_update.add(stop_sequence=sequence, schedule_relationship=SKIPPED)
            update.stop_time_update.sort(key=lambda told: told.stop_sequence)
        else:
            update.trip.ClearField("start_time")
            _draw_added(dice, tables, update, trip, number)
    return messages


def _draw_each(dice, update, trip):
    """Tell of calls one by one: late or early in steps, skipped, unknown, by time or by delay, or not at all."""
    late_s, latest = dice.choice(DELAYS_S), 0
    for sequence, (_, arrival, departure, _) in zip(trip.sequences, trip.calls, strict=True):
        if dice.random() < 0.3:
            late_s = dice.choice(DELAYS_S)
        if dice.random() < 0.2:
            continue
        told = update.stop_time_update.add(stop_sequence=sequence)
        luck = dice.random()
        if luck < 0.1:
            told.schedule_relationship = SKIPPED
        elif luck < 0.15:
            told.schedule_relationship = NO_DATA
        else:
            expected = max(latest, arrival + late_s), max(latest, arrival + late_s, departure + late_s)
            latest = expected[1]
            for event, at, planned in ((told.arrival, expected[0], arrival), (told.departure, expected[1], departure)):
                if dice.random() < 0.5:
                    event.time = at
                else:
                    event.delay = at - planned


def _draw_added(dice, tables, update, trip, number):
    """Add a trip that goes like another, some minutes later."""
    update.trip.trip_id, update.trip.schedule_relationship = f"EXTRA{number}", TripDescriptor.ADDED
    later_s = dice.randrange(120, 1200)
    for at, (stop, arrival, departure, _) in enumerate(trip.calls, 1):
        told = update.stop_time_update.add(stop_sequence=at, stop_id=tables.local[stop][1])
        told.arrival.time, told.departure.time = arrival + later_s, departure + later_s


def apply(tables, messages):
    """Return every trip of the tables as it runs, and the trips that were added."""
    updates, added = {}, []
    for feed, message in messages.items():
        for entity in message.entity:
            update = entity.trip_update
            if update.trip.schedule_relationship == TripDescriptor.ADDED:
                added += _added(tables, feed, update)
            else:
                updates.setdefault((feed, update.trip.trip_id), []).append(update)
    return [_run(trip, updates.get((trip.feed, trip.trip_id), ())) for trip in tables.trips] + added


def _run(trip, updates):
    update = next((each for each in updates if each.trip.start_date in ("", trip.day)
                   and each.trip.start_time in ("", trip.start or each.trip.start_time)), None)  # fmt: skip
    if update is None:
        return Running(trip, trip.calls, (False,) * len(trip.calls))
    if update.trip.schedule_relationship == TripDescriptor.CANCELED:
        return Running(trip, (), ())
    known = {told.stop_sequence: told for told in update.stop_time_update}
    words = [_told(known.get(at), *call[1:3]) for at, call in zip(trip.sequences, trip.calls, strict=True)]
    times = expect([call[1:3] for call in trip.calls], words, None)
    calls = tuple((stop, time.arrival, time.departure, SHUT if word.kind == "skipped" else flags)
                  for (stop, _, _, flags), time, word in zip(trip.calls, times, words, strict=True))  # fmt: skip
    return Running(trip, calls, tuple(_list_known(words)))


def _list_known(words):
    """Yield whether the departure of each call is told: from the first call with times on, until one is silent."""
    is_known = False
    for word in words:
        is_known = word.kind == "times" or (is_known and word.kind != "silent")
        yield is_known


def _told(told, arrival, departure):
    if told is None:
        return NOTHING
    if told.schedule_relationship in (SKIPPED, NO_DATA):
        return Told("skipped" if told.schedule_relationship == SKIPPED else "silent")
    return Told("times", *(
        event.time - planned if event.time else event.delay if event.HasField("delay") else None
        for event, planned in ((told.arrival, arrival), (told.departure, departure))
    ))  # fmt: skip


def _added(tables, feed, update):
    if len(update.stop_time_update) < 2:
        return []
    calls = tuple((tables.number[feed, told.stop_id], told.arrival.time or told.departure.time,
                   told.departure.time or told.arrival.time, SHUT if told.schedule_relationship == SKIPPED else 0)
                  for told in update.stop_time_update)  # fmt: skip
    trip = Trip(feed, update.trip.trip_id, update.trip.start_date, "", "", (), calls)
    return [Running(trip, calls, (True,) * len(calls))]
