"""``fingerpost network add``: add a network from GTFS feeds, or from another kind of source by its own option."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from fingerpost.apps.cli.application import prepare_settings
from fingerpost.apps.cli.network_sources import (
    Unchecked,
    check_realtime,
    forget_import,
    learn_profile,
    print_import,
    print_realtime,
    run_import,
)
from fingerpost.apps.cli.output import print_line, usage
from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import EMBEDDED, SourceKind, open_record_store
from fingerpost.errors import ParameterError
from fingerpost.store.network_names import plain_name
from fingerpost.store.network_record import KEYS, NetworkRecord
from fingerpost.transit.embedded.feed_origins import expand_home, read_place
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.remote.kit.add_option import AddOption

if TYPE_CHECKING:
    from fingerpost.apps.realtime_check import RealtimeCheck

_TEXT_LISTS = ("feeds", "realtime", "languages", "attribution")
# The keys of a record that mean nothing to another kind of source.
_OF_A_SOURCE = ("feeds", "realtime", "extract", "url", "key", "bounds", "zone", "languages")


class _RecordOption(NamedTuple):
    """An option that sets a key of the record; it is repeatable where the key holds a list."""

    name: str
    key: str
    metavar: str
    help: str


_RECORD_OPTIONS = (
    _RecordOption("realtime", "realtime", "[FEED=]FILE|URL", "GTFS-Realtime that speaks of these feeds; repeatable."),
    _RecordOption("key", "key", "VARIABLE", "The environment variable that holds the source's key."),
    _RecordOption("fallback", "fallback", "NETWORK", "The network that answers where this one cannot."),
    _RecordOption("priority", "priority", "NUMBER", "Of several networks that cover a place the highest answers."),
    _RecordOption("zone", "zone", "ZONE", "The IANA time zone, in place of the source's own."),
    _RecordOption("bounds", "bounds", "S,W,N,E", "The box in degrees, in place of the source's own."),
    _RecordOption("language", "languages", "CODE", "A language of its names, the preferred first; repeatable."),
    _RecordOption(
        "streets", "extract", "EXTRACT", "An OpenStreetMap extract (.osm.pbf), so that walks follow streets."
    ),
)


class _Chosen(NamedTuple):
    """The chosen kind of source, and the record keys that its option sets."""

    kind: str
    fields: dict[str, Any]


def new_add_command(kinds: Sequence[SourceKind]) -> Callable[..., None]:
    """Return the ``add`` command with the options of a record's keys and those that the kinds of sources declare."""
    options = [(kind, option) for kind in kinds for option in kind.add_options]

    def add_network(
        ctx: typer.Context,
        name: Annotated[str, typer.Argument(help="What to call it, such as HSL; it begins the stop ids.")],
        feeds: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="[FEED=]PATH|URL...",
                help="GTFS zip files, folders or addresses; a key in one is written ${NAME}.",
            ),
        ] = None,
        unchecked: Unchecked = False,
        **given: Any,
    ) -> None:
        """Add a network, or replace what it answers from; settings that are not named here stay as they are."""
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
            adding = _Adding(settings, name, chosen, typed, unchecked=unchecked)
        adding.finish({kind.kind: kind for kind in kinds})

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
    """Return a command whose signature shows typer more options; they arrive as keyword arguments."""
    signature = inspect.signature(command)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]

    @wraps(command)
    def run(**arguments: Any) -> None:
        command(**arguments)

    run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {each.name: each.annotation for each in (*own, *more)}
    return run


def _choose(feeds: Sequence[str], options: Iterable[tuple[SourceKind, AddOption]], given: Mapping[str, Any]) -> _Chosen:
    """Return the one kind of source that was named.

    Raises:
        ParameterError: none, or more than one, or its value is no good.
    """
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


