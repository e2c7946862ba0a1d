"""Print the report of ``fingerpost doctor``: versions, storage, networks, realtime, filings and damaged files."""

import platform
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rich.text import Text

from fingerpost import __version__, clock
from fingerpost.apps.cli.filings_commands import describe_companies
from fingerpost.apps.cli.network_sources import list_realtime_lines
from fingerpost.apps.cli.output import new_console
from fingerpost.apps.storage import find_database
from fingerpost.apps.wiring import Application
from fingerpost.errors import SettingsInvalid, ToolError
from fingerpost.store.sqlite import SqliteFile
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.kernel_mode import are_compiled, use_kernels_folder
from fingerpost.transit.model.provenance import ServiceState
from fingerpost.transit.networks.overview import describe_networks

# `fingerpost filings list` shows all companies.
_MAX_COMPANIES = 10


async def print_health(application: Application, *, deep: bool = False) -> bool:
    """Print the state of the installation and return whether it is free of problems; ``deep`` reads every file."""
    settings = application.settings
    fixed = clock.find_fixed_time()
    _print_line("version", f"fingerpost {__version__}, Python {platform.python_version()}")
    _print_line("home", str(settings.home))
    _print_line("user", settings.user)
    _print_line("clock", "system time" if fixed is None else f"fixed at {fixed.isoformat()} by {clock.VARIABLE}")
    folder = use_kernels_folder()
    not_compiled = "not compiled yet; the first search compiles them into"
    _print_line("kernels", f"{'compiled in' if are_compiled() else not_compiled} {folder}")
    _print_line("storage", "the home folder" if find_database(settings) is None else "a shared database")
    for name, reason in application.skipped_tools.items():
        _print_line("tool", f"{name} was skipped: {reason}", is_ok=False)
    variables = application.variables
    checks = [
        _check("variables", lambda: [f"{len(variables.list_variables(settings.user))} stored for {settings.user}"]),
        await _check_networks(application),
        _check("filings", lambda: _list_companies(settings.filings_file)),
    ]
    return all([*checks, not deep or _check_files(settings.home)])


def _print_line(label: str, text: str, *, is_ok: bool = True) -> None:
    new_console().print(Text.assemble((f"{label:<11}", "dim"), (text, "" if is_ok else "bold red")))


def _check(label: str, list_lines: Callable[[], list[str]]) -> bool:
    try:
        lines = list_lines()
    except ToolError as error:
        _print_line(label, error.message, is_ok=False)
        return False
    for line in lines:
        _print_line(label, line)
    return True


async def _check_networks(application: Application) -> bool:
    try:
        networks = await describe_networks(application.networks)
    except ToolError as error:
        _print_line("networks", error.message, is_ok=False)
        return False
    problems = (await application.networks.open()).problems
    for name, problem in problems.items():
        _print_line("network", f"{name}: {problem}", is_ok=False)
    is_current = True
    for network in networks:
        days = _format_days(network)
        days += "" if network["today"] == ServiceState.IN_SERVICE else f", {network['today']}"
        _print_line("network", f"{network['name']}  {days}  {network['zone']}  {', '.join(network['modes'])}")
        if not network["answers"]:
            demo = "a demo: it answers only for its own stop ids (a network was added, or demos are off)"
            _print_line("", demo if network["demo"] else "a fallback: it answers when another network cannot")
        for feed in network.get("feeds", ()):
            has_ended = feed["state"] == ServiceState.ENDED
            is_current &= not has_ended
            _print_line("", f"{feed['feed']}: {_format_days(feed)}, {feed['today']}", is_ok=not has_ended)
        if "realtime" in network:
            for line, is_ok in list_realtime_lines(network["realtime"]):
                _print_line("real time", line, is_ok=is_ok)
    return bool(networks) and not problems and is_current


def _check_files(home: Path) -> bool:
    """Check all files in a home folder, and print a line for each network and SQLite file."""
    store = TimetableStore(home)

    def check(name: str) -> list[str]:
        if name.endswith(".sqlite"):
            file = SqliteFile(path=home / name, contents=name.removesuffix(".sqlite"))
            with file.reading() as connection:
                file.check_structure(connection)
        elif (problem := store.find_damage(store.get(name))) is not None:
            raise SettingsInvalid(problem)
        return [f"{name} has no damaged files"]

    names = [*store.list_names(), *sorted(path.name for path in home.glob("*.sqlite"))]
    results = [_check("files", partial(check, name)) for name in names]
    return all(results)


def _format_days(entry: dict[str, Any]) -> str:
    return "any day" if entry["firstDay"] is None else f"{entry['firstDay']} to {entry['lastDay']}"


def _list_companies(file: Path) -> list[str]:
    lines = describe_companies(file)
    # The last line is the note on overdue reports.
    return lines if len(lines) <= _MAX_COMPANIES else [*lines[:_MAX_COMPANIES], "...", lines[-1]]
