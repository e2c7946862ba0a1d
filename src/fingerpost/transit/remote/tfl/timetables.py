"""Ask for the timetables of the lines that call at a stop, every direction of them."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl, unquote, urlsplit

from fingerpost.errors import SourceChanged, StorageUnavailable
from fingerpost.transit.model.itinerary import Mode
from fingerpost.transit.remote.tfl.modes import read_mode
from fingerpost.transit.remote.tfl.server import NOT_FOUND, TflClient, read, read_error
from fingerpost.transit.remote.tfl.shapes import TflStopPoint
from fingerpost.transit.remote.tfl.timetable_choice import RemarkKind, TimetableRemark
from fingerpost.transit.remote.tfl.timetable_shapes import TimetableResponse

# TfL changes its timetables at night, and says of static data that it may be kept for half a day.
TIMETABLES_FRESH_S = 3600.0
# What the limiter lets through within the deadline of a board.
MOST_LINES = 40
_MOST_OPTIONS = 6
_MULTIPLE_CHOICES = 300
_TIMETABLE = "Timetable"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLine:
    """A line that calls at a stop; both by TfL's ids. ``is_platform`` where the station stands for its platform."""

    stop_id: str
    line_id: str
    name: str
    mode: Mode
    is_platform: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTimetable:
    """A line's timetable from a stop, in one direction."""

    line: StopLine
    told: TimetableResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTimetables:
    """The timetables of some lines, when the oldest was told, and what is missing."""

    timetables: Sequence[LineTimetable] = ()
    retrieved_at: datetime | None = None
    remarks: tuple[TimetableRemark, ...] = ()


def list_lines_of(stops: Iterable[TflStopPoint]) -> list[StopLine]:
    """Return the lines of some stops, each once a stop, in the order of their ids."""
    found: dict[tuple[str, str], StopLine] = {}
    for stop in stops:
        modes = {line_id: group.mode_name for group in stop.line_mode_groups for line_id in group.line_identifier}
        only = stop.modes[0] if len(stop.modes) == 1 else None
        # Timetables are told of stations and of single stops, never of a station's platform.
        is_platform = (stop.stop_type or "").endswith("Platform") and stop.station_naptan is not None
        stop_id = stop.station_naptan if is_platform and stop.station_naptan else stop.own_id
        for line in stop.lines:
            found[line.id, stop_id] = StopLine(
                stop_id=stop_id,
                line_id=line.id,
                name=line.name or line.id,
                mode=read_mode(modes.get(line.id) or only),
                is_platform=is_platform,
            )
    return [found[key] for key in sorted(found)]


class TimetableSource:
    """Asks TfL for timetables; a line that it does not answer for is left out and said."""

    def __init__(self, server: TflClient) -> None:
        self._server = server

    async def find(self, lines: Sequence[StopLine]) -> FoundTimetables:
        """Return the timetables of lines.

        Raises:
            StorageUnavailable, SourceChanged: TfL answered for none of them.
        """
        asked = lines[:MOST_LINES]
        remarks = [TimetableRemark(RemarkKind.NOT_ASKED, line.name) for line in lines[MOST_LINES:]]
        remarks += [TimetableRemark(RemarkKind.WHOLE_STATION, line.name) for line in asked if line.is_platform]
        outcomes = await asyncio.gather(*(self._find_line(line) for line in asked), return_exceptions=True)
        timetables: list[LineTimetable] = []
        told_at: list[datetime] = []
        failures: list[StorageUnavailable | SourceChanged] = []
        for line, outcome in zip(asked, outcomes, strict=True):
            if isinstance(outcome, StorageUnavailable | SourceChanged):
                failures.append(outcome)
                remarks.append(TimetableRemark(RemarkKind.NOT_TOLD, line.name))
                continue
            if isinstance(outcome, BaseException):
                raise outcome
            told, retrieved_at = outcome
            told_at.append(retrieved_at)
            timetables += [LineTimetable(line=line, told=each) for each in told]
            if not told:
                remarks.append(TimetableRemark(RemarkKind.NO_TIMETABLE, line.name))
        if failures and len(failures) == len(asked):
            raise failures[0]
        return FoundTimetables(
            timetables=timetables, retrieved_at=min(told_at, default=None), remarks=tuple(dict.fromkeys(remarks))
        )

    async def _find_line(self, line: StopLine) -> tuple[list[TimetableResponse], datetime]:
        """Return a line's timetables from a stop, one for each direction; none where TfL has none."""
        path, params = ["Line", line.line_id, _TIMETABLE, line.stop_id], dict[str, str]()
        told, retrieved_at = await self._ask(path, params)
        if told is None:
            return [], retrieved_at
        if told.timetable is not None and told.timetable.routes:
            return [told], retrieved_at
        options = told.disambiguation.disambiguation_options if told.disambiguation is not None else ()
        questions = [each for each in (read_option(option.uri) for option in options) if each is not None]
        # What TfL offers in words that are not understood is asked for by its two directions.
        if options and not questions:
            questions = [(tuple(path), {"direction": each}) for each in ("inbound", "outbound")]
        answers = await asyncio.gather(
            *(self._ask(list(parts), wanted) for parts, wanted in questions[:_MOST_OPTIONS]), return_exceptions=True
        )
        found: list[TimetableResponse] = []
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            each, asked_at = answer
            retrieved_at = min(retrieved_at, asked_at)
            if each is not None and each.timetable is not None and each.timetable.routes and each not in found:
                found.append(each)
        return found, retrieved_at

    async def _ask(self, path: Sequence[str], params: dict[str, str]) -> tuple[TimetableResponse | None, datetime]:
        """Return what stands at a path, None where TfL says that there is nothing."""
        response = await self._server.fetch(
            *path, params=params, fresh_s=TIMETABLES_FRESH_S, accept=frozenset({_MULTIPLE_CHOICES, NOT_FOUND})
        )
        if response.status == NOT_FOUND:
            read_error(response)
            return None, response.retrieved_at
        return read(TimetableResponse, response), response.retrieved_at


def read_option(uri: str) -> tuple[tuple[str, ...], dict[str, str]] | None:
    """Return the path and the parameters of an option, so that it is asked as ours; None for any other address.

    Options are ``/Line/victoria/Timetable/940GZZLUVIC?direction=inbound`` or name the end, ``.../to/940GZZLUBXN``.
    """
    parts = urlsplit(uri)
    path = tuple(unquote(part) for part in parts.path.strip("/").split("/"))
    is_plain = len(path) in (4, 6) and all(any(map(str.isalnum, part)) for part in path)
    if not is_plain or path[0].lower() != "line" or path[2].lower() != _TIMETABLE.lower():
        return None
    wanted = {name: value for name, value in parse_qsl(parts.query) if name == "direction"}
    return path, wanted
