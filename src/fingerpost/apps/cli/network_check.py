"""The ``fingerpost network check`` command: import feeds into a temporary home, plan many trips, and report faults."""

import asyncio
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import TypeAdapter
from rich.text import Text

from fingerpost import clock
from fingerpost.apps import error_boundary
from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import Json, prepare_settings
from fingerpost.apps.cli.network_sources import fetch_realtime, list_realtime_lines, run_import, show_import_bars
from fingerpost.apps.cli.output import new_console, print_error, print_json, print_line
from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import EMBEDDED, open_record_store
from fingerpost.apps.warm_up import compile_in_background
from fingerpost.apps.wiring import build
from fingerpost.errors import FeedUnusable, SourceFailed
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.feed_origins import OriginFolder, parse_file_argument, parse_location

if TYPE_CHECKING:
    from fingerpost.transit.check.check_report import CheckReport, CheckResult
    from fingerpost.transit.engine.gtfs.report import ImportReport

NAME = "CHECK"
DATA_FAULT = 3
_VERDICTS = {
    "program": "fingerpost gives wrong answers for this feed. Please report this with the lines below.",
    "data": "Riders can use this feed, but with losses that its publisher, or the publisher of the extract, can fix.",
    "note": "Riders can use this feed.",
}
_ENDED = "Riders cannot use this feed today."
_STYLES = {"program": "bold red", "data": "yellow", "note": ""}


def check_feeds(
    ctx: typer.Context,
    feeds: Annotated[
        list[str], typer.Argument(metavar="[FEED=]PATH|URL...", help="GTFS zip files, folders or URLs of one network.")
    ],
    streets: Annotated[
        str | None, typer.Option("--streets", metavar="EXTRACT", help="An OpenStreetMap extract (.osm.pbf).")
    ] = None,
    realtime: Annotated[
        list[str] | None, typer.Option("--realtime", metavar="[FEED=]FILE|URL", help="A realtime source. Repeatable.")
    ] = None,
    questions: Annotated[int, typer.Option("--questions", min=1, max=100_000, help="How many trips to plan.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="The random seed; a different number plans different trips.")] = 1,
    as_json: Json = False,
) -> None:
    """Check whether riders can use feeds: plan trips, and compare the import with the raw tables.

    The exit status is 0 if riders can use them, 3 for faults in the data, and 1 for faults in fingerpost.
    """
    with tempfile.TemporaryDirectory(prefix="fingerpost-check-") as folder:
        settings = prepare_settings(ctx).model_copy(update={"home": Path(folder)})
        record = NetworkRecord(
            name=NAME,
            source=EMBEDDED,
            feeds=tuple(parse_file_argument("feeds", text) for text in feeds),
            realtime=tuple(parse_file_argument("realtime", text) for text in realtime or ()),
            extract=None if streets is None else parse_file_argument("extract", streets),
        )
        try:
            import_report = run_import(settings, "Importing ...", lambda importer: importer.add(record))
        except FeedUnusable as error:
            print_error(error)
            is_ours = error.details.get("trips") == 0 and _has_trips(record, error.details["file"])
            if is_ours:
                print_line(_VERDICTS["program"])
            raise typer.Exit(TOOL_ERROR if is_ours else DATA_FAULT) from None
        store = open_record_store(settings.home)
        store.put(record.model_copy(update={"realtime": ()}))
        report = asyncio.run(_check(settings, record, import_report, questions, seed))
        if realtime:
            store.put(record)
            report = replace(report, results=(*report.results, _check_realtime(settings, len(record.realtime))))
    if as_json:
        from fingerpost.transit.check.check_report import CheckReport

        print_json(TypeAdapter(CheckReport).dump_python(report, mode="json") | {"verdict": report.origin.value})
    else:
        _print(report)
    raise typer.Exit({"program": TOOL_ERROR, "data": DATA_FAULT}.get(report.origin.value, 0))


async def _check(
    settings: Settings, record: NetworkRecord, import_report: "ImportReport", questions: int, seed: int
) -> "CheckReport":
    # Local imports, because they load numba.
    from fingerpost.transit.check.raw_feed import RawFeed
    from fingerpost.transit.check.run import run_checks
    from fingerpost.transit.check.trial import Trial
    from fingerpost.transit.embedded.network import EmbeddedNetwork

    application = build(settings, ("trips",))
    compile_in_background(settings.home)
    opened = await application.networks.open()
    network = next((each for each in opened.answering if each.profile.name == NAME), None)
    if not isinstance(network, EmbeddedNetwork):
        raise SourceFailed(opened.problems[NAME])
    folder = OriginFolder(settings.home, NAME)
    contents = folder.read()
    places = [parse_location(text, settings.home) for text in record.feeds]
    paths = [
        place.path or folder.folder / (contents[text].file or "")
        for text, place in zip(record.feeds, places, strict=True)
    ]
    # The first feed's ids do not depend on other feeds.
    names = [(places[0].feed_name or NAME).upper(), *(feed.name for feed in network.timetable.feeds[1:])]
    feeds = [RawFeed(name, path) for name, path in zip(names, paths, strict=True)]
    call_tool = partial(error_boundary.answer, application.tools, user=None)
    trial = Trial(network=network, report=import_report, feeds=feeds, call_tool=call_tool)
    with show_import_bars(new_console(stderr=True)) as progress:
        report = await run_checks(
            trial, clock.today_in(network.profile.zone), questions=questions, seed=seed, progress=progress
        )
    await application.networks.close()
    return report


def _has_trips(record: NetworkRecord, file: str) -> bool:
    from fingerpost.transit.check.raw_feed import RawFeed

    paths = [parse_location(text).path for text in record.feeds]
    return any(RawFeed(NAME, path).trips for path in paths if path is not None and path.name == file)


def _check_realtime(settings: Settings, sources: int) -> "CheckResult":
    # A local import, because it loads numba.
    from fingerpost.transit.check.check_report import FaultKind, Observation, summarize

    lines = list_realtime_lines(fetch_realtime(settings, NAME))
    faults = [Observation(FaultKind.REALTIME_UNUSABLE, line) for line, is_ok in lines if not is_ok]
    return summarize("realtime", sources, "sources", faults)


def _print(report: "CheckReport") -> None:
    codes = {fault.code for result in report.results for fault in result.faults}
    has_ended = report.origin.value == "data" and "feed-out-of-service" in codes
    print_line(Text(_ENDED if has_ended else _VERDICTS[report.origin.value], _STYLES[report.origin.value] or "bold"))
    print_line(f"Service {report.days}; seed {report.seed}.")
    for result in report.results:
        print_line(f"{result.name}: {result.checked:,} {result.unit} checked{'' if result.faults else '; no faults'}")
        for fault in result.faults:
            print_line(Text(f"  {fault.origin.value}: {fault.meaning}: {fault.count:,}", _STYLES[fault.origin.value]))
            for example in fault.examples:
                print_line(f"    {example}")
