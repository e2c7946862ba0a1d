"""Generated worlds, imported from disk, opened, and checked as ``fingerpost network check`` does."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fingerpost.apps import error_boundary
from fingerpost.apps.wiring import list_tools
from fingerpost.contract.published_tool import PublishedTool
from fingerpost.store.network_records import NetworkRecord
from fingerpost.store.variables import VariableStore
from fingerpost.transit.check.check_report import CheckReport, Origin
from fingerpost.transit.check.questions import draw_days
from fingerpost.transit.check.raw_feed import RawFeed
from fingerpost.transit.check.run import run_checks
from fingerpost.transit.check.trial import Trial
from fingerpost.transit.embedded.feed_import import prepare_network
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.osm.basemap import find_basemap
from fingerpost.transit.osm.streets.store import find_streets
from tests.fakes import FakeNetworks
from tests.feeds import write_feed
from tests.gtfs.boards import compare_boards
from tests.worlds.feeds import World


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorld:
    world: World
    feeds: tuple[FeedSource, ...]
    report: ImportReport
    network: EmbeddedNetwork
    tools: Mapping[str, PublishedTool]

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a tool's answer."""
        return asyncio.run(self.tools[tool].answer(arguments, user="ann")).body


def open_world(world: World, folder: Path, **parts: Any) -> OpenWorld:
    """Import a world into a folder and open it; raises the errors of the import."""
    feeds = [FeedSource(write_feed(folder / f"{name}.zip", tables), name) for name, tables in world.feeds.items()]
    extract = "streets.osm" if world.extract else None
    if extract:
        (folder / extract).write_text(world.extract, "utf-8")
    report = prepare_network(
        folder, "WORLD", feeds, extract=extract,
        feeds=[str(feed.path) for feed in feeds], added_at=world.now,
    )  # fmt: skip
    entry, timetable = TimetableStore(folder).open("WORLD")
    record = NetworkRecord(name="WORLD", source="gtfs")
    network = EmbeddedNetwork(
        record, timetable, streets=find_streets(entry.folder), basemap=find_basemap(entry.folder), **parts
    )
    tools = list_tools(FakeNetworks(network), VariableStore(folder / "variables.sqlite"))
    return OpenWorld(
        world=world, feeds=tuple(feeds), report=report, network=network,
        tools={tool.name: tool for tool in tools},
    )  # fmt: skip


def check_world(opened: OpenWorld, folder, *, questions: int) -> CheckReport:
    trial = new_trial(opened)
    return asyncio.run(run_checks(trial, opened.world.days[0], questions=questions, seed=opened.world.seed))


def list_board_faults(opened: OpenWorld) -> list[tuple]:
    """Return the departures that boards of 20 stops lack or invent on random days and on the first and last day."""
    trial, rng = new_trial(opened), random.Random(opened.world.seed)
    stops = [(feed, stop) for feed in trial.feeds for stop in feed.stops]
    chosen = rng.sample(stops, min(20, len(stops)))
    return [row for day in draw_days(trial, rng) for row in asyncio.run(compare_boards(trial, day, chosen))]


def new_trial(opened: OpenWorld) -> Trial:
    feeds = [RawFeed(feed.feed_name or "WORLD", feed.path) for feed in opened.feeds]
    call_tool = partial(error_boundary.answer, opened.tools, user=None)
    return Trial(network=opened.network, report=opened.report, feeds=feeds, call_tool=call_tool)


def list_program_faults(report: CheckReport) -> list[tuple[str, int, str]]:
    """Return the faults of the program: code, count and first example."""
    return [
        (fault.code, fault.count, fault.examples[0])
        for result in report.results
        for fault in result.faults
        if fault.origin is Origin.PROGRAM
    ]
