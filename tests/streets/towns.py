"""The streets of a drawing, ready for searches."""

import numpy as np

from fingerpost.transit.engine.timetable.timetable import STOP, Pathways, StationPlaces
from fingerpost.transit.osm.streets.building import build_graph
from fingerpost.transit.osm.streets.extract import find_area, read_extract
from fingerpost.transit.osm.streets.graph import compute_weights
from fingerpost.transit.osm.streets.snapping import build_grid, snap_to_streets
from fingerpost.transit.osm.streets.stop_access import connect_at_positions
from fingerpost.transit.osm.streets.street_walks import StreetSearch, StreetWalks
from tests.streets.drawn import degrees, osm, read

PLAIN, NO_STEPS = {}, {"step_free": True}


class Town:
    def __init__(self, text, folder, profile=PLAIN, **extra):
        self.drawing = read(text) if isinstance(text, str) else text
        path = folder / "town.osm"
        path.write_text(osm(self.drawing, **extra))
        self.extracted = read_extract(path, find_area(np.zeros(1), np.zeros(1)))
        self.graph, self.left_out_m = build_graph(self.extracted)
        self.grid = build_grid(self.graph)
        self.profile = profile
        self.search = StreetSearch(self.graph, compute_weights(self.graph, **profile))

    def place(self, place):
        return self.drawing.place(place) if isinstance(place, str) else degrees(*place)

    def snap(self, place):
        lat, lon = self.place(place)
        return snap_to_streets(self.graph, self.grid, np.array([lat]), np.array([lon]))

    def walk(self, start, end, limit_m=20_000.0):
        path = self.search.measure(self.snap(start), self.snap(end), limit_m)
        return None if path is None else (round(path.metres), round(path.seconds, 1))

    def line(self, start, end):
        first, last = self.snap(start), self.snap(end)
        path = self.search.measure(first, last, 20_000.0)
        found = self.search.draw(path.arcs, float(first.offset_m[0]), float(last.offset_m[0]))
        one = degrees(1, -1)
        return [(round(lon / one[1], 2), round(-lat / one[0], 2)) for lat, lon in found.tolist()]

    def walks(self, *stops, access=None):
        lats, lons = np.array([self.place(stop) for stop in stops]).T
        access = access or connect_at_positions(lats, lons)
        return StreetWalks(self.graph, self.grid, places_of(lats, lons), access, **self.profile)


def places_of(lats, lons, kind=STOP):
    count = len(lats)
    parents, wheelchair = np.full(count, -1, np.int32), np.zeros(count, np.int8)
    return StationPlaces(lats, lons, np.full(count, kind, np.int8), parents, wheelchair, Pathways())
