"""Import a network's feeds, check its realtime sources, or fetch a remote profile, and show progress."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from fingerpost.apps.cli.output import new_console, print_line, print_message, show_status
from fingerpost.apps.settings import Settings
from fingerpost.apps.source_kinds import SourceKind, list_paces
from fingerpost.apps.storage import new_client
from fingerpost.apps.wiring import new_networks
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.feed_origins import OriginFolder
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.learned_profile import LearnedProfile, LearnedProfiles, new_remote_profile
from fingerpost.transit.networks.overview import describe_realtime
from fingerpost.transit.rules.realtime_status import format_age

if TYPE_CHECKING:
    from fingerpost.transit.embedded.feed_import import FeedImporter

_R = TypeVar("_R")


@contextmanager
def show_import_bars(console: Console) -> Iterator[Callable[[str, int, int | None], None]]:
    """Show progress bars on a terminal; yield a thread-safe function (name, done, total or None) that updates one."""
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
    """Fetch and describe each realtime source of a network; return whether every source returned a message."""
    health = fetch_realtime(settings, name)
    for line, is_ok in list_realtime_lines(health):
        print_line(Text(f"Real time: {line}", "" if is_ok else "bold red"))
    return all("ageSeconds" in source for source in health["sources"])


def fetch_realtime(settings: Settings, name: str) -> dict[str, Any]:
    """Fetch each realtime source of a network, and describe how many of its entities match the timetable."""

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
