"""Rows of a departure board, from the engine's stop times."""

from dataclasses import replace

from fingerpost.transit.embedded.board_calls import BoardCall
from fingerpost.transit.embedded.overlay_alerts import Span
from fingerpost.transit.embedded.snapshot import Snapshot
from fingerpost.transit.embedded.timetable_words import TimetableWords
from fingerpost.transit.engine.raptor.board import BoardDeparture
from fingerpost.transit.model.itinerary import Departure


def departure_of(snapshot: Snapshot, words: TimetableWords, shown: BoardCall, language: str) -> Departure:
    """Return a call as a departure with the alerts that touch it; ``language`` is the rider's."""
    call = shown.call
    departure = _departure_of(snapshot, words, shown)
    if not snapshot.overlay.alerts:
        return departure
    ridden = snapshot.find_ridden(call.trip_departure, call.service_day)
    there = Span(*sorted((departure.scheduled, departure.expected)))
    alerts = snapshot.alerts.list_of_ride(ridden, there, ((_stop_of(snapshot, call), there),), language)
    return replace(departure, alerts=alerts)


def _stop_of(snapshot: Snapshot, call: BoardDeparture) -> int:
    """Return the row of the stop where a call is, another platform included."""
    if call.trip_departure < 0:
        return int(snapshot.get_added(call.trip_departure).stop[call.stop_time])
    update = snapshot.find_update(call.trip_departure, call.service_day)
    if update is not None and update.stop is not None:
        return int(update.stop[snapshot.position(call.trip_departure, call.stop_time)])
    return int(snapshot.timetable.stop_time_stop[call.stop_time])


def _departure_of(snapshot: Snapshot, words: TimetableWords, shown: BoardCall) -> Departure:
    """Return a call as a departure; times are the timetable's, with the delay beside them."""
    call = shown.call
    if call.trip_departure < 0:
        return _added(snapshot, words, call)
    table = snapshot.timetable
    trip = int(table.trip_departure_trip[call.trip_departure])
    wording = words.call(trip, call.stop_time)
    stop = words.stop_point(int(table.stop_time_stop[call.stop_time]))
    planned = Departure(
        line=wording.line,
        mode=wording.mode,
        destination=wording.headsign,
        scheduled=snapshot.scheduled(
            call.trip_departure, call.service_day, int(table.stop_time_departure_s[call.stop_time])
        ),
        stop_id=stop.id or "",
        trip_id=wording.trip_id,
        service_day=call.service_day,
        platform=stop.platform,
        headway_s=words.headway_s(call.trip_departure),
        by_arrangement=wording.is_by_arrangement,
        long_name=wording.long_name,
        colors=wording.colors,
    )
    return planned if snapshot.live is snapshot.planned else _with_update(snapshot, words, shown, planned)


def _with_update(snapshot: Snapshot, words: TimetableWords, shown: BoardCall, planned: Departure) -> Departure:
    """Return a departure with what is known of its ride now."""
    call = shown.call
    update = snapshot.find_update(call.trip_departure, call.service_day)
    if shown.is_off:
        return replace(planned, cancelled=True, last_realtime_update=None if update is None else update.updated)
    if update is None:
        return planned
    position = snapshot.position(call.trip_departure, call.stop_time)
    if update.stop is not None:
        stop = words.stop_point(int(update.stop[position]))
        planned = replace(planned, stop_id=stop.id or "", platform=stop.platform)
    # A call of which nothing is told may still be moved by what is told of its neighbours.
    if not update.is_known[position] and call.departure == planned.scheduled:
        return planned
    return replace(
        planned,
        departure_delay_s=call.departure - planned.scheduled,
        last_realtime_update=update.updated,
    )


def _added(snapshot: Snapshot, words: TimetableWords, call: BoardDeparture) -> Departure:
    added = snapshot.get_added(call.trip_departure)
    line, mode = words.line_of_route(added.route)
    stop = words.stop_point(int(added.stop[call.stop_time]))
    planned = snapshot.replacements.find_planned(call.trip_departure, call.stop_time)
    scheduled = call.departure if planned is None else planned.departure
    return Departure(
        line=line,
        mode=mode,
        destination=added.headsign or words.stop_name(int(added.stop[-1])),
        scheduled=scheduled,
        stop_id=stop.id or "",
        trip_id=words.added_trip_id(added),
        service_day=added.service_day,
        departure_delay_s=call.departure - scheduled,
        platform=stop.platform,
        last_realtime_update=added.updated,
        colors=words.colors_of_route(added.route),
    )
