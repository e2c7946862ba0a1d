"""Convert TfL's journeys, statuses and disruptions to itineraries and alerts (rule B13)."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import Itinerary, Leg, ServiceAlert, StopPoint
from fingerpost.transit.model.place import Coordinate, Location
from fingerpost.transit.remote.kit import journeys as kit
from fingerpost.transit.remote.kit.places import UNNAMED, StopIdCodec
from fingerpost.transit.remote.tfl import shapes
from fingerpost.transit.rules.realtime_status import add_walk_delays

# Severities that mean good service.
_GOOD = frozenset({10, 18})
_STEPS = "ACCESSIBILITY_ISSUE"
# Severities are codes, not a scale: 20 means closed.
_SEVERITIES = {
    "NO_SERVICE": (1, 2, 4, 16, 20),
    "REDUCED_SERVICE": (3, 5, 7, 11),
    "SIGNIFICANT_DELAYS": (6, 9),
    "DETOUR": (15,),
    _STEPS: (13,),
    "MODIFIED_SERVICE": (8, 14),
}
_EFFECTS = {severity: effect for effect, severities in _SEVERITIES.items() for severity in severities}


def list_line_alerts(lines: Iterable[shapes.TflLine], line_id: str, begin: int, end: int) -> tuple[ServiceAlert, ...]:
    return kit.merge_alerts(
        _new_line_alert(line, status, begin, end)
        for line in lines
        if line.id.lower() == line_id.lower()
        for status in line.line_statuses
        if status.status_severity not in _GOOD
    )


def list_lift_alerts(
    lifts: Iterable[shapes.LiftDisruption], stations: Iterable[str | None]
) -> tuple[ServiceAlert, ...]:
    """Return alerts for lifts that are currently out of order at the given stations (NaPTAN codes)."""
    codes = {station.upper() for station in stations if station}
    return kit.merge_alerts(_new_alert(lift.message, _STEPS) for lift in lifts if lift.station in codes)


def list_stop_alerts(disruptions: Iterable[shapes.StopDisruption], begin: int, end: int) -> tuple[ServiceAlert, ...]:
    return kit.merge_alerts(
        _new_alert(disruption.description, since=disruption.from_date, until=disruption.to_date)
        for disruption in disruptions
        if kit.is_active(disruption.from_date, disruption.to_date, begin, end)
    )


def _new_line_alert(line: shapes.TflLine, status: shapes.LineStatus, begin: int, end: int) -> ServiceAlert | None:
    """Return a status's alert, or None if it applies at another time; a status without a period always applies."""
    periods = status.validity_periods or (shapes.StatusPeriod(),)
    current = next((period for period in periods if kit.is_active(period.from_date, period.to_date, begin, end)), None)
    if current is None:
        return None
    effect = _EFFECTS.get(status.status_severity, kit.UNKNOWN_EFFECT)
    text = status.reason or f"{line.name or line.id}: {status.status_severity_description or 'disrupted'}"
    return _new_alert(text, effect, current.from_date, current.to_date)


def _new_alert(
    text: str, effect: str = kit.UNKNOWN_EFFECT, since: int | None = None, until: int | None = None
) -> ServiceAlert:
    """Return an alert whose header is the text's first sentence, because TfL's texts have no headers."""
    text = " ".join(text.split())
    first, stop, rest = text.partition(". ")
    # TfL's disruptions have no ids, so alerts with the same text get the same id.
    return ServiceAlert(
        id=f"tfl-{hashlib.sha256(text.encode()).hexdigest()[:16]}",
        header=first + stop.strip() if rest else text,
        text=text if rest else "",
        effect=effect,
        since=since,
        until=until,
    )


MINUTE_S = 60


@lru_cache(maxsize=8192)
def list_instants(naive: datetime, zone: ZoneInfo) -> tuple[int, ...]:
    """Return the instants of a wall-clock time in order: two if the clocks go back then, otherwise one."""
    found = {int(naive.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1)}
    exact = [
        instant for instant in sorted(found) if datetime.fromtimestamp(instant, zone).replace(tzinfo=None) == naive
    ]
    # A wall-clock time that is skipped in spring is treated as if the clocks had not changed yet.
    return tuple(exact) or (max(found),)


def choose_instant(naive: datetime, zone: ZoneInfo, *, wanted: int) -> int:
    """Return the instant of a wall-clock time nearest to ``wanted``, or the earlier of two equally near ones."""
    return min(list_instants(naive, zone), key=lambda instant: abs(instant - wanted))


