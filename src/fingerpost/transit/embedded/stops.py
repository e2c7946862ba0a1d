"""Find the stops of a timetable by id, name or position."""

from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from fingerpost.transit.embedded.display_names import DisplayNames, describe_place
from fingerpost.transit.engine.timetable.timetable import STATION, STOP, Timetable
from fingerpost.transit.engine.timetable.walks import straight_line_m
from fingerpost.transit.model.itinerary import Mode, NearbyStop
from fingerpost.transit.model.place import Coordinate, Place, PlaceMatch, PlaceTraits
from fingerpost.transit.rules.modes import to_mode
from fingerpost.transit.rules.place_index import NamedStop, PlaceIndex

_FEW_STOPS = 1_000


class TimetableStops:
    """The stops of a timetable, with lazily built indexes; thread-safe."""

    def __init__(self, timetable: Timetable, display_names: DisplayNames) -> None:
        self._timetable = timetable
        self._display_names = display_names
        self._traits: dict[tuple[str, tuple[str, ...]], PlaceTraits] = {}

    @property
    def is_fast(self) -> bool:
        return "places" in self.__dict__ and self._timetable.stop_count <= _FEW_STOPS

    def add_description(self, match: PlaceMatch) -> PlaceMatch:
        return replace(match, describe=partial(self._describe, match.place))

    def find_stop(self, stop_id: str, language: str | None) -> Place | None:
        row = self.find_row(stop_id)
        return None if row is None else self.places.find_stop(self._timetable.stop_printed_id[row], language)

    def find_stop_place(self, stop_id: str, language: str | None) -> Place | None:
        row = self.find_row(stop_id)
        return None if row is None else self.places.find_place_of(self._timetable.stop_printed_id[row], language)

    def find_platform_code(self, row: int) -> str | None:
        """Return the platform code in a stop's name, if any."""
        return self.places.find_platform_code(self._timetable.stop_printed_id[row])

    def _describe(self, place: Place) -> PlaceTraits:
        # A platform and its place may have the same id.
        key = place.token, place.member_ids
        known = self._traits.get(key)
        if known is None:
            rows = [row for stop_id in place.member_ids if (row := self.find_row(stop_id)) is not None]
            # Addresses show their city, so a nearby stop distinguishes them.
            named = replace(place, locality=None) if place.id is None else place
            known = self._traits[key] = describe_place(self._timetable, self._display_names, named, rows)
        return known

    def find_row(self, stop_id: str | None) -> int | None:
        return None if stop_id is None else self._rows.get(stop_id, self._rows.get(stop_id.upper()))

    def list_near(self, coordinate: Coordinate, radius_m: float, language: str) -> list[NearbyStop]:
        table, display_names = self._timetable, self._display_names.in_language(language)
        distance_m = straight_line_m(coordinate.lat, coordinate.lon, table.stop_lat, table.stop_lon)
        rows = np.flatnonzero((distance_m <= radius_m) & (table.stop_kind == STOP)).tolist()
        near = [
            NearbyStop(
                stop=display_names.get_stop_point(row),
                distance_m=float(distance_m[row]),
                modes=self._modes_by_stop[row],
            )
            for row in rows
        ]
        return sorted(near, key=lambda stop: (stop.distance_m, stop.stop.id or ""))

    @cached_property
    def places(self) -> PlaceIndex:
        table = self._timetable
        parents = table.stop_parent.tolist()
        kinds = table.stop_kind.tolist()
        ids = list(table.stop_printed_id)
        names: dict[str, list[str]] = {language: list(column) for language, column in table.stop_names.items()}
        stops = []
        for row, kind in enumerate(kinds):
            if kind not in (STOP, STATION):
                continue
            named = {language: column[row] for language, column in names.items() if column[row]}
            feed_language = table.feeds[int(table.stop_feed[row])].language
            name = self._display_names.get_stop_name(row)
            if feed_language:
                named.setdefault(feed_language, name)
            stops.append(
                NamedStop(
                    id=ids[row],
                    name=name,
                    names=named,
                    lat=float(table.stop_lat[row]),
                    lon=float(table.stop_lon[row]),
                    parent_id=ids[parents[row]] if parents[row] >= 0 else None,
                    is_station=kind == STATION,
                )
            )
        return PlaceIndex(stops)

    @cached_property
    def _rows(self) -> dict[str, int]:
        """Rows, keyed by printed id and by feed id, and by both in upper case."""
        table = self._timetable
        feeds = table.stop_feed.tolist()
        exact: dict[str, int] = {}
        folded: dict[str, int] = {}
        for row, (printed, local) in enumerate(zip(table.stop_printed_id, table.stop_local_id, strict=True)):
            for text in (printed, f"{table.feeds[feeds[row]].name}:{local}"):
                exact.setdefault(text, row)
                folded.setdefault(text.upper(), row)
        return {**folded, **exact}

    @cached_property
    def _modes_by_stop(self) -> list[tuple[Mode, ...]]:
        table = self._timetable
        trips = np.repeat(np.arange(len(table.trip_route)), np.diff(table.trip_first_stop_time))
        kinds = table.route_type[table.trip_route[trips]].astype(np.int64)
        pairs = np.unique(table.stop_time_stop.astype(np.int64) * 65536 + kinds)
        modes: list[set[Mode]] = [set() for _ in range(table.stop_count)]
        for stop, kind in zip((pairs // 65536).tolist(), (pairs % 65536).tolist(), strict=True):
            modes[stop].add(to_mode(kind))
        return [tuple(sorted(of_stop)) for of_stop in modes]
