"""Kingston with its recordings in turn, through the tools: boards as the texts say, and never a wrong ride.

What is expected is worked out here from the feed's tables and the messages alone.
"""

import asyncio
import random
from collections import defaultdict
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from google.transit.gtfs_realtime_pb2 import FeedMessage, TripDescriptor, TripUpdate

from fingerpost.apps.wiring import list_tools
from fingerpost.store.variables import VariableStore
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.homes import keep_network, open_networks
from tests.shared_data import get_shared, read_table

FEED = "gtfs/kingston/kingston_2026-01.gtfs.zip"
ZONE = ZoneInfo("America/Toronto")
DAY = date(2026, 1, 15)
MIDNIGHT = int(datetime(2026, 1, 15, 12, tzinfo=ZONE).timestamp()) - 12 * 3600
SKIPPED = TripUpdate.StopTimeUpdate.SKIPPED
WINDOW_S = 1800
BOARDS, TRIPS = 4, 4


def seconds(text):
    hours, minutes, rest = map(int, text.split(":"))
    return hours * 3600 + minutes * 60 + rest


def instant(text):
    return int(datetime.fromisoformat(text).timestamp())


class Texts:
    """The feed's own tables: which trips run on the day, and the calls of each by stop_sequence."""

    def __init__(self):
        def rows(table):
            return read_table(get_shared(FEED), table)

        services = {row["service_id"] for row in rows("calendar_dates.txt")
                    if row["date"] == f"{DAY:%Y%m%d}" and row["exception_type"] == "1"}  # fmt: skip
        removed = {row["service_id"] for row in rows("calendar_dates.txt")
                   if row["date"] == f"{DAY:%Y%m%d}" and row["exception_type"] == "2"}  # fmt: skip
        self.lines = {row["route_id"]: row["route_short_name"] or row["route_long_name"]
                      for row in rows("routes.txt")}  # fmt: skip
        self.route = {row["trip_id"]: row["route_id"] for row in rows("trips.txt")
                      if row["service_id"] in services - removed}  # fmt: skip
        self.calls = defaultdict(dict)
        for row in rows("stop_times.txt"):
            if row["trip_id"] in self.route:
                self.calls[row["trip_id"]][int(row["stop_sequence"])] = (
                    row["stop_id"],
                    MIDNIGHT + seconds(row["arrival_time"]),
                    MIDNIGHT + seconds(row["departure_time"]),
                    row.get("pickup_type") == "1",
                )


class Told:
    """One message, call by call: delays carried onwards, trips and calls that do not happen, rides that were added."""

    def __init__(self, message, texts):
        self.delay = {}
        self.held = {}
        self.off = set()
        self.skipped = set()
        self.added = {}
        for entity in message.entity:
            trip, updates = entity.trip_update.trip, entity.trip_update.stop_time_update
            if trip.schedule_relationship == TripDescriptor.ADDED:
                if len(updates) > 1:
                    self.added[trip.trip_id] = [
                        (
                            update.stop_id,
                            update.arrival.time or update.departure.time,
                            update.departure.time or update.arrival.time,
                            trip.route_id,
                        )
                        for update in updates
                    ]
                continue
            if trip.schedule_relationship == TripDescriptor.CANCELED:
                self.off.add(trip.trip_id)
                continue
            told = {update.stop_sequence: update for update in updates}
            carried_s = None
            for sequence, (_, arrival, departure, _) in sorted(texts.calls[trip.trip_id].items()):
                update = told.get(sequence)
                if update is not None and update.schedule_relationship == SKIPPED:
                    self.skipped.add((trip.trip_id, sequence))
                    continue
                if update is not None and update.departure.time:
                    carried_s = update.departure.time - departure
                elif update is not None:
                    carried_s = update.arrival.time - arrival
                if carried_s is not None:
                    self.delay[trip.trip_id, sequence] = carried_s
            # Nothing is told of the calls before, but the vehicle leaves none of them after it arrives here.
            first = next((update.arrival.time or update.departure.time for _, update in sorted(told.items())), None)
            for sequence, (_, _, departure, _) in texts.calls[trip.trip_id].items():
                if first and (trip.trip_id, sequence) not in self.delay and departure > first:
                    self.held[trip.trip_id, sequence] = first - departure

    def is_off(self, trip, sequence):
        return trip in self.off or (trip, sequence) in self.skipped


