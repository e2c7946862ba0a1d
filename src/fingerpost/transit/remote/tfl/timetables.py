"""Find the departures in a window from TfL's timetables for the lines at a stop."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from urllib.parse import parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo

from fingerpost.errors import SourceChanged, StorageUnavailable
from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.model.itinerary import Departure, Mode
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.network import BoardRows
from fingerpost.transit.remote.kit.places import StopIdCodec
from fingerpost.transit.remote.tfl import shapes
from fingerpost.transit.remote.tfl.itineraries import list_instants
from fingerpost.transit.remote.tfl.server import MULTIPLE_CHOICES, TflClient
from fingerpost.transit.remote.tfl.timetable_days import RemarkKind, Remarks, choose_schedules, format_remarks

# TfL changes its timetables at night.
TIMETABLES_FRESH_S = 3600.0
# The number of requests that the rate limit allows within a board's deadline.
MAX_LINES = 40
_MAX_OPTIONS = 6
_TIMETABLE = "Timetable"
NOTE = (
    "TfL's timetables give whole minutes, and apply to kinds of days, such as 'Monday - Thursday', not to dates, "
    "so planned works appear only as alerts, if at all."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLine:
    """A line at a stop (TfL's ids); ``is_platform`` is set if ``stop_id`` is the station of a requested platform."""

    stop_id: str
    line_id: str
    name: str
    mode: Mode
    is_platform: bool = False


def list_stop_lines(stops: Iterable[shapes.TflStopPoint]) -> list[StopLine]:
    stop_lines: dict[tuple[str, str], StopLine] = {}
    for stop in stops:
        modes = {line_id: group.mode_name for group in stop.line_mode_groups for line_id in group.line_identifier}
        single_mode = stop.modes[0] if len(stop.modes) == 1 else None
        # TfL has timetables for stations and single stops, but not for a station's platforms.
        is_platform = (stop.stop_type or "").endswith("Platform") and stop.station_naptan is not None
        stop_id = stop.station_naptan if is_platform and stop.station_naptan else stop.server_id
        if stop.lines is None:
            raise SourceChanged(f"TfL returned no lines for the stop {stop.server_id}")
        for line in stop.lines:
            stop_lines[line.id, stop_id] = StopLine(
                stop_id=stop_id,
                line_id=line.id,
                name=line.name or line.id,
                mode=shapes.read_mode(modes.get(line.id) or single_mode),
                is_platform=is_platform,
            )
    return [stop_lines[key] for key in sorted(stop_lines)]


async def find_scheduled(
    server: TflClient, lines: Sequence[StopLine], spans: Sequence[tuple[int, int]], ids: StopIdCodec, zone: ZoneInfo
) -> BoardRows:
    """Return the lines' departures in the given spans; lines whose requests fail are skipped and reported."""
    requested = lines[:MAX_LINES]
    remarks = Remarks(set)
    remarks[RemarkKind.NOT_REQUESTED] = {line.name for line in lines[MAX_LINES:]}
    remarks[RemarkKind.WHOLE_STATION] = {line.name for line in requested if line.is_platform}
    rows: dict[tuple[str, str, int, str], Departure] = {}
    retrieval_times: list[datetime] = []
    failures: list[StorageUnavailable | SourceChanged] = []
    outcomes = await gather_all(_find_or_error(server, line, remarks) for line in requested)
    for line, outcome in zip(requested, outcomes, strict=True):
        if isinstance(outcome, StorageUnavailable | SourceChanged):
            failures.append(outcome)
            remarks[RemarkKind.NO_ANSWER].add(line.name)
            continue
        if not outcome:
            remarks[RemarkKind.NO_TIMETABLE].add(line.name)
        for answer in outcome:
            retrieval_times.append(answer.retrieved_at)
            timetable = LineTimetable(line, answer.data, ids, zone)
            for first, last in spans:
                for row in timetable.list_departures(first, last, remarks):
                    rows.setdefault((row.stop_id, row.line, row.scheduled, row.destination), row)
    if failures and len(failures) == len(requested):
        raise failures[0]
    return BoardRows(
        rows=sorted(rows.values(), key=lambda row: (row.scheduled, row.line)),
        notes=(NOTE, *format_remarks(remarks)),
        retrieved_at=min(retrieval_times, default=None),
    )


async def _find_or_error(
    server: TflClient, line: StopLine, remarks: Remarks
) -> list[Answer[shapes.TimetableResponse]] | StorageUnavailable | SourceChanged:
    try:
        return await _find_line(server, line, remarks)
    except (StorageUnavailable, SourceChanged) as error:
        return error


async def _find_line(server: TflClient, line: StopLine, remarks: Remarks) -> list[Answer[shapes.TimetableResponse]]:
    """Return a line's timetables at a stop, one per direction."""

    async def find(path: Sequence[str], params: Mapping[str, str]) -> Answer[shapes.TimetableResponse] | None:
        accept = frozenset({MULTIPLE_CHOICES})
        reply = await server.find(
            shapes.TimetableResponse, *path, params=params, fresh_s=TIMETABLES_FRESH_S, accept=accept
        )
        if reply is not None and reply.data.is_empty:
            raise SourceChanged(f"TfL returned neither a timetable for {line.name} nor a reason")
        return reply

    path = ("Line", line.line_id, _TIMETABLE, line.stop_id)
    answer = await find(path, {})
    if answer is None or answer.data.routes:
        return [] if answer is None else [answer]
    options = answer.data.options
    requests = [request for request in (read_option(option.uri) for option in options) if request is not None]
    # If no option can be read, request both directions.
    if options and not requests:
        requests = [(path, {"direction": direction}) for direction in ("inbound", "outbound")]
    if len(requests) > _MAX_OPTIONS:
        remarks[RemarkKind.DIRECTIONS_NOT_REQUESTED].add(line.name)
    replies: list[Answer[shapes.TimetableResponse]] = []
    for reply in await gather_all(find(*request) for request in requests[:_MAX_OPTIONS]):
        if reply is not None and reply.data.routes and all(reply.data != earlier.data for earlier in replies):
            replies.append(reply)
    return replies


def read_option(uri: str) -> tuple[tuple[str, ...], dict[str, str]] | None:
    """Return the path and parameters of an option, or None for any other address, which must not receive the key.

    Options look like ``/Line/victoria/Timetable/940GZZLUVIC?direction=inbound`` or end in ``.../to/940GZZLUBXN``.
    """
    parts = urlsplit(uri)
    path = tuple(unquote(part) for part in parts.path.strip("/").split("/"))
    is_plain = len(path) in (4, 6) and all(any(map(str.isalnum, part)) for part in path)
    if not is_plain or path[0].lower() != "line" or path[2].lower() != _TIMETABLE.lower():
        return None
    params = {name: value for name, value in parse_qsl(parts.query) if name == "direction"}
    return path, params


_DAY_MINUTES = 24 * 60
_NOON_MINUTES = 12 * 60


@dataclass(frozen=True, slots=True)
class LineTimetable:
    """A line's timetable at a stop, with wall-clock times in ``zone``."""

    line: StopLine
    response: shapes.TimetableResponse
    ids: StopIdCodec
    zone: ZoneInfo

    def list_departures(self, first: int, last: int, remarks: Remarks) -> list[Departure]:
        rows: list[Departure] = []
        first_day, last_day = (datetime.fromtimestamp(instant, self.zone).date() for instant in (first, last))
        day = first_day - timedelta(days=1)
        while day <= last_day:
            day_remarks = Remarks(set)
            day_rows = self._list_day(day, first, last, day_remarks)
            # The previous day matters only for its night trips, so its remarks are skipped if it has no rows.
            for kind, texts in day_remarks.items() if day_rows or day >= first_day else ():
                remarks[kind] |= texts
            rows += day_rows
            day += timedelta(days=1)
        return rows

    def _list_day(self, day: date, first: int, last: int, remarks: Remarks) -> list[Departure]:
        """Return a service day's departures from ``first`` to ``last``."""
        rows: list[Departure] = []
        midnight = datetime.combine(day, time())
        names = {stop.id: stop.name for stop in (*self.response.stations, *self.response.stops) if stop.name}
        for route in self.response.routes:
            # A pattern that ends at this stop has no intervals.
            destinations = {
                pattern.id: names.get(pattern.intervals[-1].stop_id) or self.line.name
                for pattern in route.station_intervals
                if pattern.intervals
            }
            for schedule, is_night in choose_schedules(route.schedules, day, self.line.name, remarks):
                for journey in schedule.known_journeys or filter(None, (schedule.first_journey, schedule.last_journey)):
                    minutes = _shift_night_minutes(journey.minutes, is_night)
                    # When clocks go back, use the first occurrence of a repeated time.
                    scheduled = list_instants(midnight + timedelta(minutes=minutes), self.zone)[0]
                    if first <= scheduled <= last and (destination := destinations.get(journey.interval_id)):
                        rows.append(self._new_row(day, minutes, scheduled, journey.interval_id, destination))
                if _has_frequency_only(schedule):
                    remarks[RemarkKind.FREQUENCY_ONLY].add(f"{self.line.name} ('{schedule.name}')")
        return rows

    def _new_row(self, day: date, minutes: int, scheduled: int, pattern: int, destination: str) -> Departure:
        line = self.line
        trip_id = f"{line.line_id}-{self.response.direction or 'any'}-{pattern}-{day:%Y%m%d}-{minutes}"
        return Departure(
            line=line.name,
            mode=line.mode,
            destination=destination,
            scheduled=scheduled,
            stop_id=self.ids.encode(line.stop_id),
            trip_id=self.ids.encode_trip(trip_id),
            service_day=day,
        )


def _shift_night_minutes(minutes: int, is_night: bool) -> int:
    """Return minutes since the start of the service day; early hours of a night timetable belong to the next day."""
    return minutes + _DAY_MINUTES if is_night and minutes < _NOON_MINUTES else minutes


def _has_frequency_only(schedule: shapes.Schedule) -> bool:
    """Whether any period of the day has a frequency but no journeys."""
    for period in schedule.periods:
        begin, end = period.from_time.minutes, period.to_time.minutes
        end += _DAY_MINUTES if end <= begin else 0
        if period.headway > 0 and not any(begin <= journey.minutes <= end for journey in schedule.known_journeys):
            return True
    return False
