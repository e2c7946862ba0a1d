"""``fingerpost network add``: add a network from GTFS feeds, or from another kind of source by its own option."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from fingerpost.apps.cli.application import prepare_settings, usage
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
from fingerpost.transit.remote.kit.add_option import AddOption

if TYPE_CHECKING:
    from fingerpost.apps.realtime_check import RealtimeCheck
    from fingerpost.apps.settings import Settings

_TEXT_LISTS = ("feeds", "realtime", "languages", "attribution")
# The keys of a record that mean nothing to another kind of source.
_OF_A_SOURCE = ("feeds", "realtime", "extract", "url", "key", "bounds", "zone", "languages")


class _Chosen(NamedTuple):
    """The chosen kind of source, and the record keys that its option sets."""

    kind: str
    fields: dict[str, Any]


def new_add_command(kinds: Sequence[SourceKind]) -> Callable[..., None]:
    """Return the ``add`` command with the options that the kinds of sources declare."""
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
        realtime: Annotated[
            list[str] | None,
            typer.Option(metavar="[FEED=]FILE|URL", help="GTFS-Realtime that speaks of these feeds; repeatable."),
        ] = None,
        key: Annotated[
            str | None, typer.Option(metavar="VARIABLE", help="The environment variable that holds the source's key.")
        ] = None,
        fallback: Annotated[
            str | None, typer.Option(metavar="NETWORK", help="The network that answers where this one cannot.")
        ] = None,
        priority: Annotated[
            int | None, typer.Option(help="Of several networks that cover a place the highest answers.")
        ] = None,
        zone: Annotated[str | None, typer.Option(help="The IANA time zone, in place of the source's own.")] = None,
        bounds: Annotated[
            str | None, typer.Option(metavar="S,W,N,E", help="The box in degrees, in place of the source's own.")
        ] = None,
        language: Annotated[
            list[str] | None, typer.Option(help="A language of its names, the preferred first; repeatable.")
        ] = None,
        streets: Annotated[
            str | None,
            typer.Option(metavar="EXTRACT", help="An OpenStreetMap extract (.osm.pbf), so that walks follow streets."),
        ] = None,
        unchecked: Unchecked = False,
        **given: Any,
    ) -> None:
        """Add a network, or replace what it answers from; settings that are not named here stay as they are."""
        settings = prepare_settings(ctx)
        typed: dict[str, Any] = {
            "key": key,
            "fallback": fallback and fallback.strip().upper(),
            "priority": priority,
            "zone": zone,
            "languages": tuple(language or ()) or None,
        }
        with usage():
            typed["realtime"] = parse_value("realtime", realtime) if realtime else None
            typed["bounds"] = parse_value("bounds", [bounds]) if bounds else None
            chosen = _choose(feeds or [], options, given)
            typed["extract"] = _read_extract(streets, chosen)
            present = {key: value for key, value in typed.items() if value is not None}
            adding = _Adding(settings, name, chosen, present, unchecked=unchecked)
        adding.finish({kind.kind: kind for kind in kinds})

    return _with_options(add_network, [option for _, option in options])


def _with_options(command: Callable[..., None], options: Iterable[AddOption]) -> Callable[..., None]:
    """Return a command whose signature shows typer more options; they arrive as keyword arguments."""
    signature = inspect.signature(command)
    parameters = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    for option in options:
        kind: Any = bool if option.metavar is None else str | None
        option_info = typer.Option(f"--{option.name}", metavar=option.metavar, help=option.help)
        parameters.append(
            inspect.Parameter(
                option.parameter,
                inspect.Parameter.KEYWORD_ONLY,
                default=False if option.metavar is None else None,
                annotation=Annotated[kind, option_info],
            )
        )

    @wraps(command)
    def run(**arguments: Any) -> None:
        command(**arguments)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {each.name: each.annotation for each in parameters}
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


def _read_extract(typed: str | None, chosen: _Chosen) -> str | None:
    """Return the path of an extract, None where there is none.

    Raises:
        ParameterError: the source is not asked with feeds.
    """
    if not typed:
        return None
    if chosen.kind != EMBEDDED:
        raise ParameterError(
            "Streets belong to feeds: a server has its own", {"field": "extract"}, hint="Leave out --streets"
        )
    path: str = parse_value("extract", [typed])
    return path


class _Adding:
    """Adds one network: checks its record and its realtime; then imports, writes the record and prints what was added.

    Raises:
        ParameterError: the record is no good, or a realtime source that was typed now cannot be followed.
    """

    def __init__(
        self, settings: "Settings", name: str, chosen: _Chosen, typed: Mapping[str, Any], *, unchecked: bool
    ) -> None:
        from fingerpost.store.network_record import KEYS, NetworkRecord

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
            from fingerpost.apps.cli.import_report import print_report

            print_report(report)
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
        from fingerpost.transit.learned_profile import LearnedProfiles

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
        from fingerpost.transit.embedded.feed_origins import expand_home

        return str(expand_home(typed).absolute())
    if key in ("feeds", "realtime"):
        from fingerpost.transit.embedded.feed_origins import read_place
        from fingerpost.transit.embedded.realtime_feeds import read_typed_source

        return read_place(typed).text if key == "feeds" else read_typed_source(typed).text
    return typed
