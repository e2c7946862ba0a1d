"""Prepare the streets of an OpenStreetMap extract for the stops of a network."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.report import StreetCoverage
from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.walks import WalkedStops, WalksOfRiders
from fingerpost.transit.osm.extract_file import ReadProgress, load_osmium
from fingerpost.transit.osm.streets.building import build_graph
from fingerpost.transit.osm.streets.extract import find_area, read_extract
from fingerpost.transit.osm.streets.snapping import build_grid
from fingerpost.transit.osm.streets.stop_access import find_stop_access, find_stop_places
from fingerpost.transit.osm.streets.store import StoredStreets
from fingerpost.transit.osm.streets.street_walks import StreetWalks


class StreetPreparation:
    """``find_walks`` reads the extract once the stops are known; ``prepared`` is then what to save."""

    prepared: StoredStreets

    def __init__(self, extract: Path, progress: ReadProgress = lambda _what, _done, _whole: None) -> None:
        load_osmium()
        self._extract = extract
        self._progress = progress

    def find_walks(self, stops: WalkedStops) -> WalksOfRiders:
        boardable = stops.kinds == STOP
        lats, lons = stops.lats[boardable], stops.lons[boardable]
        with TemporaryDirectory() as scratch:
            extracted = read_extract(self._extract, find_area(lats, lons), Path(scratch), self._progress)
        built = build_graph(extracted)
        grid = build_grid(built.graph)
        places = find_stop_places(stops, extracted.stops)
        access = find_stop_access(stops, (places.lats, places.lons), tuple(extracted.entrances))
        walks = StreetWalks(built.graph, grid, stops, access=access)
        coverage = StreetCoverage(
            extract=str(self._extract),
            stops=len(lats),
            covered_stops=walks.covered_stops,
            street_km=round(float(built.graph.edge_m.sum()) / 1000, 1),
            left_out_km=round(built.left_out_m / 1000, 1),
            matched_stops=places.matched,
            entered_stops=len(np.unique(access.stop[access.is_entered])),
        )
        if not coverage.covered_stops:
            where = f"{lats.min():.2f} to {lats.max():.2f} N, {lons.min():.2f} to {lons.max():.2f} E"
            raise FeedUnusable(
                f"The extract {self._extract} has no street near a stop of the network, whose {len(lats):,} stops lie "
                f"at {where}. Use the extract of that region, or add the network without --streets"
            )
        self.prepared = StoredStreets(built.graph, grid, access, coverage)
        return WalksOfRiders(walks, walks.without_steps())
