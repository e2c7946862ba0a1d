"""The command ``fingerpost network add``: add a network from GTFS feeds, or from a remote source by its own option."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer

from fingerpost.apps.cli.application import prepare_settings
from fingerpost.apps.cli.import_report import print_report
from fingerpost.apps.cli.network_sources import (
    Unchecked,
    check_realtime,
    forget_import,
    learn_profile,
    print_realtime,
    run_import,
)
from fingerpost.apps.cli.output import print_line
from fingerpost.apps.source_kinds import EMBEDDED, SourceKind, open_record_store
from fingerpost.errors import ParameterError
from fingerpost.store.network_names import plain_name
from fingerpost.store.network_record import KEYS, NetworkRecord
from fingerpost.store.network_records import NetworkRecordStore
from fingerpost.transit.embedded.feed_origins import expand_home, read_place
from fingerpost.transit.learned_profile import LearnedProfiles

_TEXT_LISTS = ("feeds", "realtime", "languages", "attribution")
# The keys of a record that mean nothing to another kind of source.
_OF_A_SOURCE = ("feeds", "realtime", "extract", "url", "key", "bounds", "zone", "languages")
# Keys of a record that have an option; the help is the description of the key.
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
    """Return the ``add`` command with an option for each key of a record, and those that kinds of sources declare."""

    def add_network(
        ctx: typer.Context,
        name: Annotated[str, typer.Argument(help="The name of the network, such as HSL; its stop ids begin with it.")],
        feeds: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="[FEED=]PATH|URL...", help="GTFS zip files, folders or URLs. Write keys as ${NAME}."
            ),
        ] = None,
        unchecked: Unchecked = False,
        **given: Any,
    ) -> None:
        """Add a network, or replace its source; settings that are not named here stay as they are."""
        settings = prepare_settings(ctx)
        kind, source_fields = _choose_source(feeds or [], kinds, given)
        typed = {
            key: parse_value(key, value if isinstance(value, list) else [value])
            for key in _RECORD_OPTIONS
            if (value := given[key]) not in (None, [])
        }
        if "extract" in typed and kind is not None:
            raise ParameterError(
                "Streets can be added to feeds only; a server has its own",
                {"field": "extract"},
                hint="Leave out --streets",
            )
        network, store = plain_name(name), open_record_store(settings.home)
        records = store.read()
        before = records.records.get(network)
        record, unchanged = _build_record(store, network, before, {**source_fields, **typed})
        realtime = None
        if record.source == EMBEDDED and record.realtime:
            realtime = check_realtime(settings, record)
            if "realtime" in typed:
                realtime.refuse(unchecked=unchecked)
        report = None
        if kind is None:
            report = run_import(settings, f"Importing {network} ...", lambda importer: importer.add(record))
        else:
            learn_profile(settings, kind, record)
        store.put(record)
        if before is not None and before.source != record.source:
            if kind is None:
                LearnedProfiles(settings.home).remove(network)
            elif before.source == EMBEDDED:
                forget_import(settings.home, network)
        # Everything is stored before the first line is printed: a reader may stop listening.
        if report is None:
            print_line(f"{network} is ready.")
        else:
            print_report(report)
        if network in records.problems:
            print_line(f"Its record could not be used, so it was replaced: {records.problems[network]}.")
        if unchanged:
            keys = ", ".join(unchanged)
            print_line(f"Unchanged settings: {keys}. `fingerpost network set {network} KEY --unset` forgets one.")
        if realtime is not None:
            print_realtime(realtime)

    _add_options(add_network, kinds)
    return add_network


def _add_options(command: Any, kinds: Sequence[SourceKind]) -> None:
    """Replace the ``**given`` of the command by options, in the signature that typer reads."""
    signature = inspect.signature(command)
    parameters = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]

    def add(name: str, kind: Any, option: Any) -> None:
        default = False if kind is bool else None
        annotated: Any = Annotated[kind if kind is bool else kind | None, option]
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotated)
        )

    for key, (option, metavar) in _RECORD_OPTIONS.items():
        described = (NetworkRecord.model_fields[key].description or "").replace("``", "")
        text = f"{described[:1].upper()}{described[1:]}{' Repeatable.' if key in _TEXT_LISTS else ''}"
        add(key, list[str] if key in _TEXT_LISTS else str, typer.Option(option, metavar=metavar, help=text))
    for own in (own for kind in kinds for own in kind.add_options):
        option_type = bool if own.metavar is None else str
        add(own.parameter, option_type, typer.Option(f"--{own.name}", metavar=own.metavar, help=own.help))
    command.__signature__ = signature.replace(parameters=parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


def _choose_source(
    feeds: Sequence[str], kinds: Sequence[SourceKind], given: Mapping[str, Any]
) -> tuple[SourceKind | None, dict[str, Any]]:
    """Return the remote kind of source, None for feeds, and the fields of the record that it sets."""
    chosen: list[tuple[SourceKind | None, dict[str, Any]]] = []
    if feeds:
        chosen.append((None, {"source": EMBEDDED, "feeds": parse_value("feeds", feeds)}))
    ways = ["its feeds"]
    for kind in kinds:
        for option in kind.add_options:
            ways.append(f"--{option.name}")
            if value := given.get(option.parameter):
                fields = option.fill("" if option.metavar is None else str(value))
                chosen.append((kind, {"source": kind.kind, **fields}))
    if len(chosen) != 1:
        raise ParameterError(
            f"A network has one source, and {len(chosen) or 'none'} {'were' if len(chosen) > 1 else 'was'} named",
            {"field": "feeds"},
            hint=f"Name {' or '.join(ways)}",
        )
    return chosen[0]


def _build_record(
    store: NetworkRecordStore, name: str, before: NetworkRecord | None, stated: Mapping[str, Any]
) -> tuple[NetworkRecord, list[str]]:
    """Return the checked record of a network, and the keys whose value stays from the record before."""
    stays: dict[str, Any] = {} if before is None else {key: getattr(before, key) for key in KEYS}
    if before is not None and (before.source, EMBEDDED) != (stated["source"], stated["source"]):
        # A server states these itself; those of another kind of source mean nothing to it.
        stays = {key: value for key, value in stays.items() if key not in _OF_A_SOURCE}
    record = store.build(name, {**stays, **stated})
    store.check(record)
    fields = NetworkRecord.model_fields
    return record, [key for key, value in stays.items() if key not in stated and value != fields[key].default]


def parse_value(key: str, typed: Sequence[str]) -> Any:
    """Return the value of a record's key: paths made absolute, numbers as numbers, lists as tuples.

    Texts that are not numbers stay texts, because the check of the record reports them.
    """
    if key in _TEXT_LISTS:
        return tuple(_parse_text(key, text) for text in typed)
    if key == "bounds":
        parts = ",".join(typed).replace(" ", "").split(",")
        with suppress(ValueError):
            return tuple(map(float, parts))
        return tuple(parts)
    if len(typed) != 1:
        raise ParameterError(f"{key} takes one value, not {len(typed)}", {"field": key})
    if key == "priority":
        with suppress(ValueError):
            return int(typed[0])
    return _parse_text(key, typed[0])


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
        # The reader of messages loads numba.
        from fingerpost.transit.embedded.realtime_feeds import read_typed_source

        return read_typed_source(typed).text
    return typed
