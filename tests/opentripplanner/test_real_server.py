"""A real OpenTripPlanner that serves Tampere, named by FINGERPOST_OTP_URL (its GTFS GraphQL address).

``make test-otp`` starts one; any other server of the same feed and streets will do.
"""

import json
import os
import random
from collections import Counter
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from graphql import build_client_schema, get_introspection_query, parse, validate

from fingerpost.net.client import Client
from fingerpost.net.limiter import Limiter
from fingerpost.net.request import Request, RequestLimits
from fingerpost.store.network_records import NetworkRecord, NetworkRecordStore
from fingerpost.transit.embedded.source import EmbeddedSource
from fingerpost.transit.engine.timetable.walking import CHANGE_SLACK_S, DETOUR_FACTOR, PACE_M_PER_S, STRAIGHT_SLACK_S
from fingerpost.transit.model.place import Coordinate, Location, LocationSource, distance_m
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from fingerpost.transit.remote.kit.journeys import JourneyEnd
from fingerpost.transit.remote.kit.wire_shapes import read_wire_instant
from fingerpost.transit.remote.opentripplanner.documents import DOCUMENTS, fit
from fingerpost.transit.remote.opentripplanner.journeys import print_end
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from fingerpost.transit.remote.opentripplanner.server import Server
from fingerpost.transit.remote.opentripplanner.wire_values import print_offset_time
from tests.homes import keep_network
from tests.opentripplanner.plain_feed import PlainFeed
from tests.opentripplanner.walks import Cause, explain
from tests.shared_data import get_shared

URL = os.environ.get("FINGERPOST_OTP_URL", "")
pytestmark = pytest.mark.skipif(not URL, reason="needs a real OpenTripPlanner of Tampere: FINGERPOST_OTP_URL")

FEED, ZONE = "TAMPERE", "Europe/Helsinki"
GTFS = "gtfs/tampere/tampere_nysse_2021-22.gtfs.zip"
SEED = 20_260_310
TRIPS = int(os.environ.get("FINGERPOST_OTP_TRIPS", "200"))
BOARDS = int(os.environ.get("FINGERPOST_OTP_BOARDS", "100"))
# The feed is cut to these hours, and its February is whole.
DAY, FIRST, LAST = "2022-02-22", "06:30", "10:00"
LIMITS = RequestLimits(read_s=90.0, total_s=120.0, attempts=2)
# What the server holds to for each change (its transfer slack), and what we do.
THEIR_SLACK_S, OUR_SLACK_S = 120.0, float(CHANGE_SLACK_S + STRAIGHT_SLACK_S)
# Walks are whole minutes to nobody; arrivals this close are one arrival.
SAME_ARRIVAL_S = 60
WALK = """
query Walk($origin: PlanLabeledLocationInput!, $destination: PlanLabeledLocationInput!, $dateTime: PlanDateTimeInput!) {
  planConnection(
    origin: $origin destination: $destination dateTime: $dateTime first: 1 modes: {directOnly: true direct: [WALK]}
  ) { edges { node { duration walkDistance } } }
}
"""
# Every itinerary that the server's search found, also those that its filters take out as too costly.
UNFILTERED = """
query Unfiltered(
  $origin: PlanLabeledLocationInput! $destination: PlanLabeledLocationInput! $dateTime: PlanDateTimeInput!
  $preferences: PlanPreferencesInput!
) {
  planConnection(
    origin: $origin destination: $destination dateTime: $dateTime first: 200 preferences: $preferences
    itineraryFilter: {itineraryFilterDebugProfile: LIST_ALL}
  ) { edges { node { end legs { transitLeg } } } }
}
"""


def at(clock):
    return int(datetime.fromisoformat(f"{DAY}T{clock}:00+02:00").timestamp())


def new_client():
    host = URL.split("/")[2].partition(":")[0]
    return Client(private_hosts={host}, limiter=Limiter(default_per_second=1000, default_burst=1000))


async def open_theirs(client):
    """Open the server's network as ``network add`` would."""
    record = NetworkRecord(name=FEED, source="opentripplanner", url=URL)
    source = OpenTripPlannerSource(client.fetch, LIMITS)
    return source.open(record, await source.learn(record))


@pytest.fixture(scope="module")
def feed():
    return PlainFeed(get_shared(GTFS), FEED, ZONE)


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """The embedded engine over the same feed."""
    from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds

    home = tmp_path_factory.mktemp("home")
    keep_network(home, FEED, import_feeds(FEED, [FeedSource(get_shared(GTFS))]).timetable)
    return EmbeddedSource(home, None).open(NetworkRecordStore(home).read().records[FEED])


