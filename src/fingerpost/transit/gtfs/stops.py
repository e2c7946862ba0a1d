"""``stops.txt``: stops, stations, entrances and nodes."""

from collections.abc import Sequence
from typing import NamedTuple

from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.findings import Findings, Reason
from fingerpost.transit.gtfs.table import Table
from fingerpost.transit.gtfs.trips import LEFT_OUT
from fingerpost.transit.timetable.draft import StopRow
from fingerpost.transit.timetable.timetable import (
    BOARDING_AREA,
    ENTRANCE,
    NODE,
    STATION,
    STOP,
    WHEELCHAIR_NO,
    WHEELCHAIR_UNKNOWN,
)

# What the parent must be (GTFS, parent_station); a station has none.
_PARENT_KIND = {STOP: STATION, ENTRANCE: STATION, NODE: STATION, BOARDING_AREA: STOP}
# What may lie nowhere in particular (GTFS, stop_lat).
_PLACELESS_KINDS = frozenset({NODE, BOARDING_AREA})


class Stops(NamedTuple):
    """Stops of one feed; ``row_of`` maps a stop id to its row, or to LEFT_OUT."""

    rows: list[StopRow]
    row_of: dict[str, int]

    def list_boardable(self, row: int) -> Sequence[int]:
        """Return the rows of the stops that a stop or station stands for; empty for anything else."""
        if self.rows[row].kind == STOP:
            return [row]
        if self.rows[row].kind == STATION:
            return [child for child, stop in enumerate(self.rows) if stop.parent == row and stop.kind == STOP]
        return []


class _Draft(NamedTuple):
    """A row whose parent has not been looked up yet."""

    line: int
    stop_id: str
    name: str
    place: tuple[float, float] | None
    kind: int
    parent_id: str
    platform: str
    wheelchair: int


def read_stops(archive: Archive, findings: Findings) -> Stops:
    """Read the stops; rows say feed 0.

    A stop, station or entrance without a position is left out; a node or boarding area takes its parent's.
    A missing name is the parent's, else the id, and is counted where GTFS wants one.
    """
    table = archive.get_table("stops.txt", "stop_id")
    drafts: dict[str, _Draft] = {}
    left_out: set[str] = set()
    columns = ("stop_id", "stop_name", "stop_lat", "stop_lon", "location_type", "parent_station", "platform_code")
    for line, (stop_id, name, lat, lon, kind_text, parent, platform, wheelchair) in table.rows(
        *columns, "wheelchair_boarding"
    ):
        if not stop_id or stop_id in drafts or stop_id in left_out:
            findings.add(Reason.ID_REPEATED if stop_id else Reason.ID_MISSING, table.name, line)
            continue
        kind = table.integer(line, "location_type", kind_text, empty=STOP)
        if not STOP <= kind <= BOARDING_AREA:
            findings.add(Reason.STOP_KIND_UNKNOWN, table.name, line)
            left_out.add(stop_id)
            continue
        place = _place(table, line, lat, lon)
        if place is None and kind not in _PLACELESS_KINDS:
            findings.add(Reason.STOP_WITHOUT_PLACE, table.name, line)
            left_out.add(stop_id)
            continue
        access = _wheelchair(table, line, wheelchair, findings)
        drafts[stop_id] = _Draft(line, stop_id, name, place, kind, parent, platform, access)
    return _join(table, drafts, left_out, findings)


def _join(table: Table, drafts: dict[str, _Draft], left_out: set[str], findings: Findings) -> Stops:
    """Give every row its parent, and what it takes from it."""
    parents: dict[str, _Draft] = {}
    kept: list[_Draft] = []
    for draft in drafts.values():
        parent = drafts.get(draft.parent_id)
        if parent is not None and parent.kind == _PARENT_KIND.get(draft.kind):
            parents[draft.stop_id] = parent
        elif draft.parent_id:
            findings.add(Reason.STOP_PARENT_UNAPPLIED, table.name, draft.line)
        if draft.place is None and draft.stop_id not in parents:
            findings.add(Reason.STOP_WITHOUT_PLACE, table.name, draft.line)
            left_out.add(draft.stop_id)
            continue
        kept.append(draft)
    index = {draft.stop_id: row for row, draft in enumerate(kept)}
    rows = []
    for draft in kept:
        parent = parents.get(draft.stop_id)
        name = draft.name or (parent.name if parent else "") or draft.stop_id
        if not draft.name and draft.kind not in _PLACELESS_KINDS:
            findings.add(Reason.STOP_NAME_ASSUMED, table.name, draft.line)
        place = draft.place or (parent.place if parent else None)
        assert place is not None, "a stop without a place and without a parent was left out above"
        if draft.place is None:
            findings.add(Reason.STOP_PLACE_ASSUMED, table.name, draft.line)
        parent_row = index[parent.stop_id] if parent else -1
        rows.append(StopRow(0, draft.stop_id, name, *place, draft.kind, parent_row, draft.platform, draft.wheelchair))
    return Stops(rows, index | dict.fromkeys(left_out, LEFT_OUT))


def _place(table: Table, line: int, lat_text: str, lon_text: str) -> tuple[float, float] | None:
    if not lat_text or not lon_text:
        return None
    lat, lon = table.decimal(line, "stop_lat", lat_text), table.decimal(line, "stop_lon", lon_text)
    return (lat, lon) if -90 <= lat <= 90 and -180 <= lon <= 180 else None


def _wheelchair(table: Table, line: int, text: str, findings: Findings) -> int:
    value = table.integer(line, "wheelchair_boarding", text, empty=WHEELCHAIR_UNKNOWN)
    if WHEELCHAIR_UNKNOWN <= value <= WHEELCHAIR_NO:
        return value
    findings.add(Reason.VALUE_UNKNOWN_ASSUMED, table.name, line)
    return WHEELCHAIR_UNKNOWN
