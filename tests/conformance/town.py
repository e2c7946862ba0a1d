"""The test town of the conformance suite: a small GTFS feed and its GTFS-Realtime message."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from google.transit.gtfs_realtime_pb2 import Alert, FeedEntity, FeedMessage, TripDescriptor, TripUpdate

from fingerpost.transit.model.place import Coordinate
from tests.feeds import feed_from_drawing, stop_id_of

NAME = "TOWN"
ZONE = "Europe/Helsinki"
DAY = date(2026, 3, 10)
# A Tuesday morning.
NOW = "2026-03-10T08:00:00+02:00"

# Tram 1 is not wheelchair-accessible; buses 2 and 3, with a change at Delta, are. Only rail R serves Älvsjö.
DRAWING = """
tram 1  | Alpha 08:10 | Beta 08:20 | Gamma 08:30
tram 1  | Alpha 08:40 | Beta 08:50 | Gamma 09:00
bus 2   | Alpha 08:12 | Delta 08:22
bus 2   | Alpha 09:12 | Delta 09:22
bus 3   | Delta 08:27 | Gamma 08:45
bus 3   | Delta 09:27 | Gamma 09:45
rail R  | Gamma 09:10 | Älvsjö 09:25
bus 9   | Delta 08:50 noboard | Alpha 09:05 noboard | Beta 09:15
"""
# The stops are more than a kilometer apart, so that no itinerary includes a walk between them.
PLACES = {
    "Alpha": (60.1700, 24.9400),
    "Beta": (60.1700, 24.9700),
    "Gamma": (60.1700, 25.0000),
    "Delta": (60.1900, 24.9700),
    "Älvsjö": (60.1700, 25.1000),
}
PUBLISHER = "Town Transport"
REALTIME_AGE_S = 20
DETOUR, WORKS = "Bus 2 is diverted", "Works at Alpha"


@dataclass(frozen=True, slots=True, kw_only=True)
class Town:
    """The data of the test town: GTFS tables, keyed by file name, and an optional GTFS-Realtime message.

    ``name`` is the network's name and the FEED prefix of its ids.
    """

    name: str = NAME
    tables: Mapping[str, str]
    realtime: bytes | None = None

    def coordinate(self, stop):
        return Coordinate(*PLACES[stop])

    def stop_id(self, stop):
        """Return the full id of a stop, FEED:ID."""
        return f"{self.name}:{stop_id_of(stop)}"


def new_town(*, live=False):
    """Return the town; if ``live``, its message cancels the 08:10 tram and delays the 08:40 tram by two minutes.

    The message also has two alerts until 09:00: works at Alpha, and a diversion of bus 2.
    """
    return Town(tables=_build_tables(), realtime=_build_message() if live else None)


def to_unix(clock, day=DAY):
    """Convert a local time in the town (HH:MM or HH:MM:SS) to Unix seconds."""
    return int(datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=ZoneInfo(ZONE)).timestamp())


def _build_tables():
    tables = feed_from_drawing(DRAWING, zone=ZONE, coordinates=PLACES)
    tables["trips.txt"] = _add_column(
        tables["trips.txt"], "wheelchair_accessible", lambda row: "2" if row.startswith("1,") else "1"
    )
    tables["stops.txt"] = _add_column(tables["stops.txt"], "wheelchair_boarding", lambda _: "1")
    tables["feed_info.txt"] = (
        f"feed_publisher_name,feed_publisher_url,feed_lang,feed_version\n{PUBLISHER},https://example.org,sv,2026-03\n"
    )
    return tables


def _add_column(table, name, value):
    head, *rows = table.splitlines()
    return "\n".join([f"{head},{name}", *(f"{row},{value(row)}" for row in rows)]) + "\n"


def _build_message():
    message = FeedMessage()
    message.header.gtfs_realtime_version = "2.0"
    message.header.timestamp = to_unix("08:00") - REALTIME_AGE_S
    message.entity.extend([_new_trip_update("1-1", "CANCELED"), _new_trip_update("1-2", "SCHEDULED", delay_s=120)])
    message.entity.extend(
        [_new_alert(DETOUR, "DETOUR", route_id="2"), _new_alert(WORKS, "OTHER_EFFECT", stop_id=stop_id_of("Alpha"))]
    )
    return bytes(message.SerializeToString())


def _new_trip_update(trip_id, relationship, delay_s=None):
    trip = TripDescriptor(trip_id=trip_id, schedule_relationship=relationship, start_date=f"{DAY:%Y%m%d}")
    update = TripUpdate(trip=trip)
    for stop in ("Alpha", "Beta", "Gamma") if delay_s is not None else ():
        delay = TripUpdate.StopTimeEvent(delay=delay_s)
        update.stop_time_update.add(stop_id=stop_id_of(stop), arrival=delay, departure=delay)
    return FeedEntity(id=trip_id, trip_update=update)


def _new_alert(header, effect, **entity):
    alert = Alert(effect=effect)
    alert.active_period.add(start=to_unix("07:00"), end=to_unix("09:00"))
    alert.informed_entity.add(**entity)
    for text in (alert.header_text, alert.description_text):
        text.translation.add(text=header, language="sv")
    return FeedEntity(id=header, alert=alert)