async def test_every_document_is_valid_against_the_servers_schema():
    """As it tells it itself, fitted to what it was found to lack."""
    async with new_client() as client:
        record = NetworkRecord(name=FEED, source="opentripplanner", url=URL)
        server = Server(client.fetch, record, limits=LIMITS)
        told = (await server.ask(get_introspection_query(descriptions=False), dict[str, Any])).data
        learned = await OpenTripPlannerSource(client.fetch, LIMITS).learn(record)
    # OTP's own schema does not pass graphql-core's check of interfaces.
    schema = build_client_schema(told, assume_valid=True)
    lacking = frozenset(learned.traits["lacking"].split())
    faults = {text: [error.message for error in validate(schema, parse(fit(text, lacking)))] for text in DOCUMENTS}

    assert {text: found for text, found in faults.items() if found} == {}


async def test_boards_are_the_feeds(feed, ours, capsys):
    """Random stops and times: every departure is the feed's and the embedded engine's, and none is missing."""
    chance = random.Random(SEED)
    stops = sorted(stop_id for stop_id, row in feed.stops.items() if row.get("location_type", "") in ("", "0"))
    rows, differing = 0, []
    async with new_client() as client:
        theirs = await open_theirs(client)
        for _ in range(BOARDS):
            stop_id, first = chance.choice(stops), chance.randrange(at(FIRST), at(LAST), 60)
            query = DepartureQuery(stop_ids=[f"{FEED}:{stop_id}"], instant=first, window_s=3600, wanted=1000)
            boards = [await network.list_departures(query) for network in (theirs, ours)]
            drawn = [sorted((row.scheduled, row.line, row.trip_id) for row in board.departures) for board in boards]
            wanted = feed.list_departures(stop_id, first, first + 3600)
            rows += len(wanted)
            if drawn != [wanted, wanted] or boards[0].found_count != len(wanted):
                differing.append((stop_id, first, [len(each) for each in (*drawn, wanted)]))
    with capsys.disabled():
        print(f"\n{BOARDS} boards, {rows} departures: {len(differing)} differ from the feed")

    assert differing == []


async def test_trips_can_be_ridden_and_differences_have_a_cause(feed, ours, capsys):
    """Every ride of theirs is in the feed; each difference in arrival has a cause, and is counted.

    Streets, slack, or a cost by which the server takes out what its own search had found; anything else is a fault.
    """
    chance = random.Random(SEED)
    places = [(float(row["stop_lat"]), float(row["stop_lon"])) for row in feed.stops.values()]
    causes, faults, asked = Counter(), [], 0
    async with new_client() as client:
        theirs = await open_theirs(client)
        walks = StreetWalks(client)
        while asked < TRIPS:
            query = draw_query(chance, places)
            if distance_m(query.origin.coordinate, query.destination.coordinate) < 1000:
                continue
            asked += 1
            found = await theirs.plan_journeys(query)
            faults += [fault for each in found.itineraries for fault in list_faults(feed, each, query)]
            causes[await compare(found.itineraries, (await ours.plan_journeys(query)).itineraries, query, walks)] += 1
    with capsys.disabled():
        print(f"\n{asked} trips, best arrivals theirs and ours: ", dict(sorted(causes.items())))
        for line in walks.unexplained:
            print("  ", line)

    assert faults == []
    assert causes["fault"] == 0


def draw_query(chance, places):
    ends = []
    for lat, lon in (chance.choice(places), chance.choice(places)):
        here = Coordinate(round(lat + chance.uniform(-0.002, 0.002), 6), round(lon + chance.uniform(-0.004, 0.004), 6))
        ends.append(Location(coordinate=here, source=LocationSource.INPUT))
    instant = chance.randrange(at(FIRST), at(LAST), 60)
    return JourneyQuery(origin=ends[0], destination=ends[1], instant=instant, wanted=3)


def list_faults(feed, itinerary, query):
    """Return what the feed, the clock or the question say against an itinerary."""
    faults = [fault for ride in itinerary.rides if (fault := feed.find_fault(ride)) is not None]
    times = [instant for leg in itinerary.legs for instant in (leg.departure_scheduled, leg.arrival_scheduled)]
    if times != sorted(times) or times[0] < query.instant:
        faults.append(f"times go back, or begin before {query.instant}: {times}")
    if itinerary.walk_m > query.max_walk_m:
        faults.append(f"walks {itinerary.walk_m} m")
    joints = zip(itinerary.legs, itinerary.legs[1:], strict=False)
    return faults + [f"{a.end} is not {b.start}" for a, b in joints if a.end.coordinate != b.start.coordinate]


