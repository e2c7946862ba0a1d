"""Rows of a board: what leaves, when it is expected, and what does not leave after all."""

from fingerpost.transit.model import Departure
from fingerpost.transit.providers.embedded.snapshot import Snapshot
from fingerpost.transit.providers.embedded.timetable_words import TimetableWords
from fingerpost.transit.raptor.board import BoardCall


def is_call_off(snapshot: Snapshot, call: BoardCall) -> bool:
    """Whether a call of the timetable will not happen: its ride is cancelled, or passes the stop."""
    update = snapshot.find_update(call.run, call.service_day)
    if update is None:
        return False
    return update.is_cancelled or bool(update.is_skipped[snapshot.position(call.run, call.event)])


def departure_of(snapshot: Snapshot, words: TimetableWords, call: BoardCall) -> Departure:
    """Return a call as a departure; times are the timetable's, with the delay beside them."""
    if call.run < 0:
        return _added(snapshot, words, call)
    table = snapshot.timetable
    trip = int(table.run_trip[call.run])
    line, mode = words.line(trip)
    update = snapshot.find_update(call.run, call.service_day)
    position = snapshot.position(call.run, call.event)
    row = int(table.event_stop[call.event])
    if update is not None and update.stop is not None:
        row = int(update.stop[position])
    is_off = update is not None and is_call_off(snapshot, call)
    is_told = update is not None and not is_off and bool(update.is_known[position])
    stop = words.stop_point(row)
    scheduled = snapshot.scheduled(call.run, call.service_day, int(table.event_departure_s[call.event]))
    return Departure(
        line=line,
        mode=mode,
        destination=words.headsign(trip, call.event),
        scheduled=scheduled,
        stop_id=stop.id or "",
        trip_id=words.trip_id(trip),
        service_day=call.service_day,
        departure_delay_s=call.departure - scheduled if is_told else None,
        cancelled=is_off,
        platform=stop.platform,
        last_realtime_update=update.updated if update is not None and (is_off or is_told) else None,
        headway_s=words.headway_s(call.run),
        by_arrangement=words.is_by_arrangement(call.event),
    )


def _added(snapshot: Snapshot, words: TimetableWords, call: BoardCall) -> Departure:
    added = snapshot.get_added(call.run)
    line, mode = words.line_of_route(added.route)
    stop = words.stop_point(int(added.stop[call.event]))
    return Departure(
        line=line,
        mode=mode,
        destination=added.headsign or words.stop_name(int(added.stop[-1])),
        scheduled=call.departure,
        stop_id=stop.id or "",
        trip_id=added.trip_id,
        service_day=added.service_day,
        departure_delay_s=0,
        platform=stop.platform,
        last_realtime_update=added.updated,
    )
