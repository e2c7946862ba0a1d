"""Mark the stops that define a network's area: served stops, except those with an impossible position."""

import numpy as np

from fingerpost.transit.engine.timetable.columns import mark_rows
from fingerpost.transit.engine.timetable.timetable import Bool, Float64, Int32, Int64
from fingerpost.transit.engine.timetable.walks import straight_line_m
from fingerpost.transit.model.geodesy import find_west

# Only stops beyond this distance, and ten times the median distance, from the median position are checked.
FAR_M = 100_000.0
# Faster than any train or airliner.
_MAX_M_PER_S = 300.0


def mark_area_stops(
    lats: Float64, lons: Float64, stops: Int32, arrival_s: Int32, departure_s: Int32, first: Int64
) -> Bool:
    """Mark the stops that trips serve, except distant ones that no vehicle could reach in time.

    ``stops`` and the times are columns of the stop times of all trips; ``first`` holds each trip's first row, followed
    by the row count.
    """
    served = mark_rows(len(lats), stops)
    away_m = _measure_from_median(lats, lons, served)
    is_far = served & (away_m > max(FAR_M, 10 * float(np.median(away_m[served]))))
    if not is_far.any():
        return served
    hops = np.flatnonzero((is_far[stops[:-1]] | is_far[stops[1:]]) & ~mark_rows(len(stops) + 1, first)[1:-1])
    begin, end = stops[hops], stops[hops + 1]
    hop_m = straight_line_m(lats[begin], lons[begin], lats[end], lons[end])
    is_possible = hop_m <= FAR_M + _MAX_M_PER_S * (arrival_s[hops + 1] - departure_s[hops])
    links = begin[is_possible], end[is_possible]
    isolated = is_far & ~_spread(served & ~is_far, *links)
    # A distant part of a network may have no trips to the rest.
    is_suspect = mark_rows(len(lats), np.concatenate([begin[~is_possible], end[~is_possible]])) & isolated
    return served & ~(isolated & _spread(is_suspect, *links))


def mark_distant_stops(lats: Float64, lons: Float64, area: Bool) -> Bool:
    """Mark the stops more than ``FAR_M`` farther from the area's median position than its farthest stop."""
    away_m = _measure_from_median(lats, lons, area)
    is_distant: Bool = away_m > FAR_M + away_m[area].max()
    return is_distant


def _measure_from_median(lats: Float64, lons: Float64, area: Bool) -> Float64:
    lons = lons + 360 * (lons < find_west(lons[area].tolist()))
    return straight_line_m(np.median(lats[area]), np.median(lons[area]), lats, lons)


def _spread(marks: Bool, begin: Int32, end: Int32) -> Bool:
    """Extend the marks along links in both directions."""
    while (differs := marks[begin] != marks[end]).any():
        marks[begin[differs]] = marks[end[differs]] = True
    return marks
