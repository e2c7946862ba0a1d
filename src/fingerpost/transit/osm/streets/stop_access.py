"""Where stops meet the streets: at their place in the map, or at the entrances of their station."""

import math
import string
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fingerpost.transit.engine.timetable.station_ways import EntranceWays, find_entrance_ways, find_inside_m
from fingerpost.transit.engine.timetable.timetable import STOP, Float64, Int32
from fingerpost.transit.engine.timetable.walking import PACE_M_PER_S, straight_line_m, walk_m
from fingerpost.transit.engine.timetable.walks import WalkedStops
from fingerpost.transit.osm.extract_file import apart_m
from fingerpost.transit.osm.streets.extract import OsmEntrance, OsmStop

# A stop of the same ref further away than this is another one.
MATCHED_M = 100.0
# Shorter numbers are platforms, of which there are many of one number.
_SHORTEST_NUMBER = 3


class StopPlaces(NamedTuple):
    """Where the stops of a timetable (rows) meet the streets, in degrees, and how many of them the map knows."""

    lats: Float64
    lons: Float64
    matched: int


def find_stop_places(stops: WalkedStops, mapped: Iterable[OsmStop]) -> StopPlaces:
    """Return the place of each stop: of the nearest on the map whose ``ref`` is its code or id, else its own.

    A feed's position may lie on the wrong side of a road or in its middle; mappers place the pole.
    """
    by_ref: dict[str, list[OsmStop]] = {}
    for stop in mapped:
        by_ref.setdefault(stop.ref.casefold(), []).append(stop)
    lats, lons, matched = stops.lats.copy(), stops.lons.copy(), 0
    for row, names in enumerate(zip(stops.local_ids, stops.codes, strict=True)):
        if stops.kinds[row] != STOP:
            continue
        here = float(stops.lats[row]), float(stops.lons[row])
        away = [
            (apart_m(here, (stop.lat, stop.lon)), stop.lat, stop.lon)
            for name in _list_refs(*names)
            for stop in by_ref.get(name, ())
        ]
        if away and min(away)[0] <= MATCHED_M:
            _, lats[row], lons[row] = min(away)
            matched += 1
    return StopPlaces(lats, lons, matched)


def _list_refs(local_id: str, code: str) -> set[str]:
    """Return what a map may call a stop: its id, its code, and the number in a code such as H0249."""
    number = code.lstrip(string.ascii_letters)
    numbers = {number} if len(number) >= _SHORTEST_NUMBER and number.isdecimal() else set()
    return {name.casefold() for name in (local_id, code) if name} | numbers


# An entrance of the map further away from every platform belongs to a station of elsewhere.
ENTRANCE_M = 300.0
# Platforms without a parent station that lie so near to an entrance's nearest one share it.
_ONE_STATION_M = 100.0
_SHUT = -1
# In place of an entrance's row.
_OWN, _OF_MAP = -1, -2


class StopAccess(NamedTuple):
    """Where stops (rows, ascending) meet the streets; one that has entrances has a row for each.

    Attributes:
        stop: the stop.
        entrance: the timetable's row of the entrance; -1 where it is the stop's own place, -2 where it is the map's.
        lat, lon: in degrees.
        inside_m: metres from there to the stop; 0 at its own place.
        in_s, out_s: seconds from there to the stop and back; -1 where one cannot go.
        step_free_in_s, step_free_out_s: the same without stairs.
    """

    stop: Int32
    entrance: Int32
    lat: Float64
    lon: Float64
    inside_m: Int32
    in_s: Int32
    out_s: Int32
    step_free_in_s: Int32
    step_free_out_s: Int32

    @property
    def is_entered(self) -> npt.NDArray[np.bool_]:
        entered: npt.NDArray[np.bool_] = self.entrance != _OWN
        return entered

    def without_steps(self) -> "StopAccess":
        return self._replace(in_s=self.step_free_in_s, out_s=self.step_free_out_s)


def meet_at_places(lats: Float64, lons: Float64) -> StopAccess:
    """Return the access of stops that all meet the streets at one place each, in degrees."""
    count = len(lats)
    none = np.zeros(count, np.int32)
    return StopAccess(
        np.arange(count, dtype=np.int32), np.full(count, _OWN, np.int32), lats, lons, none, none, none, none, none
    )


