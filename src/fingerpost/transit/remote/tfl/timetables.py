"""Departures within a window from TfL's timetables of the lines that call at a stop."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from urllib.parse import parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo

from fingerpost.errors import SourceChanged, StorageUnavailable
from fingerpost.runtime.concurrency import gather_all
from fingerpost.transit.model.itinerary import Departure, Mode
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.places import StopIdCodec
from fingerpost.transit.remote.tfl import shapes
from fingerpost.transit.remote.tfl.itineraries import list_instants
from fingerpost.transit.remote.tfl.server import MULTIPLE_CHOICES, TflClient
from fingerpost.transit.remote.tfl.timetable_days import ChosenSchedule, RemarkKind, TimetableRemark, choose_schedules

# TfL changes its timetables at night.
TIMETABLES_FRESH_S = 3600.0
# As many as the limiter lets through within the deadline of a board.
MAX_LINES = 40
_MAX_OPTIONS = 6
_TIMETABLE = "Timetable"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLine:
    """A line that calls at a stop, by TfL's ids; ``is_platform`` if ``stop_id`` is the station of a platform."""

    stop_id: str
    line_id: str
    name: str
    mode: Mode
    is_platform: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTimetable:
    line: StopLine
    response: shapes.TimetableResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTimetables:
    timetables: Sequence[LineTimetable] = ()
    retrieved_at: datetime | None = None
    remarks: tuple[TimetableRemark, ...] = ()


def list_lines_of(stops: Iterable[shapes.TflStopPoint]) -> list[StopLine]:
    found: dict[tuple[str, str], StopLine] = {}
    for stop in stops:
        modes = {line_id: group.mode_name for group in stop.line_mode_groups for line_id in group.line_identifier}
        only = stop.modes[0] if len(stop.modes) == 1 else None
        # TfL has timetables of stations and single stops, not of a station's platform.
        is_platform = (stop.stop_type or "").endswith("Platform") and stop.station_naptan is not None
        stop_id = stop.station_naptan if is_platform and stop.station_naptan else stop.own_id
        for line in stop.lines:
            found[line.id, stop_id] = StopLine(
                stop_id=stop_id,
                line_id=line.id,
                name=line.name or line.id,
                mode=shapes.read_mode(modes.get(line.id) or only),
                is_platform=is_platform,
            )
    return [found[key] for key in sorted(found)]


async def find_timetables(server: TflClient, lines: Sequence[StopLine]) -> FoundTimetables:
    """Fetch the timetables of lines; a line without an answer is skipped and reported."""
    requested = lines[:MAX_LINES]
    remarks = [TimetableRemark(RemarkKind.NOT_REQUESTED, line.name) for line in lines[MAX_LINES:]]
    remarks += [TimetableRemark(RemarkKind.WHOLE_STATION, line.name) for line in requested if line.is_platform]
    timetables: list[LineTimetable] = []
    retrieved: list[datetime] = []
    failures: list[StorageUnavailable | SourceChanged] = []
    outcomes = await gather_all(_find_or_fail(server, line) for line in requested)
    for line, outcome in zip(requested, outcomes, strict=True):
        if isinstance(outcome, StorageUnavailable | SourceChanged):
            failures.append(outcome)
            remarks.append(TimetableRemark(RemarkKind.NO_ANSWER, line.name))
            continue
        retrieved += [answer.retrieved_at for answer in outcome]
        timetables += [LineTimetable(line=line, response=answer.data) for answer in outcome]
        if not outcome:
            remarks.append(TimetableRemark(RemarkKind.NO_TIMETABLE, line.name))
    if failures and len(failures) == len(requested):
        raise failures[0]
    return FoundTimetables(
        timetables=timetables, retrieved_at=min(retrieved, default=None), remarks=tuple(dict.fromkeys(remarks))
    )


async def _find_or_fail(
    server: TflClient, line: StopLine
) -> list[Answer[shapes.TimetableResponse]] | StorageUnavailable | SourceChanged:
    try:
        return await _find_line(server, line)
    except (StorageUnavailable, SourceChanged) as error:
        return error


