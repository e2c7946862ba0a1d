"""``fingerpost network add``, and helpers to import feeds, contact servers and fetch realtime data."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from fingerpost import clock
from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import prepare_settings
from fingerpost.apps.cli.output import new_console, print_line, print_lines, print_message, show_status
from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import EMBEDDED, REMOTE_KINDS, SourceKind, list_paces, open_record_store
from fingerpost.apps.storage import new_client
from fingerpost.apps.wiring import new_networks
from fingerpost.errors import ParameterError
from fingerpost.store.network_records import KEYS, NetworkRecord, NetworkRecordStore, parse_network_name
from fingerpost.transit.embedded.feed_origins import OriginFolder, parse_file_argument
from fingerpost.transit.engine.gtfs.csv.findings import FindingKind, find_meaning
from fingerpost.transit.engine.gtfs.report import FeedReport, ImportReport, StreetCoverage
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.learned_profile import LearnedProfile, LearnedProfiles, new_remote_profile
from fingerpost.transit.model.provenance import ServiceState
from fingerpost.transit.networks.overview import describe_realtime
from fingerpost.transit.rules.realtime_status import format_age

if TYPE_CHECKING:
    from fingerpost.transit.embedded.feed_import import FeedImporter

_R = TypeVar("_R")

_TEXT_LISTS = ("feeds", "realtime", "languages", "attribution")
# Record keys that depend on the source. A network keeps their values only if both its old and new sources are feeds.
_SOURCE_KEYS = ("feeds", "realtime", "extract", "url", "key", "bounds", "zone", "languages")
# Each record key's option and metavar; the help text is the key's description.
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


@contextmanager
def show_import_bars(console: Console) -> Iterator[Callable[[str, int, int | None], None]]:
    """Show progress bars on a terminal; yield a thread-safe ``show(name, done, total)`` that updates a bar."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:

        def show(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        yield show


def run_import(settings: Settings, message: str, work: Callable[["FeedImporter"], Awaitable[_R]]) -> _R:
    # A local import, because it loads numba.
    from fingerpost.transit.embedded.feed_import import FeedImporter

    console = new_console(stderr=True)
    if not console.is_terminal:
        print_message(message)

    async def run() -> _R:
        with show_import_bars(console) as show:
            async with new_client(settings) as client:
                return await work(FeedImporter(settings.home, client, show))

    return asyncio.run(run())


def learn_profile(settings: Settings, kind: SourceKind, record: NetworkRecord) -> None:
    async def learn() -> LearnedProfile:
        async with new_client(settings, list_paces()) as client:
            source = kind.open_source(client.fetch)
            try:
                return await source.learn(record)
            finally:
                await source.close()

    with show_status(f"Contacting the server of {record.name} ..."):
        profile = asyncio.run(learn())
    new_remote_profile(record, profile, ())
    LearnedProfiles(settings.home).put(record, profile)


def remove_import(home: Path, name: str) -> None:
    store = TimetableStore(home)
    if name in store.list_names():
        store.remove(name)
    OriginFolder(home, name).remove()


def print_realtime(settings: Settings, name: str) -> bool:
    """Fetch a network's realtime sources and print their state; return whether every source sent a message."""
    health = fetch_realtime(settings, name)
    for line, is_ok in list_realtime_lines(health):
        print_line(Text(f"Real time: {line}", "" if is_ok else "bold red"))
    return all("ageSeconds" in source for source in health["sources"])


def fetch_realtime(settings: Settings, name: str) -> dict[str, Any]:
    """Fetch a network's realtime sources; return their state, with counts of matched and unmatched entities."""

    async def fetch() -> dict[str, Any]:
        networks = new_networks(settings)
        try:
            opened = await networks.open()
            found = [each for each in (*opened.answering, *opened.fallbacks) if each.profile.name == name]
            health = await found[0].find_realtime_health() if found else None
        finally:
            await networks.close()
        if health is None:
            failure = {"source": name, "problem": "The network is not answering"}
            return {"sources": [failure], "matched": {}, "unmatched": {}}
        return describe_realtime(health)

    return asyncio.run(fetch())


def list_realtime_lines(health: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield (line, is_ok) for each realtime source of a network, then for the matched and unmatched entities."""
    for source in health["sources"]:
        matched, unmatched = source.get("matched", 0), source.get("unmatched", 0)
        age = f"{format_age(source['ageSeconds'])} old" if "ageSeconds" in source else "no message yet"
        problem = f"; {source['problem']}" if "problem" in source else ""
        match = f"; {matched:,} of {matched + unmatched:,} match the timetable" if "matched" in source else ""
        is_ok = "ageSeconds" in source and "problem" not in source and matched >= unmatched
        yield f"{source['source']}: {age}{problem}{match}", is_ok
    for name in ("matched", "unmatched"):
        counts = ", ".join(f"{count:,} {reason}" for reason, count in health[name].items())
        yield f"{name}: {counts or 'nothing'}", True


def add_network(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="The name of the network, such as HSL; its stop ids begin with it.")],
    feeds: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FEED=]PATH|URL...", help="GTFS zip files, folders or URLs. Write keys as ${NAME}."),
    ] = None,
    **options: Any,
) -> None:
    """Add a network, or replace its source. Settings that are not given keep their values.

    If the old or the new source is remote, settings that depend on the source are reset.
    """
    settings = prepare_settings(ctx)
    kind, source_fields = _choose_source(feeds or [], options)
    given = [key for key in _RECORD_OPTIONS if options.get(key) not in (None, [])]
    fields = {key: _parse_value(key, options[key]) for key in given}
    if "extract" in fields and kind is not None:
        raise ParameterError(
            "Streets can be added only to feeds; a server has its own", {"field": "extract"}, hint="Leave out --streets"
        )
    network, store = parse_network_name(name), open_record_store(settings.home)
    records = store.read()
    record, unchanged = _build_record(store, network, records.records.get(network), {**source_fields, **fields})
    report = None
    if kind is None:
        report = run_import(settings, f"Importing {network} ...", lambda importer: importer.add(record))
        store.put(record)
        LearnedProfiles(settings.home).remove(network)
    else:
        learn_profile(settings, kind, record)
        store.put(record)
        remove_import(settings.home, network)
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
        if "realtime" in fields and not has_messages:
            print_message(
                f"{network} and its realtime sources are stored, and sources that returned no message will be "
                f"fetched again. To remove one, edit the `realtime` line in {store.path(network)}."
            )
            raise typer.Exit(TOOL_ERROR)


def list_options() -> dict[str, tuple[Any, Any]]:
    """Return the options of ``add_network``, for the record keys and for each kind of source."""
    options: dict[str, tuple[Any, Any]] = {}
    for key, (option, metavar) in _RECORD_OPTIONS.items():
        description = (NetworkRecord.model_fields[key].description or "").replace("``", "")
        text = f"{description[:1].upper()}{description[1:]}{' Repeatable.' if key in _TEXT_LISTS else ''}"
        value_type: Any = list[str] if key in _TEXT_LISTS else int if key == "priority" else str
        options[key] = (value_type | None, typer.Option(option, metavar=metavar, help=text))
    for source_option in (option for kind in REMOTE_KINDS for option in kind.add_options):
        value_type = bool if source_option.metavar is None else str | None
        option = typer.Option(f"--{source_option.name}", metavar=source_option.metavar, help=source_option.help)
        options[source_option.parameter] = (value_type, option)
    return options


def _choose_source(feeds: Sequence[str], options: Mapping[str, Any]) -> tuple[SourceKind | None, dict[str, Any]]:
    """Return the kind of remote source (None for feeds) and the record fields that the arguments set."""
    sources: list[tuple[SourceKind | None, dict[str, Any]]] = []
    if feeds:
        sources.append((None, {"source": EMBEDDED, "feeds": _parse_value("feeds", feeds)}))
    choices = ["its feeds"]
    for kind in REMOTE_KINDS:
        for option in kind.add_options:
            choices.append(f"--{option.name}")
            if value := options.get(option.parameter):
                fields = option.fill("" if option.metavar is None else str(value))
                sources.append((kind, {"source": kind.kind, **fields}))
    if len(sources) != 1:
        raise ParameterError(
            f"A network has exactly one source, but {len(sources) or 'none'} {'were' if sources else 'was'} given",
            {"field": "feeds"},
            hint=f"Give {' or '.join(choices)}",
        )
    return sources[0]


def _build_record(
    store: NetworkRecordStore, name: str, previous: NetworkRecord | None, changes: Mapping[str, Any]
) -> tuple[NetworkRecord, list[str]]:
    """Return a network's validated record, and the keys whose values come from the previous record."""
    inherited: dict[str, Any] = {} if previous is None else {key: getattr(previous, key) for key in KEYS}
    if previous is not None and (previous.source, EMBEDDED) != (changes["source"], changes["source"]):
        # A different kind of source, or a server that may be different, needs its own values for these keys.
        inherited = {key: value for key, value in inherited.items() if key not in _SOURCE_KEYS}
    record = store.build(name, {**inherited, **changes})
    store.check(record)
    fields = NetworkRecord.model_fields
    return record, [key for key, value in inherited.items() if key not in changes and value != fields[key].default]


def _parse_value(key: str, value: Any) -> Any:
    """Convert an option's value for the record: make paths absolute, parse bounds, and turn lists into tuples.

    Invalid bounds remain strings, so that record validation reports them.
    """
    if key in _TEXT_LISTS:
        return tuple(_parse_text(key, text) for text in value)
    if key == "bounds":
        parts = value.replace(" ", "").split(",")
        with suppress(ValueError):
            return tuple(map(float, parts))
        return tuple(parts)
    return value if isinstance(value, int) else _parse_text(key, value)


def _parse_text(key: str, text: str) -> str:
    if key == "fallback":
        return text.strip().upper()
    return parse_file_argument(key, text) if key in ("feeds", "realtime", "extract") else text


def print_report(report: ImportReport) -> None:
    today = clock.today_in(report.feeds[0].zone)
    print_lines(list_verdict_lines(report, today))
    for feed in report.feeds:
        days = f"{feed.first_day} to {feed.last_day}, {feed.service.format_service_state(today)}"
        if feed.thin_after is not None:
            days += f", fewer than a quarter of the usual trips after {feed.thin_after}"
        nouns = ("stop", feed.stops), ("route", feed.routes), ("trip", feed.trips), ("stop time", feed.events)
        counts = ", ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for noun, count in nouns)
        print_line(f"{feed.feed}: {days}; {counts}{'' if feed.findings else '; nothing left out'}")
        print_lines(f"  {line}" for line in _list_findings(feed))
        if feed.tables_not_read:
            print_line(f"Not read: {', '.join(feed.tables_not_read)}")
    if report.streets is not None:
        print_line(_describe_streets(report.streets))


def list_verdict_lines(report: ImportReport, today: date) -> list[str]:
    """Return the verdict (usable, partly usable, or not usable today), then any advice."""
    states = [feed.service.state_on(today) for feed in report.feeds]
    thin_feeds = [feed for feed in report.feeds if feed.thin_after is not None and feed.thin_after < today]
    losses = [finding for feed in report.feeds for finding in feed.findings if find_meaning(finding.reason).is_loss]
    verdict = "partly usable" if losses or thin_feeds or {*states} != {ServiceState.IN_SERVICE} else "usable"
    if ServiceState.IN_SERVICE not in states:
        verdict = "not usable today"
    lines = [f"{report.network} is {verdict}, {report.days}."]
    if ServiceState.ENDED in states:
        lines.append(
            "A feed whose service has ended can be used only for the dates that it covers. "
            "When its publisher has a newer feed, run "
            f"`fingerpost network refresh {report.network}`."
        )
    return lines


def _list_findings(feed: FeedReport) -> Iterator[str]:
    """Yield a line for each finding, losses first, with its count, first location and meaning."""
    kinds = list(FindingKind)
    for finding in sorted(feed.findings, key=lambda finding: kinds.index(find_meaning(finding.reason).kind)):
        meaning, place = find_meaning(finding.reason), finding.places[0]
        parts = (place.table, f"line {place.line}" if place.line else "", place.column)
        location = ", ".join(part for part in parts if part)
        yield f"{meaning.kind.value}: {finding.count:,} {finding.reason} ({location}): {meaning.text}."


def _describe_streets(streets: StreetCoverage) -> str:
    covered = (
        f"all {streets.stops:,} stops"
        if streets.is_complete
        else f"{streets.covered_stops:,} of {streets.stops:,} stops; walks to and from the others are straight lines"
    )
    text = f"Streets from {streets.extract}: {streets.street_km:,.0f} km of footways around {covered}"
    if streets.matched_stops:
        text += f"; {streets.matched_stops:,} stops use their position on the map"
    if streets.entered_stops:
        text += f"; {streets.entered_stops:,} platforms are reached through station entrances"
    if streets.estimated_stops:
        text += f"; two minutes are added at {streets.estimated_stops:,} metro platforms of unknown depth"
    if streets.left_out_km:
        skipped = f"{streets.left_out_km:,.0f} km skipped"
        text += f"; {skipped} because they are not connected to other streets in both directions"
    return f"{text}. © OpenStreetMap contributors, ODbL."
