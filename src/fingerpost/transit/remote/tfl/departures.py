"""Departure boards, from TfL's predicted arrivals."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from fingerpost.transit.model.itinerary import Departure, ServiceAlert
from fingerpost.transit.remote.tfl.alerts import list_line_alerts
from fingerpost.transit.remote.tfl.modes import read_mode
from fingerpost.transit.remote.tfl.shapes import Prediction, TflLine
from fingerpost.transit.remote.tfl.stop_ids import NaptanIds

# TfL predicts about this far ahead.
REACH_S = 30 * 60
NOTE = (
    "TfL predicts when vehicles arrive, without scheduled times, so no delays and no cancellations are known, "
    "and stops where one may only alight are not told apart."
)
_NO_PLATFORM = frozenset({"", "null", "unknown", "platform unknown"})


def list_departures(
    predictions: Iterable[Prediction],
    ids: NaptanIds,
    zone: ZoneInfo,
    *,
    first: int,
    last: int,
    now: int,
    lines: Sequence[TflLine] = (),
) -> list[Departure]:
    """Return what is expected from ``first`` to ``last``, both included, by time, then line; last calls are left out.

    A prediction of the past that its time to live has passed is left out too.
    """
    rows = []
    # Of two predictions of one id TfL's later word holds.
    latest: Mapping[str, Prediction] = {
        f"{each.naptan_id} {each.id}": each for each in sorted(predictions, key=lambda each: each.timestamp)
    }
    for each in latest.values():
        is_here = first <= each.expected_arrival <= last
        is_over = each.time_to_live is not None and each.time_to_live < now and each.expected_arrival < now
        if not is_here or is_over or each.destination_naptan_id == each.naptan_id:
            continue
        alerts = list_line_alerts(lines, each.line_id, each.expected_arrival, each.expected_arrival)
        rows.append(_row(each, ids, zone, alerts))
    return sorted(rows, key=lambda row: (row.expected, row.line))


def _row(told: Prediction, ids: NaptanIds, zone: ZoneInfo, alerts: tuple[ServiceAlert, ...]) -> Departure:
    line = told.line_name or told.line_id or told.mode_name
    platform = (told.platform_name or "").strip()
    return Departure(
        line=line,
        mode=read_mode(told.mode_name),
        destination=told.destination_name or told.towards or line,
        scheduled=told.expected_arrival,
        stop_id=ids.print(told.naptan_id),
        trip_id=ids.print(told.id),
        service_day=datetime.fromtimestamp(told.expected_arrival, zone).date(),
        platform=None if platform.lower() in _NO_PLATFORM else platform,
        last_realtime_update=told.timestamp,
        alerts=alerts,
    )