async def _find_line(server: TflClient, line: StopLine) -> list[Answer[shapes.TimetableResponse]]:
    """Return a line's timetables from a stop, one for each direction."""

    async def find(path: Sequence[str], params: Mapping[str, str]) -> Answer[shapes.TimetableResponse] | None:
        accept = frozenset({MULTIPLE_CHOICES})
        return await server.find(
            shapes.TimetableResponse, *path, params=params, fresh_s=TIMETABLES_FRESH_S, accept=accept
        )

    path = ("Line", line.line_id, _TIMETABLE, line.stop_id)
    answer = await find(path, {})
    if answer is None or answer.data.routes:
        return [] if answer is None else [answer]
    options = answer.data.options
    requests = [request for request in (read_option(option.uri) for option in options) if request is not None]
    # If no option can be read, request both directions.
    if options and not requests:
        requests = [(path, {"direction": direction}) for direction in ("inbound", "outbound")]
    found: list[Answer[shapes.TimetableResponse]] = []
    for other in await gather_all(find(*request) for request in requests[:_MAX_OPTIONS]):
        if other is not None and other.data.routes and all(other.data != earlier.data for earlier in found):
            found.append(other)
    return found


def read_option(uri: str) -> tuple[tuple[str, ...], dict[str, str]] | None:
    """Return the path and the parameters of an option; None for any other address, which must not get the key.

    Options are ``/Line/victoria/Timetable/940GZZLUVIC?direction=inbound`` or name the end, ``.../to/940GZZLUBXN``.
    """
    parts = urlsplit(uri)
    path = tuple(unquote(part) for part in parts.path.strip("/").split("/"))
    is_plain = len(path) in (4, 6) and all(any(map(str.isalnum, part)) for part in path)
    if not is_plain or path[0].lower() != "line" or path[2].lower() != _TIMETABLE.lower():
        return None
    wanted = {name: value for name, value in parse_qsl(parts.query) if name == "direction"}
    return path, wanted


_DAY_MINUTES = 24 * 60
_NOON_MINUTES = 12 * 60
_ROOM_MINUTES = 120
_IN_MINUTES = "frequencyminutes"
_MAX_DESTINATIONS = 3


@dataclass(frozen=True, slots=True)
class _StopTime:
    """A departure of a service day, in minutes since its midnight; ``headway_minutes`` if it is of a frequency."""

    minutes: int
    destination: str
    pattern: str
    headway_minutes: int | None = None


