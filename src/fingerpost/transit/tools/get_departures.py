"""get_departures (docs/contracts): the board of a stop."""

from collections.abc import Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Literal, NotRequired

from pydantic import BeforeValidator, Field

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import PublishedTool
from fingerpost.contract.tool_definition import Call, Output, ToolDefinition, ToolReply
from fingerpost.contract.wire import Identifier, Whole, WireDict, WireModel, WordOf, write_stated
from fingerpost.errors import ParameterError
from fingerpost.remedies import Remedy, RemedyKind
from fingerpost.store.variables import VariableStore
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.model.place import Coordinate, Location, Place
from fingerpost.transit.networks.asking import list_departures
from fingerpost.transit.places.candidates import format_count_of_shown
from fingerpost.transit.places.labels import read_label
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.port import DepartureBoard, DepartureQuery
from fingerpost.transit.rules.modes import TripWord, trip_word
from fingerpost.transit.rules.realtime_status import Status, data_freshness, status_of_departure, uses_realtime
from fingerpost.transit.rules.times import format_instant, local_date_of, place_in_time, read_instant
from fingerpost.transit.rules.trip_limits import LONGEST_WALK_M
from fingerpost.transit.rules.warnings import WarningCode, Warnings
from fingerpost.transit.tools.map_shapes import LINE_COLORS, WireLineColors, reply_with_colors
from fingerpost.transit.tools.report import list_board_touched, list_row_paths, report_rides
from fingerpost.transit.tools.shapes import (
    AlertNotes,
    Language,
    Meta,
    WhyEmpty,
    WireWarning,
    read_label_text,
    serialize_warnings,
)
from fingerpost.transit.tools.wording import clock_of, describe_alerts, explain_gap, find_past_message, said_below


class StopRef(WireModel):
    type: Annotated[Literal["id", "label"], Field(description="id: exactly that stop; label: a place by name")]
    value: Annotated[Identifier, Field(max_length=200, description="FEED:ID, saved variable, or stop name")]


class GetDeparturesInput(WireModel):
    stop: Annotated[StopRef, BeforeValidator(read_label_text, json_schema_input_type=StopRef | str)]
    window_minutes: Annotated[Whole, Field(ge=1, le=120, description="how far ahead")] = 30
    limit: Annotated[Whole, Field(ge=1, le=50)] = 10
    language: Language = "en"
    at: Annotated[str | None, Field(max_length=40, description="from then, ISO 8601; else now")] = None
    walk_from: Annotated[
        Identifier | None, Field(max_length=200, description="saved place or lat,lon: also tells when to leave")
    ] = None


class WireDeparture(WireDict):
    line: Annotated[str, Field(min_length=1)]
    mode: TripWord
    destination: Annotated[str, Field(min_length=1)]
    scheduledTime: str
    realtimeTime: NotRequired[str]
    delaySeconds: NotRequired[int]
    status: Annotated[str, WordOf(Status)]
    platform: NotRequired[str]


class WireLeave(WireDict):
    """When to leave for a row of the board, and how far it is; a row without is cancelled, or out of reach."""

    departure: Annotated[int, Field(ge=0, description="row")]
    at: str
    walkMeters: Annotated[int, Field(ge=0)]


class BoardMeta(Meta, AlertNotes, WhyEmpty):
    leaveBy: NotRequired[list[WireLeave]]
    walking: NotRequired[str]
    at: NotRequired[str]


class GetDeparturesOutput(WireDict):
    stopId: str
    stopName: NotRequired[str]
    realtimeUsed: bool
    dataFreshness: str
    departures: list[WireDeparture]
    correlationId: str
    warnings: NotRequired[list[WireWarning]]
    meta: BoardMeta


