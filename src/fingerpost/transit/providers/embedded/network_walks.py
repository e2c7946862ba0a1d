"""How a network's walks are measured, and what answers must say of it."""

from functools import cached_property

from fingerpost.transit.leg_line import LegLine, LineSource
from fingerpost.transit.model import Coordinate
from fingerpost.transit.streets.store import StoredStreets
from fingerpost.transit.streets.street_walks import StreetWalks
from fingerpost.transit.streets.walking_profile import RIDER
from fingerpost.transit.timetable.timetable import Timetable
from fingerpost.transit.timetable.walking import DETOUR_FACTOR, FOOTPATH_RADIUS_M
from fingerpost.transit.timetable.walks import StraightLine, WalkedStops, Walks

LICENCE = "Streets: © OpenStreetMap contributors, ODbL 1.0"
_LINE = f"straight line x {DETOUR_FACTOR:g}"


class NetworkWalks:
    """Walks on the streets of a network's extract, or in a straight line where it has none."""

    def __init__(self, timetable: Timetable, streets: StoredStreets | None) -> None:
        self._straight = StraightLine(timetable.stop_lat, timetable.stop_lon)
        self._coverage = None if streets is None else streets.coverage
        self._usual: StreetWalks | None = None
        if streets is not None:
            stops = WalkedStops(timetable.stop_lat, timetable.stop_lon, timetable.stop_kind, (), ())
            places = (streets.stop_lats, streets.stop_lons)
            self._usual = StreetWalks(streets.graph, streets.grid, stops, RIDER, places=places)

    @cached_property
    def _step_free(self) -> StreetWalks | None:
        return None if self._usual is None else self._usual.without_steps()

    def get_walks(self, *, step_free: bool) -> Walks:
        """Return what measures the walks of a search."""
        walks = self._step_free if step_free else self._usual
        return self._straight if walks is None else walks

    @property
    def attribution(self) -> tuple[str, ...]:
        """Whom an answer with walks must name."""
        return () if self._usual is None else (LICENCE,)

    def describe(self, ends: tuple[Coordinate, Coordinate] | None = None, *, step_free: bool = False) -> str:
        """Return how walks are measured, for an answer about a trip between two ends or in general."""
        coverage, walks = self._coverage, self._step_free if step_free else self._usual
        if coverage is None or walks is None:
            return f"{_LINE}; changes between stops up to {FOOTPATH_RADIUS_M:g} m apart"
        said = "streets of OpenStreetMap"
        if step_free:
            said += ", without the steps and raised kerbs that it knows"
        off = []
        if not coverage.is_whole:
            off.append(f"at {coverage.stops - coverage.covered_stops:,} of {coverage.stops:,} stops")
        for what, end in zip(("origin", "destination"), ends or (), strict=False):
            if not walks.covers(end.lat, end.lon):
                off.append(f"at the {what}")
        return f"{said}; {_LINE} where the extract has none, {' and '.join(off)}" if off else said

    def draw(self, start: Coordinate, end: Coordinate, *, step_free: bool) -> LegLine | None:
        """Return a walk's line along the streets; None where it goes in a straight line."""
        walks = self._step_free if step_free else self._usual
        line = None if walks is None else walks.find_line((start.lat, start.lon), (end.lat, end.lon))
        return None if line is None else LegLine(tuple(map(tuple, line.tolist())), LineSource.STREETS)
