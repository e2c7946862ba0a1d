"""What tells a timetable's places of one name apart: lines, direction, district (rule D2)."""

import re
from collections.abc import Sequence

import numpy as np

from fingerpost.transit.embedded.timetable_words import TimetableWords
from fingerpost.transit.engine.timetable.timetable import STOP, Int64, Timetable
from fingerpost.transit.engine.timetable.walking import straight_line_m
from fingerpost.transit.model.place import Place
from fingerpost.transit.model.place_traits import PlaceTraits
from fingerpost.transit.rules.name_matching import plain
from fingerpost.transit.rules.place_groups import part_name

# So many of the commonest destinations are named as the direction.
DIRECTIONS = 2
# What is further away than this does not say where a place lies.
NEAR_M = 1000.0


def describe_place(timetable: Timetable, words: TimetableWords, place: Place, rows: Sequence[int]) -> PlaceTraits:
    """Return what tells a place from others of its name; ``rows`` are its stops."""
    is_member = np.zeros(timetable.stop_count, np.bool_)
    is_member[list(rows)] = True
    stop_times = np.flatnonzero(is_member[timetable.stop_time_stop])
    trips: Int64 = np.searchsorted(timetable.trip_first_stop_time, stop_times, "right") - 1
    routes = np.unique(timetable.trip_route[trips]).tolist()
    return PlaceTraits(
        lines=tuple(sorted({words.line_of_route(route)[0] for route in routes}, key=_natural)),
        direction=_find_direction(timetable, words, stop_times, trips),
        district=place.locality or _find_nearby_name(timetable, words, place, is_member),
    )


def _find_direction(timetable: Timetable, words: TimetableWords, stop_times: Int64, trips: Int64) -> str | None:
    """Return the commonest destinations of the departures; the last stop time of a trip is none."""
    leaves = stop_times < timetable.trip_first_stop_time[trips + 1] - 1
    stop_times, trips = stop_times[leaves], trips[leaves]
    heads = timetable.trip_headsign[trips].astype(np.int64)
    if len(timetable.stop_time_headsign):
        own = timetable.stop_time_headsign[stop_times]
        heads = np.where(own >= 0, own, heads)
    last_stop = timetable.stop_time_stop[timetable.trip_first_stop_time[trips + 1] - 1]
    # Trips without a headsign go to their last stop; below zero, these are no rows of headsigns.
    heads = np.where(heads >= 0, heads, -1 - last_stop.astype(np.int64))
    _, first, counts = np.unique(heads, return_index=True, return_counts=True)
    count_of: dict[str, int] = {}
    for at, count in zip(first.tolist(), counts.tolist(), strict=True):
        name = words.headsign(int(trips[at]), int(stop_times[at]))
        count_of[name] = count_of.get(name, 0) + count
    commonest = sorted(count_of, key=lambda name: (-count_of[name], name))[:DIRECTIONS]
    return ", ".join(commonest) or None


def _find_nearby_name(timetable: Timetable, words: TimetableWords, place: Place, is_member: np.ndarray) -> str | None:
    """Return "near" and the nearest stop of another name, None where there is none about."""
    here = place.coordinate
    away_m = straight_line_m(here.lat, here.lon, timetable.stop_lat, timetable.stop_lon)
    others = np.flatnonzero((away_m <= NEAR_M) & ~is_member & (timetable.stop_kind == STOP))
    for row in others[np.argsort(away_m[others], kind="stable")].tolist():
        name = words.stop_name(row)
        if plain(part_name(name).place) != plain(place.name):
            return f"near {name}"
    return None


def _natural(line: str) -> list[tuple[int, int, str]]:
    """Sort 2 before 10, and numbers before letters."""
    parts = re.findall(r"\d+|\D+", line)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
