"""A network under check: its imported form, its raw feeds, and the tools that query it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fingerpost.contract.published_tool import Answer
from fingerpost.transit.check.raw_feed import RawFeed
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.embedded.network_walks import NetworkWalks
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.engine.timetable.timetable import STOP, Int64, Timetable
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.engine.timetable.walks import Walks
from fingerpost.transit.osm.basemap import StoredBasemap, Water, find_basemap
from fingerpost.transit.osm.streets.store import StoredStreets, find_streets

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Answer]]
"""Calls a tool by its name, and turns unexpected exceptions into errors."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    network: EmbeddedNetwork
    report: ImportReport
    feeds: Sequence[RawFeed]
    streets: StoredStreets | None
    basemap: StoredBasemap | None
    ask: Ask

    @property
    def timetable(self) -> Timetable:
        return self.network.timetable

    @cached_property
    def walks(self) -> Walks:
        return NetworkWalks(self.timetable, self.streets, self.basemap).get_walks(step_free=False)

    @cached_property
    def water(self) -> Water:
        return Water(self.basemap)

    @cached_property
    def boardable_stops(self) -> Int64:
        return np.flatnonzero(self.timetable.stop_kind == STOP)

    @cached_property
    def printed_rows(self) -> Mapping[str, int]:
        return {stop_id: row for row, stop_id in enumerate(self.timetable.stop_printed_id)}

    @cached_property
    def stop_rows(self) -> Mapping[tuple[str, str], int]:
        """The rows of stops, keyed by FEED and id."""
        table = self.timetable
        feeds = [table.feeds[feed].name for feed in table.stop_feed.tolist()]
        return {key: row for row, key in enumerate(zip(feeds, table.stop_local_id, strict=True))}


def open_trial(home: Path, network: EmbeddedNetwork, feeds: Sequence[RawFeed], ask: Ask) -> Trial:
    """Return the trial for a network that has been imported into a home folder."""
    entry = TimetableStore(home).get(network.profile.name)
    return Trial(
        network=network,
        report=ImportReport.from_json(entry.report_json),
        feeds=feeds,
        streets=find_streets(entry.folder),
        basemap=find_basemap(entry.folder),
        ask=ask,
    )
