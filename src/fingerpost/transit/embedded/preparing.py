"""Import the GTFS feeds and the OpenStreetMap extract of a network, and store the results on disk."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np

from fingerpost.errors import FeedUnusable
from fingerpost.transit.engine.gtfs.importer import FeedSource, ImportProgress, import_feeds
from fingerpost.transit.engine.gtfs.report import ImportReport, StreetCoverage
from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.engine.timetable.walks import WalkedStops, WalkModes
from fingerpost.transit.osm.addresses.extract import read_addresses
from fingerpost.transit.osm.addresses.index_file import FILE_NAME, gather, write_index
from fingerpost.transit.osm.basemap import StoredBasemap, Water, pack_lines, read_lines, save_basemap
from fingerpost.transit.osm.extract_file import ReadProgress, ignore_progress, load_osmium
from fingerpost.transit.osm.streets.building import build_graph
from fingerpost.transit.osm.streets.extract import find_area, read_extract
from fingerpost.transit.osm.streets.snapping import build_grid
from fingerpost.transit.osm.streets.stop_access import find_stop_access, find_stop_places
from fingerpost.transit.osm.streets.store import StoredStreets, save_streets
from fingerpost.transit.osm.streets.street_walks import StreetWalks


class StreetPreparation:
    """Builds the street graph from an extract; ``find_walks`` sets ``prepared`` and ``basemap``."""

    prepared: StoredStreets
    basemap: StoredBasemap

    def __init__(self, extract: Path, progress: ReadProgress = ignore_progress) -> None:
        load_osmium()
        self._extract = extract
        self._progress = progress

    def find_walks(self, stops: WalkedStops) -> WalkModes:
        boardable = stops.places.kinds == STOP
        lats, lons = stops.places.lats[boardable], stops.places.lons[boardable]
        extracted = read_extract(self._extract, find_area(lats, lons), self._progress)
        built = build_graph(extracted)
        grid = build_grid(built.graph)
        places = find_stop_places(stops, extracted.stops)
        access = find_stop_access(stops, (places.lats, places.lons), tuple(extracted.entrances))
        self.basemap = pack_lines(read_lines(self._extract, find_area(lats, lons), self._progress))
        walks = StreetWalks(built.graph, grid, stops.places, access, is_dry=Water(self.basemap).is_dry)
        coverage = StreetCoverage(
            extract=str(self._extract),
            stops=len(lats),
            covered_stops=walks.covered_stops,
            street_km=round(float(built.graph.edge_m.sum()) / 1000, 1),
            left_out_km=round(built.left_out_m / 1000, 1),
            matched_stops=places.matched,
            entered_stops=len(np.unique(access.stop[access.has_entrance])),
        )
        if not coverage.covered_stops:
            where = f"{lats.min():.2f} and {lats.max():.2f} N, {lons.min():.2f} and {lons.max():.2f} E"
            raise FeedUnusable(
                f"The extract {self._extract} has no street near any stop of the network, whose {len(lats):,} "
                f"stops lie between {where}. Use the extract of that region, or add the network without --streets"
            )
        self.prepared = StoredStreets(built.graph, grid, access, coverage)
        return WalkModes(walks, walks.without_steps())


def prepare_network(
    home: Path,
    name: str,
    sources: Sequence[FeedSource],
    *,
    extract: str | None,
    feeds: Sequence[str],
    added_at: datetime,
    progress: ImportProgress = ignore_progress,
) -> ImportReport:
    """Import feeds and an optional extract (relative to the home folder), and store them as a network.

    Raises:
        ParameterError: the feeds, or their names, are invalid.
        FeedUnusable: a feed or the extract cannot be used.
        SettingsInvalid: the disk cannot be written to, or an extract is given and osmium is not installed.
    """
    store = TimetableStore(home)
    if extract is None:
        imported = import_feeds(name, sources, progress=progress)
        store.put(name, imported.timetable, imported.report.to_json(), added_at=added_at, feeds=feeds)
        return imported.report
    streets = StreetPreparation(home / extract, progress)
    imported = import_feeds(name, sources, progress=progress, find_walks=streets.find_walks)
    report = replace(imported.report, streets=streets.prepared.coverage)

    def save_more(folder: Path) -> None:
        save_streets(streets.prepared, folder)
        table = imported.timetable
        boardable = table.stop_kind == STOP
        is_near_stops = find_area(table.stop_lat[boardable], table.stop_lon[boardable])
        write_index(gather(read_addresses(home / extract, is_near_stops, progress)), folder / FILE_NAME)
        save_basemap(streets.basemap, folder)

    store.put(
        name, imported.timetable, report.to_json(),
        added_at=added_at, feeds=feeds, extract=extract, save_more=save_more,
    )  # fmt: skip
    return report
