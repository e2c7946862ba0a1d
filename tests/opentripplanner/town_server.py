"""A server that answers OpenTripPlanner's GraphQL from the town of the conformance suite, over real HTTP.

The embedded engine finds the journeys; what goes over the wire is OpenTripPlanner's.
It spells the feed ``Town``, so that an id that loses its case finds nothing.
"""

import csv
import json
from datetime import date, datetime, timedelta
from io import StringIO
from zoneinfo import ZoneInfo

import polyline
from graphql import graphql

from fingerpost.errors import OutsideCalendar
from fingerpost.transit.engine.timetable.stop_ids import escape
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from tests.conformance.town import DAY, ZONE
from tests.net.local_server import answer
from tests.net.reply_server import serving_replies
from tests.opentripplanner.schema import SCHEMA

FEED = "Town"
_ZONE = ZoneInfo(ZONE)
_WHEELCHAIR = {"1": "POSSIBLE", "2": "NOT_POSSIBLE"}
_FAR_M = 3000.0
_DAY_S = 86_400


class TownServer:
    """The answers; ``served`` is the embedded engine's network of the town."""

    def __init__(self, town, served):
        self._served = served
        self._tables = {name: list(csv.DictReader(StringIO(text))) for name, text in town.tables.items()}
        self._routes = {row["route_id"]: self._route(row) for row in self._tables["routes.txt"]}
        self._calls = {}
        for row in self._tables["stop_times.txt"]:
            self._calls.setdefault(row["trip_id"], []).append(row)
        self._stops = {}
        for row in self._tables["stops.txt"]:
            self._stops[own(row["stop_id"])] = self._stop(row)
        self._stop_by_printed = {printed(own_id): stop for own_id, stop in self._stops.items()}
        self._trips = {row["trip_id"]: self._trip(row) for row in self._tables["trips.txt"]}

    async def answer(self, asked):
        root = {
            "feeds": self._feeds,
            "serviceTimeRange": self._service_time_range,
            "routes": lambda info: list(self._routes.values()),
            "stops": self._find_stops,
            "stations": lambda info, ids=None, name=None: [],
            "stopsByBbox": self._stops_in_box,
            "planConnection": self._plan,
        }
        result = await graphql(SCHEMA, asked["query"], root, variable_values=asked.get("variables"))
        told = {} if result.data is None else {"data": result.data}
        if result.errors:
            kind = "DataFetchingException" if result.data is not None else "ValidationError"
            told["errors"] = [
                {"message": error.message, "path": error.path, "extensions": {"classification": kind}}
                for error in result.errors
            ]
        return told

    def _feeds(self, info):
        agencies = [
            {"name": row["agency_name"], "timezone": row["agency_timezone"], "lang": "sv"}
            for row in self._tables["agency.txt"]
        ]
        (said,) = self._tables["feed_info.txt"]
        return [{"feedId": FEED, "publisher": {"name": said["feed_publisher_name"]}, "agencies": agencies}]

    def _service_time_range(self, info):
        first, last = self._served.profile.first_day, self._served.profile.last_day
        return {"start": begin_of_service(first), "end": begin_of_service(last + timedelta(days=1))}

    def _route(self, row):
        return {
            "gtfsId": own(row["route_id"]),
            "shortName": row["route_short_name"],
            "longName": row["route_long_name"] or None,
            "type": int(row["route_type"]),
        }

    def _stop(self, row):
        stop_id = row["stop_id"]
        calling = {trip for trip, calls in self._calls.items() if any(call["stop_id"] == stop_id for call in calls)}
        routes = {row["route_id"] for row in self._tables["trips.txt"] if row["trip_id"] in calling}
        return {
            "gtfsId": own(stop_id),
            "name": row["stop_name"],
            "lat": float(row["stop_lat"]),
            "lon": float(row["stop_lon"]),
            "wheelchairBoarding": _WHEELCHAIR.get(row["wheelchair_boarding"], "NO_INFORMATION"),
            "routes": [self._routes[route] for route in sorted(routes)],
            "stoptimesWithoutPatterns": lambda info, **asked: self._board(stop_id, **asked),
            "alerts": lambda info, **of: self._alerts(stop_id),
        }

    def _trip(self, row):
        calls = self._calls[row["trip_id"]]
        last = {"stop": self._stops[own(calls[-1]["stop_id"])], "stopPositionInPattern": len(calls) - 1}
        return {
            "gtfsId": own(row["trip_id"]),
            "tripHeadsign": row["trip_headsign"],
            "wheelchairAccessible": _WHEELCHAIR.get(row["wheelchair_accessible"], "NO_INFORMATION"),
            "route": self._routes[row["route_id"]],
            "arrivalStoptime": last,
        }

    def _find_stops(self, info, ids=None, name=None):
        return list(self._stops.values()) if ids is None else [self._stops.get(each) for each in ids]

    def _stops_in_box(self, info, minLat, minLon, maxLat, maxLon):  # noqa: N803  (the schema's names)
        return [
            stop for stop in self._stops.values() if minLat <= stop["lat"] <= maxLat and minLon <= stop["lon"] <= maxLon
        ]

    async def _board(self, stop_id, startTime, timeRange, numberOfDepartures, **omitted):  # noqa: N803
        query = DepartureQuery(
            stop_ids=[printed(own(stop_id))], instant=startTime, window_s=timeRange, wanted=numberOfDepartures
        )
        rows = sorted((await self._served.list_departures(query)).departures, key=lambda row: row.expected)
        return [self._stoptime(stop_id, row) for row in rows[:numberOfDepartures]]

    async def _alerts(self, stop_id):
        day = DepartureQuery(stop_ids=[printed(own(stop_id))], instant=begin_of_service(DAY), window_s=_DAY_S, wanted=1)
        return [told_alert(each) for each in (await self._served.list_departures(day)).alerts]

    def _stoptime(self, stop_id, row):
        trip_id = row.trip_id.partition(":")[2]
        begin = begin_of_service(row.service_day)
        is_live = row.cancelled or row.departure_delay_s is not None
        position = [call["stop_id"] for call in self._calls[trip_id]].index(stop_id)
        return {
            "serviceDay": begin,
            "scheduledDeparture": row.scheduled - begin,
            "departureDelay": 0 if row.cancelled else row.departure_delay_s or 0,
            "realtime": is_live,
            "realtimeState": "CANCELED" if row.cancelled else "UPDATED" if is_live else "SCHEDULED",
            "pickupType": None if row.cancelled else "SCHEDULED",
            "headsign": row.destination,
            "stopPositionInPattern": position,
            "trip": {**self._trips[trip_id], "alerts": lambda info, **of: [told_alert(each) for each in row.alerts]},
        }

    async def _plan(self, info, origin, destination, dateTime, preferences, first, searchWindow=None, **paging):  # noqa: N803
        transit = preferences.get("transit", {})
        arrive_by = "latestArrival" in dateTime
        query = JourneyQuery(
            origin=self._end(origin["location"]),
            destination=self._end(destination["location"]),
            # The real one leaves out what arrives at the very second.
            instant=int(datetime.fromisoformat(next(iter(dateTime.values()))).timestamp()) - arrive_by,
            arrive_by=arrive_by,
            max_walk_m=_FAR_M,
            max_transfers=transit["transfer"]["maximumTransfers"],
            window_s=None if searchWindow is None else int(searchWindow.strip("PTS")),
            step_free=preferences.get("accessibility", {}).get("wheelchair", {}).get("enabled", False),
        )
        nothing = {"pageInfo": {"endCursor": None, "hasNextPage": False}, "routingErrors": [], "edges": []}
        try:
            found = await self._served.plan_journeys(query)
        except OutsideCalendar:
            return {**nothing, "routingErrors": [{"code": "OUTSIDE_SERVICE_PERIOD", "inputField": "DATE_TIME"}]}
        itineraries = list(found.itineraries)
        if transit.get("timetable", {}).get("includeRealTimeCancellations"):
            itineraries += found.timetabled
        drawn = [[self._leg(found, leg) for leg in each.legs] for each in itineraries]
        return {**nothing, "edges": [{"node": {"legs": legs}} for legs in drawn[:first]]}

    def _end(self, place):
        if "stopLocation" in place:
            stop = self._stops[place["stopLocation"]["stopLocationId"]]
            here, stop_ids = Coordinate(stop["lat"], stop["lon"]), (printed(stop["gtfsId"]),)
        else:
            here, stop_ids = Coordinate(place["coordinate"]["latitude"], place["coordinate"]["longitude"]), ()
        return Location(coordinate=here, source=LocationSource.INPUT, stop_ids=stop_ids)

    def _leg(self, found, leg):
        is_live = leg.cancelled or leg.departure_delay_s is not None
        told = {
            "mode": leg.mode.value,
            "transitLeg": leg.is_transit,
            "distance": leg.distance_m,
            "from": self._place(leg.start),
            "to": self._place(leg.end),
            "alerts": [told_alert(each) for each in leg.alerts],
            "legGeometry": {"points": polyline.encode(self._served.find_line(leg).points, 5)},
        }
        if not leg.is_transit:
            # On the street the timetable's time is the expected one.
            times = leg.departure_expected, leg.arrival_expected
            return {**told, "mode": Mode.WALK.value, **self._times(times, (None, None))}
        trip = self._trips[leg.trip_id.partition(":")[2]]
        delays = (leg.departure_delay_s, leg.arrival_delay_s) if is_live and not leg.cancelled else (None, None)
        call = None if leg.cancelled else "SCHEDULED"
        return {
            **told,
            **self._times((leg.departure_scheduled, leg.arrival_scheduled), delays),
            "realTime": is_live,
            "realtimeState": "CANCELED" if leg.cancelled else "UPDATED" if is_live else "SCHEDULED",
            "serviceDate": leg.service_day.isoformat(),
            "headsign": leg.headsign,
            "interlineWithPreviousLeg": leg.stays_seated,
            "pickupType": call,
            "dropoffType": call,
            "route": trip["route"],
            "trip": trip,
        }

    def _times(self, scheduled, delays):
        return {
            name: {
                "scheduledTime": datetime.fromtimestamp(instant, _ZONE).isoformat(),
                "estimated": None if delay_s is None else {"delay": format_duration(delay_s)},
            }
            for name, instant, delay_s in zip(("start", "end"), scheduled, delays, strict=True)
        }

    def _place(self, point):
        stop = None if point.id is None else self._stop_by_printed[point.id]
        return {"name": point.name, "lat": point.coordinate.lat, "lon": point.coordinate.lon, "stop": stop}


def told_alert(alert):
    return {
        "id": alert.id,
        "alertHeaderText": alert.header,
        "alertDescriptionText": alert.text,
        "alertEffect": alert.effect,
        "alertUrl": alert.url,
        "effectiveStartDate": alert.since,
        "effectiveEndDate": alert.until,
    }


def own(local_id):
    return f"{FEED}:{local_id}"


def printed(own_id):
    feed, _, local = own_id.upper().partition(":")
    return f"{feed}:{escape(local)}"


def begin_of_service(day: date) -> int:
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=_ZONE)
    return int(noon.timestamp()) - 12 * 3600


def format_duration(seconds):
    minutes, rest = divmod(abs(seconds), 60)
    sign, whole = "-" if seconds < 0 else "", f"{minutes}M" if minutes else ""
    return f"{sign}PT{whole}{f'{rest}S' if rest or not minutes else ''}"


def serving(reply, fault=None):
    return serving_replies(lambda asked: _answer(reply, asked), fault)


async def _answer(reply, asked):
    if (asked.method, asked.headers.get("content-type")) != ("POST", "application/json"):
        return answer("415 Unsupported Media Type")
    told = await reply(json.loads(asked.body))
    return answer(body=json.dumps(told).encode(), Content_Type="application/json")