class _Adding:
    """Adds one network: checks its record and its realtime; then imports, writes the record and prints what was added.

    Raises:
        ParameterError: the record is no good, or a realtime source that was typed now cannot be followed.
    """

    def __init__(
        self, settings: Settings, name: str, chosen: _Chosen, typed: Mapping[str, Any], *, unchecked: bool
    ) -> None:
        self._settings = settings
        self._name = plain_name(name)
        self._file = open_record_store(settings.home)
        records = self._file.read()
        before = records.records.get(self._name)
        stays: dict[str, Any] = {} if before is None else {key: getattr(before, key) for key in KEYS}
        if before is not None and (before.source, EMBEDDED) != (chosen.kind, chosen.kind):
            # A source that is asked states these itself; those of another kind mean nothing to it.
            stays = {key: value for key, value in stays.items() if key not in _OF_A_SOURCE}
        stated = {"source": chosen.kind, **chosen.fields, **typed}
        self._record = self._file.build(self._name, {**stays, **stated})
        self._file.check(self._record)
        fields = NetworkRecord.model_fields
        self._kept = [key for key, value in stays.items() if key not in stated and value != fields[key].default]
        self._problem = records.problems.get(self._name)
        self._before = None if before is None else before.source
        self._realtime: RealtimeCheck | None = None
        if self._record.source == EMBEDDED and self._record.realtime:
            self._realtime = check_realtime(settings, self._record)
            if "realtime" in typed:
                self._realtime.refuse(unchecked=unchecked)

    def finish(self, kinds: Mapping[str, SourceKind]) -> None:
        report = None
        record = self._record
        if record.source == EMBEDDED:
            report = run_import(self._settings, f"Importing {record.name} ...", lambda importer: importer.add(record))
        else:
            learn_profile(self._settings, kinds[record.source], record)
        self._file.put(record)
        if self._before not in (None, record.source):
            self._forget_other_kind()
        # Whoever reads what we print may stop listening; by now everything is kept.
        if report is not None:
            print_import(report)
        else:
            print_line(f"{record.name} is ready.")
        if self._problem is not None:
            print_line(f"Its record could not be used, so it was replaced: {self._problem}.")
        if self._kept:
            print_line(
                f"Kept from before: {', '.join(self._kept)}. "
                f"`fingerpost network set {record.name} KEY --unset` forgets one."
            )
        if self._realtime is not None:
            print_realtime(self._realtime)

    def _forget_other_kind(self) -> None:
        """Remove what was kept of the kind of source that this network had before; nothing reads it any more."""
        if self._record.source == EMBEDDED:
            LearnedProfiles(self._settings.home).remove(self._name)
        elif self._before == EMBEDDED:
            forget_import(self._settings.home, self._name)


def parse_value(key: str, typed: Sequence[str]) -> Any:
    """Return the value of a record's key: paths made absolute, numbers as numbers, lists as tuples.

    Raises:
        ParameterError: the words are no value of that key.
    """
    if key in _TEXT_LISTS:
        return tuple(_plain(key, each) for each in typed)
    if key == "bounds":
        return _parse_bounds(",".join(typed))
    if len(typed) != 1:
        raise ParameterError(f"{key} takes one value, not {len(typed)}", {"field": key})
    if key == "priority":
        return _whole_number(typed[0])
    if key == "fallback":
        return typed[0].strip().upper()
    return _plain(key, typed[0])


def _parse_bounds(typed: str) -> tuple[float, float, float, float]:
    """Parse ``S,W,N,E`` in degrees into (south, west, north, east).

    Raises:
        ParameterError: they are not four numbers.
    """
    parts = typed.replace(" ", "").split(",")
    try:
        south, west, north, east = map(float, parts)
    except ValueError as error:
        raise ParameterError(
            f"bounds are four numbers, not {typed!r}",
            {"field": "bounds"},
            hint="Write south,west,north,east in degrees, such as 59.9,24.2,60.5,25.6",
        ) from error
    return south, west, north, east


def _whole_number(typed: str) -> int:
    try:
        return int(typed)
    except ValueError as error:
        raise ParameterError(f"priority is a whole number, not {typed!r}", {"field": "priority"}) from error


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
