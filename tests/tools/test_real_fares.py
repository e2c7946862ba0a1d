"""Prices on real feeds with fares, compared with sums computed from the feeds' own tables."""

import random
from datetime import datetime
from decimal import Decimal

import pytest

from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.homes import keep_network
from tests.shared_data import get_shared, read_table
from tests.tools.conftest import asker

# Feed, a morning that it covers, and so many of its forty questions have a price at least, and have none.
FEEDS = [
    ("small/caltrain", "2018-07-05T07:00:00-07:00", 30, 0),
    ("tampere/tampere_nysse_2021-22", "2022-02-15T08:00:00+02:00", 3, 10),
    ("helsinki/hsl_centre_2022-02-22", "2022-02-22T08:00:00+02:00", 3, 10),
]


class Tables:
    """A feed's tables, read with nothing of ours, and the price of a trip by the letter of the reference."""

    def __init__(self, path):
        self.stops, trips, self.fares, self.rules, stop_times = (
            read_table(path, f"{name}.txt")
            for name in ("stops", "trips", "fare_attributes", "fare_rules", "stop_times")
        )
        self.zone_of = {row["stop_id"]: row["zone_id"] for row in self.stops}
        self.route_of = {row["trip_id"]: row["route_id"] for row in trips}
        self.calls = {}
        for row in sorted(stop_times, key=lambda row: int(row["stop_sequence"])):
            self.calls.setdefault(row["trip_id"], []).append(row["stop_id"])

    def ride_of(self, leg):
        trip, begin, end = (text.partition(":")[2] for text in (leg["tripId"], leg["from"]["id"], leg["to"]["id"]))
        calls = self.calls[trip]
        last = len(calls) - 1 - calls[::-1].index(end)
        first = last - calls[: last + 1][::-1].index(begin)
        zones = [self.zone_of[stop] for stop in calls[first : last + 1]]
        when = (datetime.fromisoformat(leg[key]).timestamp() for key in ("departureTime", "arrivalTime"))
        return (self.route_of[trip], zones, *when)

    def is_enough(self, fare, rides):
        limit, most = fare["transfer_duration"], fare["transfers"]
        if most and len(rides) - 1 > int(most):
            return False
        if limit and rides[-1][3] - rides[0][2] > int(limit):
            return False
        groups = {}
        for row in self.rules:
            if row["fare_id"] == fare["fare_id"]:
                key = tuple(row.get(name) or "" for name in ("route_id", "origin_id", "destination_id"))
                groups.setdefault(key, set()).add(row.get("contains_id") or "")
        passed = {zone for _, zones, _, _ in rides for zone in zones}
        fitting = {
            route
            for (route, origin, destination), contained in groups.items()
            if origin in ("", rides[0][1][0]) and destination in ("", rides[-1][1][-1]) and contained in ({""}, passed)
        }
        return all("" in fitting or route in fitting for route, *_ in rides)

    def least(self, rides):
        """Return the least sum of all ways to share the rides out among fares, None where there is no way."""
        if not rides:
            return Decimal(0)
        sums = [
            Decimal(fare["price"]) + rest
            for size in range(1, len(rides) + 1)
            for fare in self.fares
            if self.is_enough(fare, rides[:size]) and (rest := self.least(rides[size:])) is not None
        ]
        return min(sums, default=None)


@pytest.mark.parametrize(("name", "morning", "priced_least", "unknown_least"), FEEDS)
def test_prices_are_those_of_the_feeds_own_tables(name, morning, priced_least, unknown_least, tmp_path, monkeypatch):
    path = get_shared(f"gtfs/{name}.gtfs.zip")
    monkeypatch.setenv("FINGERPOST_NOW", morning)
    imported = import_feeds("F", [FeedSource(path)])
    keep_network(tmp_path, "F", imported.timetable, report=imported.report.to_json())
    ask, tables, dice = asker(tmp_path), Tables(path), random.Random(7)
    priced = unknown = 0
    for _ in range(40):
        ends = (
            {"type": "coords", "value": {"lat": float(stop["stop_lat"]), "lon": float(stop["stop_lon"])}}
            for stop in dice.sample(tables.stops, 2)
        )
        body = ask("plan_trip", dict(zip(("origin", "destination"), ends, strict=True)) | {"limit": 3}).body
        fares = body.get("meta", {}).get("fares", ())
        seated = {each["fingerprint"] for each in body.get("meta", {}).get("staySeated", ())}
        for itinerary in body.get("itineraries", ()):
            rides = [tables.ride_of(leg) for leg in itinerary["legs"] if leg["mode"] != "WALK"]
            said = [f for f in fares if itinerary["fingerprint"] in f.get("fingerprints", [itinerary["fingerprint"]])]
            if not rides:
                continue
            # No feed says whether a vehicle that goes on as another trip is paid for once.
            expected = None if itinerary["fingerprint"] in seated else tables.least(rides)
            assert len(said) == 1
            assert said[0].get("amount") == (None if expected is None else f"{expected:.2f}")
            assert ("unknown" in said[0]) == (expected is None)
            priced, unknown = priced + (expected is not None), unknown + (expected is None)
    assert priced >= priced_least
    assert unknown >= unknown_least
