"""The ``fingerpost serve``, ``web``, ``doctor`` and ``demo`` commands."""

import asyncio
import platform
import signal
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from fingerpost import __version__, clock
from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import Json, call_tool, open_application, print_or_exit, run_and_close
from fingerpost.apps.cli.filings_commands import describe_companies
from fingerpost.apps.cli.network_add import list_realtime_lines
from fingerpost.apps.cli.output import new_console, print_line, print_message
from fingerpost.apps.logs import end_after_logging, start_logging
from fingerpost.apps.mcp.listener import Access, Address, parse_ip_networks
from fingerpost.apps.source_kinds import require_keys
from fingerpost.apps.storage import check_database, find_database
from fingerpost.apps.warm_up import new_warm_up, start_server_process
from fingerpost.apps.wiring import Application
from fingerpost.errors import ParameterError, SettingsInvalid, ToolError
from fingerpost.runtime.concurrency import compute
from fingerpost.store.sqlite import SqliteFile
from fingerpost.transit.engine.timetable.timetable_store import TimetableStore
from fingerpost.transit.kernel_mode import are_compiled, use_kernels_folder
from fingerpost.transit.model.provenance import ServiceState
from fingerpost.transit.networks.overview import describe_networks

# ``doctor`` shows this many companies; ``filings list`` shows all.
_MAX_COMPANIES = 10
_NETWORK = "DEMO-HELSINKI"
# Two lines connect these stops; the simulator closes one of them.
_ORIGIN, _DESTINATION = f"{_NETWORK}:KAMPPI", f"{_NETWORK}:TAPIOLA"


def serve(
    ctx: typer.Context,
    http: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Serve HTTP at /mcp instead of stdio.")] = None,
    tools: Annotated[
        str | None, typer.Option(metavar="GROUPS", help="Tool groups, separated by commas; the default is all.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A host name that clients may use for this server; repeatable.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="CIDR", help="A proxy whose X-Forwarded-For header identifies the caller; repeatable."),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Let anyone who can reach the address call the tools, without a token.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="The number of processes that serve HTTP at one address.")
    ] = 1,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where to serve /metrics; other workers use the next ports. The default is 127.0.0.1:9464.",
        ),
    ] = None,
) -> None:
    if workers > 1 and http is None:
        raise ParameterError(
            "stdio serves one client, so --workers needs --http", {"field": "workers"}, hint="Add --http HOST:PORT"
        )
    groups = None if tools is None else [group.strip() for group in tools.split(",") if group.strip()]
    application = _open_server(ctx, groups)
    # A local import, because importing the protocol takes a second.
    if http is None:
        from fingerpost.apps.mcp.server import serve_stdio

        signal.signal(signal.SIGTERM, end_after_logging)
        asyncio.run(serve_stdio(application, new_warm_up(application)))
        return
    from fingerpost.apps.mcp.http import serve_http, serve_workers
    from fingerpost.apps.mcp.metrics_page import list_metrics_addresses

    address = Address.parse(http)
    proxies = parse_ip_networks(trusted_proxy or ())
    access = Access(allowed_hosts=allow_host or (), trusted_proxies=proxies, is_public=public)
    metrics_addresses = list_metrics_addresses(None if metrics is None else Address.parse(metrics), workers)
    if workers > 1:
        serve_workers(application.settings, address, workers, groups, access, metrics_addresses)
    else:
        serve_http(application, address, new_warm_up(application), access, metrics=metrics_addresses)


def web(
    ctx: typer.Context,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port to listen on; 0 chooses a free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help="An address of this machine; places can be saved only on a loopback address.")
    ] = ("127.0.0.1"),
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A host name that browsers may use for this server; repeatable.")
    ] = None,
    feed: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH|URL", help="First add or update this GTFS feed as the network CITY; repeatable."),
    ] = None,
) -> None:
    if feed:
        from fingerpost.apps.cli.network_commands import add_city

        add_city(ctx, feed)
    application = _open_server(ctx)
    from fingerpost.apps.mcp.http import serve_http
    from fingerpost.apps.views.page import Site

    # --host determines who can reach the page.
    access = Access(allowed_hosts=allow_host or (), is_public=True)
    serve_http(
        application,
        Address(host, port),
        new_warm_up(application),
        access,
        Site(),
        announce=lambda url: print_message(f"fingerpost is running at {url}/; press Ctrl-C to stop."),
    )


def _open_server(ctx: typer.Context, groups: Collection[str] | None = None) -> Application:
    start_server_process()
    application = open_application(ctx, groups)
    start_logging(can_block=False, as_json=application.settings.log == "json")
    check_database(application.settings)
    require_keys(application.settings.home)
    return application


def doctor(
    ctx: typer.Context,
    deep: Annotated[
        bool, typer.Option("--deep", help="Read every stored file completely, and report damaged ones.")
    ] = False,
) -> None:
    application = open_application(ctx)
    if not run_and_close(application, print_health(application, deep=deep)):
        raise typer.Exit(TOOL_ERROR)


def demo(
    ctx: typer.Context,
    disrupt: Annotated[
        bool, typer.Option("--disrupt", help="Have the simulator close a line and delay trips on others.")
    ] = False,
    as_json: Json = False,
) -> None:
    application = open_application(ctx)
    places = {"origin": {"type": "label", "value": _ORIGIN}, "destination": {"type": "label", "value": _DESTINATION}}
    answer = call_tool(application, "plan_trip", {**places, "limit": 3}, publish_disruption if disrupt else None)
    if disrupt and not as_json and not answer.is_error:
        print_line("The simulator has closed a line. A rider now gets this answer.\n")
    print_or_exit(answer, as_json=as_json)


async def publish_disruption(application: Application) -> None:
    """Publish a simulated disruption on the demo network, as a realtime source would."""
    # A local import, because importing the engine would slow down all other commands.
    from fingerpost.transit.embedded.source import publish_simulation

    for network in (await application.networks.open()).list_owners(_ORIGIN):
        await compute(publish_simulation, network, int(clock.now().timestamp()))


async def print_health(application: Application, *, deep: bool) -> bool:
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
    """Check the prepared networks and SQLite files in a home folder, and print one line for each."""
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
