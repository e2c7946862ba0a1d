"""The root command ``fingerpost``: its global options and its lazily imported commands."""

import gc
import os
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

import fingerpost
from fingerpost import clock


class _Entry(NamedTuple):
    """A command.

    ``module`` defines a function named after the command or, if there is no ``example``, a group ``app``.
    """

    module: str
    help: str
    example: str | None = None
    # A coordinate may begin with a minus sign.
    takes_negative_numbers: bool = False
    # The tool whose fields become options unless the function already has an option for them.
    tool: str | None = None


_ENTRIES = {
    "plan": _Entry(
        "tool_commands", "Plan a trip.", "fingerpost plan Kamppi Espoo --at 'tomorrow 09:00'", True, "plan_trip"
    ),
    "departures": _Entry(
        "tool_commands", "Show a stop's departures.", "fingerpost departures Kamppi --window 60", tool="get_departures"
    ),
    "find": _Entry(
        "tool_commands", "Find a stop or place by name.", "fingerpost find Kamppi", tool="findAddressOrStop"
    ),
    "stops": _Entry(
        "tool_commands", "List the stops near a point.", "fingerpost stops 60.1699,24.9384", True, "find_stops"
    ),
    "call": _Entry("tool_commands", "Call a tool and print its envelope.", "fingerpost call get_user_variables"),
    "run": _Entry("plan_commands", "Run a plan.", "fingerpost run plan.json"),
    "serve": _Entry("server_commands", "Serve the tools over MCP.", "fingerpost serve --http 127.0.0.1:8000"),
    "web": _Entry(
        "server_commands", "Serve the web page: trips with a map, departure boards, saved places.", "fingerpost web"
    ),
    "doctor": _Entry("server_commands", "Check this installation and report problems.", "fingerpost doctor"),
    "demo": _Entry("server_commands", "Plan a trip on the demo network (not a real trip).", "fingerpost demo"),
    "vars": _Entry("tool_commands", "Save, list and delete places and preferences."),
    "network": _Entry("network_commands", "Manage the networks used to plan trips."),
    "filings": _Entry(
        "filings_commands", "Show figures from companies that file with the SEC: fingerpost filings AAPL revenue 2022."
    ),
    "runs": _Entry("plan_commands", "List, show, resume, cancel and approve plan runs."),
}


def _load_command(name: str) -> Any:
    """Import a command's module and return the command or command group."""
    entry = _ENTRIES[name]
    module = import_module(f"fingerpost.apps.cli.{entry.module}")
    if entry.example is None:
        command: Any = typer.main.get_group(module.app)
    else:
        function = getattr(module, name)
        if entry.tool is not None:
            function = module.with_tool_options(function, entry.tool)
        single_app = typer.Typer(add_completion=False)
        settings = {"ignore_unknown_options": entry.takes_negative_numbers}
        single_app.command(name, epilog=f"Example: {entry.example}", context_settings=settings)(function)
        command = typer.main.get_command(single_app)
    command.help = entry.help
    return command


class _LazyGroup(TyperGroup):
    """Imports only the module of the command that runs, because importing all modules would slow down ``--help``."""

    def __init__(self, **options: Any) -> None:
        commands = {name: TyperCommand(name, help=entry.help) for name, entry in _ENTRIES.items()}
        super().__init__(**{**options, "commands": commands})

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _command, remaining = super().resolve_command(ctx, args)
        if name is not None and _ENTRIES[name].tool is None:
            gc.enable()
        else:
            # Stop numpy from starting threads for linear algebra, which no search uses.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            # Stop pydantic from reading the metadata of all installed packages to find plugins.
            os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        return name, None if name is None else _load_command(name), remaining


app = typer.Typer(
    cls=_LazyGroup,
    help="Plan public transport trips, look up company figures with their filings, and run plans that combine both.",
    epilog="Examples: fingerpost plan Kamppi Espoo; fingerpost filings AAPL revenue 2022",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def load_root() -> Any:
    """Return the root command with all commands imported, for the docs and tests."""
    root: Any = typer.main.get_command(app)
    root.commands = {name: _load_command(name) for name in _ENTRIES}
    return root


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"fingerpost {fingerpost.__version__}")
        raise typer.Exit


@app.callback()
def _root_options(
    # ``prepare_settings`` reads the first two; typer prints the version before any command.
    user: Annotated[str | None, typer.Option(help="Use this user's variables; the default is FINGERPOST_USER.")] = None,  # noqa: ARG001
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log on stderr.")] = False,  # noqa: ARG001
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option("--version", "-V", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    clock.find_fixed_time()
