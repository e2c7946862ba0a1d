"""A network under check, with its feeds and the report of their import."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fingerpost.contract.published_tool import Answer
from fingerpost.transit.check.raw_feed import RawFeed
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.engine.timetable.timetable import STOP, Int64, Timetable
from fingerpost.transit.engine.timetable.walks import Walks
from fingerpost.transit.osm.basemap import Water

CallTool = Callable[[str, Mapping[str, Any]], Awaitable[Answer]]
"""Calls a tool by name, and turns unexpected exceptions into errors."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    network: EmbeddedNetwork
    report: ImportReport
    feeds: Sequence[RawFeed]
    call_tool: CallTool

    @property
    def timetable(self) -> Timetable:
        return self.network.timetable

    @cached_property
    def walks(self) -> Walks:
        return self.network.walks.get_walks(step_free=False)

    @property
    def water(self) -> Water:
        return self.network.walks.water

    @cached_property
    def boardable_stops(self) -> Int64:
        return np.flatnonzero(self.timetable.stop_kind == STOP)

    @cached_property
    def stop_rows(self) -> Mapping[tuple[str, str], int]:
        """Stop rows, keyed by FEED and stop id."""
        table = self.timetable
        feeds = [table.feeds[feed].name for feed in table.stop_feed.tolist()]
        return {key: row for row, key in enumerate(zip(feeds, table.stop_local_id, strict=True))}
