"""``fingerpost network add``: add a network from GTFS feeds, or from another kind of source by its own option."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Annotated, Any, NamedTuple

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
from fingerpost.apps.cli.output import print_line, usage
from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import EMBEDDED, SourceKind, open_record_store
from fingerpost.errors import ParameterError
from fingerpost.store.network_names import plain_name
from fingerpost.store.network_record import KEYS, NetworkRecord
from fingerpost.store.network_records import NetworkRecordStore
from fingerpost.transit.embedded.feed_origins import expand_home, read_place
from fingerpost.transit.engine.gtfs.report import ImportReport
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.remote.kit.add_option import AddOption

_TEXT_LISTS = ("feeds", "realtime", "languages", "attribution")
# The keys of a record that mean nothing to another kind of source.
_OF_A_SOURCE = ("feeds", "realtime", "extract", "url", "key", "bounds", "zone", "languages")


class _RecordOption(NamedTuple):
    name: str
    key: str
    metavar: str
    help: str


_RECORD_OPTIONS = (
    _RecordOption("realtime", "realtime", "[FEED=]FILE|URL", "GTFS-Realtime messages about these feeds; repeatable."),
    _RecordOption("key", "key", "VARIABLE", "The environment variable that holds the source's key."),
    _RecordOption("fallback", "fallback", "NETWORK", "The network that answers where this one cannot."),
    _RecordOption("priority", "priority", "NUMBER", "Where several networks cover a place, the highest answers."),
    _RecordOption("zone", "zone", "ZONE", "The IANA time zone, in place of the source's own."),
    _RecordOption("bounds", "bounds", "S,W,N,E", "The box in degrees, in place of the source's own."),
    _RecordOption("language", "languages", "CODE", "A language of its names, the preferred first; repeatable."),
    _RecordOption(
        "streets", "extract", "EXTRACT", "An OpenStreetMap extract (.osm.pbf), so that walks follow streets."
    ),
)


class _Chosen(NamedTuple):
    kind: str
    fields: dict[str, Any]


def new_add_command(kinds: Sequence[SourceKind]) -> Callable[..., None]:
    """Return the ``add`` command with the options of a record's keys and those that the kinds of sources declare."""
    options = [(kind, option) for kind in kinds for option in kind.add_options]
    by_word = {kind.kind: kind for kind in kinds}

    def add_network(
        ctx: typer.Context,
        name: Annotated[str, typer.Argument(help="The name of the network, such as HSL; its stop ids begin with it.")],
        feeds: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="[FEED=]PATH|URL...",
                help="GTFS zip files, folders or URLs. Write keys as ${NAME}.",
            ),
        ] = None,
        unchecked: Unchecked = False,
        **given: Any,
    ) -> None:
        """Add a network, or replace its source; settings that are not named here stay as they are."""
        settings = prepare_settings(ctx)
        with usage():
            chosen = _choose(feeds or [], options, given)
            typed = {
                option.key: parse_value(option.key, value if isinstance(value, list) else [value])
                for option in _RECORD_OPTIONS
                if (value := given[option.name]) not in (None, [])
            }
            if "extract" in typed and chosen.kind != EMBEDDED:
                raise ParameterError(
                    "Streets belong to feeds: a server has its own", {"field": "extract"}, hint="Leave out --streets"
                )
            network, store = plain_name(name), open_record_store(settings.home)
            records = store.read()
            before = records.records.get(network)
            record, kept = _build_record(store, network, before, chosen, typed)
            realtime = None
            if record.source == EMBEDDED and record.realtime:
                realtime = check_realtime(settings, record)
                if "realtime" in typed:
                    realtime.refuse(unchecked=unchecked)
        report = _fetch(settings, record, by_word.get(record.source))
        store.put(record)
        _forget_other_kind(settings, record, before)
        # Everything is stored before the first line is printed: a reader may stop listening.
        if report is None:
            print_line(f"{network} is ready.")
        else:
            print_report(report)
        if network in records.problems:
            print_line(f"Its record could not be used, so it was replaced: {records.problems[network]}.")
        if kept:
            print_line(
                f"Kept from before: {', '.join(kept)}. `fingerpost network set {network} KEY --unset` forgets one."
            )
        if realtime is not None:
            print_realtime(realtime)

    parameters = [
        _new_parameter(option.name, list[str] if option.key in _TEXT_LISTS else str, option.metavar, option.help)
        for option in _RECORD_OPTIONS
    ]
    parameters += [
        _new_parameter(option.parameter, bool if option.metavar is None else str, option.metavar, option.help)
        for _, option in options
    ]
    return _with_parameters(add_network, parameters)


