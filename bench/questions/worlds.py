"""Write the worlds: GTFS zips and GTFS-Realtime messages from harbour.toml, and the filings that fingerpost ships."""

import csv
import io
import json
import tomllib
import zipfile
from datetime import datetime
from pathlib import Path

FOLDER = Path(__file__).parent
DEMO = FOLDER.parents[1] / "src/fingerpost/transit/engine/demo/feeds/DEMO-LONDON"
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SERVICES = {"weekday": range(5), "saturday": (5,), "sunday": (6,)}


def read_town(world: str) -> tuple[dict, dict]:
    """Return the town, and the one fact in which a twin such as ``harbour/cancelled-1`` differs."""
    town = tomllib.loads((FOLDER / "harbour.toml").read_text(encoding="utf-8"))
    fact = town["twins"].get(world.partition("/")[2], {})
    return town | {"holiday": fact.get("holiday", town["holiday"])}, fact


def to_minutes(text: str) -> int:
    hours, minutes = map(int, text.split(":"))
    return hours * 60 + minutes


def list_trips(town: dict) -> list[tuple[str, str, str, str, list[tuple[str, int]]]]:
    """Return (trip_id, line, service, headsign, [(stop, minute of the day)]) for each trip."""
    trips = []
    for line, fields in town["lines"].items():
        total = fields["minutes"][-1]
        for service in SERVICES:
            if service not in fields:
                continue
            span, step = fields[service].split("/")
            first, last = map(to_minutes, span.split("-"))
            for direction in (0, 1):
                stops = fields["stops"][:: 1 - 2 * direction]
                offsets = fields["minutes"] if not direction else [total - each for each in fields["minutes"][::-1]]
                for begin in range(first, last + 1, int(step)):
                    label = f"{begin // 60:02}:{begin % 60:02}"
                    trip = f"{line}/{direction}/{label}" + ("" if service == "weekday" else f"/{service}")
                    times = [(stop, begin + offset) for stop, offset in zip(stops, offsets, strict=True)]
                    trips.append((trip, line, service, town["stops"][stops[-1]][0], times))
    return trips


def write_feed(world: str, path: Path) -> None:
    """Write a world's GTFS zip."""
    if world == "london":
        with zipfile.ZipFile(path, "w") as archive:
            for table in sorted(DEMO.glob("*.txt")):
                text = table.read_text(encoding="utf-8")
                # The demo runs on any day; its calendar covers one year, which the world moves to its own.
                text = text.replace("20000101,20001231", "20260101,20261231") if table.name == "calendar.txt" else text
                archive.writestr(table.name, text)
        return
    town, _ = read_town(world)
    first, last = (town[key].replace("-", "") for key in ("first_day", "last_day"))
    services = [[name, *[int(day in days) for day in range(7)], first, last] for name, days in SERVICES.items()]
    trips, clock = list_trips(town), lambda minute: f"{minute // 60:02}:{minute % 60:02}:00"
    holiday = town["holiday"].replace("-", "")
    tables = {
        "agency": [
            ["agency_id", "agency_name", "agency_url", "agency_timezone"],
            ["h", "Harbour Transit", "https://example.org", town["zone"]],
        ],
        "stops": [["stop_id", "stop_name", "stop_lat", "stop_lon", "wheelchair_boarding"]]
        + [[stop, *fields] for stop, fields in town["stops"].items()],
        "routes": [["route_id", "agency_id", "route_short_name", "route_type"]]
        + [[line, "h", line, fields["mode"]] for line, fields in town["lines"].items()],
        "calendar": [["service_id", *DAYS, "start_date", "end_date"], *services],
        "calendar_dates": [["service_id", "date", "exception_type"]]
        + ([["weekday", holiday, 2], ["sunday", holiday, 1]] if holiday else []),
        "trips": [["route_id", "service_id", "trip_id", "trip_headsign", "wheelchair_accessible"]]
        + [[line, service, trip, sign, town["lines"][line]["wheelchair"]] for trip, line, service, sign, _ in trips],
        "stop_times": [["trip_id", "arrival_time", "departure_time", "stop_id", "stop_sequence"]]
        + [
            [trip, clock(minute), clock(minute), stop, order]
            for trip, _, _, _, times in trips
            for order, (stop, minute) in enumerate(times, 1)
        ],
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, rows in tables.items():
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            archive.writestr(f"{name}.txt", text.getvalue())


def write_realtime(world: str, path: Path) -> bool:
    """Write a twin's GTFS-Realtime message, dated at the world's clock; return whether it has one."""
    town, fact = read_town(world)
    if not fact or "holiday" in fact:
        return False
    from google.transit import gtfs_realtime_pb2

    now = datetime.fromisoformat(town["now"])
    message = gtfs_realtime_pb2.FeedMessage()
    message.header.gtfs_realtime_version = "2.0"
    message.header.timestamp = int(now.timestamp())
    entity = message.entity.add(id="1")
    if "alert" in fact:
        entity.alert.header_text.translation.add(text=fact["alert"], language="en")
        entity.alert.effect = gtfs_realtime_pb2.Alert.NO_SERVICE
        entity.alert.informed_entity.add(route_id=fact["line"])
    else:
        update = entity.trip_update
        update.trip.trip_id = next(fact[key] for key in ("cancel", "delay", "skip") if key in fact)
        update.trip.start_date = f"{now:%Y%m%d}"
        if "cancel" in fact:
            update.trip.schedule_relationship = update.trip.CANCELED
        elif "skip" in fact:
            update.stop_time_update.add(stop_id=fact["stop"], schedule_relationship=1)
        else:
            update.stop_time_update.add(stop_sequence=1).departure.delay = fact["minutes"] * 60
    path.write_bytes(message.SerializeToString())
    return True


def read_facts() -> dict[str, list[list]]:
    """Return the facts of the sample, [tag, unit, start, end, value, accession, form, filed], by ticker."""
    file = FOLDER.parents[1] / "src/fingerpost/filings/sample/figures.json"
    companies = json.loads(file.read_text(encoding="utf-8"))
    return {company["listing"]["tickers"][0]: company["facts"] for company in companies}
