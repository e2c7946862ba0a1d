"""Answer the questions from the raw tables: SQL over GTFS, a slow search over every connection, and raw filings.

It shares no code with fingerpost. Times are minutes after midnight of the service day.
"""

import csv
import io
import math
import sqlite3
import tempfile
import zipfile
from datetime import date, timedelta
from functools import cache
from pathlib import Path

from worlds import DAYS, read_facts, read_town, write_feed

# Riders need no time to change at one stop, and no more than this; questions whose answer depends on it are dropped.
CHANGE_MINUTES = (0, 2)
_LISTED = ("stops", "routes", "trips", "stop_times", "calendar", "calendar_dates")


@cache
def open_world(world: str) -> sqlite3.Connection:
    """Load a world's tables into SQLite, as text."""
    base = sqlite3.connect(":memory:")
    with tempfile.TemporaryDirectory() as folder:
        write_feed(world, Path(folder) / "feed.zip")
        with zipfile.ZipFile(Path(folder) / "feed.zip") as archive:
            for name in [name for name in archive.namelist() if name.removesuffix(".txt") in _LISTED]:
                head, *rows = csv.reader(io.TextIOWrapper(archive.open(name), encoding="utf-8"))
                table = name.removesuffix(".txt")
                base.execute(f"CREATE TABLE {table} ({', '.join(head)})")
                base.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(head))})", rows)
    return base


def list_services(world: str, day: str) -> set[str]:
    base, when = open_world(world), date.fromisoformat(day)
    compact, weekday = day.replace("-", ""), DAYS[when.weekday()]
    sql = f"SELECT service_id FROM calendar WHERE {weekday} = '1' AND ? BETWEEN start_date AND end_date"
    running = {row[0] for row in base.execute(sql, (compact,))}
    for service, kind in base.execute(
        "SELECT service_id, exception_type FROM calendar_dates WHERE date = ?", (compact,)
    ):
        running = running | {service} if kind == "1" else running - {service}
    return running


def to_minute(text: str) -> int:
    hours, minutes, _ = map(int, text.split(":"))
    return hours * 60 + minutes


@cache
def list_calls(world: str, day: str) -> dict[str, list[dict]]:
    """Return the calls of each trip that runs on a day, with today's real time."""
    base, running = open_world(world), list_services(world, day)
    town, fact = read_town(world)
    is_today = day == town["now"][:10]
    trips: dict[str, list[dict]] = {}
    sql = (
        "SELECT trip_id, route_id, service_id, trips.wheelchair_accessible, stop_id, departure_time"
        " FROM stop_times JOIN trips USING (trip_id) ORDER BY trip_id, CAST(stop_sequence AS INTEGER)"
    )
    for trip, line, service, wheelchair, stop, time in base.execute(sql):
        if service not in running:
            continue
        call = {"line": line, "stop": stop, "time": to_minute(time), "planned": to_minute(time), "status": "scheduled"}
        call["wheelchair"] = wheelchair
        if is_today and fact.get("delay") == trip:
            call |= {"time": call["time"] + fact["minutes"], "status": "delayed"}
        if is_today and (fact.get("cancel") == trip or (fact.get("skip") == trip and fact["stop"] == stop)):
            call["status"] = "cancelled"
        trips.setdefault(trip, []).append(call)
    return trips


def search(
    world: str, day: str, begin: str, end: str, at: int, rides: int = 4, step_free: bool = False, change: int = 0
):
    """Return the earliest arrival within a number of rides, or None: scan all connections once per ride."""
    stops = {row[0]: row[1] for row in open_world(world).execute("SELECT stop_id, wheelchair_boarding FROM stops")}
    reached = {begin: at - change}
    for _ in range(rides):
        improved = dict(reached)
        for calls in list_calls(world, day).values():
            boarded = False
            for call in calls:
                usable = call["status"] != "cancelled" and not (
                    step_free and (call["wheelchair"] != "1" or stops[call["stop"]] != "1")
                )
                if boarded and usable:
                    improved[call["stop"]] = min(improved.get(call["stop"], 10**6), call["time"])
                boarded |= usable and call["stop"] in reached and reached[call["stop"]] + change <= call["time"]
        reached = improved
    return reached.get(end)