def find_stop_access(
    stops: WalkedStops, places: tuple[Float64, Float64], entrances: tuple[OsmEntrance, ...]
) -> StopAccess:
    """Return where stops meet the streets, given their own places in degrees and the entrances of the map.

    A platform whose feed has entrances for its station meets them there and nowhere else; else one of the metro at
    those of the map, and one of a railway at those that the map calls entrances of a railway station.
    """
    rows = [*_list_of_feed(stops), *_list_of_map(stops, entrances)]
    # The feed's own go before those of the map.
    of_feed = {row[0] for row in rows if row[1] >= 0}
    rows = [row for row in rows if row[1] >= 0 or row[0] not in of_feed]
    own = meet_at_places(*places)
    if not rows:
        return own
    is_own = ~np.isin(own.stop, [row[0] for row in rows])
    kinds = (np.int32, np.int32, np.float64, np.float64, *[np.int32] * 5)
    columns = [np.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    pairs: Iterator[tuple[Any, Any]] = zip(own, columns, strict=True)
    joined = StopAccess._make(np.concatenate([one[is_own], other]) for one, other in pairs)
    order = np.argsort(joined.stop, kind="stable")
    return StopAccess._make(column[order] for column in joined)


def close_entrances(access: StopAccess, stops: WalkedStops, closed: frozenset[int], *, step_free: bool) -> StopAccess:
    """Return the access while entrances and passages of stations (rows) are closed.

    What changes are the times of who takes stairs, or of who does not (``step_free``); the other times stay.
    """
    if stops.places is None or not closed:
        return access
    ways = _by_pair(find_entrance_ways(stops.places, step_free=step_free, closed=closed))
    in_s, out_s = np.copy(access.in_s), np.copy(access.out_s)
    if step_free:
        in_s, out_s = np.copy(access.step_free_in_s), np.copy(access.step_free_out_s)
    for row in np.flatnonzero(access.entrance >= 0).tolist():
        in_s[row], out_s[row] = ways.get((int(access.stop[row]), int(access.entrance[row])), (_SHUT, _SHUT))
    if step_free:
        return access._replace(step_free_in_s=in_s, step_free_out_s=out_s)
    return access._replace(in_s=in_s, out_s=out_s)


_Row = tuple[int, int, float, float, int, int, int, int, int]


def _list_of_feed(stops: WalkedStops) -> list[_Row]:
    places = stops.places
    if places is None:
        return []
    usual, step_free = (_by_pair(find_entrance_ways(places, step_free=each)) for each in (False, True))
    return [
        (
            stop, entrance, float(places.lats[entrance]), float(places.lons[entrance]),
            find_inside_m(places, entrance, stop), *times, *step_free.get((stop, entrance), (_SHUT, _SHUT)),
        )
        for (stop, entrance), times in usual.items()
    ]  # fmt: skip


def _by_pair(ways: EntranceWays) -> dict[tuple[int, int], tuple[int, int]]:
    columns = (column.tolist() for column in ways)
    return {(stop, entrance): (in_s, out_s) for stop, entrance, in_s, out_s in zip(*columns, strict=True)}


def _list_of_map(stops: WalkedStops, entrances: tuple[OsmEntrance, ...]) -> list[_Row]:
    rows: list[_Row] = []
    for is_railway, served in ((False, stops.has_metro), (True, stops.has_rail)):
        platforms = np.zeros(0, np.int64) if served is None else np.flatnonzero(served & (stops.kinds == STOP))
        for entrance in entrances if len(platforms) else ():
            if entrance.is_railway != is_railway:
                continue
            away_m = straight_line_m(entrance.lat, entrance.lon, stops.lats[platforms], stops.lons[platforms])
            if away_m.min() > ENTRANCE_M:
                continue
            nearest = int(platforms[away_m.argmin()])
            for stop, straight_m in zip(platforms.tolist(), away_m.tolist(), strict=True):
                if _is_of_one_station(stops, stop, nearest):
                    metres = math.ceil(float(walk_m(np.array([straight_m]))[0]))
                    seconds = math.ceil(metres / PACE_M_PER_S)
                    step_free_s = _SHUT if entrance.has_steps else seconds
                    in_s, step_free_in_s = (_SHUT, _SHUT) if entrance.is_exit else (seconds, step_free_s)
                    rows.append(
                        (stop, _OF_MAP, entrance.lat, entrance.lon, metres, in_s, seconds, step_free_in_s, step_free_s)
                    )
    return rows


def _is_of_one_station(stops: WalkedStops, one: int, other: int) -> bool:
    if one == other:
        return True
    if stops.places is not None and (stops.places.parents[one] >= 0 or stops.places.parents[other] >= 0):
        return bool(stops.places.parents[one] == stops.places.parents[other])
    lat, lon = float(stops.lats[one]), float(stops.lons[one])
    return float(straight_line_m(lat, lon, stops.lats[[other]], stops.lons[[other]])[0]) <= _ONE_STATION_M
