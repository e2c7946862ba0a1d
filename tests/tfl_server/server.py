"""The server: any of our networks behind TfL's addresses, over real HTTP, with faults on request."""

import csv
import json
from io import StringIO
from urllib.parse import parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import OutsideCalendar
from fingerpost.transit.engine.timetable.stop_ids import escape
from fingerpost.transit.model.itinerary import Departure, Mode
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.places.resolver import parse_position
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from tests.conformance.town import REALTIME_AGE_S
from tests.net.local_server import answer
from tests.tfl_server import rendering as tfl

_FAR_M = 3000.0
# TfL predicts half an hour ahead; the suite's boards are longer.
_PREDICTED_S = 7200
_MODE_OF_TYPE = {"0": Mode.TRAM, "2": Mode.RAIL, "3": Mode.BUS}


class TflServer:
    """The answers.

    Args:
        served: the network that is asked.
        tables: its feed.
        key: what ``app_key`` must be.
    """

    def __init__(self, served, tables, key):
        self._served = served
        self._zone = ZoneInfo(served.profile.zone)
        self._feed = min(served.profile.feed_names)
        self._tables = {name: list(csv.DictReader(StringIO(text))) for name, text in tables.items()}
        routes = {row["route_id"]: row for row in self._tables["routes.txt"]}
        self._route_of = {row["trip_id"]: routes[row["route_id"]] for row in self._tables["trips.txt"]}
        self._calls = self._tables["stop_times.txt"]
        self._key = key
        # By line, what was said with its rows: whoever asks how lines fare has asked for a board before.
        self._line_alerts = {}

    async def answer(self, asked):
        parts = urlsplit(asked.target)
        path = [unquote(part) for part in parts.path.split("/")[1:]]
        params = dict(parse_qsl(parts.query))
        if asked.headers.get("app_key") != self._key:
            return _write(429, tfl.api_error(429, "ApiException", "Invalid app_key"))
        match [part.lower() for part in path[:2]]:
            case ["journey", "journeyresults"]:
                return _write(*await self._plan(path[2], path[4], params))
            case ["stoppoint", "search"]:
                return _write(200, await self._search(params["query"]))
            case ["stoppoint"]:
                return _write(200, await self._near(params))
            case ["stoppoint", _] if path[2:] == ["Disruption"]:
                return _write(200, await self._stop_disruptions(path[1].split(",")))
            case ["stoppoint", _]:
                return _write(*await (self._arrivals(path[1]) if len(path) > 2 else self._stop(path[1])))
            case ["line", "meta"]:
                modes = sorted(tfl.MODES[mode] for mode in self._served.profile.modes)
                told = [tfl.entity("Mode", modeName=mode, isScheduledService=True) for mode in modes]
                return _write(200, [*told, tfl.entity("Mode", modeName="walking", isScheduledService=False)])
            case ["line", names]:
                told = [tfl.line_of(name, self._line_alerts.get(name, {}).values()) for name in names.split(",")]
                return _write(200, told)
            case ["disruptions", _]:
                return _write(200, [])
        return _write(404, tfl.api_error(404, "EntityNotFoundException", f"Resource not found: {parts.path}"))

    async def _plan(self, origin, destination, params):
        query = JourneyQuery(
            origin=await self._read_end(origin),
            destination=await self._read_end(destination),
            instant=tfl.instant_of(params["date"], params["time"], self._zone),
            arrive_by=params["timeIs"].lower() == "arriving",
            max_walk_m=_FAR_M,
            max_transfers=8,
            step_free="StepFree" in params.get("accessibilityPreference", ""),
        )
        try:
            found = await self._served.plan_journeys(query)
        except OutsideCalendar:
            found = None
        if found is None or not found.itineraries:
            return 404, tfl.api_error(404, "EntityNotFoundException", "No journey found for your inputs.")
        journeys = [tfl.journey_of(each, self._zone, self._served.find_line) for each in found.itineraries]
        rides = [ride for each in found.itineraries for ride in each.rides]
        lines = [tfl.line_of(ride.line.lower(), [each for each in ride.alerts if _is_of_line(each)]) for ride in rides]
        return 200, tfl.entity("JourneyPlanner.ItineraryResult", journeys=journeys, lines=lines, stopMessages=[])

    async def _read_end(self, text):
        position = parse_position(text)
        if position is not None:
            return Location(coordinate=position, source=LocationSource.INPUT)
        place = await self._served.find_stop(self._print(text), whole_place=True)
        return Location(
            coordinate=place.coordinate, source=LocationSource.GEOCODE, name=place.name, stop_ids=place.member_ids
        )

    async def _search(self, text):
        found = await self._served.find_places(text)
        matches = [
            tfl.entity(
                "MatchedStop",
                id=tfl.local_id(match.place.id),
                name=match.place.name,
                lat=match.place.coordinate.lat,
                lon=match.place.coordinate.lon,
                modes=[],
            )
            for match in found
            if match.place.id
        ]
        return tfl.entity("SearchResponse", query=text, total=len(matches), matches=matches)

    async def _stop(self, own_id):
        place = await self._served.find_stop(self._print(own_id))
        if place is None:
            message = f"The following stop point is not recognised: {own_id}"
            return 404, tfl.api_error(404, "EntityNotFoundException", message)
        return 200, tfl.stop_of(place, self._list_lines(own_id))

    async def _near(self, params):
        assert params["stopTypes"], "TfL requires it"
        centre = Coordinate(float(params["lat"]), float(params["lon"]))
        near = await self._served.list_stops_near(centre, float(params["radius"]))
        stops = [
            {
                **tfl.point_of(each.stop),
                "id": tfl.local_id(each.stop.id),
                "modes": [tfl.MODES[mode] for mode in each.modes],
                "distance": each.distance_m,
            }
            for each in near.stops
        ]
        return tfl.entity("StopPointsResponse", centrePoint=[centre.lat, centre.lon], stopPoints=stops)

    async def _arrivals(self, own_id):
        stop_id = self._print(own_id)
        if await self._served.find_stop(stop_id) is None:
            return 404, tfl.api_error(
                404, "EntityNotFoundException", f"The following stop point is not recognised: {own_id}"
            )
        now = int(clock.now().timestamp())
        board = await self._served.list_departures(
            DepartureQuery(stop_ids=[stop_id], instant=now, window_s=_PREDICTED_S, wanted=500)
        )
        rows = [row for row in board.departures if not row.cancelled]
        for row in rows:
            known = self._line_alerts.setdefault(row.line.lower(), {})
            known |= {each.id: each for each in row.alerts if _is_of_line(each)}
        told = [tfl.prediction_of(row, now - REALTIME_AGE_S, at) for at, row in enumerate(reversed(rows))]
        told += [
            {**tfl.prediction_of(row, now - REALTIME_AGE_S, f"end {at}"), "destinationNaptanId": end_id}
            for at, (row, end_id) in enumerate(self._list_not_boarded(own_id))
        ]
        return 200, told

    async def _stop_disruptions(self, own_ids):
        now = int(clock.now().timestamp())
        told = []
        for own_id in own_ids:
            query = DepartureQuery(stop_ids=[self._print(own_id)], instant=now, window_s=3 * 3600, wanted=1)
            alerts = (await self._served.list_departures(query)).alerts
            told += [tfl.disruption_of(each, own_id) for each in alerts]
        return told

    def _list_lines(self, own_id):
        calling = [self._route_of[row["trip_id"]] for row in self._calls if row["stop_id"].upper() == own_id.upper()]
        return {row["route_short_name"].lower(): _MODE_OF_TYPE[row["route_type"]] for row in calling}

    def _print(self, own_id):
        return f"{self._feed}:{escape(own_id.upper())}"

    def _list_not_boarded(self, own_id):
        """Return the calls that nobody boards, and where their trips end: TfL tells of them like of any other."""
        today = clock.now().astimezone(self._zone).date()
        end_of = {row["trip_id"]: row["stop_id"] for row in self._calls}
        for row in self._calls:
            trip_id = row["trip_id"]
            if row["stop_id"].upper() != own_id or (
                end_of[trip_id].upper() != own_id and row.get("pickup_type") != "1"
            ):
                continue
            hours, minutes, *_ = map(int, row["arrival_time"].split(":"))
            route = self._route_of[trip_id]
            told = Departure(
                line=route["route_short_name"],
                mode=_MODE_OF_TYPE[route["route_type"]],
                destination=end_of[trip_id],
                scheduled=tfl.begin_of(today, self._zone) + hours * 3600 + minutes * 60,
                stop_id=self._print(own_id),
                trip_id=trip_id,
                service_day=today,
            )
            yield told, end_of[trip_id].upper()


def _is_of_line(alert):
    return alert.effect == "DETOUR"


def _write(status, body):
    reason = {200: "200 OK", 300: "300 Multiple Choices", 404: "404 Not Found", 429: "429 Too Many Requests"}[status]
    return answer(reason, json.dumps(body).encode(), Content_Type="application/json; charset=utf-8")
