"""The ``fingerpost network`` commands: add, check, refresh, list, show and remove networks."""

import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter
from rich.text import Text

from fingerpost import clock
from fingerpost.apps import error_boundary
from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import Json, complete_network, prepare_settings, with_options
from fingerpost.apps.cli.network_add import (
    add_network,
    fetch_realtime,
    learn_profile,
    list_options,
    list_realtime_lines,
    print_realtime,
    print_report,
    remove_import,
    run_import,
    show_import_bars,
)
from fingerpost.apps.cli.output import new_console, print_error, print_json, print_line, print_lines
from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import EMBEDDED, REMOTE_KINDS, open_record_store
from fingerpost.apps.warm_up import compile_in_background
from fingerpost.apps.wiring import DEMOS, build
from fingerpost.errors import FeedUnusable, ParameterError, SettingsInvalid, SourceFailed, ToolError
from fingerpost.store.network_records import NetworkRecord, NetworkRecords, parse_network_name
from fingerpost.transit.check.check_report import CheckReport, CheckResult, FaultKind, Observation, summarize
from fingerpost.transit.embedded.feed_origins import OriginFolder, parse_file_argument, parse_location
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.learned_profile import LearnedProfile, LearnedProfiles
from fingerpost.transit.model.provenance import ServiceState
from fingerpost.transit.networks.composite import DemoMode, are_demos_enabled

app = typer.Typer(no_args_is_help=True)
app.command("add", epilog="Example: fingerpost network add HSL hsl.zip --realtime updates.pb")(
    with_options(add_network, list_options())
)

_NAME = typer.Argument(help="The name of an added network.", autocompletion=complete_network)
_Name = Annotated[str, _NAME]

NAME = "CHECK"
DATA_FAULT = 3
_VERDICTS = {
    "program": "fingerpost gives wrong answers for this feed. Please report this with the lines below.",
    "data": "Riders can use this feed, but its publisher, or that of the extract, should fix the faults below.",
    "note": "Riders can use this feed.",
}
_ENDED = "Riders cannot use this feed today."
_STYLES = {"program": "bold red", "data": "yellow", "note": ""}


@app.command("check", epilog="Example: fingerpost network check hsl.zip --streets helsinki.osm.pbf")
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

    The exit status is 0 if riders can use the feeds, 3 for faults in the data, and 1 for faults in fingerpost.
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
        print_json(TypeAdapter(CheckReport).dump_python(report, mode="json") | {"verdict": report.origin.value})
    else:
        _print(report)
    raise typer.Exit({"program": TOOL_ERROR, "data": DATA_FAULT}.get(report.origin.value, 0))


async def _check(
    settings: Settings, record: NetworkRecord, import_report: ImportReport, questions: int, seed: int
) -> CheckReport:
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
    await application.aclose()
    return report


def _has_trips(record: NetworkRecord, file: str) -> bool:
    from fingerpost.transit.check.raw_feed import RawFeed

    paths = [parse_location(text).path for text in record.feeds]
    return any(RawFeed(NAME, path).trips for path in paths if path is not None and path.name == file)


def _check_realtime(settings: Settings, sources: int) -> CheckResult:
    lines = list_realtime_lines(fetch_realtime(settings, NAME))
    faults = [Observation(FaultKind.REALTIME_UNUSABLE, line) for line, is_ok in lines if not is_ok]
    return summarize("realtime", sources, "sources", faults)


def _print(report: CheckReport) -> None:
    codes = {fault.code for result in report.results for fault in result.faults}
    has_ended = report.origin.value == "data" and "feed-out-of-service" in codes
    print_line(Text(_ENDED if has_ended else _VERDICTS[report.origin.value], _STYLES[report.origin.value] or "bold"))
    print_line(f"Service {report.days}; seed {report.seed}.")
    for result in report.results:
        print_line(f"{result.name}: {result.checked:,} {result.unit} checked{'' if result.faults else '; no faults'}")
        for fault in result.faults:
            print_line(Text(f"  {fault.origin.value}: {fault.meaning}: {fault.count:,}", _STYLES[fault.origin.value]))
            print_lines(f"    {example}" for example in fault.examples)


@app.command("refresh", epilog="Example: fingerpost network refresh HSL")
def refresh_networks(ctx: typer.Context, name: Annotated[str | None, _NAME] = None) -> None:
    """Refresh one or all networks: download feeds and import changed ones, or query the server again."""
    settings = prepare_settings(ctx)
    records = open_record_store(settings.home).read()
    if name is not None:
        _refresh(settings, _get_record(records, name.strip().upper()))
        return
    failed = False
    for network in sorted({*records.records, *records.problems}):
        try:
            _refresh(settings, _get_record(records, network))
        except ToolError as error:
            print_error(error)
            failed = True
    if failed:
        raise typer.Exit(TOOL_ERROR)


def _refresh(settings: Settings, record: NetworkRecord) -> None:
    if record.source != EMBEDDED:
        learn_profile(settings, next(kind for kind in REMOTE_KINDS if kind.kind == record.source), record)
        print_line(f"{record.name}: its profile was fetched again.")
        return
    if not record.feeds:
        print_line(f"{record.name} has no feeds in its record; there is nothing to refresh.")
        return
    report = run_import(settings, f"Refreshing {record.name} ...", lambda importer: importer.refresh(record))
    if report is None:
        print_line(f"{record.name} is unchanged.")
    else:
        print_report(report)