def choose_after(naive: datetime, zone: ZoneInfo, *, earliest: int) -> int:
    """Return the first instant of a wall-clock time at or after ``earliest``, or the last if all are earlier."""
    instants = list_instants(naive, zone)
    return next((instant for instant in instants if instant >= earliest), instants[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class TflRequest:
    """A journey query in TfL's terms, between stop ids, positions (``lat,lon``), postcodes or names.

    ``sides`` are the caller's names for the two parameters; ``ends`` are the query's locations.
    """

    origin: str
    destination: str
    instant: int
    arrive_by: bool = False
    preference: str = "LeastTime"
    accessibility: str | None = None
    sides: tuple[str, str] = ("origin", "destination")
    ends: tuple[Location | None, Location | None] = (None, None)

    def list_params(self, zone: ZoneInfo) -> Mapping[str, str]:
        # TfL uses whole minutes: round so that no trip departs too early or arrives too late.
        minute = self.instant // MINUTE_S if self.arrive_by else -(-self.instant // MINUTE_S)
        local_time = datetime.fromtimestamp(minute * MINUTE_S, zone)
        params = {
            "date": f"{local_time:%Y%m%d}",
            "time": f"{local_time:%H%M}",
            "timeIs": "Arriving" if self.arrive_by else "Departing",
            "journeyPreference": self.preference,
            # Otherwise TfL also returns trips that depart too early or arrive too late.
            "calcOneDirection": "true",
        }
        if self.accessibility is not None:
            params["accessibilityPreference"] = self.accessibility
        return params


UNPLACED = Coordinate(math.nan, math.nan)
"""The position of a point without coordinates; a journey with such a point can be shown only as a summary."""


@dataclass(frozen=True, slots=True)
class JourneyReader:
    """Converts the journeys of one response, whose wall-clock times are in ``zone``."""

    ids: StopIdCodec
    zone: ZoneInfo
    result: shapes.JourneyResult
    lifts: Sequence[shapes.LiftDisruption]
    request: TflRequest

    def list_itineraries(self) -> list[Itinerary]:
        return [self._read(journey) for journey in self.result.journeys if journey.legs]

    def _read(self, journey: shapes.TflJourney) -> Itinerary:
        start_time, instant = journey.start_date_time, self.request.instant
        # The query and the duration resolve an ambiguous wall-clock time.
        if self.request.arrive_by:
            arrival = choose_instant(start_time, self.zone, wanted=instant - journey.duration * MINUTE_S)
        else:
            arrival = choose_after(start_time, self.zone, earliest=instant)
        legs = []
        last = len(journey.legs) - 1
        for index, leg in enumerate(journey.legs):
            departure = choose_after(leg.departure_time, self.zone, earliest=arrival)
            arrival = choose_instant(leg.arrival_time, self.zone, wanted=departure + leg.duration * MINUTE_S)
            start = self._new_point(leg.departure_point, self.request.ends[0] if index == 0 else None)
            end = self._new_point(leg.arrival_point, self.request.ends[1] if index == last else None)
            legs.append(self._new_leg(leg, start, end, (departure, arrival)))
        return Itinerary(add_walk_delays(legs))

    def _new_leg(self, leg: shapes.TflLeg, start: StopPoint, end: StopPoint, expected: tuple[int, int]) -> Leg:
        mode = shapes.read_mode(leg.mode.id)
        own_alerts = [_new_alert(disruption.description) for disruption in (*leg.disruptions, *leg.planned_works)]
        if mode in kit.STREET_MODES:
            return kit.new_walk(start, end, expected, leg, mode=mode, alerts=kit.merge_alerts(own_alerts))
        scheduled_departure, departure_delay_s = self._compute_scheduled(leg.scheduled_departure_time, expected[0])
        scheduled_arrival, arrival_delay_s = self._compute_scheduled(leg.scheduled_arrival_time, expected[1])
        # Only times that differ from the timetable prove that TfL has realtime data.
        is_live = bool(departure_delay_s or arrival_delay_s)
        lines = [option.line_identifier for option in leg.route_options if option.line_identifier is not None]
        line_alerts = [alert for line in lines for alert in list_line_alerts(self.result.lines, line.id, *expected)]
        stations = leg.departure_point.naptan_id, leg.arrival_point.naptan_id
        return Leg(
            mode=mode,
            start=start,
            end=end,
            departure_scheduled=scheduled_departure,
            arrival_scheduled=scheduled_arrival,
            departure_delay_s=departure_delay_s if is_live else None,
            arrival_delay_s=arrival_delay_s if is_live else None,
            line=_name_line(leg),
            headsign=next(
                (direction for option in leg.route_options for direction in option.directions if direction), None
            ),
            alerts=kit.merge_alerts([*own_alerts, *line_alerts, *list_lift_alerts(self.lifts, stations)]),
            handle=leg,
        )

    def _compute_scheduled(self, naive: datetime | None, expected: int) -> tuple[int, int]:
        scheduled = expected if naive is None else choose_instant(naive, self.zone, wanted=expected)
        return scheduled, expected - scheduled

    def _new_point(self, point: shapes.LegPoint, location: Location | None) -> StopPoint:
        queried_name = kit.get_location_name(location)
        name = point.common_name or queried_name or UNNAMED
        position = UNPLACED if location is None else location.coordinate
        if point.lat is not None and point.lon is not None:
            position = Coordinate(point.lat, point.lon)
        return StopPoint(
            name=name if point.naptan_id else queried_name or name,
            coordinate=position,
            id=self.ids.encode(point.naptan_id) if point.naptan_id else None,
            platform=point.platform_name or point.stop_letter or None,
        )


def is_placed(itinerary: Itinerary) -> bool:
    points = (point for leg in itinerary.legs for point in (leg.start, leg.end))
    return all(math.isfinite(point.coordinate.lat) for point in points)


def _name_line(leg: shapes.TflLeg) -> str:
    """Return the name of the first route or line that has one, or else the name of the mode (rule A2)."""
    for option in leg.route_options:
        line = option.line_identifier
        name = option.name or (None if line is None else line.name or line.id)
        if name:
            return name
    return leg.mode.name or leg.mode.id
