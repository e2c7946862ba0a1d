"""A server that answers MOTIS' questions from the town of the conformance suite, over real HTTP.

The embedded engine finds the journeys; what goes over the wire is MOTIS'. It spells the feed ``Town``, so that an id
that loses its case finds nothing, and refuses a parameter that MOTIS does not have.
"""

import csv
import json
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import polyline
import yaml

from fingerpost.errors import OutsideCalendar
from fingerpost.transit.engine.timetable.stop_ids import escape
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from tests.conformance.town import ZONE
from tests.net.local_server import answer
from tests.net.reply_server import serving_replies

FEED = "Town"
_FAR_M = 3000.0
_ROUTE_MODES = {"0": "TRAM", "1": "SUBWAY", "2": "REGIONAL_RAIL", "3": "BUS", "4": "FERRY"}
# MOTIS' published description of its API, reduced to what we use.
OPENAPI = yaml.safe_load(Path(__file__).with_name("openapi.yaml").read_text(encoding="utf-8"))


class Refused(Exception):
    def __init__(self, status, words):
        super().__init__(words)
        self.status, self.words = status, words


class TownServer:
    """The answers; ``served`` is the embedded engine's network of the town."""

    def __init__(self, town, served):
        self._served = served
        self._tables = {name: list(csv.DictReader(StringIO(text))) for name, text in town.tables.items()}
        self._routes = {row["route_id"]: row for row in self._tables["routes.txt"]}
        self._trips = {row["trip_id"]: row for row in self._tables["trips.txt"]}
        self._calls = {}
        for row in self._tables["stop_times.txt"]:
            self._calls.setdefault(row["trip_id"], []).append(row)
        self._stops = {own(row["stop_id"]): row for row in self._tables["stops.txt"]}
        self.asked = []

    async def answer(self, target):
        address = urlsplit(target)
        asked = dict(parse_qsl(address.query, keep_blank_values=True))
        self.asked.append((address.path, asked))
        if address.path not in OPENAPI["paths"]:
            return "404 Not Found", None
        question = address.path.split("/", 3)[3]
        unknown = set(asked) - {each["name"] for each in OPENAPI["paths"][address.path]["get"]["parameters"]}
        if unknown:
            raise AssertionError(f"MOTIS has no {unknown} at {question}")
        tell = {
            "plan": self._plan,
            "stoptimes": self._stop_times,
            "map/stops": self._list_stops,
            "geocode": self._geocode,
            "map/initial": self._initial,
        }[question]
        try:
            return "200 OK", await tell(**asked)
        except Refused as refused:
            return refused.status, {"error": refused.words}

    async def _initial(self):
        config = {
            "motisVersion": "v2.11.2",
            "hasElevation": False,
            "hasRoutedTransfers": True,
            "hasStreetRouting": True,
            "maxOneToManySize": 128,
            "maxOneToAllTravelTimeLimit": 90,
            "maxPrePostTransitTimeLimit": 3600,
            "maxDirectTimeLimit": 21600,
            "shapesDebugEnabled": False,
        }
        return {"lat": 60.17, "lon": 24.97, "zoom": 12, "serverConfig": config}

    def _place(self, row, **more):
        place = {
            "name": row["stop_name"],
            "stopId": own(row["stop_id"]),
            "lat": float(row["stop_lat"]),
            "lon": float(row["stop_lon"]),
            "vertexType": "TRANSIT",
            "tz": ZONE,
        }
        return {**place, **more}

    async def _list_stops(self, min, max, language=None):  # noqa: A002  (the API's names)
        (south, west), (north, east) = ([float(each) for each in corner.split(",")] for corner in (min, max))
        found = [
            row
            for row in self._stops.values()
            if south <= float(row["stop_lat"]) <= north and west <= float(row["stop_lon"]) <= east
        ]
        return [self._place(row, modes=self._modes_at(row["stop_id"])) for row in found]

    def _modes_at(self, stop_id):
        calling = {trip for trip, calls in self._calls.items() if any(call["stop_id"] == stop_id for call in calls)}
        return sorted({_ROUTE_MODES[self._routes[self._trips[trip]["route_id"]]["route_type"]] for trip in calling})

    async def _geocode(self, text, numResults, language=None, place=None):  # noqa: N803
        found = [match.place for match in (await self._served.find_places(text))[: int(numResults)]]
        area = {"name": "Town", "adminLevel": 8, "matched": False, "default": True}
        # No number that compares with anybody's.
        more = [{"tokens": [[0, len(text)]], "areas": [area], "score": -7.5 - number} for number in range(len(found))]
        return [self._match(place, **each) for place, each in zip(found, more, strict=True)]

    def _match(self, stop, **more):
        here = stop.coordinate
        match = {"type": "STOP", "name": stop.name, "id": self._own_id(stop.id), "lat": here.lat, "lon": here.lon}
        return {**match, "tokens": [], "areas": [], "score": 0.0, **more}

    def _own_id(self, printed_id):
        return next(own_id for own_id in self._stops if printed(own_id) == printed_id)

    async def _stop_times(self, stopId, time=None, window=None, **ignored):  # noqa: N803
        row = self._stops.get(stopId)
        if row is None:
            raise Refused("404 Not Found", "no radius: stop_found=false, center_parsed=false")
        rows = []
        if window is not None:
            # MOTIS counts minutes.
            begin, seconds = parse_instant(time) // 60 * 60, int(window) // 60 * 60
            query = DepartureQuery(stop_ids=[printed(stopId)], instant=begin, window_s=seconds, wanted=10_000)
            board = await self._served.list_departures(query)
            rows = sorted(board.departures, key=lambda each: each.expected)
        return {
            "stopTimes": [self._stop_time(row, each) for each in rows],
            "place": self._place(row),
            "previousPageCursor": "",
            "nextPageCursor": "",
        }

    def _stop_time(self, stop, row):
        is_live = row.cancelled or row.departure_delay_s is not None
        departs = {"departure": instant(row.expected), "scheduledDeparture": instant(row.scheduled)}
        return {
            **self._line(row.trip_id.partition(":")[2], row.service_day),
            "place": self._place(
                stop, cancelled=row.cancelled, alerts=[told_alert(each) for each in row.alerts], **departs
            ),
            "realTime": is_live,
            "headsign": row.destination,
            "pickupDropoffType": "NOT_ALLOWED" if row.cancelled else "NORMAL",
            "cancelled": row.cancelled,
            "tripCancelled": row.cancelled,
        }

    def _line(self, trip_id, day):
        trip, calls = self._trips[trip_id], self._calls[trip_id]
        route = self._routes[trip["route_id"]]
        (agency,) = self._tables["agency.txt"]
        ends = {
            name: self._place(self._stops[own(calls[number]["stop_id"])])
            for name, number in (("tripFrom", 0), ("tripTo", -1))
        }
        return {
            **ends,
            "mode": _ROUTE_MODES[route["route_type"]],
            "routeType": int(route["route_type"]),
            "agencyId": agency.get("agency_id") or "?",
            "agencyName": agency["agency_name"],
            "agencyUrl": agency["agency_url"],
            "routeId": own(route["route_id"]),
            "directionId": "0",
            "routeShortName": route["route_short_name"],
            "routeLongName": route["route_long_name"],
            "tripShortName": "",
            "displayName": route["route_short_name"],
            "tripId": f"{day:%Y%m%d}_{calls[0]['departure_time'][:5]}_{own(trip_id)}",
            "bikesAllowed": False,
            "wheelchairAccessible": "ACCESSIBLE" if trip["wheelchair_accessible"] == "1" else "NOT_ACCESSIBLE",
            "reservation": "NONE",
            "source": "town.zip/stop_times.txt:1",
        }

    async def _plan(self, fromPlace, toPlace, time, **asked):  # noqa: N803
        begin, end = self._end(fromPlace), self._end(toPlace)
        walk_s = int(asked["maxPreTransitTime"])
        query = JourneyQuery(
            origin=begin,
            destination=end,
            instant=parse_instant(time) // 60 * 60,
            arrive_by=asked["arriveBy"] == "true",
            max_walk_m=_FAR_M,
            max_transfers=int(asked["maxTransfers"]),
            step_free=asked.get("pedestrianProfile") == "WHEELCHAIR",
            window_s=int(asked["searchWindow"]) if "searchWindow" in asked else None,
        )
        try:
            found = await self._served.plan_journeys(query)
        except OutsideCalendar as error:
            words = f"query time {time} is outside of loaded timetable window [2026-01-01, 2027-01-01)"
            raise Refused("400 Bad Request", words) from error
        itineraries = list(found.itineraries)
        if asked.get("realtimeMode") == "REALTIME_ANNOTATION_ONLY":
            itineraries = [*found.timetabled, *itineraries]
        riding = [each for each in itineraries if each.rides and _walks_within(each, walk_s)]
        direct = [each for each in itineraries if not each.rides] if asked["directModes"] else []
        return {
            "requestParameters": {},
            "debugOutput": {},
            "from": self._street(begin, "START"),
            "to": self._street(end, "END"),
            "direct": [self._itinerary(found, each) for each in direct],
            "itineraries": [self._itinerary(found, each) for each in riding],
            "previousPageCursor": "EARLIER|0",
            "nextPageCursor": "LATER|0",
        }

    def _end(self, place):
        if place.startswith(f"{FEED}_"):
            row = self._stops[place]
            here = Coordinate(float(row["stop_lat"]), float(row["stop_lon"]))
            return Location(coordinate=here, source=LocationSource.INPUT, stop_ids=(printed(place),))
        here = Coordinate(*map(float, place.split(",")))
        return Location(coordinate=here, source=LocationSource.INPUT)

    def _street(self, location, name):
        here = location.coordinate
        return {"name": name, "lat": here.lat, "lon": here.lon, "vertexType": "NORMAL"}

    def _itinerary(self, found, itinerary):
        legs = [self._leg(found, leg, is_last=leg is itinerary.legs[-1]) for leg in itinerary.legs]
        return {
            "id": "opaque",
            "duration": itinerary.duration_s,
            "startTime": instant(itinerary.departure),
            "endTime": instant(itinerary.arrival),
            "transfers": itinerary.transfers,
            "legs": legs,
        }

    def _leg(self, found, leg, *, is_last):
        line = {"points": polyline.encode(self._served.find_line(leg).points, 6), "precision": 6, "length": 2}
        departs, arrives = leg.departure_expected, leg.arrival_expected
        told = {
            "duration": arrives - departs,
            "startTime": instant(departs),
            "endTime": instant(arrives),
            "from": self._point(leg.start, "START"),
            "to": self._point(leg.end, "END"),
            "legGeometry": line,
        }
        if not leg.is_transit:
            # On the street the timetable's time is the expected one.
            scheduled = {"scheduledStartTime": instant(departs), "scheduledEndTime": instant(arrives)}
            return {
                **told,
                **scheduled,
                "mode": "WALK",
                "realTime": False,
                "scheduled": True,
                "distance": leg.distance_m,
            }
        is_live = leg.cancelled or leg.departure_delay_s is not None
        return {
            **self._line(leg.trip_id.partition(":")[2], leg.service_day),
            **told,
            "scheduledStartTime": instant(leg.departure_scheduled),
            "scheduledEndTime": instant(leg.arrival_scheduled),
            "realTime": is_live,
            "scheduled": True,
            "cancelled": leg.cancelled,
            "headsign": leg.headsign,
            "interlineWithPreviousLeg": leg.stays_seated,
            "intermediateStops": [],
            "alerts": [told_alert(each) for each in leg.alerts],
        }

    def _point(self, point, name):
        if point.id is None:
            return self._street(Location(coordinate=point.coordinate, source=LocationSource.INPUT), name)
        return self._place(self._stops[self._own_id(point.id)])


