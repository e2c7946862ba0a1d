"""The ``fingerpost network`` commands: add, check, refresh, list, show and remove networks."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter

from fingerpost import clock
from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import complete_network, prepare_settings
from fingerpost.apps.cli.network_check import check_feeds
from fingerpost.apps.cli.network_sources import (
    learn_profile,
    new_add_command,
    print_realtime,
    print_report,
    remove_import,
    run_import,
)
from fingerpost.apps.cli.output import print_error, print_line
from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import EMBEDDED, REMOTE_KINDS, open_record_store
from fingerpost.apps.wiring import DEMOS
from fingerpost.errors import ParameterError, SettingsInvalid, ToolError
from fingerpost.store.network_records import NetworkRecord, NetworkRecords, parse_network_name
from fingerpost.transit.embedded.feed_origins import parse_location
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.learned_profile import LearnedProfile, LearnedProfiles
from fingerpost.transit.model.provenance import ServiceState
from fingerpost.transit.networks.composite import DemoMode, are_demos_enabled

app = typer.Typer(no_args_is_help=True)
app.command("add", epilog="Example: fingerpost network add HSL hsl.zip --realtime updates.pb")(
    new_add_command(REMOTE_KINDS)
)

app.command("check", epilog="Example: fingerpost network check hsl.zip --streets helsinki.osm.pbf")(check_feeds)

_NAME = typer.Argument(help="The name of an added network.", autocompletion=complete_network)
_Name = Annotated[str, _NAME]


@app.command("refresh", epilog="Example: fingerpost network refresh HSL")
def refresh_networks(ctx: typer.Context, name: Annotated[str | None, _NAME] = None) -> None:
    """Download a network's feeds again and import changed ones, or query its server again; by default, all networks."""
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
    """Add feeds as the network CITY, or refresh CITY if it has the same feeds; print the error of a failed refresh."""
    record = open_record_store(prepare_settings(ctx).home).read().records.get("CITY")
    if record is None or record.feeds != tuple(parse_location(feed).text for feed in feeds):
        new_add_command(REMOTE_KINDS)(ctx, "CITY", feeds)
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
    for note in notes:
        print_line(note)


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
    entry = store.get(record.name)
    return entry.find_note(record.feeds, record.extract)


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
    for key, value in values.items():
        print_line(f"  {key} = {json.dumps(value, ensure_ascii=False)}")


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
