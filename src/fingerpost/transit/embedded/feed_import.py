"""Import GTFS feeds and an OpenStreetMap extract as a network, fetch feeds from URLs, and refresh networks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from fingerpost import clock
from fingerpost.errors import FeedUnusable, ParameterError, SettingsInvalid
from fingerpost.net.client import Client, download
from fingerpost.net.request import Request, RequestLimits, read_template
from fingerpost.runtime.concurrency import run_in_thread
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.feed_origins import Content, NamedLocation, OriginFolder, parse_location, sign
from fingerpost.transit.engine.gtfs.importer import FeedSource, ImportProgress, import_feeds, list_feed_names
from fingerpost.transit.engine.gtfs.report import ImportReport, StreetCoverage
from fingerpost.transit.engine.timetable.timetable import STOP
from fingerpost.transit.engine.timetable.timetable_store import FORMAT, TimetableStore
from fingerpost.transit.engine.timetable.walks import WalkedStops, WalkModes
from fingerpost.transit.osm.addresses.extract import read_addresses
from fingerpost.transit.osm.addresses.index_file import FILE_NAME, to_features, write_index
from fingerpost.transit.osm.basemap import Water, pack_lines, read_lines, save_basemap
from fingerpost.transit.osm.extract_file import ReadProgress, ignore_progress, load_osmium
from fingerpost.transit.osm.streets.building import build_graph
from fingerpost.transit.osm.streets.extract import find_area, read_extract
from fingerpost.transit.osm.streets.snapping import build_grid
from fingerpost.transit.osm.streets.stop_access import (
    count_estimated_stops,
    find_platform_places,
    find_stop_access,
    find_stop_places,
)
from fingerpost.transit.osm.streets.store import StoredStreets, save_streets
from fingerpost.transit.osm.streets.street_walks import StreetWalks

FEED_LIMITS = RequestLimits(connect_s=10.0, read_s=60.0, total_s=1800.0, max_bytes=2_000_000_000, attempts=4)


class StreetPreparation:
    """Builds the street graph and the map from an extract; call ``find_walks`` first, because it sets ``prepared``."""

    prepared: StoredStreets

    def __init__(self, extract: Path, progress: ReadProgress = ignore_progress) -> None:
        load_osmium()
        self._extract = extract
        self._progress = progress

    def find_walks(self, stops: WalkedStops) -> WalkModes:
        boardable = stops.places.kinds == STOP
        lats, lons = stops.places.lats[boardable], stops.places.lons[boardable]
        self._is_near_stops = find_area(lats, lons)
        streets = read_extract(self._extract, self._is_near_stops, self._progress)
        graph, left_out_m = build_graph(streets)
        grid = build_grid(graph)
        stop_lats, stop_lons, matched = find_stop_places(stops, streets.stops)
        platforms = find_platform_places(stops, streets.platforms, graph, grid)
        access = find_stop_access(stops, (stop_lats, stop_lons), tuple(streets.entrances), platforms)
        self._basemap = pack_lines(read_lines(self._extract, self._is_near_stops, self._progress))
        walks = StreetWalks(graph, grid, stops.places, access, is_dry=Water(self._basemap).is_dry)
        coverage = StreetCoverage(
            extract=str(self._extract),
            stops=len(lats),
            covered_stops=walks.covered_stops,
            street_km=round(float(graph.edge_m.sum()) / 1000, 1),
            left_out_km=round(left_out_m / 1000, 1),
            matched_stops=matched,
            entered_stops=len(np.unique(access.stop[access.has_entrance])),
            estimated_stops=count_estimated_stops(access, stops.places),
        )
        if not coverage.covered_stops:
            area = f"{lats.min():.2f} and {lats.max():.2f} N, {lons.min():.2f} and {lons.max():.2f} E"
            raise FeedUnusable(
                f"The extract {self._extract} has no street near any stop of the network, whose {len(lats):,} "
                f"stops lie between {area}. Use an extract of that region, or add the network without --streets"
            )
        self.prepared = StoredStreets(graph, grid, access, coverage)
        return WalkModes(walks, walks.without_steps())

    def save(self, folder: Path) -> None:
        """Save the streets, the map and the addresses; call ``find_walks`` first."""
        save_streets(self.prepared, folder)
        write_index(to_features(read_addresses(self._extract, self._is_near_stops, self._progress)), folder / FILE_NAME)
        save_basemap(self._basemap, folder)


def prepare_network(
    home: Path,
    name: str,
    sources: Sequence[FeedSource],
    *,
    extract: str | None,
    feeds: Sequence[str],
    zone: str | None = None,
    added_at: datetime,
    progress: ImportProgress = ignore_progress,
) -> ImportReport:
    """Import feeds and an optional extract (relative to the home folder), and store them as a network.

    Raises:
        ParameterError: the feeds, or their names, are invalid.
        FeedUnusable: a feed or the extract cannot be used.
        SettingsInvalid: the disk is not writable, or an extract is given but osmium is not installed.
    """
    store = TimetableStore(home)
    if extract is None:
        timetable, report = import_feeds(name, sources, zone=zone, progress=progress)
        store.put(name, timetable, report.to_json(), added_at=added_at, feeds=feeds)
        return report
    streets = StreetPreparation(home / extract, progress)
    timetable, report = import_feeds(name, sources, zone=zone, progress=progress, find_walks=streets.find_walks)
    report = replace(report, streets=streets.prepared.coverage)
    store.put(
        name, timetable, report.to_json(), added_at=added_at, feeds=feeds, extract=extract, save_more=streets.save
    )
    return report


@dataclass(frozen=True, slots=True)
class _FetchedFeed:
    source: FeedSource
    content: Content
    changed: bool


class FeedImporter:
    """Fetches and imports feeds, and stores their timetable; ``progress`` also receives the number of bytes fetched.

    A crash leaves either the old network or the new one, because the feed versions are written last.
    """

    def __init__(self, home: Path, client: Client, progress: ImportProgress) -> None:
        self._home = home
        self._store = TimetableStore(home)
        self._client = client
        self._progress = progress

    async def add(self, record: NetworkRecord) -> ImportReport:
        """Import the feeds of a record; raise FeedUnusable if a realtime source names an unknown FEED.

        The caller stores the record.
        """
        folder = OriginFolder(self._home, record.name)
        with folder.locked():
            fetched = await self._fetch_all(record, folder, {})
            _check_realtime_feeds(self._home, record, fetched)
            return await self._import(record, folder, fetched)

    async def refresh(self, record: NetworkRecord) -> ImportReport | None:
        """Fetch and import a record's feeds again; return None if nothing changed and the network can be opened."""
        folder = OriginFolder(self._home, record.name)
        with folder.locked():
            contents = folder.read()
            fetched = await self._fetch_all(record, folder, contents)
            is_changed = any(feed.changed for feed in fetched)
            if record.extract is not None:
                # A missing extract counts as unchanged.
                known_signature = contents.get(record.extract, Content()).signature
                is_changed |= sign(self._home / record.extract) not in ("", known_signature)
            if is_changed or not await run_in_thread(self._is_ready, record):
                return await self._import(record, folder, fetched)
            folder.write(_list_contents(self._home, record, fetched))
        return None

    async def _fetch_all(
        self, record: NetworkRecord, folder: OriginFolder, contents: Mapping[str, Content]
    ) -> list[_FetchedFeed]:
        return [
            await self._fetch(folder, parse_location(text, self._home), contents.get(text, Content()))
            for text in record.feeds
        ]

    def _is_ready(self, record: NetworkRecord) -> bool:
        """Whether the stored network is intact, matches the record, and has the current format."""
        try:
            entry = self._store.get(record.name)
            ImportReport.from_json(entry.report_json)
        except (ParameterError, SettingsInvalid, ValueError):
            return False
        is_current = entry.format == FORMAT and entry.find_note(record.feeds, record.extract) is None
        return is_current and self._store.find_damage(entry) is None

    async def _fetch(self, folder: OriginFolder, origin: NamedLocation, content: Content) -> _FetchedFeed:
        """Fetch a feed if it has a URL; return its file, and whether it has changed since the last import."""
        if origin.url is None:
            path = origin.path or Path()
            signature = sign(path)
            changed = not signature or signature != content.signature
            return _FetchedFeed(FeedSource(path, origin.feed_name), Content(signature=signature), changed)
        stored = None if content.file is None else folder.folder / content.file
        path = folder.new_path(origin.url)
        url, secret_params = read_template(origin.url)
        request = Request(url=url, secret_params=secret_params, limits=FEED_LIMITS)
        download_state = await download(
            self._client,
            request,
            path,
            known=content.known if stored is not None else None,
            stored_path=stored,
            progress=lambda size: self._progress(request.redacted_url, size, None),
        )
        if not download_state.changed and stored is not None:
            source = FeedSource(stored, origin.feed_name)
            return _FetchedFeed(source, replace(content, known=download_state), changed=False)
        file = path.relative_to(folder.folder).as_posix()
        return _FetchedFeed(FeedSource(path, origin.feed_name), Content(file=file, known=download_state), changed=True)

    async def _import(
        self, record: NetworkRecord, folder: OriginFolder, fetched: Sequence[_FetchedFeed]
    ) -> ImportReport:
        report = await run_in_thread(
            prepare_network, self._home, record.name, [feed.source for feed in fetched],
            extract=record.extract, feeds=record.feeds, zone=record.zone, added_at=clock.now(), progress=self._progress,
        )  # fmt: skip
        folder.write(_list_contents(self._home, record, fetched))
        return report


def _check_realtime_feeds(home: Path, record: NetworkRecord, fetched: Sequence[_FetchedFeed]) -> None:
    feed_names = list_feed_names(record.name, [feed.source for feed in fetched])
    for text in record.realtime:
        feed_name = parse_location(text, home).feed_name
        if feed_name is not None and feed_name.upper() not in feed_names:
            raise FeedUnusable(
                f"{record.name} has no FEED {feed_name}, which the realtime source {text} names; nothing was stored",
                hint=f"Its FEEDs are: {', '.join(feed_names)}. A source without FEED= applies to all of them",
            )


def _list_contents(home: Path, record: NetworkRecord, fetched: Sequence[_FetchedFeed]) -> dict[str, Content]:
    contents = {text: feed.content for text, feed in zip(record.feeds, fetched, strict=True)}
    if record.extract is not None:
        contents[record.extract] = Content(signature=sign(home / record.extract))
    return contents