def board_by_hand(texts, told, stop, now):
    """Return (line, planned, expected or None, is cancelled) of all departures of a stop in the window."""
    rows = []
    for trip, calls in texts.calls.items():
        for sequence, (at, _, departure, no_boarding) in sorted(calls.items())[:-1]:
            if at != stop or no_boarding:
                continue
            off = told.is_off(trip, sequence)
            delay_s = None if off else told.delay.get((trip, sequence))
            expected = departure + (delay_s or 0)
            if now <= expected <= now + WINDOW_S:
                line = texts.lines[texts.route[trip]]
                rows.append((line, departure, None if delay_s is None else expected, off))
    for calls in told.added.values():
        for at, _, departure, route in calls[:-1]:
            if at == stop and now <= departure <= now + WINDOW_S:
                rows.append((texts.lines[route], departure, departure, False))
    return sorted(rows, key=str)


def board_of(body):
    return sorted(
        (
            (
                row["line"],
                instant(row["scheduledTime"]),
                instant(row["realtimeTime"]) if "realtimeTime" in row else None,
                row["status"] == "cancelled",
            )
            for row in body["departures"]
        ),
        key=str,
    )


def wrong_rides(body, texts, told):
    """Return the rides of an answer that no vehicle makes; printed stop ids are in upper case (rule A8)."""
    wrong = []
    for itinerary in body.get("itineraries", ()):
        for leg in itinerary["legs"]:
            if leg["mode"] == "WALK" or leg["status"] == "cancelled":
                continue
            trip, stops = leg["tripId"].partition(":")[2], [leg[end]["id"].partition(":")[2] for end in ("from", "to")]
            times = [instant(leg["departureTime"]), instant(leg["arrivalTime"])]
            if trip in told.added:
                calls = told.added[trip]
                good = (stops[0], times[0]) in [(stop.upper(), departure) for stop, _, departure, _ in calls] and (
                    (stops[1], times[1]) in [(stop.upper(), arrival) for stop, arrival, *_ in calls]
                )
            else:
                boards = {
                    (stop.upper(), departure + told.delay.get((trip, sequence), told.held.get((trip, sequence), 0)))
                    for sequence, (stop, _, departure, _) in texts.calls[trip].items()
                    if not told.is_off(trip, sequence)
                }
                leaves = {
                    stop.upper()
                    for sequence, (stop, *_) in texts.calls[trip].items()
                    if not told.is_off(trip, sequence)
                }
                good = (stops[0], times[0]) in boards and stops[1] in leaves
            if not good:
                wrong.append((trip, stops, times))
    return wrong


@pytest.fixture(scope="module")
def texts():
    return Texts()


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    imported = import_feeds("KINGSTON", [FeedSource(get_shared(FEED))])
    file = home / "updates.pb"
    keep_network(home, "KINGSTON", imported.timetable, report=imported.report.to_json(), realtime=[str(file)])
    networks = open_networks(home)
    tools = {tool.name: tool for tool in list_tools(networks, VariableStore(home / "variables.sqlite"))}
    yield file, lambda name, arguments: asyncio.run(tools[name].answer(arguments, user="ann")).body
    asyncio.run(networks.close())


def test_boards_and_plans_follow_the_recordings_in_turn(texts, town, monkeypatch):
    """For every recording: the busiest stops' boards equal those worked out by hand, and no plan takes a wrong ride."""
    file, ask = town
    dice = random.Random(4)
    counts = defaultdict(int)
    for calls in texts.calls.values():
        for stop, *_ in calls.values():
            counts[stop] += 1
    busiest = sorted(counts, key=counts.get, reverse=True)
    rides = 0
    for path in sorted(get_shared("gtfs/kingston/realtime").glob("*.pb")):
        message = FeedMessage()
        message.ParseFromString(path.read_bytes())
        now = message.header.timestamp
        monkeypatch.setenv("FINGERPOST_NOW", datetime.fromtimestamp(now, UTC).isoformat())
        draft = file.with_suffix(".draft")
        draft.write_bytes(path.read_bytes())
        draft.replace(file)
        told = Told(message, texts)
        for stop in busiest[:2] + dice.sample(busiest[2:], BOARDS - 2):
            body = ask("get_departures", {"stop": {"type": "id", "value": f"KINGSTON:{stop}"}, "limit": 50})
            assert board_of(body) == board_by_hand(texts, told, stop, now), (path.name, stop)
            assert body["meta"]["realtimeAgeSeconds"] >= 0
        for _ in range(TRIPS):
            ends = [{"type": "label", "value": f"KINGSTON:{stop}"} for stop in dice.sample(busiest[:200], 2)]
            body = ask("plan_trip", {"origin": ends[0], "destination": ends[1], "limit": 3})
            assert wrong_rides(body, texts, told) == [], path.name
            rides += sum("tripId" in leg for each in body.get("itineraries", ()) for leg in each["legs"])
    assert rides > 100
