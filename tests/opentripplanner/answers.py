"""Answers in the format recorded from OpenTripPlanner's engine, and servers that return them."""

import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from fingerpost.net.request import RequestLimits
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.model.place import Bounds, Coordinate, Location, LocationSource
from fingerpost.transit.model.provenance import FeedVersion
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerSource
from tests.net.local_server import answer, new_client, serving

# Large enough for a machine that is busy.
LIMITS = RequestLimits(read_s=60.0, total_s=60.0, attempts=1)
NOON = int(datetime(2026, 3, 10, 10, tzinfo=UTC).timestamp())
HERE, THERE = Coordinate(60.17, 24.94), Coordinate(60.21, 24.66)
LEARNED = LearnedProfile(
    bounds=Bounds(south=60.0, west=24.0, north=61.0, east=26.0),
    zone="Europe/Helsinki",
    languages=("fi", "sv"),
    feeds=(FeedVersion(name="HSL"), FeedVersion(name="tampere")),
    attribution=("Town Transport",),
    learned_at=datetime(2026, 3, 1, tzinfo=UTC),
)


def body(told, status="200 OK", **headers):
    return answer(status, json.dumps(told).encode(), Content_Type="application/json", **headers)


def data(**told):
    return body({"data": told})


@asynccontextmanager
async def asking(*answers, learned=LEARNED, environ=None, limits=LIMITS, **record):
    async with serving(*answers) as local, new_client(environ=environ or {}) as client:
        made = NetworkRecord(name="TOWN", source="opentripplanner", url=f"{local.url}/otp/gtfs/v1", **record)
        yield OpenTripPlannerSource(client.fetch, limits).open(made, learned), local


@asynccontextmanager
async def learning(*answers, **record):
    async with serving(*answers) as local, new_client(environ={}) as client:
        made = NetworkRecord(name="TOWN", source="opentripplanner", url=f"{local.url}/otp/gtfs/v1", **record)
        yield await OpenTripPlannerSource(client.fetch, LIMITS).learn(made), local


def asked_of(local, number=-1):
    return json.loads(local.asked[number].body)


def a_query(**wishes):
    ends = (Location(coordinate=place, source=LocationSource.INPUT) for place in (HERE, THERE))
    origin, destination = ends
    return JourneyQuery(**{"origin": origin, "destination": destination, "instant": NOON, **wishes})


def a_board_query(**wishes):
    return DepartureQuery(**{"stop_ids": ["HSL:1040601"], "instant": NOON, "window_s": 3600, "wanted": 50, **wishes})


def a_page(*itineraries, errors=(), cursor=None):
    return {
        "pageInfo": {"endCursor": cursor, "hasNextPage": cursor is not None},
        "routingErrors": [{"code": code, "inputField": field} for code, field in errors],
        "edges": [{"node": {"legs": list(legs)}} for legs in itineraries],
    }


def a_walk(metres=200.0, minute=0, **changes):
    return {
        "mode": "WALK",
        "transitLeg": False,
        "distance": metres,
        "start": at(minute),
        "end": at(minute + 5),
        "from": {"name": "Origin", "lat": HERE.lat, "lon": HERE.lon, "stop": None},
        "to": {"name": "Kamppi", "lat": 60.169, "lon": 24.931, "stop": a_stop("HSL:1040601", "Kamppi")},
        "legGeometry": {"points": "_{rc@_d{r@????_ibE_t`B"},
        **changes,
    }


def a_ride(minute=5, **changes):
    """Return a bus of line 14 from Kamppi to Otaniemi, ten minutes long."""
    return {
        "mode": "BUS",
        "transitLeg": True,
        "distance": 5000.0,
        "realTime": False,
        "realtimeState": "SCHEDULED",
        "serviceDate": "2026-03-10",
        "headsign": "Tapiola",
        "interlineWithPreviousLeg": False,
        "pickupType": "SCHEDULED",
        "dropoffType": "SCHEDULED",
        "start": at(minute),
        "end": at(minute + 10),
        "from": {"name": "Kamppi", "lat": 60.169, "lon": 24.931, "stop": a_stop("HSL:1040601", "Kamppi", "44")},
        "to": {"name": "Otaniemi", "lat": 60.184, "lon": 24.828, "stop": a_stop("HSL:2222204", "Otaniemi")},
        "route": {"gtfsId": "HSL:1014", "shortName": "14", "longName": "Hernesaari", "type": 3, "color": "007AC9"},
        "trip": {"gtfsId": "HSL:1014_2", "tripHeadsign": "Tapiola", "wheelchairAccessible": "POSSIBLE"},
        "legGeometry": {"points": "_{rc@_d{r@????_ibE_t`B"},
        "alerts": [],
        **changes,
    }


def a_stop(gtfs_id, name, platform=None):
    return {"gtfsId": gtfs_id, "name": name, "platformCode": platform, "wheelchairBoarding": "POSSIBLE"}


def at(minute, delay=None):
    instant = datetime.fromtimestamp(NOON + 60 * minute, UTC).isoformat().replace("+00:00", "Z")
    return {"scheduledTime": instant, "estimated": None if delay is None else {"delay": delay}}


def a_time(minute=0, **changes):
    begin = NOON - 12 * 3600
    return {
        "serviceDay": begin,
        "scheduledDeparture": NOON - begin + 60 * minute,
        "departureDelay": 0,
        "realtime": False,
        "realtimeState": "SCHEDULED",
        "pickupType": "SCHEDULED",
        "headsign": "Tapiola",
        "stopPositionInPattern": 3,
        "trip": {
            "gtfsId": "HSL:1014_2",
            "tripHeadsign": "Otaniemi",
            "arrivalStoptime": {"stop": {"name": "Aalto"}, "stopPositionInPattern": 9},
            "route": {"gtfsId": "HSL:1014", "shortName": "14", "longName": None, "type": 3},
        },
        **changes,
    }


def a_board(*times, gtfs_id="HSL:1040601", platform="44"):
    return {"gtfsId": gtfs_id, "platformCode": platform, "stoptimesWithoutPatterns": list(times)}
