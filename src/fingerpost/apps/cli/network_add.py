"""The ``fingerpost network add`` command: add a network from GTFS feeds, or from a remote source."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer

from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import prepare_settings, with_options
from fingerpost.apps.cli.import_report import print_report
from fingerpost.apps.cli.network_sources import forget_import, learn_profile, print_realtime, run_import
from fingerpost.apps.cli.output import print_line, print_message
from fingerpost.apps.source_kinds import EMBEDDED, SourceKind, open_record_store
from fingerpost.errors import ParameterError
from fingerpost.store.network_records import KEYS, NetworkRecord, NetworkRecordStore, parse_network_name
from fingerpost.transit.embedded.feed_origins import expand_home, read_place
from fingerpost.transit.learned_profile import LearnedProfiles

_TEXT_LISTS = ("feeds", "realtime", "languages", "attribution")
# The keys of a record that do not apply to another kind of source.
_SOURCE_KEYS = ("feeds", "realtime", "extract", "url", "key", "bounds", "zone", "languages")
# The option and metavar of record keys; the help text is the key's description.
_RECORD_OPTIONS = {
    "realtime": ("--realtime", "[FEED=]FILE|URL"),
    "key": ("--key", "VARIABLE"),
    "fallback": ("--fallback", "NETWORK"),
    "priority": ("--priority", "NUMBER"),
    "zone": ("--zone", "ZONE"),
    "bounds": ("--bounds", "S,W,N,E"),
    "languages": ("--language", "CODE"),
    "extract": ("--streets", "EXTRACT"),
}


def new_add_command(kinds: Sequence[SourceKind]) -> Callable[..., None]:
    """Return the ``add`` command, with options for record keys and for the kinds of sources."""

    def add_network(
        ctx: typer.Context,
        name: Annotated[str, typer.Argument(help="The name of the network, such as HSL; its stop ids begin with it.")],
        feeds: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="[FEED=]PATH|URL...", help="GTFS zip files, folders or URLs. Write keys as ${NAME}."
            ),
        ] = None,
        **options: Any,
    ) -> None:
        """Add a network, or replace its source; settings that are not given here do not change."""
        settings = prepare_settings(ctx)
        kind, source_fields = _choose_source(feeds or [], kinds, options)
        typed = {key: _parse_value(key, value) for key in _RECORD_OPTIONS if (value := options[key]) not in (None, [])}
        if "extract" in typed and kind is not None:
            raise ParameterError(
                "Streets can be added only to feeds; a server has its own",
                {"field": "extract"},
                hint="Leave out --streets",
            )
        network, store = parse_network_name(name), open_record_store(settings.home)
        records = store.read()
        record, unchanged = _build_record(store, network, records.records.get(network), {**source_fields, **typed})
        report = None
        if kind is None:
            report = run_import(settings, f"Importing {network} ...", lambda importer: importer.add(record))
            store.put(record)
            LearnedProfiles(settings.home).remove(network)
        else:
            learn_profile(settings, kind, record)
            store.put(record)
            forget_import(settings.home, network)
        # Print only after everything is stored, because printing to a closed pipe ends the process.
        if report is None:
            print_line(f"{network} is ready.")
        else:
            print_report(report)
        if network in records.problems:
            print_line(f"Its record could not be used, so it was replaced: {records.problems[network]}.")
        if unchanged:
            keys = ", ".join(unchanged)
            print_line(f"Unchanged settings: {keys}. To remove one, delete its line in {store.path(network)}.")
        if record.source == EMBEDDED and record.realtime:
            has_messages = print_realtime(settings, network)
            if "realtime" in typed and not has_messages:
                print_message(
                    f"{network} and its realtime sources are stored, and sources without a message will be fetched "
                    f"again. To remove one, edit the line `realtime` in {store.path(network)}."
                )
                raise typer.Exit(TOOL_ERROR)

    return with_options(add_network, _list_options(kinds))


def _list_options(kinds: Sequence[SourceKind]) -> dict[str, tuple[Any, Any]]:
    listed: dict[str, tuple[Any, Any]] = {}
    for key, (option, metavar) in _RECORD_OPTIONS.items():
        described = (NetworkRecord.model_fields[key].description or "").replace("``", "")
        text = f"{described[:1].upper()}{described[1:]}{' Repeatable.' if key in _TEXT_LISTS else ''}"
        value_type = list[str] if key in _TEXT_LISTS else int if key == "priority" else str
        listed[key] = (value_type | None, typer.Option(option, metavar=metavar, help=text))
    for source_option in (option for kind in kinds for option in kind.add_options):
        kind = bool if source_option.metavar is None else str | None
        option = typer.Option(f"--{source_option.name}", metavar=source_option.metavar, help=source_option.help)
        listed[source_option.parameter] = (kind, option)
    return listed


def _choose_source(
    feeds: Sequence[str], kinds: Sequence[SourceKind], options: Mapping[str, Any]
) -> tuple[SourceKind | None, dict[str, Any]]:
    """Return the kind of remote source, or None for feeds, and the record fields that the arguments set."""
    chosen: list[tuple[SourceKind | None, dict[str, Any]]] = []
    if feeds:
        chosen.append((None, {"source": EMBEDDED, "feeds": _parse_value("feeds", feeds)}))
    choices = ["its feeds"]
    for kind in kinds:
        for option in kind.add_options:
            choices.append(f"--{option.name}")
            if value := options.get(option.parameter):
                fields = option.fill("" if option.metavar is None else str(value))
                chosen.append((kind, {"source": kind.kind, **fields}))
    if len(chosen) != 1:
        raise ParameterError(
            f"A network has one source, and {len(chosen) or 'none'} {'were' if len(chosen) > 1 else 'was'} named",
            {"field": "feeds"},
            hint=f"Name {' or '.join(choices)}",
        )
    return chosen[0]


def _build_record(
    store: NetworkRecordStore, name: str, previous: NetworkRecord | None, changes: Mapping[str, Any]
) -> tuple[NetworkRecord, list[str]]:
    """Return a network's validated record, and the keys whose values come from the previous record."""
    inherited: dict[str, Any] = {} if previous is None else {key: getattr(previous, key) for key in KEYS}
    if previous is not None and (previous.source, EMBEDDED) != (changes["source"], changes["source"]):
        # Another kind of source, or a new server, has its own values for these.
        inherited = {key: value for key, value in inherited.items() if key not in _SOURCE_KEYS}
    record = store.build(name, {**inherited, **changes})
    store.check(record)
    fields = NetworkRecord.model_fields
    return record, [key for key, value in inherited.items() if key not in changes and value != fields[key].default]


def _parse_value(key: str, typed: Any) -> Any:
    """Parse the value of a record's key: absolute paths, numbers, and tuples for lists.

    Invalid bounds remain strings, which the check of the record reports.
    """
    if key in _TEXT_LISTS:
        return tuple(_parse_text(key, text) for text in typed)
    if key == "bounds":
        parts = typed.replace(" ", "").split(",")
        with suppress(ValueError):
            return tuple(map(float, parts))
        return tuple(parts)
    return typed if isinstance(typed, int) else _parse_text(key, typed)


def _parse_text(key: str, typed: str) -> str:
    if key == "fallback":
        return typed.strip().upper()
    if key == "extract":
        if not typed.strip():
            raise ParameterError("Name an OpenStreetMap extract (.osm.pbf)", {"field": key})
        return str(expand_home(typed).absolute())
    if key == "feeds":
        return read_place(typed).text
    if key == "realtime":
        # A local import, because it loads numba.
        from fingerpost.transit.embedded.realtime_feeds import read_typed_source

        return read_typed_source(typed).text
    return typed