@dataclass(frozen=True, slots=True)
class TimetableReader:
    """Lists the departures of timetables, whose wall clock is in ``zone``."""

    ids: StopIdCodec
    zone: ZoneInfo

    def list_departures(
        self, timetables: Sequence[LineTimetable], first: int, last: int
    ) -> tuple[list[Departure], tuple[TimetableRemark, ...]]:
        rows: dict[tuple[str, str, int, str], Departure] = {}
        remarks: list[TimetableRemark] = []
        begin = self._local_date(first) - timedelta(days=1)
        for timetable in timetables:
            for step in range((self._local_date(last) - begin).days + 1):
                day = begin + timedelta(days=step)
                of_day, more = self._list_day(timetable, day, first, last)
                # Of the day before only the night matters: no remarks unless it has rows.
                if of_day or day >= self._local_date(first):
                    remarks += more
                for row in of_day:
                    rows.setdefault((row.stop_id, row.line, row.scheduled, row.destination), row)
        return sorted(rows.values(), key=lambda row: (row.scheduled, row.line)), tuple(dict.fromkeys(remarks))

    def _list_day(
        self, timetable: LineTimetable, day: date, first: int, last: int
    ) -> tuple[list[Departure], list[TimetableRemark]]:
        """Return a service day's departures from ``first`` to ``last``."""
        response, line = timetable.response, timetable.line.name
        stop_times: list[_StopTime] = []
        remarks: list[TimetableRemark] = []
        begin, end = self._minutes_of(first, day) - _ROOM_MINUTES, self._minutes_of(last, day) + _ROOM_MINUTES
        names = {stop.id: stop.name for stop in (*response.stations, *response.stops) if stop.name}
        for route in response.routes:
            chosen, more = choose_schedules(route.schedules, day, line)
            remarks += more
            destinations = _list_destinations(route, names, line)
            for choice in chosen:
                stop_times += _list_stop_times(choice, destinations, begin, end)
                if _has_unknown_frequency(choice.schedule):
                    remarks.append(TimetableRemark(RemarkKind.FREQUENCY_UNKNOWN, line, f"'{choice.schedule.name}'"))
        rows = [self._row(timetable, stop_time, day) for stop_time in stop_times]
        return [row for row in rows if first <= row.scheduled <= last], remarks

    def _minutes_of(self, instant: int, day: date) -> int:
        shown = datetime.fromtimestamp(instant, self.zone).replace(tzinfo=None)
        return int((shown - datetime.combine(day, time())).total_seconds() // 60)

    def _row(self, timetable: LineTimetable, stop_time: _StopTime, day: date) -> Departure:
        line = timetable.line
        days_later, minutes = divmod(stop_time.minutes, _DAY_MINUTES)
        shown = datetime.combine(day + timedelta(days=days_later), time(minutes // 60, minutes % 60))
        direction = timetable.response.direction or "any"
        trip_id = f"{line.line_id}-{direction}-{stop_time.pattern}-{day:%Y%m%d}-{stop_time.minutes}"
        return Departure(
            line=line.name,
            mode=line.mode,
            destination=stop_time.destination,
            # In the hour that clocks show twice, the first counts.
            scheduled=list_instants(shown, self.zone)[0],
            stop_id=self.ids.encode(line.stop_id),
            trip_id=self.ids.encode_trip(trip_id),
            service_day=day,
            headway_s=None if stop_time.headway_minutes is None else stop_time.headway_minutes * 60,
        )

    def _local_date(self, instant: int) -> date:
        return datetime.fromtimestamp(instant, self.zone).date()


def _list_destinations(route: shapes.TimetableRoute, names: dict[str, str], line: str) -> dict[int, str]:
    """Return the destination of each pattern by its id; one that ends at this stop has none."""
    last_ids = {
        interval.id: interval.intervals[-1].stop_id for interval in route.station_intervals if interval.intervals
    }
    return {pattern: names.get(stop_id) or line for pattern, stop_id in last_ids.items()}


def _list_stop_times(chosen: ChosenSchedule, destinations: dict[int, str], begin: int, end: int) -> Iterator[_StopTime]:
    """Yield the departures in a span of minutes: known journeys, and frequencies where there are none."""
    schedule = chosen.schedule
    journeys = schedule.known_journeys or list(filter(None, (schedule.first_journey, schedule.last_journey)))
    for journey in journeys:
        minutes = _of_night(journey.minutes, chosen.is_night)
        if begin <= minutes <= end and journey.interval_id in destinations:
            yield _StopTime(minutes, destinations[journey.interval_id], str(journey.interval_id))
    if not schedule.periods:
        return
    known = {journey.minutes for journey in journeys}
    # TfL does not say which branch a frequency belongs to.
    destination = " or ".join(list(dict.fromkeys(destinations.values()))[:_MAX_DESTINATIONS])
    for period in schedule.periods:
        headway = _headway_minutes(period)
        if headway is None or not destination:
            continue
        first, last = _bounds_of(period)
        if any(first < minutes < last for minutes in known):
            continue
        for begins in range(first, last, headway):
            minutes = _of_night(begins, chosen.is_night)
            if begin <= minutes <= end and begins not in known:
                yield _StopTime(minutes, destination, "every", headway)


def _of_night(minutes: int, is_night: bool) -> int:
    """Return minutes of the service day, moving a night's early hours to the next day."""
    return minutes + _DAY_MINUTES if is_night and minutes < _NOON_MINUTES else minutes


def _bounds_of(period: shapes.FrequencyPeriod) -> tuple[int, int]:
    begin, end = period.from_time.minutes, period.to_time.minutes
    return begin, end + _DAY_MINUTES if end <= begin else end


def _headway_minutes(period: shapes.FrequencyPeriod) -> int | None:
    """Return the longest time between two departures, rounded up; None if it is not in minutes."""
    if period.frequency is None or period.type.lower() != _IN_MINUTES:
        return None
    longest = max(period.frequency.lowest_frequency, period.frequency.highest_frequency)
    return None if longest <= 0 else max(1, -int(-longest // 1))


def _has_unknown_frequency(schedule: shapes.Schedule) -> bool:
    """Whether a part of the day has only a frequency in an unknown unit."""
    for period in schedule.periods:
        kind, (begin, end) = period.type.lower(), _bounds_of(period)
        is_unknown = kind.startswith("frequency") and kind != _IN_MINUTES and period.frequency is not None
        if is_unknown and not any(begin <= journey.minutes <= end for journey in schedule.known_journeys):
            return True
    return False
