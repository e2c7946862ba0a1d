"""getStopTimetable (lookup contract): the scheduled departures of a stop (rules D1, D3)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from fingerpost.contract.envelope import Family
from fingerpost.contract.published import Call, PublishedTool, ToolReply
from fingerpost.contract.wire import write_stated
from fingerpost.errors import ParameterError
from fingerpost.runtime.concurrency import compute
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.networks.asking import list_departures
from fingerpost.transit.places.candidates import say_shown
from fingerpost.transit.places.resolver import FoundStop, PlaceResolver
from fingerpost.transit.port import DepartureBoard, DepartureQuery
from fingerpost.transit.rules.modes import timetable_word
from fingerpost.transit.rules.times import AskedInstant, local_date_of, place_in_time, print_utc, read_offset_instant
from fingerpost.transit.rules.warnings import WarningCode, Warnings
from fingerpost.transit.tools.map_shapes import LINE_COLORS, WireLineColors, reply_with_colors
from fingerpost.transit.tools.report import list_board_touched, list_row_paths, report_rides
from fingerpost.transit.tools.shapes import NoResultsReason, show_metadata
from fingerpost.transit.tools.stop_timetable_shapes import (
    LONGEST_HORIZON_MINUTES,
    MOST_DEPARTURES,
    MOST_LINES,
    MOST_ROWS,
    StopTimetableMeta,
    StopTimetableOutput,
    TimetableDeparture,
    TimetableLine,
    TimetableRequestInput,
    TimetableStop,
    count_fitting,
    count_fitting_lines,
    describe_timetable,
)
from fingerpost.transit.tools.wording import explain_gap, find_past_message

DAY_S = 24 * 3600
# Everything that leaves in the window is asked for: what is cancelled, and the lines, are counted over all of it.
EVERYTHING = 10_000
# To choose and to write more than these takes longer than a thread costs.
_QUICK_ROWS = 50
_LANGUAGE = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """What was asked for, resolved: the first and the last instant, both included, and how many rows at most."""

    now: int
    when: AskedInstant
    last: int
    most: int
    is_until: bool
    clamped: bool

    @property
    def first(self) -> int:
        return self.when.instant

    @property
    def minutes(self) -> int:
        return -(-(self.last - self.first) // 60)


class GetStopTimetable(PublishedTool):
    name = "getStopTimetable"
    title = "Stop timetable"
    description = (
        "Scheduled departures of a stop id: the next few, or all from at to until, on any day, "
        "such as a Saturday's last bus. For delays take get_departures."
    )
    family = Family.LOOKUP
    group = "timetable"
    input_model = TimetableRequestInput
    output_shape = StopTimetableOutput
    long_parts = (("departures",), ("meta", "lines"))
    warnings_at = ("metadata", "warnings")
    offers = MappingProxyType({LINE_COLORS: WireLineColors})
    rest = "The rest with at: the time of the last row that is shown."
    open_world = True

    def __init__(self, places: PlaceResolver) -> None:
        self._places = places

    async def handle(self, arguments: TimetableRequestInput, call: Call) -> ToolReply:
        window = _read_window(arguments, int(call.now.timestamp()))
        stop, others = await self._find(arguments, window)
        warnings = Warnings(stop.warnings)
        warnings.add(WarningCode.IN_THE_PAST, find_past_message(window.when, None, "this is the timetable"))
        query = DepartureQuery(
            stop_ids=stop.place.member_ids,
            instant=window.first,
            window_s=window.last - window.first,
            language=_LANGUAGE,
            wanted=EVERYTHING,
            by_schedule=True,
        )
        outcome = await list_departures(stop.networks, query)
        warnings.add_all(outcome.warnings)
        board = outcome.value
        named = {"id": stop.place.id or arguments.stop_id, "name": stop.place.name, "otherStops": others or None}
        shown_stop = write_stated(TimetableStop, named)
        answer = partial(_answer, shown_stop, window, board, warnings, call.wants)
        return await compute(answer) if len(board.departures) > _QUICK_ROWS else answer()

    async def _find(self, arguments: TimetableRequestInput, window: _Window) -> tuple[FoundStop, list[str]]:
        """Return the stop of the id, or its whole place, and the ids of the place's other stops."""
        stop = await self._places.get_stop(
            arguments.stop_id, is_label=False, user=None, language=_LANGUAGE, instant=window.first
        )
        place = await self._places.find_place_of_stop(arguments.stop_id, language=_LANGUAGE)
        if place is None:
            return stop, []
        if arguments.whole_place:
            return replace(place, warnings=stop.warnings), []
        return stop, [each for each in place.place.member_ids if each not in stop.place.member_ids]


