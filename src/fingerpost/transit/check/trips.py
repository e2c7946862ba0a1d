"""Plan trips, and check them against a connection scan of the raw feeds, departure boards and the map."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from fingerpost import clock
from fingerpost.errors import OutsideCalendar, StorageUnavailable, ToolError
from fingerpost.transit.check.check_report import FaultKind, Observation
from fingerpost.transit.check.questions import SPAN_S, Question, QuestionGroup
from fingerpost.transit.check.rows import MAX_TRIP_DAYS
from fingerpost.transit.check.trial import Trial
from fingerpost.transit.check.walking import check_leg, check_pin
from fingerpost.transit.model.itinerary import Itinerary, Optimize
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from fingerpost.transit.rules.times import to_query_instant
from fingerpost.transit.tools.trip_search import find_best

# Scans end this long after a group's time span; later arrivals are not compared.
_SCAN_S = 6 * 3600
_MAX_WALK_M, _MAX_TRANSFERS = 1500, 4
_MORE_WALK_M = 24
_MIN_GAIN_S = 1800


class _Connection(NamedTuple):
    """A trip's segment between successive calls; ``begin`` and ``end`` are stop rows, and times are Unix seconds."""

    departure: int
    trip: int
    position: int
    arrival: int
    begin: int
    end: int
    can_board: bool
    can_alight: bool


class _Label(NamedTuple):
    time: int
    walked_m: int
    rides: int


def _find_earliest_arrival(
    connections: Sequence[_Connection],
    links: Mapping[int, Sequence[tuple[int, int, int]]],
    access: Mapping[int, tuple[int, int]],
    egress: Mapping[int, tuple[int, int]],
    instant: int,
    until: int,
) -> int | None:
    """Return the earliest arrival before ``until``, or None; the connections must be sorted.

    ``links`` maps each stop to its transfers (stop, seconds, metres); ``access`` and ``egress`` map stops to walks
    (metres, seconds).
    The algorithm is a connection scan (Dibbelt et al., 2013) with labels of time, metres and rides. It shares no code
    with RAPTOR. It ignores in-seat and other trip-specific transfers, so RAPTOR may find earlier arrivals.
    """
    at_stops: dict[int, list[_Label]] = {}
    aboard: dict[int, list[_Label]] = {}
    best = until
    for stop, (metres, seconds) in access.items():
        at_stops[stop] = [_Label(instant + seconds, metres, 0)]
    for connection in connections[bisect_left(connections, (instant,)) :]:
        if connection.departure >= best:
            break
        if connection.can_board:
            for label in at_stops.get(connection.begin, ()):
                if label.time <= connection.departure and label.rides <= _MAX_TRANSFERS:
                    ride = _Label(0, label.walked_m, label.rides + 1)
                    _add_label(aboard.setdefault(connection.trip, []), ride)
        if not connection.can_alight:
            continue
        for label in aboard.get(connection.trip, ()):
            metres, seconds = egress.get(connection.end, (_MAX_WALK_M + 1, 0))
            if label.walked_m + metres <= _MAX_WALK_M:
                best = min(best, connection.arrival + seconds)
            for stop, seconds, metres in links.get(connection.end, ()):
                reached = _Label(connection.arrival + seconds, label.walked_m + metres, label.rides)
                if reached.time < best and reached.walked_m <= _MAX_WALK_M:
                    _add_label(at_stops.setdefault(stop, []), reached)
    return best if best < until else None


def _add_label(labels: list[_Label], new: _Label) -> None:
    """Add a label unless an existing one dominates it; remove the labels that the new one dominates."""
    if any(all(one <= other for one, other in zip(label, new, strict=True)) for label in labels):
        return
    labels[:] = [label for label in labels if not all(one <= other for one, other in zip(new, label, strict=True))]
    labels.append(new)