class GetDepartures(PublishedTool):
    definition = ToolDefinition(
        name="get_departures",
        title="Departure board",
        description=(
            "List the next departures of one stop or station, with delays and cancellations. "
            "Ids come from findAddressOrStop or find_stops. "
            "To travel between two places take plan_trip."
        ),
        contract=Contract.BOARD,
        group="core",
        input_model=GetDeparturesInput,
        outputs=(Output(GetDeparturesOutput, (("departures",),), "Take a smaller limit, or a shorter window."),),
        optional_parts=MappingProxyType({LINE_COLORS: WireLineColors}),
        open_world=True,
        missing_messages={"stop": "stop id missing", "stop.value": "stop id missing"},
    )

    def __init__(self, places: PlaceResolver) -> None:
        self._places = places

    async def handle(self, arguments: GetDeparturesInput, call: Call) -> ToolReply:
        now = int(call.now.timestamp())
        at = "now" if arguments.at is None else arguments.at
        # A time that cannot be read is refused before the stop is looked up (rule A6).
        nearly = read_instant(at, zone_name="UTC", now=now, field="at").instant
        walk_from = await _find_walk_start(arguments.walk_from, self._places.variables, call.user)
        stop = await self._places.get_stop(
            arguments.stop.value,
            is_label=arguments.stop.type == "label",
            user=call.user,
            language=arguments.language,
            instant=nearly,
            focus=walk_from,
        )
        zone = stop.networks[0].profile.zone
        read = read_instant(at, zone_name=zone, now=now, field="at")
        when = place_in_time(read.instant, now)
        query = DepartureQuery(
            stop_ids=stop.place.member_ids,
            instant=when.instant,
            window_s=arguments.window_minutes * 60,
            language=arguments.language,
            wanted=arguments.limit,
            walk_from=walk_from,
        )
        outcome = await list_departures(stop.networks, query)
        warnings = Warnings(stop.warnings)
        warnings.add(WarningCode.TIMEZONE_ASSUMED, read.note)
        warnings.add(WarningCode.IN_THE_PAST, find_past_message(when, zone, "these are the departures"))
        warnings.add_all(outcome.warnings)
        return _answer(arguments, call, stop.place, query, outcome.value, warnings)


async def _find_walk_start(text: str | None, variables: VariableStore, user: str | None) -> Coordinate | None:
    if text is None:
        return None
    label = await read_label(text, variables, user)
    if isinstance(label, Location):
        return label.coordinate
    raise ParameterError.about(
        "walkFrom", f"{text!r} is neither a saved place nor a position", remedy=Remedy(RemedyKind.SAVE_PLACE)
    )


def _answer(
    arguments: GetDeparturesInput,
    call: Call,
    stop: Place,
    query: DepartureQuery,
    board: DepartureBoard,
    warnings: Warnings,
) -> ToolReply:
    shown, zone, now = _choose(query, board), board.provenance.zone, int(call.now.timestamp())
    _warn_of_board(arguments, query, board, shown, warnings)
    touched = list_board_touched(board, shown, "stopId")
    report = report_rides(shown, touched, board.provenance, now, warnings.list_all())
    gap = None if board.found_count else board.gap
    meta = {
        **report.serialize(stop.member_ids),
        "whyEmpty": None if gap is None else explain_gap(gap).say(lambda instant: format_instant(instant, zone)),
        "at": None if query.instant == now else format_instant(query.instant, zone),
        "leaveBy": None if board.walks is None else _list_leaving(board, shown),
        "walking": None if board.walks is None else board.provenance.walking,
    }
    body: GetDeparturesOutput = {
        "stopId": stop.id or arguments.stop.value,
        "stopName": stop.name,
        "realtimeUsed": uses_realtime(shown),
        "dataFreshness": format_instant(data_freshness(shown, now), zone),
        "departures": [serialize_departure(each, zone) for each in shown],
        "correlationId": call.correlation_id,
        **serialize_warnings(report.warnings),
        "meta": write_stated(BoardMeta, meta),
    }
    return reply_with_colors(body, describe_board(body), list_row_paths(shown), call.include)


def describe_board(answer: GetDeparturesOutput) -> str:
    meta, stop_id = answer["meta"], answer["stopId"]
    since = meta.get("at", answer["dataFreshness"])
    start = f", from {meta['at'][:16].replace('T', ' ')} on" if "at" in meta else ""
    lines = [f"Departures from {answer.get('stopName') or stop_id} ({stop_id}), {meta['timeZone']}{start}:"]
    leaving = {each["departure"]: each for each in meta.get("leaveBy", ())}
    now = meta["retrievedAt"]
    lines += [
        _row(each, since) + (_format_leaving(leaving[at], now, since) if at in leaving else "")
        for at, each in enumerate(answer["departures"])
    ] or [" ".join(filter(None, ["No departures in the window.", meta.get("whyEmpty")]))]
    rows = enumerate(answer["departures"])
    parts = [(f"departures/{at}", f"{row['mode']} {row['line']} to {row['destination']}") for at, row in rows]
    alerts = describe_alerts(meta, parts, "every departure", meta["timeZone"])
    return "\n".join(lines + said_below(answer, meta, alerts))


