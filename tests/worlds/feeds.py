"""Random GTFS feeds of small cities, with the features that GTFS allows and few publishers use."""

import csv
import io
import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from fingerpost.transit.model.geodesy import METRES_PER_DEGREE
from tests.worlds.ground import BLOCK_M, City, draw_city

# (latitude, longitude, time zone, a special day, such as a change of clocks)
PLACES = (
    (60.17, 24.94, "Europe/Helsinki", date(2026, 3, 29)),
    (60.45, 22.26, "Europe/Helsinki", date(2026, 10, 25)),
    (-33.87, 151.21, "Australia/Sydney", date(2026, 4, 5)),
    (-31.55, 159.08, "Australia/Lord_Howe", date(2026, 10, 4)),
    (27.7, 85.32, "Asia/Kathmandu", date(2027, 1, 1)),
    (1.87, -157.4, "Pacific/Kiritimati", date(2027, 1, 1)),
    (40.73, -73.99, "America/New_York", date(2026, 11, 1)),
    (69.65, 18.96, "Europe/Oslo", date(2028, 2, 29)),
    (-17.75, 179.97, "Pacific/Fiji", date(2026, 12, 31)),
)
# Each feature is in a feed with its probability.
FEATURES = {
    "without-calendar": 0.2, "extra-days": 0.4, "frequencies": 0.4, "loop": 0.4, "several-days": 0.2,
    "short-times": 0.2, "interpolated": 0.5, "transfers": 0.5, "in-seat": 0.3, "stations": 0.5, "pathways": 0.3,
    "pickup": 0.4, "odd-ids": 0.4, "cyrillic": 0.3, "bom": 0.3, "quoted": 0.3, "crlf": 0.3, "stop-zones": 0.15,
    "two-agencies": 0.3, "wheelchair": 0.4, "reversed-text": 0.1, "extra-columns": 0.3, "night": 0.3,
    "fewest-tables": 0.2,
}  # fmt: skip
_NAMES = ("Harbour", "Mill", "Church", "Market", "Station", "North", "Castle", "Bridge", "Park", "Museum", "Lake")
_CYRILLIC = ("Гавань", "Мельница", "Церковь", "Рынок", "Вокзал", "Север", "Замок", "Мост", "Парк", "Музей", "Озеро")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ODD = ("{}", "0{}", "a:{}", "ä {}", "x,{}", 'q"{}', "{}/{}", "#{}", "ж{}", "A-{}")
_ROUTE_TYPES = ("0", "1", "2", "3", "4", "700", "")
_DAY_S = 86400


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A city: feeds by FEED, each with its tables, an optional extract (OSM XML), and a rider's clock.

    ``days`` are the first and the last day in the calendar, ``stops`` the positions of the stops.
    """

    seed: int
    feeds: dict[str, dict[str, bytes]]
    extract: str | None = None
    days: tuple[date, date]
    now: datetime
    stops: tuple[tuple[float, float], ...] = ()
    features: frozenset[str] = frozenset()


def draw_world(seed: int, *, with_streets: bool | None = None) -> World:
    """Return the world of a seed; ``with_streets`` forces it to have an extract or none."""
    dice = random.Random(seed)
    lat, lon, zone, special = dice.choice(PLACES)
    city = draw_city(dice, lat, lon)
    has_extract = dice.random() < 0.6
    first = special - timedelta(days=dice.choice((0, 1, 3)))
    days = (first, special + timedelta(days=dice.choice((0, 1, 4))))
    names = ["W"] if dice.random() < 0.8 else ["W", "X"]
    drawn = [_Feed(dice, city, zone, days) for _ in names]
    instant = datetime(special.year, special.month, special.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    instant += timedelta(seconds=dice.choice((-3600, 0, 1800, 4 * 3600, 8 * 3600, 12 * 3600, 17 * 3600)))
    return World(
        seed=seed,
        feeds={name: feed.write() for name, feed in zip(names, drawn, strict=True)},
        extract=city.to_osm() if (has_extract if with_streets is None else with_streets) else None,
        days=days,
        now=instant,
        stops=tuple(place for feed in drawn for place in feed.places),
        features=frozenset().union(*(feed.features for feed in drawn)) | city.features,
    )


class _Feed:
    """Draws the rows of one feed."""

    def __init__(self, dice: random.Random, city: City, zone: str, days: tuple[date, date]) -> None:
        self._dice, self._zone, self._days = dice, zone, days
        self.features = frozenset(name for name, share in FEATURES.items() if dice.random() < share)
        self.tables: dict[str, list[dict[str, object]]] = {}
        self._draw_agencies()
        corners = dice.sample(city.corners, min(len(city.corners), dice.randint(4, 14)))
        self.places = [_move(dice, city.place(corner)) for corner in corners]
        self._draw_stops()
        self._draw_services()
        self._draw_lines()
        if "transfers" in self.features:
            self._draw_transfers()

    def _add(self, table: str, **row: object) -> None:
        self.tables.setdefault(f"{table}.txt", []).append(row)

    def _new_id(self, number: int) -> str:
        return self._dice.choice(_ODD).format(number, number) if "odd-ids" in self.features else f"{number}"

    def _draw_agencies(self) -> None:
        count = 2 if "two-agencies" in self.features else 1
        for number in range(count):
            self._add("agency", agency_id=f"{number}", agency_name=f"Lines {number}", agency_url="https://example.org",
                      agency_timezone=self._zone)  # fmt: skip
        self._agencies = count

    def _draw_stops(self) -> None:
        dice, names = self._dice, _CYRILLIC if "cyrillic" in self.features else _NAMES
        self._stops: list[str] = []
        for number, (lat, lon) in enumerate(self.places):
            stop_id = self._new_id(number)
            name = f"{names[number % len(names)]}{'' if number < len(names) else f' {number}'}"
            if "reversed-text" in self.features and number == 0:
                name = f"\u202e{name}"
            row = {"stop_id": stop_id, "stop_name": name, "stop_lat": f"{lat:.6f}", "stop_lon": f"{lon:.6f}",
                   "location_type": "", "parent_station": "", "wheelchair_boarding": "", "stop_timezone": "",
                   "level_id": ""}  # fmt: skip
            if "wheelchair" in self.features:
                row["wheelchair_boarding"] = dice.choice(("", "0", "1", "2"))
            if "stop-zones" in self.features and dice.random() < 0.3:
                row["stop_timezone"] = "Asia/Tokyo"
            if "stations" in self.features and dice.random() < 0.3:
                self._add("stops", **row | {"stop_id": f"st{number}", "location_type": "1", "stop_timezone": ""})
                row["parent_station"] = f"st{number}"
                if "pathways" in self.features:
                    self._add("stops", **row | {"stop_id": f"en{number}", "location_type": "2"})
                    self._add("pathways", pathway_id=f"p{number}", from_stop_id=f"en{number}", to_stop_id=stop_id,
                              pathway_mode=dice.choice("125"), is_bidirectional="1",
                              traversal_time=str(dice.choice((30, 90, 240))))  # fmt: skip
            self._add("stops", **row)
            self._stops.append(stop_id)

    def _draw_services(self) -> None:
        dice, (first, last) = self._dice, self._days
        days = [first + timedelta(days=each) for each in range((last - first).days + 1)]
        self._services = ["S0", "S1"]
        for service in self._services:
            running = days if service == "S0" else dice.sample(days, dice.randint(1, len(days)))
            if "without-calendar" in self.features or service == "S1":
                for day in running:
                    self._add("calendar_dates", service_id=service, date=f"{day:%Y%m%d}", exception_type="1")
                continue
            weekdays = {f"{day:%A}".lower(): "1" for day in days}
            self._add("calendar", service_id=service, **{day: weekdays.get(day, "0") for day in _WEEKDAYS},
                      start_date=f"{first:%Y%m%d}", end_date=f"{last:%Y%m%d}")  # fmt: skip
            if "extra-days" in self.features and len(days) > 2:
                self._add("calendar_dates", service_id=service, date=f"{days[1]:%Y%m%d}", exception_type="2")

    def _draw_lines(self) -> None:
        dice = self._dice
        for line in range(dice.randint(2, 5)):
            route = self._new_id(line)
            self._add("routes", route_id=route, agency_id=str(line % self._agencies), route_short_name=f"{line}",
                      route_long_name=f"Line {line}", route_type=dice.choice(_ROUTE_TYPES))  # fmt: skip
            path = dice.sample(range(len(self._stops)), dice.randint(2, min(6, len(self._stops))))
            if "loop" in self.features and line == 0:
                path.append(path[0])
            for direction, stops in enumerate((path, path[::-1])):
                self._draw_trips(route, f"{line}.{direction}", stops)

    def _draw_trips(self, route: str, name: str, path: list[int]) -> None:
        dice = self._dice
        clock = dice.randrange(5 * 60, 22 * 60) * 60
        if "night" in self.features and dice.random() < 0.5:
            clock = dice.randrange(23 * 60, 27 * 60) * 60
        block = f"B{name}" if "in-seat" in self.features and dice.random() < 0.5 else ""
        previous = None
        for number in range(dice.randint(1, 6)):
            trip = f"{name}-{number}"
            self._add("trips", route_id=route, service_id=dice.choice(self._services), trip_id=trip, block_id=block,
                      trip_headsign=f"To {path[-1]}", direction_id=name[-1],
                      wheelchair_accessible=dice.choice("012") if "wheelchair" in self.features else "")  # fmt: skip
            end = self._draw_stop_times(trip, path, clock)
            if "frequencies" in self.features and dice.random() < 0.3:
                self._add("frequencies", trip_id=trip, start_time=_format(clock), end_time=_format(clock + 3600),
                          headway_secs="900", exact_times=dice.choice(("", "0", "1")))  # fmt: skip
            if "in-seat" in self.features and previous is not None and dice.random() < 0.3:
                self._add("transfers", from_trip_id=previous, to_trip_id=trip, transfer_type=dice.choice("45"))
            previous = trip
            clock = end + dice.randrange(60) * 60 if block else clock + dice.randrange(5, 90) * 60

    def _draw_stop_times(self, trip: str, path: list[int], clock: int) -> int:
        dice, pace = self._dice, self._dice.choice((60, 90, 300))
        untimed = set(range(1, len(path) - 1)) if "interpolated" in self.features and dice.random() < 0.3 else set()
        is_short = "short-times" in self.features and dice.random() < 0.5
        for index, stop in enumerate(path):
            arrival, clock = clock, clock + dice.choice((0, 0, 60))
            times = ["", ""] if index in untimed else [_format(each, is_short=is_short) for each in (arrival, clock)]
            doors = {"pickup_type": "", "drop_off_type": ""}
            if "pickup" in self.features and dice.random() < 0.2:
                doors[dice.choice(sorted(doors))] = dice.choice("123")
            self._add("stop_times", trip_id=trip, stop_id=self._stops[stop], stop_sequence=str(index * 5 + 1),
                      arrival_time=times[0], departure_time=times[1], **doors)  # fmt: skip
            clock += pace * dice.randint(1, 4)
            if "several-days" in self.features and index == 0 and trip.endswith("-0"):
                clock += dice.choice((1, 2)) * _DAY_S
        return clock

    def _draw_transfers(self) -> None:
        dice = self._dice
        for _ in range(dice.randint(1, 5)):
            kind = dice.choice("00123")
            one, other = dice.choice(self._stops), dice.choice(self._stops)
            row = {"from_stop_id": one, "to_stop_id": other, "transfer_type": kind}
            if kind == "2":
                row["min_transfer_time"] = str(dice.choice((0, 60, 300, 900)))
            self._add("transfers", **row)

    def write(self) -> dict[str, bytes]:
        """Return the tables as bytes."""
        if "fewest-tables" not in self.features:
            self._add(
                "feed_info", feed_publisher_name="Lines", feed_publisher_url="https://example.org", feed_lang="en"
            )
        return {name: self._encode(rows) for name, rows in self.tables.items()}

    def _encode(self, rows: list[dict[str, object]]) -> bytes:
        header = list(dict.fromkeys(key for row in rows for key in row))
        if "fewest-tables" in self.features:
            header = [key for key in header if any(row.get(key) for row in rows)]
        if "extra-columns" in self.features:
            header.insert(1, "x_remark")
        text = io.StringIO()
        quoting = csv.QUOTE_ALL if "quoted" in self.features else csv.QUOTE_MINIMAL
        ends = "\r\n" if "crlf" in self.features else "\n"
        writer = csv.DictWriter(text, header, quoting=quoting, lineterminator=ends, extrasaction="ignore", restval="")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode("utf-8-sig" if "bom" in self.features else "utf-8")


def _move(dice: random.Random, place: tuple[float, float]) -> tuple[float, float]:
    """Return a position near a corner: usually at the kerb, at times in a yard."""
    metres = dice.choice((0, 8, 8, 20, 60)) if dice.random() < 0.95 else BLOCK_M * 0.45
    degrees = metres / METRES_PER_DEGREE
    return place[0] + dice.choice((-1, 1)) * degrees, place[1] + dice.choice((-1, 1)) * degrees


def _format(seconds: int, *, is_short: bool = False) -> str:
    return f"{seconds // 3600:02}:{seconds % 3600 // 60:02}{'' if is_short else f':{seconds % 60:02}'}"
