"""The shapes and texts of a stop's timetable, and how many rows fit an answer."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Annotated, Any, NotRequired

from pydantic import Field

from fingerpost.contract.wire import Flag, PrintedId, Whole, WireDict, WireModel
from fingerpost.transit.rules.modes import TimetableWord
from fingerpost.transit.tools.shapes import AnswerMetadata, TimetableMeta, UtcInstant
from fingerpost.transit.tools.wording import LocalTimes, WhyEmptySentence, describe_alerts, said_below, say_count

DEFAULT_DEPARTURES, MOST_DEPARTURES = 3, 5
DEFAULT_HORIZON_MINUTES, LONGEST_HORIZON_MINUTES = 45, 90
# With ``until`` there may be so many rows; of long names fewer fit into an answer (rule A11).
MOST_ROWS = 200
MOST_LINES = 40


class TimetableRequestInput(WireModel):
    """The question; ``at``, ``until`` and ``wholePlace`` are ours (rule D3)."""

    stop_id: PrintedId
    max_departures: Annotated[Whole, Field(ge=1, description="lowered to 5; all with until")] = DEFAULT_DEPARTURES
    horizon_minutes: Annotated[Whole, Field(ge=1, description="lowered to 90")] = DEFAULT_HORIZON_MINUTES
    at: Annotated[str | None, Field(max_length=40, description="RFC 3339 with offset; else now")] = None
    until: Annotated[str | None, Field(max_length=40, description="up to a day later; in place of minutes")] = None
    whole_place: Annotated[Flag, Field(description="all stops of its place")] = False


class TimetableDeparture(WireDict):
    scheduledTime: UtcInstant
    routeShortName: Annotated[str, Field(min_length=1)]
    routeLongName: NotRequired[str]
    headsign: NotRequired[str]
    mode: TimetableWord
    serviceDay: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class AppliedLimits(WireDict):
    maxDepartures: int
    horizonMinutes: int
    clamped: bool


class TimetableStop(WireDict):
    """The stop whose timetable it is; ``otherStops`` are those of its place that are not in the answer."""

    id: str
    name: str
    otherStops: NotRequired[list[str]]


class TimetableLine(WireDict):
    """A line in one direction: how many departures the window holds, shown or not, and the first and last of them."""

    routeShortName: str
    headsign: NotRequired[str]
    departures: int
    first: UtcInstant
    last: UtcInstant


class StopTimetableMeta(TimetableMeta):
    """Meta of a timetable; its lines where it has an ``until``, and the first departure that is not shown."""

    lines: NotRequired[Annotated[list[TimetableLine], Field(max_length=MOST_LINES)]]
    linesNotShown: NotRequired[int]
    nextDeparture: NotRequired[UtcInstant]
    stop: TimetableStop


class StopTimetableOutput(WireDict):
    departures: Annotated[list[TimetableDeparture], Field(max_length=MOST_ROWS)]
    applied: AppliedLimits
    metadata: AnswerMetadata
    meta: StopTimetableMeta


# Bytes of the answer, then of the text; what is left is for alerts, warnings and where the answer comes from.
MOST_ROW_BYTES, MOST_ROW_TEXT_BYTES = 30_000, 7_500
MOST_LINE_BYTES, MOST_LINE_TEXT_BYTES = 9_000, 3_500
# The text says a time as "Wed 2022-02-23 00:05 " at most, and beside names a mode, brackets and a service day.
_TIME_BYTES, _NAME_BYTES, _LINE_BYTES = 21, 40, 30


def count_fitting(rows: Sequence[TimetableDeparture]) -> int:
    """Return how many of the first rows fit; the text names each line, direction and service day once."""
    named: set[tuple[str, ...]] = set()
    text_bytes = []
    for row in rows:
        names = (row["routeShortName"], row.get("headsign", ""), row.get("routeLongName", ""), row["serviceDay"])
        text_bytes.append(_TIME_BYTES + (0 if names in named else _NAME_BYTES + _bytes_of(names)))
        named.add(names)
    return min(_count(map(_json_bytes, rows), MOST_ROW_BYTES), _count(text_bytes, MOST_ROW_TEXT_BYTES))


def count_fitting_lines(lines: Sequence[TimetableLine]) -> int:
    text_bytes = [
        2 * _TIME_BYTES + _LINE_BYTES + _bytes_of((line["routeShortName"], line.get("headsign", ""))) for line in lines
    ]
    return min(_count(map(_json_bytes, lines), MOST_LINE_BYTES), _count(text_bytes, MOST_LINE_TEXT_BYTES))


def _count(sizes: Iterable[int], most: int) -> int:
    return sum(1 for _ in takewhile(lambda total: total <= most, accumulate(sizes)))


def _json_bytes(part: Mapping[str, Any]) -> int:
    return len(json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()) + 1


def _bytes_of(texts: Iterable[str]) -> int:
    return sum(len(text.encode()) for text in texts)


# A timetable of more rows is told line by line.
ROWS_ONE_BY_ONE = 10


def describe_timetable(answer: StopTimetableOutput, why_empty: WhyEmptySentence | None) -> str:
    """Return the departures in the zone of the place, one a line, or all of a line in one."""
    rows, applied, metadata, meta = answer["departures"], answer["applied"], answer["metadata"], answer["meta"]
    times = LocalTimes(metadata["timeZone"], [row["scheduledTime"] for row in rows], why_empty)
    day = times.day(rows[0]["scheduledTime"]) if rows else ""
    limits = f"at most {applied['maxDepartures']} within {applied['horizonMinutes']} min"
    head = f"Timetable of {meta['stop']['name']} ({meta['stop']['id']})"
    if rows:
        lines = [f"{head}, {day} ({times.zone}), {limits}:"]
    else:
        why = times.explain_empty(metadata)
        lines = [f"{head} ({times.zone}), {limits}: no departures. {why}".rstrip()]
    write = _list_rows if len(rows) <= ROWS_ONE_BY_ONE else _list_by_line
    lines += write(rows, times, day)
    lines += [_line(each, times, day) for each in meta.get("lines", ())]
    remarks = []
    if "linesNotShown" in meta:
        remarks.append(f"! {meta['linesNotShown']} more lines are not shown.")
    if applied["clamped"]:
        lowered = f"maxDepartures is {applied['maxDepartures']}, horizonMinutes {applied['horizonMinutes']}"
        remarks.append(f"! A limit was lowered: {lowered}.")
    if "cancelledLeftOut" in metadata:
        remarks.append(f"! Left out because they are cancelled: {metadata['cancelledLeftOut']}.")
    if "otherStops" in meta["stop"]:
        others = ", ".join(meta["stop"]["otherStops"])
        remarks.append(f"! This stop alone; its place has other stops too ({others}); wholePlace shows all.")
    parts = [(f"departures/{at}", f"{row['mode']} {row['routeShortName']}") for at, row in enumerate(rows)]
    alerts = describe_alerts(meta, [*parts, ("meta/stop", "this stop")], "every departure", metadata["timeZone"])
    return "\n".join(lines + said_below(metadata, meta, remarks + alerts))


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
    is_other = row["serviceDay"] != times.date(row["scheduledTime"])
    return f", of the service day {row['serviceDay']}" if is_other else ""


def _line(line: TimetableLine, times: LocalTimes, day: str) -> str:
    towards = f" to {line['headsign']}" if "headsign" in line else ""
    return (
        f"{line['routeShortName']}{towards}: {say_count(line['departures'], 'departure')}, "
        f"first {times.clock(line['first'], day)}, last {times.clock(line['last'], day)}"
    )
