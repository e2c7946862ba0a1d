"""Run all checks on a network: its rows, walks from its stops, and planned trips."""

import random
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise

import numpy as np

from fingerpost import clock
from fingerpost.errors import OutsideCalendar, StorageUnavailable, ToolError
from fingerpost.transit.check.check_report import CheckReport, CheckResult, FaultKind, Observation, summarize
from fingerpost.transit.check.import_faults import compare_rows, list_import_faults
from fingerpost.transit.check.questions import Question, draw_questions, format_point, shift
from fingerpost.transit.check.trial import Trial
from fingerpost.transit.engine.timetable.timetable import Int64
from fingerpost.transit.engine.timetable.walks import straight_line_m
from fingerpost.transit.model.geodesy import Point
from fingerpost.transit.model.itinerary import Itinerary, Leg, LineSource, Optimize
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.osm.extract_file import ReadProgress, ignore_progress
from fingerpost.transit.osm.streets.street_walks import StreetWalks
from fingerpost.transit.port import DepartureQuery, JourneyQuery
from fingerpost.transit.rules.preferences import MAX_WALK_M
from fingerpost.transit.rules.times import to_query_instant
from fingerpost.transit.tools.trip_search import find_best

MAX_STOPS_FOR_WALK_CHECKS = 1000


async def run_checks(
    trial: Trial, today: date, *, questions: int, seed: int, progress: ReadProgress = ignore_progress
) -> CheckReport:
    """Run all checks, with about ``questions`` random trips; the same seed produces the same trips."""
    rng = random.Random(seed)  # noqa: S311  (questions, not secrets)
    row_observations = [*list_import_faults(trial, today), *compare_rows(trial)]
    rows = sum(feed.events for feed in trial.report.feeds)
    results: list[CheckResult] = [summarize("rows", rows, "stop times", row_observations)]
    boardable = trial.boardable_stops.tolist()
    stops = np.array(sorted(rng.sample(boardable, min(MAX_STOPS_FOR_WALK_CHECKS, len(boardable)))), np.int64)
    if trial.network.walks.streets is not None:
        results.append(summarize("walks", len(stops), "stops", check_stops(trial, stops)))
    drawn = draw_questions(trial, rng, questions)
    observations: list[Observation] = []
    for number, question in enumerate(drawn):
        progress("planning trips", number, len(drawn))
        observations += await check_trip(trial, question)
    results.append(summarize("trips", len(drawn), "questions", observations))
    return CheckReport(network=trial.report.network, days=trial.report.days, seed=seed, results=tuple(results))


# The offsets of probe points from a stop: this distance times each (north, east) pair.
_PROBE_DISTANCE_M = 150.0
_SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1), (2, 2), (-2, -2), (2, -2), (-2, 2))
# Riders within this straight-line distance of a stop must be able to walk to it, unless water is in between.
_NEARBY_M = 120.0


def check_stops(trial: Trial, stops: Int64) -> Iterator[Observation]:
    """Yield off-street stops, and stops that cannot be reached or left on foot."""
    walks, table = trial.walks, trial.timetable
    if not isinstance(walks, StreetWalks):
        return
    for stop in stops.tolist():
        lat, lon = float(table.stop_lat[stop]), float(table.stop_lon[stop])
        name = f"{table.stop_printed_id[stop]} at {lat:.6f},{lon:.6f}"
        street = walks.find_street_point(lat, lon)
        if street is None:
            yield Observation(FaultKind.STOP_OFF_STREETS, name)
            continue
        probes = [shift(lat, lon, *(side * _PROBE_DISTANCE_M for side in sides)) for sides in _SIDES]
        probes = [point for point in probes if walks.find_street_point(*point) not in (None, street)]
        row = np.array([stop], np.int64)
        for kind, from_stops in ((FaultKind.STOP_UNREACHABLE, False), (FaultKind.STOP_WITHOUT_EXIT, True)):
            if probes and not any(
                len(walks.reach(*point, row, MAX_WALK_M, from_stops=from_stops).stop) for point in probes
            ):
                yield Observation(kind, name)


def _check_pin(trial: Trial, point: Point) -> Iterator[Observation]:
    """Yield the point if a stop is nearby but no stop can be reached on foot."""
    table, boardable = trial.timetable, trial.boardable_stops
    if len(trial.walks.reach(*point, boardable, MAX_WALK_M, from_stops=False).stop):
        return
    distances_m = straight_line_m(*point, table.stop_lat[boardable], table.stop_lon[boardable])
    for row in np.flatnonzero(distances_m <= _NEARBY_M).tolist():
        stop = int(boardable[row])
        position = float(table.stop_lat[stop]), float(table.stop_lon[stop])
        if trial.water.is_dry(point, position):
            yield Observation(FaultKind.PIN_ISOLATED, f"{format_point(point)}, near {table.stop_printed_id[stop]}")
            return


