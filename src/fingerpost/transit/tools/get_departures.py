"""The get_departures tool: the departure board of a stop or station."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, NamedTuple, NotRequired

from pydantic import BeforeValidator, Field

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, ToolDefinition, ToolReply
from fingerpost.contract.wire import EnumValue, Identifier, WholeNumber, WireDict, WireModel, omit_none
from fingerpost.errors import ParameterError, Remedy, RemedyKind
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.model.place import Place
from fingerpost.transit.networks.querying import Deadline, try_in_order
from fingerpost.transit.places.candidates import format_count_of_shown
from fingerpost.transit.port import DepartureBoard, DepartureQuery
from fingerpost.transit.rules.modes import TripMode, to_trip_mode
from fingerpost.transit.rules.preferences import MAX_WALK_M
from fingerpost.transit.rules.realtime_status import Status, find_data_freshness, get_status, uses_realtime
from fingerpost.transit.rules.times import format_instant, parse_instant, to_local_date
from fingerpost.transit.rules.warnings import Warning, WarningCode, list_stated  # noqa: A004  # the contract's own name
from fingerpost.transit.tools import shapes, wording
from fingerpost.transit.tools.map_shapes import LINE_COLORS, WireLineColors, reply_with_colors
from fingerpost.transit.tools.report import Report, list_row_paths, report_board
from fingerpost.transit.tools.wording import FormatTime


class StopRef(WireModel):
    type: Annotated[Literal["id", "label"], Field(description="id: exactly that stop; label: a place by name")]
    value: Annotated[Identifier, Field(max_length=200, description="FEED:ID, saved variable, or stop name")]


class GetDeparturesInput(WireModel):
    stop: Annotated[StopRef, BeforeValidator(shapes.read_label_text, json_schema_input_type=StopRef | str)]
    window_minutes: Annotated[WholeNumber, Field(ge=1, le=120, description="minutes to look ahead")] = 30
    limit: Annotated[WholeNumber, Field(ge=1, le=50)] = 10
    language: shapes.Language = "en"
    at: Annotated[str | None, Field(max_length=40, description="start time, ISO 8601; defaults to now")] = None
    walk_from: Annotated[
        Identifier | None,
        Field(max_length=200, description="saved place, stop id or lat,lon of the rider; adds leave-by times"),
    ] = None


class WireDeparture(WireDict):
    line: Annotated[str, Field(min_length=1)]
    mode: TripMode
    destination: Annotated[str, Field(min_length=1)]
    scheduledTime: str
    realtimeTime: NotRequired[str]
    delaySeconds: NotRequired[int]
    status: Annotated[str, EnumValue(Status)]
    platform: NotRequired[str]


class WireLeave(WireDict):
    """When to start walking to catch a departure; absent for cancelled departures and stops out of reach."""

    departure: Annotated[int, Field(ge=0, description="index in departures")]
    at: str
    walkMeters: Annotated[int, Field(ge=0)]
    missed: NotRequired[bool]


class BoardMeta(shapes.Meta, shapes.AlertNotes):
    whyEmpty: NotRequired[str]
    leaveBy: NotRequired[list[WireLeave]]
    walking: NotRequired[str]
    at: NotRequired[str]


class GetDeparturesOutput(shapes.CorrelatedAnswer):
    stopId: str
    stopName: NotRequired[str]
    realtimeUsed: bool
    dataFreshness: str
    departures: list[WireDeparture]
    meta: BoardMeta


class GetDepartures(shapes.PlaceTool):
    definition = ToolDefinition(
        name="get_departures",
        title="Departure board",
        description=(
            "List the next departures from one stop or station, with delays and cancellations. "
            "Ids come from findAddressOrStop or find_stops. "
            "To travel between two places, use plan_trip."
        ),
        contract=Contract.BOARD,
        input_model=GetDeparturesInput,
        outputs=(Output(GetDeparturesOutput, (("departures",),), "Use a smaller limit, or a shorter window."),),
        optional_parts={LINE_COLORS: WireLineColors},
        open_world=True,
        missing_messages={"stop": "stop id missing", "stop.value": "stop id missing"},
    )

    async def handle(self, arguments: GetDeparturesInput, call: Call) -> ToolReply:
        now = int(call.now.timestamp())
        time = "now" if arguments.at is None else arguments.at
        # Reject invalid times before looking up the stop (rule A6).
        when = parse_instant(time, zone_name="UTC", now=now, field="at")
        walk_from = None
        if arguments.walk_from is not None:
            walk_from = await self._places.find_position(
                arguments.walk_from, language=arguments.language, user=call.user
            )
            if walk_from is None:
                message = f"{arguments.walk_from!r} is not a saved place, a position or a stop id"
                raise ParameterError.about("walkFrom", message, hint=Remedy(RemedyKind.SAVE_PLACE))
        find = partial(
            self._places.get_stop,
            arguments.stop.value,
            is_label=arguments.stop.type == "label",
            user=call.user,
            language=arguments.language,
            focus=walk_from,
        )
        stop = await find(instant=when.instant)
        zone = stop.networks[0].profile.zone
        if when.note is not None:
            # The time zone determines the instant, and the instant determines which networks are in service.
            instant_as_utc = when.instant
            when = parse_instant(time, zone_name=zone, now=now, field="at")
            if not await self._places.has_same_service(instant_as_utc, when.instant):
                stop = await find(instant=when.instant)
        query = DepartureQuery(
            stop_ids=stop.place.member_ids,
            instant=when.instant,
            window_s=arguments.window_minutes * 60,
            language=arguments.language,
            wanted=arguments.limit,
            walk_from=walk_from,
        )
        outcome = await try_in_order(stop.networks, lambda network: network.list_departures(query), Deadline())
        time_warnings = wording.list_time_warnings(when, zone, "these are the departures")
        warnings = [*stop.warnings, *time_warnings, *outcome.warnings]
        report = _report_departures(arguments, stop.place, query, outcome.value, warnings, now)
        body = _serialize(report, arguments, call)
        return reply_with_colors(body, _write_text(report, body), list_row_paths(report.shown), call.include)


class _Leave(NamedTuple):
    """When to start walking to catch a departure (Unix seconds), and the length of the walk."""

    at: int
    metres: int
    is_missed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _BoardReport:
    """The departures to show, with the walks to their stops; ``rides`` holds their warnings and alerts."""

    stop: Place
    query: DepartureQuery
    board: DepartureBoard
    shown: Sequence[Departure]
    leave: Sequence[_Leave | None]
    rides: Report
    now: int

    def format_time(self, instant: int) -> str:
        return format_instant(instant, self.board.provenance.zone)


def _report_departures(
    arguments: GetDeparturesInput,
    stop: Place,
    query: DepartureQuery,
    board: DepartureBoard,
    warnings: Sequence[Warning],
    now: int,
) -> _BoardReport:
    end = query.instant + query.window_s
    in_window = [departure for departure in board.departures if query.instant <= departure.expected <= end]
    in_window.sort(key=lambda row: (row.expected, row.scheduled, row.line, row.destination, row.trip_id))
    shown = in_window[: query.wanted]
    walks = [None if row.cancelled else (board.walks or {}).get(row.stop_id) for row in shown]
    leave = [
        None if walk is None else _Leave(at := row.expected - walk.seconds, walk.metres, at < now)
        for row, walk in zip(shown, walks, strict=True)
    ]
    all_warnings = [*warnings, *_list_board_warnings(arguments, query, board, shown)]
    rides = report_board(board, shown, "stopId", now, all_warnings)
    return _BoardReport(stop=stop, query=query, board=board, shown=shown, leave=leave, rides=rides, now=now)


def _serialize(report: _BoardReport, arguments: GetDeparturesInput, call: Call) -> GetDeparturesOutput:
    board, shown, format_time = report.board, report.shown, report.format_time
    gap = None if board.found_count else board.gap
    leave_by = [
        omit_none(WireLeave, {
            "departure": index,
            "at": format_time(leave.at),
            "walkMeters": leave.metres,
            "missed": leave.is_missed or None,
        })
        for index, leave in enumerate(report.leave)
        if leave is not None
    ]  # fmt: skip
    meta = {
        **report.rides.serialize(report.stop.member_ids),
        "whyEmpty": None if gap is None else wording.explain_gap(gap).format(format_time),
        "at": None if report.query.instant == report.now else format_time(report.query.instant),
        "leaveBy": None if board.walks is None else leave_by,
        "walking": None if board.walks is None else board.provenance.walking,
    }
    return {
        "stopId": report.stop.id or arguments.stop.value,
        "stopName": report.stop.name,
        "realtimeUsed": uses_realtime(shown),
        "dataFreshness": format_time(find_data_freshness(shown, report.now)),
        "departures": [_serialize_departure(row, board.provenance.zone) for row in shown],
        "correlationId": call.correlation_id,
        **shapes.serialize_warnings(report.rides.warnings),
        "meta": omit_none(BoardMeta, meta),
    }


def _serialize_departure(departure: Departure, zone: str) -> WireDeparture:
    """Serialize a departure; a cancelled one has no expected time (rule C1)."""
    delay_s = None if departure.cancelled else departure.departure_delay_s
    fields = {
        "line": departure.line,
        "mode": to_trip_mode(departure.mode),
        "destination": departure.destination,
        "scheduledTime": format_instant(departure.scheduled, zone),
        "status": get_status(departure).value,
        "realtimeTime": None if delay_s is None else format_instant(departure.expected, zone),
        "delaySeconds": delay_s,
        "platform": departure.platform,
    }
    return omit_none(WireDeparture, fields)


def _list_board_warnings(
    arguments: GetDeparturesInput, query: DepartureQuery, board: DepartureBoard, shown: Sequence[Departure]
) -> list[Warning]:
    provenance, count = board.provenance, board.found_count
    unknown = more = covered = None
    if arguments.walk_from is not None and not board.walks:
        no_walk = f"there is no walk of {MAX_WALK_M:,.0f} m or less to the stop"
        if board.walks is None:
            no_walk = f"{provenance.network} does not provide walking times"
        unknown = f"The time to leave from {arguments.walk_from!r} is unknown: {no_walk}."
    if count > len(shown):
        more = f"{count} departures are in the window; the first {format_count_of_shown(len(shown))}."
    if not count and not provenance.covers(to_local_date(query.instant, provenance.zone)):
        covered = f"The timetable covers only {provenance.first_day} to {provenance.last_day}."
    return list_stated(
        (WarningCode.PREFERENCE_UNMET, unknown),
        (WarningCode.TRUNCATED_RESULTS, more),
        (WarningCode.OUTSIDE_CALENDAR, covered),
    )


def _write_text(report: _BoardReport, body: GetDeparturesOutput) -> str:
    meta, stop_id, query, zone = body["meta"], body["stopId"], report.query, report.board.provenance.zone
    start = f", from {meta['at'][:16].replace('T', ' ')} on" if "at" in meta else ""
    head = f"Departures from {body.get('stopName') or stop_id} ({stop_id}), {zone}{start}:"
    reference = find_data_freshness(report.shown, report.now) if query.instant == report.now else query.instant
    format_time = partial(wording.format_clock, reference=reference, zone=zone)
    rows = [
        _format_row(row, format_time) + _format_leave(leave, format_time)
        for row, leave in zip(report.shown, report.leave, strict=True)
    ]
    empty = " ".join(filter(None, ["No departures in the window.", meta.get("whyEmpty")]))
    parts = ((path, _name_row(row)) for path, row in list_row_paths(report.shown))
    alerts = wording.list_alert_lines(meta, parts, "every departure", zone)
    return "\n".join([head, *(rows or [empty]), *wording.list_footer_lines(body, meta, alerts)])


def _name_row(row: Departure) -> str:
    return f"{to_trip_mode(row.mode)} {row.line} to {row.destination}"


def _format_row(row: Departure, format_time: FormatTime) -> str:
    platform = f", platform {row.platform}" if row.platform else ""
    return f"{format_time(row.scheduled)} {_name_row(row)}{platform}{_format_status(row, format_time)}"


def _format_status(row: Departure, format_time: FormatTime) -> str:
    status, delay_s = get_status(row), row.departure_delay_s or 0
    if status is Status.CANCELLED:
        return " CANCELLED"
    if status is Status.SCHEDULED_ONLY:
        return ""
    delay = f", {abs(delay_s)} s {'early' if delay_s < 0 else 'late'}" if delay_s else ""
    return f" (expected {format_time(row.expected)}{delay})" if status is Status.DELAYED else f" (on time{delay})"


def _format_leave(leave: _Leave | None, format_time: FormatTime) -> str:
    if leave is None:
        return ""
    if leave.is_missed:
        return f", {leave.metres} m away: too late to walk"
    return f", leave by {format_time(leave.at)} ({leave.metres} m)"
