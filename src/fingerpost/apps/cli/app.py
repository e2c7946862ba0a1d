"""The root command with its global options."""

from typing import Annotated

import typer

import fingerpost
from fingerpost import clock
from fingerpost.apps.cli import (
    filings_commands,
    network_commands,
    operating,
    plan_commands,
    questions,
    variable_commands,
)
from fingerpost.apps.cli.application import Caller, usage

app = typer.Typer(
    help="Plan public transport trips, look up company figures with their filings, and run plans of both.",
    epilog="Examples: fingerpost plan Kamppi Espoo; fingerpost filings AAPL revenue 2022",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# A coordinate may begin with a minus sign: what is no option is taken as an argument.
_NEGATIVE_NUMBERS = {"ignore_unknown_options": True}

app.command(
    "plan", context_settings=_NEGATIVE_NUMBERS, epilog="Example: fingerpost plan Kamppi Espoo --at 'tomorrow 09:00'"
)(questions.plan)
app.command("departures", epilog="Example: fingerpost departures Kamppi --window 60")(questions.departures)
app.command("timetable", epilog="Example: fingerpost timetable Kauklahti --at 'tomorrow 9am'")(questions.timetable)
app.command("find", epilog="Example: fingerpost find Kamppi")(questions.find)
app.command("stops", context_settings=_NEGATIVE_NUMBERS, epilog="Example: fingerpost stops 60.1699,24.9384")(
    questions.stops
)
app.command("call", epilog="Example: fingerpost call get_user_variables")(questions.call)
app.add_typer(variable_commands.app, name="vars")
app.add_typer(network_commands.app, name="network")
app.add_typer(filings_commands.app, name="filings")
app.command("run", epilog="Example: fingerpost run plan.json")(plan_commands.run)
app.add_typer(plan_commands.app, name="runs")
app.command("serve", epilog="Example: fingerpost serve --http 127.0.0.1:8000")(operating.serve)
app.command("worker", epilog="Example: fingerpost worker")(operating.worker)
app.command("web", epilog="Example: fingerpost web")(operating.web)
app.command("doctor", epilog="Example: fingerpost doctor")(operating.doctor)
app.command("demo", epilog="Example: fingerpost demo")(operating.demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fingerpost {fingerpost.__version__}")
        raise typer.Exit


@app.callback()
def _before(
    ctx: typer.Context,
    user: Annotated[str | None, typer.Option(help="Whose variables to use; else FINGERPOST_USER.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the log on stderr.")] = False,
    version: Annotated[  # noqa: ARG001  (typer prints it before any command)
        bool, typer.Option("--version", "-V", help="Print the version and end.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    with usage():
        clock.find_fixed()
    ctx.obj = Caller(user=user, verbose=verbose)
