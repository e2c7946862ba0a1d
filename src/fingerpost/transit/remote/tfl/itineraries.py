"""Itineraries, from TfL's journeys: wall-clock times become instants, legs become rides and walks."""

import math
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import Itinerary, Leg, LegLine, ServiceAlert, StopPoint
from fingerpost.transit.model.place import Coordinate, Location
from fingerpost.transit.remote.kit.journeys import ON_STREET, UNNAMED, draw_points, own_name
from fingerpost.transit.remote.kit.stop_ids import StopIdBook
from fingerpost.transit.remote.tfl.alerts import list_leg_alerts, list_lift_alerts, list_line_alerts
from fingerpost.transit.remote.tfl.shapes import (
    JourneyResult,
    LegPoint,
    LiftDisruption,
    OwnJourney,
    TflLeg,
    TflLine,
    read_mode,
)
from fingerpost.transit.remote.tfl.wire_times import choose_after, choose_instant, list_instants

_MINUTE_S = 60
UNPLACED = Coordinate(math.nan, math.nan)
"""Where a point lies of which TfL does not say that; good for the summary of a journey, and for nothing else."""


class ItineraryReader:
    """Reads journeys of one network.

    Args:
        ids: prints stop ids.
        zone: of the wall clock.
    """

    def __init__(self, ids: StopIdBook, zone: ZoneInfo) -> None:
        self._ids = ids
        self._zone = zone

    def list_itineraries(
        self,
        told: JourneyResult,
        *,
        instant: int,
        arrive_by: bool,
        ends: tuple[Location | None, Location | None] = (None, None),
        lifts: Sequence[LiftDisruption] = (),
    ) -> list[Itinerary]:
        """Return the journeys as itineraries, those that are no longer there when asked for included.

        ``instant`` tells which of two hours is meant where clocks show both; ``ends`` are the trip's own.
        """
        return [
            self._read(journey, told.lines, instant, arrive_by, ends, lifts)
            for journey in told.journeys
            if journey.legs
        ]

    def _read(
        self,
        journey: OwnJourney,
        lines: Sequence[TflLine],
        instant: int,
        arrive_by: bool,
        ends: tuple[Location | None, Location | None],
        lifts: Sequence[LiftDisruption],
    ) -> Itinerary:
        here = self._begin(journey, instant, arrive_by)
        legs = []
        last = len(journey.legs) - 1
        for at, leg in enumerate(journey.legs):
            departure = choose_after(leg.departure_time, self._zone, earliest=here)
            arrival = choose_instant(leg.arrival_time, self._zone, wanted=departure + leg.duration * _MINUTE_S)
            start = self._point(leg.departure_point, ends[0] if at == 0 else None)
            end = self._point(leg.arrival_point, ends[1] if at == last else None)
            legs.append(self._leg(leg, start, end, (departure, arrival), lines, lifts))
            here = arrival
        return Itinerary(tuple(legs))

    def _begin(self, journey: OwnJourney, instant: int, arrive_by: bool) -> int:
        """Return when a journey begins, by its duration and the question where clocks show its times twice."""
        starts = list_instants(journey.start_date_time, self._zone)
        arrivals = list_instants(journey.arrival_date_time, self._zone)
        whole = [
            each for each in starts if any(abs(end - each - journey.duration * 60) < _MINUTE_S for end in arrivals)
        ]
        if arrive_by:
            fitting = [each for each in whole if each + journey.duration * _MINUTE_S <= instant]
            return max(fitting, default=(whole or starts)[0])
        fitting = [each for each in whole if each >= instant - _MINUTE_S]
        return min(fitting, default=(whole or starts)[-1])

    def _leg(
        self,
        leg: TflLeg,
        start: StopPoint,
        end: StopPoint,
        expected: tuple[int, int],
        lines: Sequence[TflLine],
        lifts: Sequence[LiftDisruption],
    ) -> Leg:
        mode = read_mode(leg.mode.id)
        departure, arrival = expected
        if mode in ON_STREET:
            return Leg(
                mode=mode,
                start=start,
                end=end,
                departure_scheduled=departure,
                arrival_scheduled=arrival,
                distance_m=leg.distance,
                alerts=list_leg_alerts((*leg.disruptions, *leg.planned_works)),
                handle=leg,
            )
        scheduled_departure, departure_delay_s = self._scheduled(leg.scheduled_departure_time, departure)
        scheduled_arrival, arrival_delay_s = self._scheduled(leg.scheduled_arrival_time, arrival)
        # A difference at either end shows that TfL knows better than the timetable; none shows nothing.
        is_live = bool(departure_delay_s or arrival_delay_s)
        return Leg(
            mode=mode,
            start=start,
            end=end,
            departure_scheduled=scheduled_departure,
            arrival_scheduled=scheduled_arrival,
            departure_delay_s=departure_delay_s if is_live else None,
            arrival_delay_s=arrival_delay_s if is_live else None,
            line=_line_of(leg),
            headsign=_headsign_of(leg),
            alerts=_alerts_of(leg, lines, lifts, expected),
            handle=leg,
        )

    def _scheduled(self, naive: datetime | None, expected: int) -> tuple[int, int]:
        """Return the timetable's instant, the expected one where it is not told, and the delay in seconds."""
        if naive is None:
            return expected, 0
        scheduled = choose_instant(naive, self._zone, wanted=expected)
        return scheduled, expected - scheduled

    def _point(self, point: LegPoint, location: Location | None) -> StopPoint:
        own = own_name(location)
        name = point.common_name or own or UNNAMED
        here = UNPLACED if location is None else location.coordinate
        if point.lat is not None and point.lon is not None:
            here = Coordinate(point.lat, point.lon)
        return StopPoint(
            name=name if point.naptan_id else own or name,
            coordinate=here,
            id=self._ids.print(point.naptan_id) if point.naptan_id else None,
            platform=point.platform_name or point.stop_letter or None,
        )


def is_placed(itinerary: Itinerary) -> bool:
    points = (point for leg in itinerary.legs for point in (leg.start, leg.end))
    return all(math.isfinite(point.coordinate.lat) for point in points)


def draw_leg(leg: Leg) -> LegLine:
    own = leg.handle
    return draw_points(leg, own.path.line_string if isinstance(own, TflLeg) and own.path is not None else ())


def _line_of(leg: TflLeg) -> str:
    """Return a line's name: the first route's, else its line's, else the mode's (rule A2)."""
    for option in leg.route_options:
        line = option.line_identifier
        name = option.name or (None if line is None else line.name or line.id)
        if name:
            return name
    return leg.mode.name or leg.mode.id


def _headsign_of(leg: TflLeg) -> str | None:
    return next((each for option in leg.route_options for each in option.directions if each), None)


def _alerts_of(
    leg: TflLeg, lines: Sequence[TflLine], lifts: Sequence[LiftDisruption], expected: tuple[int, int]
) -> tuple[ServiceAlert, ...]:
    line_ids = [option.line_identifier.id for option in leg.route_options if option.line_identifier is not None]
    found = [
        *list_leg_alerts((*leg.disruptions, *leg.planned_works)),
        *(alert for line_id in line_ids for alert in list_line_alerts(lines, line_id, *expected)),
        *list_lift_alerts(lifts, (leg.departure_point.naptan_id, leg.arrival_point.naptan_id)),
    ]
    return tuple({alert.id: alert for alert in found}.values())
