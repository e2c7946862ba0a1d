"""A stop's timetable as text that stands alone, for a reader who sees nothing else of the answer."""

from typing import Any

from fingerpost.transit.tools.local_times import LocalTimes, list_utc_times
from fingerpost.transit.tools.stop_timetable_shapes import StopTimetableOutput, TimetableDeparture, TimetableLine
from fingerpost.transit.tools.timetable_shapes import describe_utc_alerts
from fingerpost.transit.tools.wording import said_below

# A timetable of more rows is told line by line.
ROWS_ONE_BY_ONE = 10


def describe_timetable(answer: StopTimetableOutput) -> str:
    """Return the departures in the zone of the place, one a line, or all of a line in one."""
    rows, metadata, meta = answer["departures"], answer["metadata"], answer["meta"]
    times = new_times(answer)
    day = times.day(rows[0]["scheduledTime"]) if rows else ""
    limits = f"at most {answer['applied']['maxDepartures']} within {answer['applied']['horizonMinutes']} min"
    head = f"Timetable of {meta['stop']['name']} ({meta['stop']['id']})"
    if rows:
        lines = [f"{head}, {day} ({times.zone}), {limits}:"]
    else:
        why = " ".join(filter(None, [metadata.get("noResultsReason"), meta.get("whyEmpty")]))
        lines = [f"{head} ({times.zone}), {limits}: no departures. {times.sentence(why)}".rstrip()]
    write = _list_rows if len(rows) <= ROWS_ONE_BY_ONE else _list_by_line
    lines += write(rows, times, day)
    lines += [_line(each, times, day) for each in meta.get("lines", ())]
    return "\n".join(lines + said_below(metadata, meta, list_remarks(answer)))


def new_times(answer: Any) -> LocalTimes:
    """Return what prints the times of an answer."""
    told = [row["scheduledTime"] for row in answer["departures"]]
    return LocalTimes(answer["metadata"]["timeZone"], told or list_utc_times(answer["meta"].get("whyEmpty", "")))


def list_remarks(answer: Any) -> list[str]:
    """Return the lines on limits, on what is left out, on other stops, and the alerts."""
    applied, metadata, meta = answer["applied"], answer["metadata"], answer["meta"]
    lines = []
    if "linesNotShown" in meta:
        lines.append(f"! {meta['linesNotShown']} more lines are not shown.")
    if applied["clamped"]:
        lowered = f"maxDepartures is {applied['maxDepartures']}, horizonMinutes {applied['horizonMinutes']}"
        lines.append(f"! A limit was lowered: {lowered}.")
    if "cancelledLeftOut" in metadata:
        lines.append(f"! Left out because they are cancelled: {metadata['cancelledLeftOut']}.")
    if "otherStops" in meta["stop"]:
        others = ", ".join(meta["stop"]["otherStops"])
        lines.append(f"! This stop alone; its place has other stops too ({others}); wholePlace shows all.")
    named = ((f"departures/{at}", row) for at, row in enumerate(answer["departures"]))
    parts = [(path, f"{row['mode']} {row['routeShortName']}") for path, row in named]
    parts.append(("meta/stop", "this stop"))
    return lines + describe_utc_alerts(meta, new_times(answer), parts, "every departure")


def _list_rows(rows: list[TimetableDeparture], times: LocalTimes, day: str) -> list[str]:
    return [f"{times.clock(row['scheduledTime'], day)} {_name(row)}{_service_day(row, times)}" for row in rows]


def _list_by_line(rows: list[TimetableDeparture], times: LocalTimes, day: str) -> list[str]:
    """Return one line for each line, direction and service day, with all of its times."""
    by_name: dict[str, list[str]] = {}
    for row in rows:
        own = by_name.setdefault(f"{_name(row)}{_service_day(row, times)}", [])
        own.append(times.clock(row["scheduledTime"], day))
    return [f"{name}: {' '.join(clocks)}" for name, clocks in by_name.items()]


def _name(row: TimetableDeparture) -> str:
    long_name = row.get("routeLongName")
    told = f" ({long_name})" if long_name and long_name != row["routeShortName"] else ""
    towards = f" to {row['headsign']}" if "headsign" in row else ""
    return f"{row['mode']} {row['routeShortName']}{towards}{told}"


def _service_day(row: TimetableDeparture, times: LocalTimes) -> str:
    """Return the service day where it is not the day of the departure."""
    is_other = row["serviceDay"] != times.local(row["scheduledTime"])[:10]
    return f", of the service day {row['serviceDay']}" if is_other else ""


def _line(line: TimetableLine, times: LocalTimes, day: str) -> str:
    towards = f" to {line['headsign']}" if "headsign" in line else ""
    count = line["departures"]
    return (
        f"{line['routeShortName']}{towards}: {count} {'departure' if count == 1 else 'departures'}, "
        f"first {times.clock(line['first'], day)}, last {times.clock(line['last'], day)}"
    )
