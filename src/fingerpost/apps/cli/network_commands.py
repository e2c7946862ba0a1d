"""The commands that add, change, list and remove networks."""

import json
from typing import Annotated

import typer

from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import prepare_settings
from fingerpost.apps.cli.import_report import print_report
from fingerpost.apps.cli.network_add import new_add_command, parse_value
from fingerpost.apps.cli.network_sources import (
    Unchecked,
    check_realtime,
    forget_import,
    learn_profile,
    print_realtime,
    run_import,
)
from fingerpost.apps.cli.network_view import print_learned, print_networks, print_record
from fingerpost.apps.cli.output import complain, print_line, usage
from fingerpost.apps.overview import find_report
from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import EMBEDDED, REMOTE_KINDS, open_record_store
from fingerpost.errors import ParameterError, SettingsInvalid, ToolError
from fingerpost.store.network_names import is_network_name, plain_name
from fingerpost.store.network_record import describe_schema
from fingerpost.store.network_records import NetworkRecord, NetworkRecords
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.learned_profile import LearnedProfiles

app = typer.Typer(no_args_is_help=True)
app.command("add", epilog="Example: fingerpost network add HSL hsl.zip --realtime updates.pb")(
    new_add_command(REMOTE_KINDS)
)

_Name = Annotated[str, typer.Argument(help="Which one; list names those that were added.")]


@app.command(
    "set", context_settings={"ignore_unknown_options": True}, epilog="Example: fingerpost network set HSL priority 10"
)
def set_value(
    ctx: typer.Context,
    name: _Name,
    key: Annotated[str, typer.Argument(help="What to change, such as priority, zone, bounds, fallback or realtime.")],
    value: Annotated[list[str] | None, typer.Argument(help="The value; several where the key holds a list.")] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Remove the key from the record.")] = False,
    unchecked: Unchecked = False,
) -> None:
    """Change one key of a network's record; it holds from the next call on."""
    settings = prepare_settings(ctx)

    with usage():
        network = plain_name(name)
        if unset == bool(value):
            raise ParameterError("Give a value, or --unset", {"field": key})
        read = None if unset else parse_value(key, value or [])
        file = open_record_store(settings.home)
        record = file.read().records.get(network)
        look = None
        if key == "realtime" and read and record is not None and record.source == EMBEDDED:
            look = check_realtime(settings, record.model_copy(update={"realtime": read}))
            look.refuse(unchecked=unchecked)
        file.set_value(network, key, read)
    shown = "is not set" if read is None else f"= {json.dumps(read, ensure_ascii=False)}"
    print_line(f"{network}: {key} {shown}")
    if key == "feeds":
        print_line(f"Run `fingerpost network refresh {network}` to answer from them.")
    if look is not None:
        print_realtime(look)
    problem = file.read().problems.get(network)
    if problem is not None:
        print_line(f"{network} still cannot be used: {problem}.")


@app.command("refresh", epilog="Example: fingerpost network refresh HSL")
def refresh_networks(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Which one; all of them, where none is named.")] = None,
) -> None:
    """Fetch the feeds of a network again, and import them if they, or their names in the record, have changed.

    For a remote source, fetch the profile of its network again, such as bounds, zone and modes.
    """
    settings = prepare_settings(ctx)

    records = open_record_store(settings.home).read()
    if name is not None:
        _refresh(settings, _get_record(records, name.strip().upper()), is_named=True)
        return
    failed = False
    for network in sorted({*records.records, *records.problems}):
        try:
            _refresh(settings, _get_record(records, network), is_named=False)
        except ToolError as error:
            complain(error)
            failed = True
    if failed:
        raise typer.Exit(TOOL_ERROR)


def _refresh(settings: Settings, record: NetworkRecord, *, is_named: bool) -> None:
    if record.source != EMBEDDED:
        learn_profile(settings, next(kind for kind in REMOTE_KINDS if kind.kind == record.source), record)
        print_line(f"{record.name}: its profile was fetched again.")
        return
    if not record.feeds and not is_named:
        print_line(f"{record.name} has no feeds in its record; there is nothing to refresh.")
        return
    report = run_import(settings, f"Refreshing {record.name} ...", lambda importer: importer.refresh(record))
    if report is None:
        print_line(f"{record.name} is unchanged.")
    else:
        print_report(report)


@app.command("list", epilog="Example: fingerpost network list")
def list_networks(ctx: typer.Context) -> None:
    """Show the networks that were added, and the demos."""
    settings = prepare_settings(ctx)
    print_networks(open_record_store(settings.home).read(), TimetableStore(settings.home), demo_mode=settings.demo)


@app.command("show", epilog="Example: fingerpost network show HSL")
def show_network(ctx: typer.Context, name: _Name) -> None:
    """Show a network's record and import report: what was imported, what was left out, and why."""
    settings = prepare_settings(ctx)
    store, file = TimetableStore(settings.home), open_record_store(settings.home)
    record = _get_record(file.read(), plain_name(name))
    print_record(record, file.path(record.name))
    if record.source != EMBEDDED:
        print_learned(record, LearnedProfiles(settings.home))
        return
    if record.name not in store.list_names():
        print_line(f"Nothing is prepared. Run `fingerpost network refresh {record.name}`.")
        return
    entry = store.get(record.name)
    note = entry.find_note(record.feeds, record.extract) or entry.find_age_note()
    if note is not None:
        print_line(note)
    report = find_report(store, record.name)
    if report is None:
        raise SettingsInvalid(
            f"The import report of {entry.name} cannot be read. Run `fingerpost network add` for it again."
        )
    print_line(f"Added {entry.added_at:%Y-%m-%d %H:%M}.")
    print_report(report)
    if record.realtime:
        print_realtime(check_realtime(settings, record))


@app.command("remove", epilog="Example: fingerpost network remove HSL")
def remove_network(ctx: typer.Context, name: Annotated[str, typer.Argument(help="Which one.")]) -> None:
    """Remove a network: its record, its fetched feeds and its prepared timetable."""
    settings = prepare_settings(ctx)
    store, file = TimetableStore(settings.home), open_record_store(settings.home)
    records = file.read()
    if name in records.problems and not is_network_name(name):
        # Nothing can have been fetched or prepared under such a name.
        file.remove(name)
        print_line(f"Removed {name}.")
        return
    network = plain_name(name)
    # Without a record, something was prepared by a command that did not come to its end.
    if network in records.records or network in records.problems or network not in store.list_names():
        file.remove(network)
    forget_import(settings.home, network)
    LearnedProfiles(settings.home).remove(network)
    print_line(f"Removed {network}.")


@app.command("schema", epilog="Example: fingerpost network schema")
def print_schema() -> None:
    """Print the JSON schema of a network's record, for editors that check TOML."""
    typer.echo(json.dumps(describe_schema(), indent=2))


def _get_record(records: NetworkRecords, name: str) -> NetworkRecord:
    if name in records.problems:
        raise SettingsInvalid(records.problems[name])
    if name not in records.records:
        names = ", ".join(sorted(records.records)) or "none"
        raise ParameterError(f"There is no network {name}. Added networks: {names}.", {"field": "name"})
    return records.records[name]
