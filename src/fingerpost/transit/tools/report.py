"""The report of an answer: what holds of its rides as a whole, computed once, then serialized by each contract."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fingerpost.contract.wire import Wire
from fingerpost.transit.model.itinerary import Departure, Itinerary, Leg
from fingerpost.transit.model.provenance import Provenance
from fingerpost.transit.port import DepartureBoard
from fingerpost.transit.rules.alerts import AffectedPart, ToldAlerts, choose_alerts
from fingerpost.transit.rules.modes import trip_word
from fingerpost.transit.rules.realtime_status import answer_age_s, find_stale_message
from fingerpost.transit.rules.trip_limits import find_out_of_service_message
from fingerpost.transit.rules.warnings import Warning, WarningCode, Warnings  # noqa: A004
from fingerpost.transit.tools.shapes import serialize_alerts, serialize_meta, serialize_origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report on the legs or board rows of an answer; ``age_s`` is the age of the realtime data, None without any."""

    rides: Sequence[Leg | Departure]
    provenance: Provenance
    age_s: int | None
    warnings: Warnings
    alerts: ToldAlerts

    def serialize(self, ids: Iterable[str] | None = None, *, in_utc: bool = False) -> Wire:
        """Return the origin and the alerts; the ``ids`` that the answer shows are by default those of its legs."""
        show = serialize_origin if in_utc else serialize_meta
        shown = _list_stop_ids(self.rides) if ids is None else ids
        origin = show(self.provenance, ids=shown, realtime_age_s=self.age_s)
        return {**origin, **serialize_alerts(self.alerts, None if in_utc else self.provenance.zone)}


def report_rides(
    rides: Sequence[Leg | Departure],
    touched: Iterable[AffectedPart],
    provenance: Provenance,
    now: int,
    warnings: Iterable[Warning],
    *,
    waits: Iterable[str] = (),
    step_free: bool = False,
) -> Report:
    """Report on rides; ``touched`` are the parts of the answer with alerts, ``waits`` sentences on long waits."""
    age_s = answer_age_s(rides, provenance, now)
    collected = Warnings(warnings)
    for ride in rides:
        name = f"Line {ride.line}" if ride.line else f"A ride ({trip_word(ride.mode)})"
        if ride.headway_s:
            about = f"{name} runs about every {round(ride.headway_s / 60)} min; its times are approximate."
            collected.add(WarningCode.FREQUENCY_BASED, about)
        if ride.by_arrangement:
            collected.add(WarningCode.BY_ARRANGEMENT, f"{name} must be arranged with the operator.")
    if any(ride.is_interpolated for ride in rides):
        approximate = "Some times are approximate: the feed has none for these stops, so they are interpolated."
        collected.add(WarningCode.TIMES_INTERPOLATED, approximate)
    for sentence in waits:
        collected.add(WarningCode.PREFERENCE_UNMET, sentence)
    warn_of_provenance(provenance, age_s, collected)
    alerts = choose_alerts(touched, step_free=step_free)
    return Report(rides=rides, provenance=provenance, age_s=age_s, warnings=collected, alerts=alerts)


def list_legs(itineraries: Iterable[Itinerary]) -> list[Leg]:
    return [leg for itinerary in itineraries for leg in itinerary.legs]


def list_leg_paths(itineraries: Iterable[Itinerary]) -> Iterator[tuple[str, Leg]]:
    for row, itinerary in enumerate(itineraries):
        for at, leg in enumerate(itinerary.legs):
            yield f"itineraries/{row}/legs/{at}", leg


def list_row_paths(departures: Iterable[Departure]) -> Iterator[tuple[str, Departure]]:
    return ((f"departures/{at}", departure) for at, departure in enumerate(departures))


def list_board_touched(board: DepartureBoard, shown: Iterable[Departure], stop_path: str) -> list[AffectedPart]:
    rows = [AffectedPart(path, departure.alerts) for path, departure in list_row_paths(shown)]
    return [*rows, AffectedPart(stop_path, board.alerts)]


def _list_stop_ids(rides: Iterable[Leg | Departure]) -> list[str]:
    legs = (ride for ride in rides if isinstance(ride, Leg))
    return [point.id for leg in legs for point in (leg.start, leg.end) if point.id is not None]


def warn_of_provenance(provenance: Provenance, age_s: int | None, warnings: Warnings) -> None:
    warnings.add(WarningCode.REALTIME_STALE, find_stale_message(age_s, provenance.realtime_problems))
    for unmatched in provenance.realtime_unmatched:
        warnings.add(WarningCode.REALTIME_UNMATCHED, unmatched)
    if not warnings.find(WarningCode.OUTSIDE_CALENDAR):
        warnings.add(WarningCode.FEED_NOT_IN_SERVICE, find_out_of_service_message(provenance.out_of_service))
    for lost in provenance.lost:
        warnings.add(WarningCode.NETWORK_LEFT_OUT, lost)