def _read_window(arguments: TimetableRequestInput, now: int) -> _Window:
    at = now if arguments.at is None else read_offset_instant(arguments.at, now=now, field="at")
    when = place_in_time(at, now)
    if arguments.until is None:
        most = min(arguments.max_departures, MOST_DEPARTURES)
        horizon = min(arguments.horizon_minutes, LONGEST_HORIZON_MINUTES)
        clamped = (most, horizon) != (arguments.max_departures, arguments.horizon_minutes)
        last = when.instant + 60 * horizon
        return _Window(now=now, when=when, last=last, most=most, is_until=False, clamped=clamped)
    until = read_offset_instant(arguments.until, now=now, field="until")
    if not when.instant < until <= when.instant + DAY_S:
        rule = "after at" if until <= when.instant else "at most 24 hours after at"
        raise ParameterError(f"until must be {rule}; at is {print_utc(when.instant)}", {"field": "until"})
    asked = arguments.max_departures if "max_departures" in arguments.model_fields_set else MOST_ROWS
    most = min(asked, MOST_ROWS)
    return _Window(now=now, when=when, last=until, most=most, is_until=True, clamped=most != asked)


def _answer(
    stop: TimetableStop, window: _Window, board: DepartureBoard, warnings: Warnings, wants: Collection[str]
) -> ToolReply:
    scheduled = [each for each in board.departures if window.first <= each.scheduled <= window.last]
    running = sorted((each for each in scheduled if not each.cancelled), key=_order)
    shown = _fit(running, window)
    provenance = board.provenance
    if len(shown) < len(running):
        warnings.add(WarningCode.TRUNCATED_RESULTS, _say_more(running, len(shown), window))
    touched = list_board_touched(board, shown, "meta/stop")
    report = report_rides(shown, touched, provenance, window.now, warnings.list_all())
    reason = None if running else _find_reason(window, board)
    lines = _list_lines(running if window.is_until else ())
    fitting = lines[: min(MOST_LINES, count_fitting_lines(lines))]
    why_empty = None if running or board.gap is None else explain_gap(board.gap)
    meta = {
        **report.serialize_origin([stop["id"]], in_utc=True),
        **report.serialize_alerts(in_utc=True),
        "whyEmpty": None if why_empty is None else why_empty.say(print_utc),
        "lines": fitting or None,
        "linesNotShown": len(lines) - len(fitting) or None,
        "nextDeparture": print_utc(running[len(shown)].scheduled) if len(shown) < len(running) else None,
        "stop": stop,
    }
    cancelled = len(scheduled) - len(running)
    body: StopTimetableOutput = {
        "departures": [show_departure(each) for each in shown],
        "applied": {"maxDepartures": window.most, "horizonMinutes": window.minutes, "clamped": window.clamped},
        "metadata": show_metadata(provenance.zone, report.warnings, cancelled=cancelled, reason=reason),
        "meta": write_stated(StopTimetableMeta, meta),
    }
    return reply_with_colors(body, list_row_paths(shown), wants, text=describe_timetable(body, why_empty))


def _order(departure: Departure) -> tuple[int, str, str, str]:
    return departure.scheduled, departure.line, departure.destination, departure.trip_id


def _fit(running: Sequence[Departure], window: _Window) -> list[Departure]:
    """Return the first rows, as many as are wanted and fit; where they do not fit, whole instants alone.

    Who goes on from the first instant that is not shown then misses none and sees none twice.
    """
    shown = list(running[: count_fitting([show_departure(each) for each in running[: window.most]])])
    if not window.is_until or len(shown) == len(running):
        return shown
    following = running[len(shown)].scheduled
    return [each for each in shown if each.scheduled < following] or shown


def _say_more(running: Sequence[Departure], shown: int, window: _Window) -> str:
    told = f"{len(running)} departures are in the window, of which the first {say_shown(shown)}."
    following = print_utc(running[shown].scheduled)
    if window.is_until:
        return f"{told} For the rest, ask with at {following} and the same until."
    return f"{told} For later ones, ask with at {following}; for all of them, with until."


def _find_reason(window: _Window, board: DepartureBoard) -> NoResultsReason:
    provenance, gap = board.provenance, board.gap
    day = local_date_of(window.first, provenance.zone)
    first, last = provenance.first_day, provenance.last_day
    is_outside = first is not None and last is not None and not first <= day <= last
    if is_outside or provenance.out_of_service:
        return NoResultsReason.NO_SERVICE
    if window.when.is_past:
        return NoResultsReason.IN_THE_PAST
    # Nothing within a day behind the window, though it is known when the next departure is.
    is_over = gap is not None and gap.next_departure is None
    return NoResultsReason.NO_SERVICE if is_over else NoResultsReason.NO_DEPARTURES


def _list_lines(running: Sequence[Departure]) -> list[TimetableLine]:
    """Return each line in each direction, in the order of the first departures."""
    by_line: dict[tuple[str, str], list[Departure]] = {}
    for each in running:
        by_line.setdefault((each.line, each.destination), []).append(each)
    return [
        {
            "routeShortName": line,
            "headsign": headsign,
            "departures": len(own),
            "first": print_utc(own[0].scheduled),
            "last": print_utc(own[-1].scheduled),
        }
        for (line, headsign), own in by_line.items()
    ]


def show_departure(departure: Departure) -> TimetableDeparture:
    """Write a row: the timetable's time in UTC, and the service day that the trip belongs to."""
    fields = {
        "scheduledTime": print_utc(departure.scheduled),
        "routeShortName": departure.line,
        "headsign": departure.destination,
        "mode": timetable_word(departure.mode),
        "serviceDay": departure.service_day.isoformat(),
        "routeLongName": departure.long_name,
    }
    return write_stated(TimetableDeparture, fields)
