"""The root command ``fingerpost``: its global options and its lazily imported commands."""

import gc
import os
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

import fingerpost
from fingerpost import clock
from fingerpost.apps.cli import Caller
from fingerpost.runtime.text_table import read_text_table


class _Entry(NamedTuple):
    """A row of ``commands.txt`` without the name; cells may be empty."""

    module: str
    tool: str
    takes_negative_numbers: str
    help: str
    example: str


_ENTRIES = {name: _Entry(*cells) for name, *cells in read_text_table(Path(__file__).with_name("commands.txt"), 6)}


def _load_command(name: str) -> Any:
    """Import a command's module and return the command or command group."""
    entry = _ENTRIES[name]
    module = import_module(f"fingerpost.apps.cli.{entry.module}")
    if not entry.example:
        command: Any = typer.main.get_group(module.app)
    else:
        function = getattr(module, name)
        if entry.tool:
            function = module.with_tool_options(function, entry.tool)
        single_app = typer.Typer(add_completion=False)
        settings = {"ignore_unknown_options": bool(entry.takes_negative_numbers)}
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
        if name is not None and not _ENTRIES[name].tool:
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
def _set_caller(
    ctx: typer.Context,
    user: Annotated[str | None, typer.Option(help="Use this user's variables; the default is FINGERPOST_USER.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log on stderr.")] = False,
    version: Annotated[  # noqa: ARG001  (typer prints it before any command)
        bool,
        typer.Option("--version", "-V", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    clock.find_fixed_time()
    ctx.obj = Caller(user=user, verbose=verbose)