async def compare(theirs, ours, query, walks):
    """Return which of the two best arrivals is earlier, and why."""
    best = [
        min((each for each in found if each.rides), key=lambda each: each.arrival, default=None)
        for found in (theirs, ours)
    ]
    if None in best:
        return await compare_with_nothing(best, query, walks)
    their_arrival, our_arrival = (each.arrival for each in best)
    if abs(their_arrival - our_arrival) <= SAME_ARRIVAL_S:
        return Cause.EQUAL
    if our_arrival < their_arrival:
        cause = await explain(best[1], their_arrival, query.instant, walks.theirs, THEIR_SLACK_S, SAME_ARRIVAL_S)
        who = "ours earlier"
    else:
        cause = await explain(best[0], our_arrival, query.instant, walks.ours, OUR_SLACK_S, SAME_ARRIVAL_S)
        who = "theirs earlier"
    if cause is Cause.FAULT and our_arrival < their_arrival:
        # By their streets our walks may be over the limit, though each ride is caught.
        cause = Cause.STREETS if await walks.sum_m(best[1]) > query.max_walk_m else cause
    if cause is Cause.FAULT and our_arrival < their_arrival:
        unfiltered = await walks.find_unfiltered_arrival(query)
        cause = Cause.COST if unfiltered is not None and unfiltered <= our_arrival + SAME_ARRIVAL_S else cause
    if cause is Cause.FAULT:
        walks.unexplained.append(f"{who} by {abs(their_arrival - our_arrival)} s: {query} {best}")
        return "fault"
    return f"{who}: {cause}"


def find_earliest(itineraries):
    return min((each for each in itineraries if each.rides), key=lambda each: each.arrival, default=None)


async def compare_with_nothing(best, query, walks):
    """Return why one planner found a ride and the other none within the limit of walking."""
    if best == [None, None]:
        return "neither"
    found, mine, who = (best[0], walks.ours, "only theirs") if best[1] is None else (best[1], walks.theirs, "only ours")
    too_far = found.walk_m
    far = query.instant + 86_400
    cause = await explain(found, far, query.instant, mine, THEIR_SLACK_S, SAME_ARRIVAL_S)
    if cause is not Cause.FAULT:
        return f"{who}: {cause}"
    if best[0] is None and await walks.sum_m(found) > query.max_walk_m:
        return f"{who}: {Cause.STREETS}"
    walks.unexplained.append(f"{who} ({too_far:.0f} m): {query} {found}")
    return "fault"


class StreetWalks:
    """Walks by the server's streets, and by our straight lines."""

    def __init__(self, client):
        self._client = client
        self._known = {}
        self.unexplained = []

    async def theirs(self, here, there):
        key = here, there
        if key not in self._known:
            self._known[key] = await self._ask(here, there)
        return self._known[key][0]

    async def ours(self, here, there):
        """Return what our walk takes; stops that are not linked are too far."""
        straight = distance_m(here.coordinate, there.coordinate)
        return None if straight > 1500 / DETOUR_FACTOR else straight * DETOUR_FACTOR / PACE_M_PER_S

    async def sum_m(self, itinerary):
        """Return how far an itinerary walks by the server's streets."""
        pairs = [(leg.start, leg.end) for leg in itinerary.legs if not leg.is_transit]
        for pair in pairs:
            await self.theirs(*pair)
        return sum(self._known[pair][1] for pair in pairs)

    async def find_unfiltered_arrival(self, query):
        """Return the earliest arrival by a ride that the server's search found before it filtered."""
        ends = [print_end(JourneyEnd(location=location)) for location in (query.origin, query.destination)]
        body = {
            "origin": ends[0],
            "destination": ends[1],
            "dateTime": {"earliestDeparture": print_offset_time(query.instant, ZoneInfo(ZONE))},
            "preferences": {"transit": {"transfer": {"maximumTransfers": query.max_transfers}}},
        }
        nodes = await self._find(UNFILTERED, body)
        rides = [node for node in nodes if any(leg["transitLeg"] for leg in node["legs"])]
        return min((read_wire_instant(node["end"]) for node in rides), default=None)

    async def _ask(self, here, there):
        ends = [print_end(self._end(each)) for each in (here, there)]
        when = {"earliestDeparture": f"{DAY}T08:00:00+02:00"}
        nodes = await self._find(WALK, {"origin": ends[0], "destination": ends[1], "dateTime": when})
        return (float(nodes[0]["duration"]), nodes[0]["walkDistance"]) if nodes else (None, 0.0)

    def _end(self, point):
        # The ids of this feed are numbers, so that they are printed as they are.
        return JourneyEnd(location=Location(coordinate=point.coordinate, source=LocationSource.INPUT), stop_id=point.id)

    async def _find(self, document, variables):
        request = Request(
            url=URL,
            method="POST",
            repeatable=True,
            headers={"content-type": "application/json"},
            content=json.dumps({"query": document, "variables": variables}).encode(),
            limits=LIMITS,
        )
        told = (await self._client.fetch(request)).json()["data"]["planConnection"]
        return [edge["node"] for edge in told["edges"]]