class TripChecker:
    """Checks the network's answers to trip-planning questions."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        table, paths = trial.timetable, trial.timetable.footpaths
        first = paths.first.tolist()
        links = list(zip(paths.to.tolist(), paths.seconds.tolist(), paths.metres.tolist(), strict=True))
        # Trip-specific transfers may forbid or lengthen changes, so scans never change at these stops (-1: any stop).
        specific = set(table.specific_transfer_from_stop.tolist())
        self._links = {
            stop: [*([(stop, change_s, 0)] if change_s >= 0 else []), *links[first[stop] : first[stop + 1]]]
            for stop, change_s in enumerate(table.change_s.tolist())
            if specific.isdisjoint((-1, stop))
        }

    async def check_group(self, group: QuestionGroup) -> list[Observation]:
        until = group.begin + SPAN_S + _SCAN_S
        connections = self._list_connections(group, until)
        observations: list[Observation] = []
        for question in group.questions:
            observations += await self._check(question, connections, until)
        return observations

    def _list_connections(self, group: QuestionGroup, until: int) -> list[_Connection]:
        begin = group.begin - SPAN_S
        connections: list[_Connection] = []
        days = [group.day + timedelta(days=number) for number in range(-MAX_TRIP_DAYS, 2)]
        instance = 0
        for feed in self._trial.feeds:
            rows = {stop: self._trial.stop_rows.get((feed.name, stop), -1) for stop in feed.stops}
            for trip in feed.trips.values():
                first_s, last_s = trip.calls[0].departure_s or 0, trip.calls[-1].arrival_s or 0
                for start in (start for day in days for start in feed.list_starts(trip, day)):
                    if start + last_s < begin or start + first_s > until:
                        continue
                    instance += 1
                    timed = [call for call in trip.calls if call.arrival_s is not None]
                    connections += [
                        _Connection(
                            start + (call.departure_s or 0), instance, position, start + (following.arrival_s or 0),
                            rows[call.stop], rows[following.stop], call.can_board, following.can_alight,
                        )
                        for position, (call, following) in enumerate(pairwise(timed))
                    ]  # fmt: skip
        return sorted(connections)

    async def _check(self, question: Question, connections: Sequence[_Connection], until: int) -> list[Observation]:
        answer = await self._trial.call_tool("plan_trip", _to_arguments(question))
        if type(answer.error) is ToolError or isinstance(answer.error, StorageUnavailable):
            return [Observation(FaultKind.ANSWER_FAILED, f"{question.command}: {answer.error.message}")]
        query = _to_query(question)
        try:
            found = await self._trial.network.plan_journeys(query)
        except OutsideCalendar:
            return []
        observations = list(check_pin(self._trial, question.origin))
        if found.itineraries and answer.is_error:
            observations.append(Observation(FaultKind.ANSWERS_DISAGREE, f"{question.command}: {answer.text}"))
        for itinerary in found.itineraries:
            is_overlapping = any(leg.arrival > following.departure for leg, following in pairwise(itinerary.legs))
            if is_overlapping or itinerary.missed_changes:
                observations.append(Observation(FaultKind.CHANGE_TOO_SHORT, question.command))
            for leg in itinerary.legs:
                if not leg.is_transit:
                    observations += check_leg(self._trial, leg, found.provenance.notes)
        best = find_best(found.itineraries, query)
        observations += self._compare_with_scan(question, query, best, connections, until)
        if best is not None:
            observations += await self._check_boards(question, best)
            observations += await self._check_more_walking(question, query, best)
        return observations

    def _compare_with_scan(
        self,
        question: Question,
        query: JourneyQuery,
        best: Itinerary | None,
        connections: Sequence[_Connection],
        until: int,
    ) -> Iterator[Observation]:
        begin = query.instant
        if query.arrive_by:
            if best is None:
                return
            # Check that no later departure arrives in time.
            begin, until = best.departure + 1, query.instant + 1
        elif best is not None:
            until = min(until, best.arrival)
        access, egress = (
            self._trial.walks.reach(*point, self._trial.boardable_stops, _MAX_WALK_M, from_stops=from_stops).by_stop()
            for point, from_stops in ((question.origin, False), (question.destination, True))
        )
        arrival = _find_earliest_arrival(connections, self._links, access, egress, begin, until)
        if arrival is not None:
            kind = FaultKind.TRIP_NOT_FOUND if best is None else FaultKind.TRIP_NOT_BEST
            found = "no trip" if best is None else f"{_format(best.departure)} to {_format(best.arrival)}"
            better = f"that leaves at {_format(begin)} or later and arrives at {_format(arrival)}"
            yield Observation(kind, f"{question.command}: {found}, but the feed has a trip {better} (UTC)")

    async def _check_boards(self, question: Question, itinerary: Itinerary) -> list[Observation]:
        missing = []
        for leg in itinerary.rides:
            if leg.stays_seated or leg.start.id is None:
                continue
            query = DepartureQuery(
                stop_ids=[leg.start.id], instant=leg.departure_scheduled, window_s=59, wanted=1000, by_schedule=True
            )
            board = await self._trial.network.list_departures(query)
            if (leg.trip_id, leg.departure_scheduled) not in [(row.trip_id, row.scheduled) for row in board.departures]:
                example = f"{question.command}: {leg.line} from {leg.start.id}"
                missing.append(Observation(FaultKind.RIDE_NOT_ON_BOARD, example))
        return missing

    async def _check_more_walking(self, question: Question, query: JourneyQuery, best: Itinerary) -> list[Observation]:
        try:
            wider = await self._trial.network.plan_journeys(replace(query, max_walk_m=_MAX_WALK_M + _MORE_WALK_M))
        except OutsideCalendar:
            # After the last covered day, a query fails if its only answer is a walk.
            return []
        better = find_best(wider.itineraries, query) or best
        gain_s = better.departure - best.departure if query.arrive_by else best.arrival - better.arrival
        if gain_s <= _MIN_GAIN_S:
            return []
        return [Observation(FaultKind.MORE_WALKING_HELPS, f"{question.command}: {gain_s // 60} min")]


def _to_query(question: Question) -> JourneyQuery:
    origin, destination = (
        Location(coordinate=Coordinate(*point), source=LocationSource.INPUT)
        for point in (question.origin, question.destination)
    )
    instant, not_before, _ = to_query_instant(question.instant, int(clock.now().timestamp()))
    return JourneyQuery(
        origin=origin, destination=destination, instant=instant, arrive_by=question.arrive_by, not_before=not_before,
        max_walk_m=_MAX_WALK_M, max_transfers=_MAX_TRANSFERS, optimize=Optimize.SHORTEST_TIME,
    )  # fmt: skip


def _to_arguments(question: Question) -> dict[str, object]:
    origin, destination = (
        {"type": "coords", "value": {"lat": point[0], "lon": point[1]}}
        for point in (question.origin, question.destination)
    )
    return {
        "origin": origin, "destination": destination,
        "when": {"type": "arrive" if question.arrive_by else "depart", "time": question.time},
        "constraints": {"maxWalkingDistance": _MAX_WALK_M, "maxTransfers": _MAX_TRANSFERS},
    }  # fmt: skip


def _format(instant: int) -> str:
    return f"{datetime.fromtimestamp(instant, ZoneInfo('UTC')):%Y-%m-%d %H:%M:%S}"