def add_city(ctx: typer.Context, feeds: list[str]) -> None:
    """Add feeds as network CITY; if it already has these feeds, refresh it, and print any error."""
    record = open_record_store(prepare_settings(ctx).home).read().records.get("CITY")
    if record is None or record.feeds != tuple(parse_location(feed).text for feed in feeds):
        add_network(ctx, "CITY", feeds)
        return
    try:
        refresh_networks(ctx, "CITY")
    except ToolError as error:
        print_error(error)


@app.command("list", epilog="Example: fingerpost network list")
def list_networks(ctx: typer.Context) -> None:
    """List the added networks and the demos."""
    settings = prepare_settings(ctx)
    store, records = TimetableStore(settings.home), open_record_store(settings.home).read()
    is_on = are_demos_enabled(DemoMode(settings.demo), has_networks=bool(records.records or records.problems))
    demo_state = "any day  in service" if is_on else "used for its own stop ids only"
    for name, record in sorted(records.records.items()):
        print_line(f"{name:<13}  {_describe_state(record, store)}  {record.source}")
    for name in DEMOS:
        print_line(f"{name:<13}  {demo_state}  demo")
    notes = []
    for name, record in records.records.items():
        if record.source == EMBEDDED and (note := _find_note(record, store)) is not None:
            notes.append(note)
        notes += [f"Realtime source of {name}: {text}" for text in record.realtime]
    notes += [f"{name} cannot be used: {problem}." for name, problem in records.problems.items()]
    notes += [
        f"{name} was prepared, but has no record and is not in use: its `network add` was interrupted. "
        f"Add it again, or run `fingerpost network remove {name}`."
        for name in store.list_names()
        if name not in records.records and name not in records.problems
    ]
    print_lines(notes)


def _describe_state(record: NetworkRecord, store: TimetableStore) -> str:
    if record.source != EMBEDDED:
        return "queries its source"
    report = _find_report(record, store)
    if report is None:
        return "no readable import report"
    today = clock.today_in(report.feeds[0].zone)
    in_service = sum(feed.service.state_on(today) is ServiceState.IN_SERVICE for feed in report.feeds)
    return f"{report.days}  {in_service} of {len(report.feeds)} feeds in service"


def _find_report(record: NetworkRecord, store: TimetableStore) -> ImportReport | None:
    try:
        return ImportReport.from_json(store.get(record.name).report_json)
    except (ToolError, ValueError):
        return None


def _find_note(record: NetworkRecord, store: TimetableStore) -> str | None:
    """Return a note if a network's prepared timetable is missing or out of date."""
    if record.name not in store.list_names():
        return f"{record.name} is not prepared. Run `fingerpost network refresh {record.name}`."
    return store.get(record.name).find_note(record.feeds, record.extract)


@app.command("show", epilog="Example: fingerpost network show HSL")
def show_network(ctx: typer.Context, name: _Name) -> None:
    """Show a network's record and import report: what was imported, what was left out, and why."""
    settings = prepare_settings(ctx)
    store, record_store = TimetableStore(settings.home), open_record_store(settings.home)
    record = _get_record(record_store.read(), parse_network_name(name))
    print_line(f"{record.name} in {record_store.path(record.name)}")
    _print_values(record.model_dump(exclude={"name"}, exclude_defaults=True, mode="json"))
    if record.source != EMBEDDED:
        profile = LearnedProfiles(settings.home).find(record)
        if profile is None:
            print_line(f"Its server has not been contacted yet. Run `fingerpost network refresh {record.name}`.")
            return
        print_line(f"Reported by its server on {profile.learned_at:%Y-%m-%d %H:%M}:")
        _print_values(
            TypeAdapter(LearnedProfile).dump_python(
                profile, mode="json", exclude={"abilities", "learned_at", "modes"}, exclude_defaults=True
            )
        )
        return
    if (note := _find_note(record, store)) is not None:
        print_line(note)
    report = _find_report(record, store)
    if report is None:
        if record.name in store.list_names():
            hint = f"Run `fingerpost network refresh {record.name}`"
            raise SettingsInvalid(f"The import report of {record.name} cannot be read. {hint}")
        return
    print_line(f"Added {store.get(record.name).added_at:%Y-%m-%d %H:%M}.")
    print_report(report)
    if record.realtime:
        print_realtime(settings, record.name)


def _print_values(values: Mapping[str, Any]) -> None:
    print_lines(f"  {key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())


@app.command("remove", epilog="Example: fingerpost network remove HSL")
def remove_network(ctx: typer.Context, name: _Name) -> None:
    """Remove a network: its record, its fetched feeds and its prepared timetable."""
    settings = prepare_settings(ctx)
    store, record_store = TimetableStore(settings.home), open_record_store(settings.home)
    records = record_store.read()
    network = name if name in records.problems else parse_network_name(name)
    # An interrupted `network add` leaves behind a prepared network without a record.
    if network in records.records or network in records.problems or network not in store.list_names():
        record_store.remove(network)
    remove_import(settings.home, network)
    LearnedProfiles(settings.home).remove(network)
    print_line(f"Removed {network}.")


def _get_record(records: NetworkRecords, name: str) -> NetworkRecord:
    if name in records.problems:
        raise SettingsInvalid(records.problems[name])
    if name not in records.records:
        names = ", ".join(sorted(records.records)) or "none"
        raise ParameterError(f"There is no network {name}. Added networks: {names}", {"field": "name"})
    return records.records[name]
