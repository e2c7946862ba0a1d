"""``pathways.txt``: which platforms a wheelchair reaches from the street, where the feed does not say it outright."""

from collections import deque
from collections.abc import Iterable, Mapping

from fingerpost.transit.gtfs.archive import Archive
from fingerpost.transit.gtfs.findings import Reason
from fingerpost.transit.gtfs.stops import Stops
from fingerpost.transit.timetable.timetable import (
    BOARDING_AREA,
    ENTRANCE,
    STOP,
    WHEELCHAIR_NO,
    WHEELCHAIR_UNKNOWN,
    WHEELCHAIR_YES,
)

# pathway_mode: walkway, moving walkway, lift, fare gate and exit gate have no step; stairs and escalators have.
_WITHOUT_STEP = frozenset({1, 3, 5, 6, 7})
_WITH_STEP = frozenset({2, 4})

_Ways = dict[int, list[int]]


def apply_pathways(archive: Archive, stops: Stops) -> None:
    """Give platforms a wheelchair value where neither they nor their station have one, but pathways lead to them.

    A platform takes a wheelchair if one gets there from an entrance that takes it (or does not say), and back again,
    without a step; if pathways lead to it and none of these does, it does not. A platform that no pathway touches
    stays unknown.
    """
    table = archive.find_extra("pathways.txt", "from_stop_id", "to_stop_id", "pathway_mode")
    if table is None:
        return
    there: _Ways = {}
    back: _Ways = {}
    touched: set[int] = set()
    for line, (begin_id, end_id, mode_text, both) in table.rows(
        "from_stop_id", "to_stop_id", "pathway_mode", "is_bidirectional"
    ):
        begin, end = stops.row_of.get(begin_id, -1), stops.row_of.get(end_id, -1)
        if begin < 0 or end < 0:
            table.note(Reason.PATHWAY_AT_UNKNOWN_STOP, line, "from_stop_id" if begin < 0 else "to_stop_id")
            continue
        mode = table.integer(line, "pathway_mode", mode_text, -1)
        if mode not in _WITHOUT_STEP | _WITH_STEP:
            table.note(Reason.PATHWAY_UNREADABLE, line, "pathway_mode")
            continue
        touched |= {begin, end}
        if mode in _WITHOUT_STEP:
            for source, target in ((begin, end), (end, begin))[: 2 if both == "1" else 1]:
                there.setdefault(source, []).append(target)
                back.setdefault(target, []).append(source)
    rows = stops.rows
    doors = [row for row, stop in enumerate(rows) if stop.kind == ENTRANCE and stop.wheelchair != WHEELCHAIR_NO]
    reached = _reached(there, doors) & _reached(back, doors)
    # A boarding area lies on its platform.
    on_platform: dict[int, list[int]] = {}
    for row, stop in enumerate(rows):
        if stop.kind == BOARDING_AREA and stop.parent >= 0:
            on_platform.setdefault(stop.parent, []).append(row)
    for row, stop in enumerate(rows):
        parent_value = rows[stop.parent].wheelchair if stop.parent >= 0 else WHEELCHAIR_UNKNOWN
        if stop.kind != STOP or stop.wheelchair != WHEELCHAIR_UNKNOWN or parent_value != WHEELCHAIR_UNKNOWN:
            continue
        places = {row, *on_platform.get(row, ())}
        if places & touched:
            rows[row] = stop._replace(wheelchair=WHEELCHAIR_YES if places & reached else WHEELCHAIR_NO)


def _reached(ways: Mapping[int, list[int]], doors: Iterable[int]) -> set[int]:
    """Return everything that ways lead to from the doors, the doors included."""
    reached = set(doors)
    waiting = deque(reached)
    while waiting:
        for place in ways.get(waiting.popleft(), ()):
            if place not in reached:
                reached.add(place)
                waiting.append(place)
    return reached
