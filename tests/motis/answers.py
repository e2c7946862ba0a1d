"""Handwritten answers in MOTIS' format, and a network that receives them."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.model.place import Bounds, Coordinate, Location, LocationSource
from fingerpost.transit.model.provenance import FeedVersion
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from fingerpost.transit.remote.motis.network import MotisSource
from tests.motis.town_server import serving
from tests.net.reply_server import LIMITS, new_town_client

URL = "http://town.example"
# Large enough for a machine that is busy.
NOON = int(datetime(2026, 3, 10, 11, tzinfo=UTC).timestamp())
"""Noon in Amsterdam."""
ZONE = "Europe/Amsterdam"
HERE, THERE = Coordinate(52.37, 4.90), Coordinate(52.31, 4.94)
LEARNED = LearnedProfile(
    bounds=Bounds(south=52.0, west=4.0, north=53.0, east=6.0),
    zone=ZONE,
    feeds=(FeedVersion(name="nl-ovapi"), FeedVersion(name="GVB")),
    attribution=("Town Transport",),
    learned_at=datetime(2026, 3, 1, tzinfo=UTC),
)


class Told:
    """Answers by the end of the path: a JSON, or a status and a JSON (None for a page); ``asked`` holds the queries.

    A list is told in turn, its last one for ever. ``promised`` are itineraries of the search on the timetable.
    """

    def __init__(self, promised=(), **answers):
        self._answers = {"map/stops": [], "geocode": []} | {
            name.replace("__", "/"): each for name, each in answers.items()
        }
        self._promised = promised
        self.asked = []

    def list_asked(self, question):
        return [query for name, query in self.asked if name == question and "realtimeMode" not in query]

    async def answer(self, target):
        address = urlsplit(target)
        question = address.path.split("/", 3)[3]
        query = dict(parse_qsl(address.query, keep_blank_values=True))
        self.asked.append((question, query))
        if "realtimeMode" in query:
            return (
                ("200 OK", a_plan(*self._promised)) if not isinstance(self._promised, str) else (self._promised, None)
            )
        told = self._answers[question]
        if callable(told):
            told = told(query)
        elif question in ("plan", "stoptimes") and isinstance(told, list):
            told = told.pop(0) if len(told) > 1 else told[0]
        return told if isinstance(told, tuple) else ("200 OK", told)


@asynccontextmanager
async def asking(told, learned=LEARNED, limits=LIMITS, **record):
    async with serving(told.answer) as port, new_town_client(port) as client:
        yield MotisSource(client.fetch, limits).open(new_record(**record), learned)


async def plan(told, learned=LEARNED, **wishes):
    async with asking(told, learned) as network:
        return await network.plan_journeys(a_query(**wishes))


async def ride_of(leg):
    (itinerary,) = (await plan(Told(plan=a_plan([leg])))).itineraries
    return itinerary.legs[0]


async def learn(told, **record):
    async with serving(told.answer) as port, new_town_client(port) as client:
        return await MotisSource(client.fetch, LIMITS).learn(new_record(**record))


def new_record(**stated):
    return NetworkRecord(**{"name": "NL", "source": "motis", "url": URL, **stated})


def a_query(**wishes):
    origin, destination = (Location(coordinate=place, source=LocationSource.INPUT) for place in (HERE, THERE))
    return JourneyQuery(**{"origin": origin, "destination": destination, "instant": NOON, **wishes})


def a_board_query(**wishes):
    return DepartureQuery(**{"stop_ids": ["GVB:1"], "instant": NOON, "window_s": 3600, "wanted": 50, **wishes})


def at(minute, second=0):
    return datetime.fromtimestamp(NOON + 60 * minute + second, UTC).isoformat().replace("+00:00", "Z")


def a_plan(*itineraries, direct=(), later="", earlier=""):
    return {
        "from": {"name": "START", "lat": 0, "lon": 0},
        "to": {"name": "END", "lat": 0, "lon": 0},
        "direct": [{"legs": list(legs)} for legs in direct],
        "itineraries": [each if isinstance(each, dict) else {"legs": list(each)} for each in itineraries],
        "previousPageCursor": earlier,
        "nextPageCursor": later,
    }


def a_place(name="Dam", stop_id="GVB_1", lat=52.37, lon=4.90, **more):
    return {"name": name, "stopId": stop_id, "lat": lat, "lon": lon, "tz": ZONE, "vertexType": "TRANSIT", **more}


def a_street(name="START", lat=52.37, lon=4.90, **more):
    return {"name": name, "lat": lat, "lon": lon, "vertexType": "NORMAL", **more}


def times(first, last, late_s=0):
    """Return a leg's times by the timetable, in minutes after noon, and by real time some seconds later."""
    return {
        "startTime": at(first, late_s),
        "endTime": at(last, late_s),
        "scheduledStartTime": at(first),
        "scheduledEndTime": at(last),
    }


def a_walk(first=0, metres=200.0, **changes):
    return {
        "mode": "WALK",
        **times(first, first + 5),
        "realTime": False,
        "scheduled": True,
        "duration": 300,
        "distance": metres,
        "from": a_street(),
        "to": a_place(),
        "legGeometry": {"points": "", "precision": 6, "length": 0},
        **changes,
    }


def a_ride(first=5, late_s=0, **changes):
    """Return tram 14 from the Dam to Artis, ten minutes long."""
    return {
        "mode": "TRAM",
        **times(first, first + 10, late_s),
        "realTime": False,
        "scheduled": True,
        "duration": 600,
        "from": a_place(),
        "to": a_place("Artis", "GVB_2", 52.366, 4.912, track="B"),
        "routeId": "GVB_14",
        "routeShortName": "14",
        "routeLongName": "Centraal - Flevopark",
        "routeType": 0,
        "headsign": "Flevopark",
        "tripTo": a_place("Flevopark", "GVB_9"),
        "tripId": "20260310_12:00_GVB_trip_1",
        "cancelled": False,
        "alerts": [],
        "legGeometry": {"points": "", "precision": 6, "length": 0},
        **changes,
    }


def a_board(*stop_times, place=None):
    return {"stopTimes": list(stop_times), "place": place or a_place(), "previousPageCursor": "", "nextPageCursor": ""}


def a_time(minute=5, late_s=0, place=None, **changes):
    when = {"departure": at(minute, late_s), "scheduledDeparture": at(minute)}
    ride = a_ride()
    line = {
        name: ride[name] for name in ("mode", "routeId", "routeShortName", "routeLongName", "routeType", "headsign")
    }
    return {
        **line,
        "tripTo": ride["tripTo"],
        "tripId": f"20260310_12:00_GVB_trip_{minute}",
        "place": {**a_place(), **when, **(place or {})},
        "realTime": bool(late_s),
        "pickupDropoffType": "NORMAL",
        "cancelled": False,
        "tripCancelled": False,
        **changes,
    }
