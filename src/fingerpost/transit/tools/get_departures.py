"""get_departures (docs/contracts): the board of a stop."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Annotated, Literal, NotRequired

from pydantic import Field

from fingerpost.contract.envelope import Family
from fingerpost.contract.published import Call, PublishedTool, ToolReply
from fingerpost.contract.wire import Identifier, Whole, WireDict, WireModel, WordOf, write_stated
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.model.place import Place
from fingerpost.transit.networks.asking import list_departures
from fingerpost.transit.places.candidates import say_shown
from fingerpost.transit.places.resolver import PlaceResolver
from fingerpost.transit.port import DepartureBoard, DepartureQuery
from fingerpost.transit.rules.modes import TripWord, trip_word
from fingerpost.transit.rules.realtime_status import (
    Status,
    answer_age_s,
    data_freshness,
    status_of_departure,
    uses_realtime,
)
from fingerpost.transit.rules.times import place_in_time, print_instant, read_instant
from fingerpost.transit.rules.warnings import WarningCode, Warnings
from fingerpost.transit.tools.alert_shapes import AlertNotes, describe_board_alerts, show_board_alerts
from fingerpost.transit.tools.leave_by import Leaving, find_walk_start, say_leaving, show_leaving, warn_of_walks
from fingerpost.transit.tools.map_shapes import LINE_COLORS, WireLineColors, list_row_colors, reply_with_colors
from fingerpost.transit.tools.shapes import Language, Meta, WireWarning, show_meta, show_warnings
from fingerpost.transit.tools.timetable_shapes import WhyEmpty, show_why_empty
from fingerpost.transit.tools.wording import (
    clock_of,
    said_below,
    say_gap,
    warn_of_past,
    warn_of_provenance,
    warn_of_rides,
)


class StopRef(WireModel):
    """A stop, by id or by label."""

    type: Annotated[Literal["id", "label"], Field(description="id: exactly that stop; label: a place by name")]
    value: Annotated[Identifier, Field(max_length=200, description="FEED:ID, saved variable, or stop name")]


class GetDeparturesInput(WireModel):
    """The question."""

    stop: StopRef
    window_minutes: Annotated[Whole, Field(ge=1, le=120, description="how far ahead")] = 30
    limit: Annotated[Whole, Field(ge=1, le=50)] = 10
    language: Language = "en"
    at: Annotated[str | None, Field(max_length=40, description="from then, ISO 8601; else now")] = None
    walk_from: Annotated[
        Identifier | None, Field(max_length=200, description="saved place or lat,lon: also tells when to leave")
    ] = None


class WireDeparture(WireDict):
    """One row of the board."""

    line: Annotated[str, Field(min_length=1)]
    mode: TripWord
    destination: Annotated[str, Field(min_length=1)]
    scheduledTime: str
    realtimeTime: NotRequired[str]
    delaySeconds: NotRequired[int]
    status: Annotated[str, WordOf(Status)]
    platform: NotRequired[str]


class BoardStart(WireDict):
    """When a board of another time than now begins."""

    at: NotRequired[str]


class BoardMeta(Meta, AlertNotes, Leaving, WhyEmpty, BoardStart):
    """Meta of a board; an empty one says why."""


class GetDeparturesOutput(WireDict):
    """The answer."""

    stopId: str
    stopName: NotRequired[str]
    realtimeUsed: bool
    dataFreshness: str
    departures: list[WireDeparture]
    correlationId: str
    warnings: NotRequired[list[WireWarning]]
    meta: BoardMeta


class GetDepartures(PublishedTool):
    """Lists the next departures of a stop."""

    name = "get_departures"
    title = "Departure board"
    description = (
        "List the next departures of one stop or station, with delays and cancellations. "
        "Ids come from findAddressOrStop or find_stops. "
        "To travel between two places take plan_trip."
    )
    family = Family.BOARD
    group = "core"
    input_model = GetDeparturesInput
    output_shape = GetDeparturesOutput
    long_parts = (("departures",),)
    offers = MappingProxyType({LINE_COLORS: WireLineColors})
    rest = "Take a smaller limit, or a shorter window."
    open_world = True
    when_missing = {"stop": "stop id missing", "stop.value": "stop id missing"}  # noqa: RUF012  # a ClassVar mapping

    def __init__(self, places: PlaceResolver) -> None:
        self._places = places

    async def handle(self, arguments: GetDeparturesInput, call: Call) -> ToolReply:
        warnings = Warnings()
        now = int(call.now.timestamp())
        if arguments.at is not None:
            # A time that cannot be read is refused before the stop is looked up (rule A6).
            read_instant(arguments.at, zone_name="UTC", now=now, field="at")
        stop = await self._places.get_stop(
            arguments.stop.value,
            is_label=arguments.stop.type == "label",
            user=call.user,
            language=arguments.language,
            warnings=warnings,
        )
        walk_from = await find_walk_start(arguments.walk_from, self._places.variables, call.user)
        since = _read_start(arguments.at, stop.networks[0].profile.zone, now, warnings)
        query = DepartureQuery(
            stop_ids=stop.place.member_ids,
            instant=since,
            window_s=arguments.window_minutes * 60,
            language=arguments.language,
            wanted=arguments.limit,
            walk_from=walk_from,
        )
        board = await list_departures(stop.networks, query, warnings)
        is_now = arguments.at is None or since == now
        warn_of_walks(board, arguments.walk_from, warnings)
        return _answer(call, stop.place, arguments.stop.value, query, board, warnings, is_now=is_now)

    def describe(self, answer: GetDeparturesOutput) -> str:
        meta, stop_id = answer["meta"], answer["stopId"]
        since = meta.get("at", answer["dataFreshness"])
        start = f", from {meta['at'][:16].replace('T', ' ')} on" if "at" in meta else ""
        lines = [f"Departures from {answer.get('stopName') or stop_id} ({stop_id}), {meta['timeZone']}{start}:"]
        leaving = {each["departure"]: each for each in meta.get("leaveBy", ())}
        now = meta["retrievedAt"]
        lines += [
            _row(each, since) + (say_leaving(leaving[at], now, since) if at in leaving else "")
            for at, each in enumerate(answer["departures"])
        ] or [_say_empty(answer["meta"])]
        return "\n".join(lines + said_below(answer, answer["meta"], describe_board_alerts(answer)))


def _read_start(at: str | None, zone: str, now: int, warnings: Warnings) -> int:
    """Return from when on a board lists (rule C1); what was assumed, and that it lies in the past, is warned of."""
    if at is None:
        return now
    read = read_instant(at, zone_name=zone, now=now, field="at")
    warnings.add(WarningCode.TIMEZONE_ASSUMED, read.note)
    when = place_in_time(read.instant, now)
    if when.is_past:
        warn_of_past(print_instant(when.instant, zone), "these are the departures", warnings)
    return when.instant


def _answer(
    call: Call,
    stop: Place,
    asked: str,
    query: DepartureQuery,
    board: DepartureBoard,
    warnings: Warnings,
    *,
    is_now: bool,
) -> ToolReply:
    """Write the board; every warning is added before the warnings are written."""
    shown = _choose(query, board)
    provenance, now = board.provenance, int(call.now.timestamp())
    age_s = answer_age_s(shown, provenance, now)
    _warn(query, board, shown, warnings)
    warn_of_rides(shown, warnings)
    warn_of_provenance(provenance, age_s, warnings)
    start: BoardStart = {} if is_now else {"at": print_instant(query.instant, provenance.zone)}
    body: GetDeparturesOutput = {
        "stopId": stop.id or asked,
        "stopName": stop.name,
        "realtimeUsed": uses_realtime(shown),
        "dataFreshness": print_instant(data_freshness(shown, now), provenance.zone),
        "departures": [show_departure(each, provenance.zone) for each in shown],
        "correlationId": call.correlation_id,
        **show_warnings(warnings),
        "meta": {
            **show_meta(provenance, ids=stop.member_ids, realtime_age_s=age_s),
            **show_why_empty(_say_why_empty(board, provenance.zone)),
            **start,
            **show_leaving(board, shown),
            **show_board_alerts(board, shown, "stopId", provenance.zone),
        },
    }
    return reply_with_colors(body, list_row_colors(shown), call.wants)


def _say_why_empty(board: DepartureBoard, zone: str) -> str | None:
    if board.gap is None or board.found_count:
        return None
    return say_gap(board.gap, lambda instant: print_instant(instant, zone))


def _say_empty(meta: BoardMeta) -> str:
    return " ".join(filter(None, ["No departures in the window.", meta.get("whyEmpty")]))


def _choose(query: DepartureQuery, board: DepartureBoard) -> list[Departure]:
    end = query.instant + query.window_s
    in_window = (each for each in board.departures if query.instant <= each.expected <= end)
    order = sorted(
        in_window, key=lambda each: (each.expected, each.scheduled, each.line, each.destination, each.trip_id)
    )
    return order[: query.wanted]


def show_departure(departure: Departure, zone: str) -> WireDeparture:
    """Write a row of the board; a cancelled one has no expected time (rule C1)."""
    has_expected = departure.departure_delay_s is not None and not departure.cancelled
    fields = {
        "line": departure.line,
        "mode": trip_word(departure.mode),
        "destination": departure.destination,
        "scheduledTime": print_instant(departure.scheduled, zone),
        "status": status_of_departure(departure).value,
        "realtimeTime": print_instant(departure.expected, zone) if has_expected else None,
        "delaySeconds": departure.departure_delay_s if has_expected else None,
        "platform": departure.platform,
    }
    return write_stated(WireDeparture, fields)


def _row(departure: WireDeparture, since: str) -> str:
    platform = f", platform {departure['platform']}" if departure.get("platform") else ""
    told = {
        "cancelled": " CANCELLED",
        "delayed": f" (expected {clock_of(departure.get('realtimeTime', ''), since)}, {_say_delay(departure)})",
        "on_time": f" (on time{_say_small_delay(departure)})",
    }.get(departure["status"], "")
    return (
        f"{clock_of(departure['scheduledTime'], since)} {departure['mode']} {departure['line']} "
        f"to {departure['destination']}{platform}{told}"
    )


def _say_delay(departure: WireDeparture) -> str:
    seconds = departure.get("delaySeconds", 0)
    return f"{abs(seconds)} s {'early' if seconds < 0 else 'late'}"


def _say_small_delay(departure: WireDeparture) -> str:
    return f", {_say_delay(departure)}" if departure.get("delaySeconds") else ""


def _warn(query: DepartureQuery, board: DepartureBoard, shown: Sequence[Departure], warnings: Warnings) -> None:
    if board.found_count > len(shown):
        text = f"{board.found_count} departures are in the window, of which the first {say_shown(len(shown))}."
        warnings.add(WarningCode.TRUNCATED_RESULTS, text)
    first, last = board.provenance.first_day, board.provenance.last_day
    today = print_instant(query.instant, board.provenance.zone)[:10]
    if not board.found_count and first and last and not first.isoformat() <= today <= last.isoformat():
        warnings.add(WarningCode.OUTSIDE_CALENDAR, f"The timetable covers {first} to {last} only.")