def _check_leg(trial: Trial, leg: Leg, notes: Sequence[str]) -> Iterator[Observation]:
    """Yield the first or last segment of a walk if it crosses water or leads to a place far from every street."""
    line = trial.network.find_line(leg)
    walks = trial.walks
    if line is None or not isinstance(walks, StreetWalks):
        return
    is_straight = line.source is LineSource.STRAIGHT
    for side, place, segment in (("origin", leg.start, line.points[:2]), ("destination", leg.end, line.points[-2:])):
        row = trial.network.stops.find_row(place.id)
        if row is not None and walks.has_entrance(row) and not is_straight:
            continue
        is_far = row is None and walks.find_street_point(*place.coordinate.point) is None
        if is_far or not trial.water.is_dry(segment[0], segment[-1]):
            name = side if row is None else place.name
            is_warned = any(name in note and "water" in note for note in notes)
            kind = FaultKind.WALK_MAY_CROSS_WATER if is_warned else FaultKind.WALK_CROSSES_WATER
            yield Observation(kind, f"{format_point(segment[0])} to {format_point(segment[-1])}")


# The limits of the planned trips.
_TRIP_WALK_M, _TRIP_TRANSFERS = 1500, 4


async def check_trip(trial: Trial, question: Question) -> list[Observation]:
    """Check the network's answer to a trip-planning question."""
    answer = await trial.call_tool("plan_trip", _to_arguments(question))
    if type(answer.error) is ToolError or isinstance(answer.error, StorageUnavailable):
        return [Observation(FaultKind.ANSWER_FAILED, f"{question.command}: {answer.error.message}")]
    query = _to_query(question)
    try:
        found = await trial.network.plan_journeys(query)
    except OutsideCalendar:
        return []
    observations = list(_check_pin(trial, question.origin))
    if found.itineraries and answer.is_error:
        observations.append(Observation(FaultKind.ANSWERS_DISAGREE, f"{question.command}: {answer.text}"))
    for itinerary in found.itineraries:
        is_overlapping = any(leg.arrival > following.departure for leg, following in pairwise(itinerary.legs))
        if is_overlapping or itinerary.missed_changes:
            observations.append(Observation(FaultKind.CHANGE_TOO_SHORT, question.command))
        for leg in itinerary.legs:
            if not leg.is_transit:
                observations += _check_leg(trial, leg, found.provenance.notes)
    if (best := find_best(found.itineraries, query)) is not None:
        observations += await _check_boards(trial, question, best)
    return observations


async def _check_boards(trial: Trial, question: Question, itinerary: Itinerary) -> list[Observation]:
    missing = []
    for leg in itinerary.rides:
        if leg.stays_seated or leg.start.id is None:
            continue
        query = DepartureQuery(
            stop_ids=[leg.start.id], instant=leg.departure_scheduled, window_s=59, wanted=1000, by_schedule=True
        )
        board = await trial.network.list_departures(query)
        if (leg.trip_id, leg.departure_scheduled) not in [(row.trip_id, row.scheduled) for row in board.departures]:
            example = f"{question.command}: {leg.line} from {leg.start.id}"
            missing.append(Observation(FaultKind.RIDE_NOT_ON_BOARD, example))
    return missing


def _to_query(question: Question) -> JourneyQuery:
    origin, destination = (
        Location(coordinate=Coordinate(*point), source=LocationSource.INPUT)
        for point in (question.origin, question.destination)
    )
    instant, not_before, _ = to_query_instant(question.instant, int(clock.now().timestamp()))
    return JourneyQuery(
        origin=origin, destination=destination, instant=instant, arrive_by=question.arrive_by, not_before=not_before,
        max_walk_m=_TRIP_WALK_M, max_transfers=_TRIP_TRANSFERS, optimize=Optimize.SHORTEST_TIME,
    )  # fmt: skip


def _to_arguments(question: Question) -> dict[str, object]:
    origin, destination = (
        {"type": "coords", "value": {"lat": point[0], "lon": point[1]}}
        for point in (question.origin, question.destination)
    )
    return {
        "origin": origin, "destination": destination,
        "when": {"type": "arrive" if question.arrive_by else "depart", "time": question.time},
        "constraints": {"maxWalkingDistance": _TRIP_WALK_M, "maxTransfers": _TRIP_TRANSFERS},
    }  # fmt: skip