def _list_leaving(board: DepartureBoard, shown: Sequence[Departure]) -> list[WireLeave]:
    zone, walks = board.provenance.zone, board.walks or {}
    return [
        {"departure": at, "at": format_instant(row.expected - walk.seconds, zone), "walkMeters": walk.metres}
        for at, row in enumerate(shown)
        if not row.cancelled and (walk := walks.get(row.stop_id)) is not None
    ]


def _choose(query: DepartureQuery, board: DepartureBoard) -> list[Departure]:
    end = query.instant + query.window_s
    in_window = [departure for departure in board.departures if query.instant <= departure.expected <= end]
    in_window.sort(key=lambda each: (each.expected, each.scheduled, each.line, each.destination, each.trip_id))
    return in_window[: query.wanted]


def serialize_departure(departure: Departure, zone: str) -> WireDeparture:
    """Write a row of the board; a cancelled one has no expected time (rule C1)."""
    row: WireDeparture = {
        "line": departure.line,
        "mode": trip_word(departure.mode),
        "destination": departure.destination,
        "scheduledTime": format_instant(departure.scheduled, zone),
        "status": status_of_departure(departure).value,
    }
    if departure.departure_delay_s is not None and not departure.cancelled:
        row["realtimeTime"] = format_instant(departure.expected, zone)
        row["delaySeconds"] = departure.departure_delay_s
    if departure.platform is not None:
        row["platform"] = departure.platform
    return row


def _row(departure: WireDeparture, since: str) -> str:
    platform = f", platform {departure['platform']}" if departure.get("platform") else ""
    told = {
        "cancelled": " CANCELLED",
        "delayed": f" (expected {clock_of(departure.get('realtimeTime', ''), since)}, {_format_delay(departure)})",
        "on_time": f" (on time{f', {_format_delay(departure)}' if departure.get('delaySeconds') else ''})",
    }.get(departure["status"], "")
    return (
        f"{clock_of(departure['scheduledTime'], since)} {departure['mode']} {departure['line']} "
        f"to {departure['destination']}{platform}{told}"
    )


def _format_delay(departure: WireDeparture) -> str:
    seconds = departure.get("delaySeconds", 0)
    return f"{abs(seconds)} s {'early' if seconds < 0 else 'late'}"


def _warn_of_board(
    arguments: GetDeparturesInput,
    query: DepartureQuery,
    board: DepartureBoard,
    shown: Sequence[Departure],
    warnings: Warnings,
) -> None:
    if arguments.walk_from is not None and not board.walks:
        why = (
            f"{board.provenance.network} does not tell how long the walk takes"
            if board.walks is None
            else f"no walk of {LONGEST_WALK_M:,.0f} m or less leads there"
        )
        message = f"When to leave from {arguments.walk_from!r} is not known: {why}."
        warnings.add(WarningCode.PREFERENCE_UNMET, message)
    if board.found_count > len(shown):
        text = (
            f"{board.found_count} departures are in the window, of which the first {format_count_of_shown(len(shown))}."
        )
        warnings.add(WarningCode.TRUNCATED_RESULTS, text)
    first, last = board.provenance.first_day, board.provenance.last_day
    today = local_date_of(query.instant, board.provenance.zone)
    if not board.found_count and first and last and not first <= today <= last:
        warnings.add(WarningCode.OUTSIDE_CALENDAR, f"The timetable covers {first} to {last} only.")


def _format_leaving(leave: WireLeave, now: str, since: str) -> str:
    if datetime.fromisoformat(leave["at"]) < datetime.fromisoformat(now):
        return f", {leave['walkMeters']} m away: too late to walk"
    return f", leave by {clock_of(leave['at'], since)} ({leave['walkMeters']} m)"