def answer_trip(world: str, p: dict) -> str | None:
    """Return the arrival, or None if there is no trip; raise ValueError if it depends on the time for a change."""
    day, rides = p["day"], p.get("changes", 3) + 1

    def arrive(at: int, change: int) -> int | None:
        return search(world, day, p["from"], p["to"], at, rides, p.get("step_free", False), change)

    at = to_minute(f"{p['time']}:00")
    if "arrive_by" in p:
        # The latest departure that arrives in time.
        found = [
            max((begin for begin in range(at - 240, at) if (end := arrive(begin, change)) and end <= at), default=None)
            for change in CHANGE_MINUTES
        ]
    else:
        found = [arrive(at, change) for change in CHANGE_MINUTES]
    if found[0] != found[1]:
        raise ValueError(f"{p} depends on the time for a change")
    return None if found[0] is None else format_minute(found[0])


def format_minute(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def answer_board(world: str, p: dict) -> list[list[str]]:
    """Return (line, planned time, status) for the window; a cancelled call is listed."""
    at = to_minute(f"{p['time']}:00")
    rows = [
        [call["line"], format_minute(call["planned"]), call["status"]]
        for calls in list_calls(world, p["day"]).values()
        for call in calls[:-1]
        if call["stop"] == p["stop"] and at <= call["time"] <= at + p["window"]
    ]
    return sorted(rows)


def list_times(world: str, p: dict) -> list[int]:
    return sorted(
        call["planned"]
        for calls in list_calls(world, p["day"]).values()
        for call in calls[:-1]
        if call["stop"] == p["stop"] and call["line"] == p["line"]
    )


def answer_timetable(world: str, p: dict) -> str | int | None:
    times = list_times(world, p)
    if not times:
        return None
    if p["what"] == "count":
        return len(times)
    return format_minute(times[0] if p["what"] == "first" else times[-1])


def answer_lines(world: str, p: dict) -> list[str]:
    return sorted(
        {
            call["line"]
            for calls in list_calls(world, p["day"]).values()
            for call in calls[:-1]
            if call["stop"] == p["stop"]
        }
    )


def answer_nearest(world: str, p: dict) -> str:
    def measure(row: tuple[str, str, str]) -> float:
        east = (float(row[2]) - p["lon"]) * math.cos(math.radians(p["lat"]))
        return math.hypot(float(row[1]) - p["lat"], east)

    return min(open_world(world).execute("SELECT stop_id, stop_lat, stop_lon FROM stops"), key=measure)[0]


def answer_places(world: str, p: dict) -> list[str]:
    """Return the ids of all stops with a name: the caller must choose if there are several."""
    return sorted(
        row[0] for row in open_world(world).execute("SELECT stop_id FROM stops WHERE stop_name = ?", (p["text"],))
    )


def answer_alert(world: str, p: dict) -> str | None:
    _, fact = read_town(world)
    return fact["alert"] if fact.get("line") == p["line"] else None


def find_fact(ticker: str, tag: str, period: str, as_of: str = "9999") -> list | None:
    """Return the last filed annual fact whose period ends in a fiscal year, as known on a day."""
    found = []
    for fact in read_facts().get(ticker, ()):
        start, end = fact[2], date.fromisoformat(fact[3])
        is_year = not start or timedelta(350) < end - date.fromisoformat(start) < timedelta(380)
        # These three companies name a fiscal year by the year in which it ends.
        if fact[0] == f"us-gaap:{tag}" and is_year and str(end.year) == period and fact[7] <= as_of:
            found.append(fact)
    return max(found, key=lambda fact: (fact[3], fact[7]), default=None)


def answer_figure(_: str, p: dict) -> float | None:
    fact = find_fact(p["ticker"], p["tag"], p["period"], p.get("as_of", "9999"))
    return None if fact is None else fact[4]


def answer_formula(_: str, p: dict) -> float | None:
    years = (p["period"], str(int(p["period"]) - (p["operation"] == "growth")))
    facts = [find_fact(p["ticker"], tag, year) for tag, year in zip(p["tags"], years, strict=True)]
    if None in facts:
        return None
    first, second = (fact[4] for fact in facts)
    return {"ratio": first / second, "growth": first / second - 1, "difference": first - second}[p["operation"]]


def answer_claim(_: str, p: dict) -> str:
    fact = find_fact(p["ticker"], p["tag"], p["period"])
    if fact is None:
        return "cannot judge"
    stated, unit = p["value"], {"billion": 1e9, "million": 1e6, "": 1}[p["scale"]]
    digits = len(str(stated).partition(".")[2])
    return "confirmed" if abs(fact[4] / unit - stated) <= 0.5 * 10**-digits else "contradicted"
