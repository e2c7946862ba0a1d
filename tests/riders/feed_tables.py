"""GTFS feeds read from their tables alone: stops, footpaths, and the trips of a few days."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from fingerpost.transit.check.raw_feed import RawFeed
from tests.riders.walks import CHANGE_S, LINKED_WITHIN_M, STRAIGHT_S, Grid, walk_m, walk_s

NO_BOARDING, NO_ALIGHTING = 1, 2


@dataclass(frozen=True, slots=True)
class Trip:
    """A trip on a day: its calls as (stop, arrival, departure, flags), Unix seconds; ``start`` where it is repeated."""

    feed: str
    trip_id: str
    day: str
    start: str
    block: str
    sequences: tuple[int, ...]
    calls: tuple[tuple[int, int, int, int], ...]


def seconds(text):
    hours, minutes, rest = map(int, text.split(":"))
    return hours * 3600 + minutes * 60 + rest


def clock(after_midnight):
    return f"{after_midnight // 3600:02}:{after_midnight % 3600 // 60:02}:{after_midnight % 60:02}"


def midnight(day, zone):
    return int(datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(zone)).timestamp()) - 12 * 3600


class Tables:
    """Feeds together: numbered stops, their links, and the trips of a day, of the one before and of those after."""

    def __init__(self, feeds, day, days_after=1):
        self.zone = None
        self.place, self.name, self.number, self.local, self.printed = {}, {}, {}, {}, {}
        self.forced, self.specific, self.station = {}, set(), {}
        self.trips = []
        self._links = {}
        for feed, path in feeds:
            self._read(RawFeed(feed, path), day, days_after)
        self.grid = Grid(self.place)
        self.partners = defaultdict(set)
        for one, other in self.forced:
            self.partners[one].add(other)
            self.partners[other].add(one)

    def _read(self, raw, day, days_after):
        feed, self.zone = raw.name, self.zone or raw.zone
        members = defaultdict(list)
        for row in raw.read_rows("stops.txt"):
            if row["location_type"] in ("", "0"):
                number = len(self.place)
                self.place[number] = float(row["stop_lat"]), float(row["stop_lon"])
                self.name[number], self.local[number] = row["stop_name"], (feed, row["stop_id"])
                self.number[feed, row["stop_id"]] = self.printed[f"{feed}:{row['stop_id'].upper()}"] = number
                members[row["stop_id"]].append(number)
                if row["parent_station"]:
                    self.station[number] = feed, row["parent_station"]
                    members[row["parent_station"]].append(number)
        self._read_transfers(raw, members)
        self._read_trips(raw, [day + timedelta(days=each) for each in range(-1, days_after + 1)])

    def _read_transfers(self, raw, members):
        """Read the rules between stops; a row that names the stops themselves beats one that names stations."""
        feed, rules = raw.name, []
        for line, row in enumerate(raw.read_rows("transfers.txt")):
            ends = row["from_stop_id"], row["to_stop_id"]
            if row["from_trip_id"] and row["to_trip_id"]:
                if row["transfer_type"] == "1":
                    self.specific.add((feed, row["from_trip_id"], row["to_trip_id"]))
                continue
            assert not row["from_route_id"], "no feed here has rules between routes"
            precision = sum((feed, end) in self.number for end in ends)
            pairs = [(one, other) for one in members[ends[0]] for other in members[ends[1]]]
            rules.append((precision, line, pairs, row["transfer_type"], row["min_transfer_time"]))
        for _, _, pairs, kind, stated in sorted(rules, key=lambda rule: rule[:2]):
            for pair in pairs:
                metres = walk_m(self.place[pair[0]], self.place[pair[1]])
                taken = walk_s(metres) + (0 if kind == "1" else self.slack_s(*pair))
                if kind == "2" and stated:
                    taken = int(stated)
                self.forced[pair] = (None if kind == "3" else taken), metres

    def _read_trips(self, raw, days):
        feed, running = raw.name, raw.service_days
        services = {service for service, its in running.items() if its.intersection(days)}
        service, block = {}, {}
        for row in raw.read_rows("trips.txt"):
            if row["service_id"] in services:
                service[row["trip_id"]], block[row["trip_id"]] = row["service_id"], row["block_id"]
        calls = defaultdict(list)
        for row in raw.read_rows("stop_times.txt"):
            if row["trip_id"] in service:
                flags = (row["pickup_type"] == "1") * NO_BOARDING + (row["drop_off_type"] == "1") * NO_ALIGHTING
                arrival = seconds(row["arrival_time"] or row["departure_time"])
                departure = seconds(row["departure_time"] or row["arrival_time"])
                call = int(row["stop_sequence"]), self.number[feed, row["stop_id"]], arrival, departure, flags
                calls[row["trip_id"]].append(call)
        starts = defaultdict(list)
        for row in raw.read_rows("frequencies.txt"):
            every = range(seconds(row["start_time"]), seconds(row["end_time"]), int(row["headway_secs"]))
            starts[row["trip_id"]] += every
        for trip, its in calls.items():
            its.sort()
            sequences, first = tuple(call[0] for call in its), its[0][3]
            for day in (each for each in days if each in running[service[trip]]):
                zero, today = midnight(day, self.zone), f"{day:%Y%m%d}"
                for start in starts.get(trip, [first]):
                    later = zero + start - first
                    moved = tuple((stop, later + arrival, later + departure, flags)
                                  for _, stop, arrival, departure, flags in its)  # fmt: skip
                    name = clock(start) if trip in starts else ""
                    self.trips.append(Trip(feed, trip, today, name, block[trip], sequences, moved))

    def link(self, one, other):
        """Return (seconds, metres) of a change from one stop to another, (None, 0) where there is none."""
        if (one, other) in self.forced:
            return self.forced[one, other]
        if one == other:
            return CHANGE_S, 0
        metres = walk_m(self.place[one], self.place[other])
        return walk_s(metres) + self.slack_s(one, other), metres

    def slack_s(self, one, other):
        is_one_place = one == other or (one in self.station and self.station[one] == self.station.get(other))
        return CHANGE_S if is_one_place else CHANGE_S + STRAIGHT_S

    def linked(self, stop):
        if stop not in self._links:
            near = set(self.grid.around(self.place[stop], LINKED_WITHIN_M))
            self._links[stop] = sorted(near | self.partners[stop] | {stop})
        return self._links[stop]


KINGSTON = (("KINGSTON", "gtfs/kingston/kingston_2026-01.gtfs.zip"),), date(2026, 1, 15)
HELSINKI = (("HELSINKI", "gtfs/helsinki/hsl_centre_2022-02-22.gtfs.zip"),), date(2022, 2, 22)
NEW_YORK = tuple((name.upper(), f"gtfs/nyc/{file}.gtfs.zip") for name, file in (
    ("subway", "subway"), ("lirr", "lirr"), ("m", "bus_m"), ("bx", "bus_bx"), ("bk", "bus_bk"), ("busco", "bus_busco"),
    ("qns", "bus_qns"), ("si", "bus_si"), ("mnr", "mnr"),
)), date(2026, 9, 30)  # fmt: skip