def _walks_within(itinerary, seconds):
    walks = [leg for leg in (itinerary.legs[0], itinerary.legs[-1]) if not leg.is_transit]
    return all(leg.duration_s <= seconds for leg in walks)


def own(local_id):
    return f"{FEED}_{local_id}"


def printed(own_id):
    feed, _, local = own_id.upper().partition("_")
    return f"{feed}:{escape(local)}"


def told_alert(alert):
    span = {name: instant(each) for name, each in (("start", alert.since), ("end", alert.until)) if each is not None}
    told = {"headerText": alert.header, "descriptionText": alert.text, "effect": alert.effect}
    return {**told, **({"impactPeriod": [span]} if span else {}), **({"url": alert.url} if alert.url else {})}


def instant(second):
    return datetime.fromtimestamp(second, UTC).isoformat().replace("+00:00", "Z")


def parse_instant(text):
    return int(datetime.fromisoformat(text).timestamp())


def serving(reply, fault=None):
    return serving_replies(lambda asked: _answer(reply, asked), fault)


async def _answer(reply, asked):
    if asked.method != "GET":
        return answer("405 Method Not Allowed")
    status, told = await reply(asked.target)
    if told is None:
        return answer(status, b"<html>no such page</html>", Content_Type="text/html")
    return answer(status, json.dumps(told).encode(), Content_Type="application/json")
