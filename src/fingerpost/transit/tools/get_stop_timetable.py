"""The getStopTimetable tool: scheduled departures from a stop (rules D1, D3)."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, NotRequired

from pydantic import Field

from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, ToolDefinition, ToolReply
from fingerpost.contract.size_bounds import count_fitting
from fingerpost.contract.wire import Flag, FormattedId, WholeNumber, WireDict, WireModel, omit_none
from fingerpost.errors import ParameterError, RegionUnsupported
from fingerpost.runtime.concurrency import compute
from fingerpost.runtime.grouping import group_by_key
from fingerpost.transit.model.itinerary import Departure
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.networks.querying import UNAVAILABLE, Deadline, try_in_order
from fingerpost.transit.places.candidates import format_count_of_shown
from fingerpost.transit.places.resolver import FoundStop
from fingerpost.transit.port import DepartureBoard, DepartureQuery, Network
from fingerpost.transit.rules.modes import TimetableMode, to_timetable_mode
from fingerpost.transit.rules.times import QueryInstant, format_utc, parse_offset_instant, to_local_date
from fingerpost.transit.rules.warnings import Warning, WarningCode, list_stated  # noqa: A004  # the contract's own name
from fingerpost.transit.tools import wording
from fingerpost.transit.tools.map_shapes import LINE_COLORS, WireLineColors, reply_with_colors
from fingerpost.transit.tools.report import list_row_paths, report_board
from fingerpost.transit.tools.shapes import (
    AnswerMetadata,
    NoResultsReason,
    PlaceTool,
    TimetableMeta,
    UtcInstant,
    serialize_metadata,
)
from fingerpost.transit.tools.wording import WhyEmptySentence

DEFAULT_DEPARTURES, MAX_DEPARTURES = 3, 5
DEFAULT_HORIZON_MINUTES, MAX_HORIZON_MINUTES = 45, 90
# The row limit for queries with ``until``.
MAX_ROWS = 200


class TimetableRequestInput(WireModel):
    stop_id: FormattedId
    max_departures: Annotated[WholeNumber, Field(ge=1, description="capped at 5; with until, all")] = DEFAULT_DEPARTURES
    horizon_minutes: Annotated[WholeNumber, Field(ge=1, description="capped at 90")] = DEFAULT_HORIZON_MINUTES
    at: Annotated[str | None, Field(max_length=40, description="RFC 3339 with offset; defaults to now")] = None
    until: Annotated[str | None, Field(max_length=40, description="at most 24 h after at; replaces horizonMinutes")] = (
        None
    )
    whole_place: Annotated[Flag, Field(description="include all stops of the place")] = False


class TimetableDeparture(WireDict):
    scheduledTime: UtcInstant
    routeShortName: Annotated[str, Field(min_length=1)]
    routeLongName: NotRequired[str]
    headsign: NotRequired[str]
    mode: TimetableMode
    serviceDay: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class AppliedLimits(WireDict):
    maxDepartures: int
    horizonMinutes: int
    clamped: bool


class TimetableStop(WireDict):
    """The stop that the timetable is for; ``otherStops`` lists stops at the same place that are not shown."""

    id: str
    name: str
    otherStops: NotRequired[list[str]]


class StopTimetableMeta(TimetableMeta):
    nextDeparture: NotRequired[UtcInstant]
    stop: TimetableStop


class StopTimetableOutput(WireDict):
    departures: Annotated[list[TimetableDeparture], Field(max_length=MAX_ROWS)]
    applied: AppliedLimits
    metadata: AnswerMetadata
    meta: StopTimetableMeta


# A size limit that leaves room for alerts, warnings and provenance (rule A11).
MAX_ROW_BYTES = 30_000
# In the text, longer timetables are grouped by line and destination.
MAX_SINGLE_ROWS = 10


def _write_text(
    body: StopTimetableOutput, shown: Sequence[Departure], window: "_Window", why_empty: WhyEmptySentence | None
) -> str:
    applied, metadata, meta = body["applied"], body["metadata"], body["meta"]
    zone, stop = metadata["timeZone"], meta["stop"]
    reference = shown[0].scheduled if shown else window.first
    format_time = partial(wording.format_clock, reference=reference, zone=zone, with_seconds=True)
    limits = f"at most {applied['maxDepartures']} within {applied['horizonMinutes']} min"
    head = f"Timetable for {stop['name']} ({stop['id']}), {wording.format_day(reference, zone)}, {limits}:"
    why = [metadata.get("noResultsReason"), None if why_empty is None else why_empty.format(format_time)]
    lines = [head if shown else " ".join([head, "no departures.", *filter(None, why)])]
    if len(shown) <= MAX_SINGLE_ROWS:
        lines += [f"{format_time(row.scheduled)} {_format_row(row, zone)}" for row in shown]
    else:
        clocks = group_by_key((_format_row(row, zone), format_time(row.scheduled)) for row in shown)
        lines += [f"{name}: {' '.join(times)}" for name, times in clocks.items()]
    remarks = []
    if applied["clamped"]:
        remarks.append(f"! A limit was lowered: {limits}.")
    if "cancelledLeftOut" in metadata:
        remarks.append(f"! Cancelled departures left out: {metadata['cancelledLeftOut']}.")
    if "otherStops" in stop:
        others = ", ".join(stop["otherStops"])
        remarks.append(f"! Only this stop is shown, not the others at the same place ({others}); wholePlace shows all.")
    parts = [(path, f"{to_timetable_mode(row.mode)} {row.line}") for path, row in list_row_paths(shown)]
    alerts = wording.list_alert_lines(meta, [*parts, ("meta/stop", "this stop")], "every departure", zone)
    return "\n".join(lines + wording.list_footer_lines(metadata, meta, remarks + alerts))


def _format_row(row: Departure, zone: str) -> str:
    long_name = f" ({row.long_name})" if row.long_name and row.long_name != row.line else ""
    is_other_day = row.service_day != to_local_date(row.scheduled, zone)
    day = f", service day {row.service_day}" if is_other_day else ""
    return f"{to_timetable_mode(row.mode)} {row.line} to {row.destination}{long_name}{day}"


DAY_S = 24 * 3600
# Enough to count all departures in a window.
ALL_DEPARTURES = 10_000
_LANGUAGE = "en"
_NO_TIMETABLES_HINT = "Use get_departures for the next departures, or plan_trip for another time"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    now: int
    when: QueryInstant
    last: int
    max_rows: int
    has_until: bool
    clamped: bool

    @property
    def first(self) -> int:
        return self.when.instant

    @property
    def minutes(self) -> int:
        return -(-(self.last - self.first) // 60)


class GetStopTimetable(PlaceTool):
    definition = ToolDefinition(
        name="getStopTimetable",
        title="Stop timetable",
        description=(
            "Scheduled departures from a stop (by id): the next few, or all from at to until, on any day "
            "(for example, the last bus on a Saturday). For delays, use get_departures."
        ),
        contract=Contract.LOOKUP,
        input_model=TimetableRequestInput,
        outputs=(Output(StopTimetableOutput, (("departures",),), "For the rest, set at to the time of the last row."),),
        warnings_path=("metadata", "warnings"),
        optional_parts={LINE_COLORS: WireLineColors},
        open_world=True,
    )

    async def handle(self, arguments: TimetableRequestInput, call: Call) -> ToolReply:
        window = _read_window(arguments, int(call.now.timestamp()))
        stop = await self._places.get_stop(
            arguments.stop_id, is_label=False, user=None, language=_LANGUAGE, instant=window.first, field="stopId"
        )
        place_search = asyncio.ensure_future(self._find_place(arguments))
        try:
            if arguments.whole_place:
                stop = replace((await place_search)[0] or stop, warnings=stop.warnings)
            query = DepartureQuery(
                stop_ids=stop.place.member_ids,
                instant=window.first,
                window_s=window.last - window.first,
                language=_LANGUAGE,
                wanted=ALL_DEPARTURES,
                by_schedule=True,
            )
            networks = _select_with_timetables(stop.networks)
            outcome = await try_in_order(networks, lambda network: network.list_departures(query), Deadline())
            place, problem = await place_search
        finally:
            place_search.cancel()
        place_ids = () if place is None else place.place.member_ids
        others = [stop_id for stop_id in place_ids if stop_id not in stop.place.member_ids]
        warnings = [
            *stop.warnings,
            *wording.list_time_warnings(window.when, None, "this is the timetable"),
            *outcome.warnings,
            *list_stated((WarningCode.NETWORK_LEFT_OUT, problem)),
        ]
        fields = {"id": stop.place.id or arguments.stop_id, "name": stop.place.name, "otherStops": others or None}
        shown_stop = omit_none(TimetableStop, fields)
        return await compute(_build_reply, shown_stop, window, outcome.value, warnings, call.include)

    async def _find_place(self, arguments: TimetableRequestInput) -> tuple[FoundStop | None, str | None]:
        """Return the place of the stop, or the reason why its other stops are unknown."""
        try:
            return await self._places.find_place_of_stop(arguments.stop_id, language=_LANGUAGE), None
        except UNAVAILABLE as error:
            if arguments.whole_place:
                raise
            return None, f"The other stops of this place are unknown: {error.message}."


def _select_with_timetables(networks: Sequence[Network]) -> Sequence[Network]:
    able = [network for network in networks if network.profile.can(Ability.TIMETABLES)]
    if not able:
        raise RegionUnsupported(f"{networks[0].profile.name} has no timetables", hint=_NO_TIMETABLES_HINT)
    return able


def _read_window(arguments: TimetableRequestInput, now: int) -> _Window:
    when = parse_offset_instant("now" if arguments.at is None else arguments.at, now=now, field="at")
    if arguments.until is None:
        max_rows = min(arguments.max_departures, MAX_DEPARTURES)
        horizon = min(arguments.horizon_minutes, MAX_HORIZON_MINUTES)
        clamped = (max_rows, horizon) != (arguments.max_departures, arguments.horizon_minutes)
        last = when.instant + 60 * horizon
        return _Window(now=now, when=when, last=last, max_rows=max_rows, has_until=False, clamped=clamped)
    until = parse_offset_instant(arguments.until, now=now, field="until").instant
    if not when.instant < until <= when.instant + DAY_S:
        rule = "after at" if until <= when.instant else "at most 24 hours after at"
        raise ParameterError(f"until must be {rule}; at is {format_utc(when.instant)}", {"field": "until"})
    requested = arguments.max_departures if "max_departures" in arguments.model_fields_set else MAX_ROWS
    max_rows = min(requested, MAX_ROWS)
    return _Window(now=now, when=when, last=until, max_rows=max_rows, has_until=True, clamped=max_rows != requested)


def _build_reply(
    stop: TimetableStop, window: _Window, board: DepartureBoard, warnings: Sequence[Warning], include: Collection[str]
) -> ToolReply:
    scheduled = [departure for departure in board.departures if window.first <= departure.scheduled <= window.last]
    running = [row for row in scheduled if not row.cancelled]
    running.sort(key=lambda row: (row.scheduled, row.line, row.destination, row.trip_id))
    rows = [_serialize_departure(row) for row in running[: window.max_rows]]
    shown = running[: _count_shown(running, rows, window)]
    following = format_utc(running[len(shown)].scheduled) if len(shown) < len(running) else None
    more = None if following is None else _format_more(len(running), len(shown), following, window)
    all_warnings = [*warnings, *list_stated((WarningCode.TRUNCATED_RESULTS, more))]
    report = report_board(board, shown, "meta/stop", window.now, all_warnings)
    reason = None if running else _find_reason(window, board)
    why_empty = None if running or board.gap is None else wording.explain_gap(board.gap)
    meta = {
        **report.serialize([stop["id"]], in_utc=True),
        "whyEmpty": None if why_empty is None else why_empty.format(format_utc),
        "nextDeparture": following,
        "stop": stop,
    }
    cancelled = len(scheduled) - len(running)
    body: StopTimetableOutput = {
        "departures": rows[: len(shown)],
        "applied": {"maxDepartures": window.max_rows, "horizonMinutes": window.minutes, "clamped": window.clamped},
        "metadata": serialize_metadata(board.provenance.zone, report.warnings, cancelled=cancelled, reason=reason),
        "meta": omit_none(StopTimetableMeta, meta),
    }
    text = _write_text(body, shown, window, why_empty)
    return reply_with_colors(body, text, list_row_paths(shown), include)


def _count_shown(running: Sequence[Departure], rows: Sequence[TimetableDeparture], window: _Window) -> int:
    """Return how many rows fit; with ``until``, rows with the same time stay together, so later queries repeat none."""
    count = count_fitting(rows, MAX_ROW_BYTES)
    if not window.has_until or count == len(running):
        return count
    following = running[count].scheduled
    return sum(row.scheduled < following for row in running[:count]) or count


def _format_more(count: int, shown: int, following: str, window: _Window) -> str:
    summary = f"{count} departures are in the window; the first {format_count_of_shown(shown)}."
    if window.has_until:
        return f"{summary} For the rest, call again with at {following} and the same until."
    return f"{summary} For later ones, call again with at {following}; for all of them, with until."


def _find_reason(window: _Window, board: DepartureBoard) -> NoResultsReason:
    provenance, gap = board.provenance, board.gap
    # A gap without a next departure means that no departure follows within a day.
    has_ended = gap is not None and gap.next_departure is None
    is_covered = provenance.covers(to_local_date(window.first, provenance.zone)) or (gap is not None and not has_ended)
    if provenance.out_of_service or not is_covered:
        return NoResultsReason.NO_SERVICE
    if window.when.is_past:
        return NoResultsReason.IN_THE_PAST
    return NoResultsReason.NO_SERVICE if has_ended else NoResultsReason.NO_DEPARTURES


def _serialize_departure(departure: Departure) -> TimetableDeparture:
    fields = {
        "scheduledTime": format_utc(departure.scheduled),
        "routeShortName": departure.line,
        "headsign": departure.destination,
        "mode": to_timetable_mode(departure.mode),
        "serviceDay": departure.service_day.isoformat(),
        "routeLongName": departure.long_name,
    }
    return omit_none(TimetableDeparture, fields)
