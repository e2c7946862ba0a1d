"""A real OpenTripPlanner that serves Tampere, named by FINGERPOST_OTP_URL (its GTFS GraphQL address).

``make test-otp`` starts one; any other server of the same feed and streets will do.
"""

import csv
import io
import os
import random
import zipfile
from datetime import datetime

import pytest

from fingerpost.net.client import Client
from fingerpost.net.limiter import Limiter
from fingerpost.net.loop_clients import LoopClients
from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.transit.embedded.source import EmbeddedSource
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.homes import keep_network
from tests.shared_data import get_shared

URL = os.environ.get("FINGERPOST_OTP_URL", "")
pytestmark = pytest.mark.skipif(not URL, reason="needs a real OpenTripPlanner of Tampere: FINGERPOST_OTP_URL")

FEED = "TAMPERE"
GTFS = "gtfs/tampere/tampere_nysse_2021-22.gtfs.zip"
SEED = 20_260_310
TRIPS = int(os.environ.get("FINGERPOST_OTP_TRIPS", "200"))
BOARDS = int(os.environ.get("FINGERPOST_OTP_BOARDS", "100"))
# The feed is cut to these hours, and its February is whole.
DAY, FIRST, LAST = "2022-02-22", "06:30", "10:00"
LIMITS = RequestLimits(read_s=90.0, total_s=120.0, attempts=2)


def at(clock):
    return int(datetime.fromisoformat(f"{DAY}T{clock}:00+02:00").timestamp())


def new_client():
    host = URL.split("/")[2].partition(":")[0]
    return Client(private_hosts={host}, limiter=Limiter(default_per_second=1000, default_burst=1000))


async def open_theirs(client):
    record = NetworkRecord(name=FEED, source="opentripplanner", url=URL)
    source = OpenTripPlannerSource(client.fetch, LIMITS)
    return source.open(record, await source.learn(record))


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds

    home = tmp_path_factory.mktemp("home")
    keep_network(home, FEED, import_feeds(FEED, [FeedSource(get_shared(GTFS))]).timetable)
    return EmbeddedSource(home, LoopClients(Client)).open(NetworkRecordStore(home).read().records[FEED])


@pytest.fixture(scope="module")
def stops():
    with zipfile.ZipFile(get_shared(GTFS)) as archive, archive.open("stops.txt") as raw:
        return list(csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8-sig")))


async def list_rows(network, stop_id, first, window_s):
    query = DepartureQuery(stop_ids=[stop_id], instant=first, window_s=window_s, wanted=1000)
    return sorted((row.scheduled, row.line, row.trip_id) for row in (await network.list_departures(query)).departures)


async def test_boards_are_those_of_the_embedded_engine(stops, ours, capsys):
    chance = random.Random(SEED)
    ids = sorted(row["stop_id"] for row in stops if row.get("location_type", "") in ("", "0"))
    rows, differing = 0, []
    async with new_client() as client:
        theirs = await open_theirs(client)
        for _ in range(BOARDS):
            stop_id, first = f"{FEED}:{chance.choice(ids)}", chance.randrange(at(FIRST), at(LAST), 60)
            drawn, wanted = [await list_rows(network, stop_id, first, 3600) for network in (theirs, ours)]
            rows += len(wanted)
            if drawn != wanted:
                differing.append((stop_id, first, len(drawn), len(wanted)))
    with capsys.disabled():
        print(f"\n{BOARDS} boards, {rows} departures: {len(differing)} differ")

    assert differing == []


async def test_trips_can_be_ridden(stops, ours):
    chance = random.Random(SEED)
    places = [(float(row["stop_lat"]), float(row["stop_lon"])) for row in stops]
    faults, rides = [], 0
    async with new_client() as client:
        theirs = await open_theirs(client)
        for query in (draw_query(chance, places) for _ in range(TRIPS)):
            found = await theirs.plan_journeys(query)
            rides += sum(len(each.rides) for each in found.itineraries)
            for each in found.itineraries:
                faults += list_faults(each, query)
                for ride in each.rides:
                    departure = (ride.departure_scheduled, ride.line, ride.trip_id)
                    if departure not in await list_rows(ours, ride.start.id, ride.departure_scheduled, 0):
                        faults.append(f"{departure} does not leave from {ride.start.id}")

    assert faults == []
    assert rides > TRIPS


def draw_query(chance, places):
    ends = []
    for lat, lon in (chance.choice(places), chance.choice(places)):
        here = Coordinate(round(lat + chance.uniform(-0.002, 0.002), 6), round(lon + chance.uniform(-0.004, 0.004), 6))
        ends.append(Location(coordinate=here, source=LocationSource.INPUT))
    instant = chance.randrange(at(FIRST), at(LAST), 60)
    return JourneyQuery(origin=ends[0], destination=ends[1], instant=instant, wanted=3)


def list_faults(itinerary, query):
    faults = []
    times = [instant for leg in itinerary.legs for instant in (leg.departure_scheduled, leg.arrival_scheduled)]
    if times != sorted(times) or times[0] < query.instant:
        faults.append(f"times go back, or begin before {query.instant}: {times}")
    if itinerary.walk_m > query.max_walk_m:
        faults.append(f"walks {itinerary.walk_m} m")
    joints = zip(itinerary.legs, itinerary.legs[1:], strict=False)
    return faults + [f"{a.end} is not {b.start}" for a, b in joints if a.end.coordinate != b.start.coordinate]
