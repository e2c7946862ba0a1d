"""Realtime data from a test: a GTFS-Realtime server on the loopback address, which OpenTripPlanner polls."""

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.transit.gtfs_realtime_pb2 import Alert, FeedEntity, FeedMessage, TripDescriptor, TripUpdate

from fingerpost import clock

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class TripSays:
    """A trip of a day (YYYYMMDD) that is cancelled, or late by some seconds from a call on, by stop_sequence."""

    trip: str
    date: str
    cancelled: bool = False
    late_s: int = 0
    since_sequence: int = 1

    def entity(self) -> FeedEntity:
        made = FeedEntity(id=f"{self.trip}-{self.date}")
        relationship = "CANCELED" if self.cancelled else "SCHEDULED"
        made.trip_update.trip.MergeFrom(
            TripDescriptor(trip_id=self.trip, start_date=self.date, schedule_relationship=relationship)
        )
        if not self.cancelled:
            call = TripUpdate.StopTimeUpdate(stop_sequence=self.since_sequence)
            call.arrival.delay = call.departure.delay = self.late_s
            made.trip_update.stop_time_update.append(call)
        return made


@dataclass(frozen=True, kw_only=True)
class AlertSays:
    """An alert on a stop or a route, in force between two instants (Unix seconds)."""

    header: str
    since: int
    until: int
    stop: str | None = None
    route: str | None = None

    def entity(self) -> FeedEntity:
        made = FeedEntity(id=self.header)
        made.alert.active_period.add(start=self.since, end=self.until)
        made.alert.informed_entity.add(stop_id=self.stop, route_id=self.route)
        made.alert.effect = Alert.Effect.DETOUR
        for text in (made.alert.header_text, made.alert.description_text):
            text.translation.add(text=self.header, language="en")
        return made


class Updates:
    """What the realtime server says now; ``say`` replaces all of it."""

    def __init__(self) -> None:
        self._said: dict[str, list[FeedEntity]] = {"/trips.pb": [], "/alerts.pb": []}
        said = self._said

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path not in said:
                    self.send_error(404)
                    return
                message = FeedMessage()
                message.header.gtfs_realtime_version = "2.0"
                message.header.timestamp = clock.read_system_ms() // 1000
                message.entity.extend(said[self.path])
                body = message.SerializeToString()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._server.server_address[1]}"

    def say(self, *what: TripSays | AlertSays) -> None:
        self._said["/trips.pb"] = [each.entity() for each in what if isinstance(each, TripSays)]
        self._said["/alerts.pb"] = [each.entity() for each in what if isinstance(each, AlertSays)]

    def say_message(self, message: bytes) -> None:
        told = list(FeedMessage.FromString(message).entity)
        self._said["/trips.pb"] = [each for each in told if not each.HasField("alert")]
        self._said["/alerts.pb"] = [each for each in told if each.HasField("alert")]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