def _new_parameter(name: str, kind: Any, metavar: str | None, text: str) -> inspect.Parameter:
    info = typer.Option(f"--{name.replace('_', '-')}", metavar=metavar, help=text)
    is_flag = kind is bool
    annotation: Any = Annotated[kind, info] if is_flag else Annotated[kind | None, info]
    default = False if is_flag else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _with_parameters(command: Callable[..., None], more: Sequence[inspect.Parameter]) -> Callable[..., None]:
    signature = inspect.signature(command)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]

    @wraps(command)
    def run(**arguments: Any) -> None:
        command(**arguments)

    run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {each.name: each.annotation for each in (*own, *more)}
    return run


def _choose(feeds: Sequence[str], options: Iterable[tuple[SourceKind, AddOption]], given: Mapping[str, Any]) -> _Chosen:
    chosen = [_Chosen(EMBEDDED, {"feeds": parse_value("feeds", feeds)})] if feeds else []
    ways = ["its feeds"]
    for kind, option in options:
        ways.append(f"--{option.name}")
        value = given.get(option.parameter)
        if value:
            chosen.append(_Chosen(kind.kind, dict(option.fill("" if option.metavar is None else str(value)))))
    if len(chosen) != 1:
        raise ParameterError(
            f"A network has one source, and {len(chosen) or 'none'} {'were' if len(chosen) > 1 else 'was'} named",
            {"field": "feeds"},
            hint=f"Name {' or '.join(ways)}",
        )
    return chosen[0]


def _build_record(
    store: NetworkRecordStore, name: str, before: NetworkRecord | None, chosen: _Chosen, typed: Mapping[str, Any]
) -> tuple[NetworkRecord, list[str]]:
    """Return the checked record of a network, and the keys whose value stays from the record before."""
    stays: dict[str, Any] = {} if before is None else {key: getattr(before, key) for key in KEYS}
    if before is not None and (before.source, EMBEDDED) != (chosen.kind, chosen.kind):
        # A server states these itself; those of another kind of source mean nothing to it.
        stays = {key: value for key, value in stays.items() if key not in _OF_A_SOURCE}
    stated = {"source": chosen.kind, **chosen.fields, **typed}
    record = store.build(name, {**stays, **stated})
    store.check(record)
    fields = NetworkRecord.model_fields
    return record, [key for key, value in stays.items() if key not in stated and value != fields[key].default]


def _fetch(settings: Settings, record: NetworkRecord, kind: SourceKind | None) -> ImportReport | None:
    if kind is None:
        return run_import(settings, f"Importing {record.name} ...", lambda importer: importer.add(record))
    learn_profile(settings, kind, record)
    return None


def _forget_other_kind(settings: Settings, record: NetworkRecord, before: NetworkRecord | None) -> None:
    if before is None or before.source == record.source:
        return
    if record.source == EMBEDDED:
        LearnedProfiles(settings.home).remove(record.name)
    elif before.source == EMBEDDED:
        forget_import(settings.home, record.name)


def parse_value(key: str, typed: Sequence[str]) -> Any:
    """Return the value of a record's key: paths made absolute, numbers as numbers, lists as tuples.

    What is no number stays as it was typed: the check of the record reports it.
    """
    if key in _TEXT_LISTS:
        return tuple(_plain(key, each) for each in typed)
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
    if key == "fallback":
        return typed[0].strip().upper()
    return _plain(key, typed[0])


def _plain(key: str, typed: str) -> str:
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
