"""The commands on plans and their runs."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from functools import wraps
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from fingerpost.apps.cli import TOOL_ERROR, USAGE
from fingerpost.apps.cli.application import Json, open_application, show_answer
from fingerpost.apps.cli.output import complain, new_console, print_json, say
from fingerpost.apps.cli.run_view import Tree, print_run
from fingerpost.apps.wiring import Application
from fingerpost.errors import ToolError
from fingerpost.plan.plan_json import parse_plan, read_plan_file
from fingerpost.plan.run_shapes import RunView
from fingerpost.plan.view import describe_run, draw

app = typer.Typer(no_args_is_help=True)

_Json = Annotated[bool, typer.Option("--json", help="Print the run as JSON and nothing else.")]
_Id = Annotated[str, typer.Argument(metavar="RUN", help="A run's id.")]


def _command(work: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Make a command of a coroutine; a ``ToolError`` is printed and ends the process."""

    @wraps(work)
    def run(**given: Any) -> None:
        try:
            asyncio.run(work(**given))
        except ToolError as error:
            complain(error)
            raise typer.Exit(TOOL_ERROR) from error
        except KeyboardInterrupt as error:
            stderr = new_console(stderr=True)
            stderr.print("Stopped. What is recorded stays: fingerpost runs list, fingerpost runs resume")
            raise typer.Exit(TOOL_ERROR) from error

    return run


@_command
async def run(
    ctx: typer.Context,
    plan: Annotated[str, typer.Argument(metavar="PLAN.json", help="A plan's file; - reads stdin.")],
    memory: Annotated[str | None, typer.Option(metavar="JSON", help="Values by key to start from.")] = None,
    memory_of: Annotated[str | None, typer.Option(metavar="RUN", help="An earlier run to start from.")] = None,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Draw the plan as Mermaid, and run nothing.")] = False,
    as_json: _Json = False,
) -> None:
    application = open_application(ctx)
    values, runs = _read_memory(memory), application.plans.runs
    read = parse_plan(sys.stdin.buffer.read(), runs.limits) if plan == "-" else read_plan_file(Path(plan))
    if mermaid:
        typer.echo(draw(runs.check(read, values), {}))
        return
    run_id = await runs.create(read, user=application.settings.user, memory=values, memory_of=memory_of)
    await _carry_on(application, run_id, as_json=as_json)


@app.command("list", epilog="Example: fingerpost runs list")
def list_runs(ctx: typer.Context, as_json: Json = False) -> None:
    """Show your runs, newest first."""
    show_answer(open_application(ctx), "get_plan_run", {}, as_json=as_json, has_values=True)


@app.command("show", epilog="Example: fingerpost runs show RUN --mermaid")
@_command
async def show_run(
    ctx: typer.Context,
    run_id: _Id,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Draw it as Mermaid.")] = False,
    as_json: _Json = False,
) -> None:
    """Show the state of a run."""
    view = await _view(open_application(ctx), run_id, mermaid=mermaid)
    if mermaid:
        typer.echo(view["mermaid"])
    else:
        _print(view, as_json=as_json)


@app.command("resume", epilog="Example: fingerpost runs resume RUN")
@_command
async def resume(ctx: typer.Context, run_id: _Id, as_json: _Json = False) -> None:
    """Resume a run where it stopped."""
    application = open_application(ctx)
    await application.plans.runs.check_resumable(run_id, application.settings.user)
    await _carry_on(application, run_id, as_json=as_json)


@app.command("cancel", epilog="Example: fingerpost runs cancel RUN")
@_command
async def cancel(ctx: typer.Context, run_id: _Id, as_json: _Json = False) -> None:
    """Cancel a run; its recorded results stay."""
    application = open_application(ctx)
    runs = application.plans.runs
    await runs.cancel(run_id, application.settings.user)
    if not await runs.journal.is_held(run_id):
        await runs.carry_on(run_id)
    _print(await _view(application, run_id), as_json=as_json)


@app.command("approve", epilog="Example: fingerpost runs approve RUN 1 --note 'Fare checked'")
@_command
async def approve(
    ctx: typer.Context,
    run_id: _Id,
    step_id: Annotated[int, typer.Argument(help="The step that waits.")],
    reject: Annotated[bool, typer.Option("--reject", help="Do not approve.")] = False,
    note: Annotated[str | None, typer.Option(help="Why.")] = None,
    as_json: _Json = False,
) -> None:
    """Approve or reject a step that waits for a person, and continue the run."""
    application = open_application(ctx)
    runs = application.plans.runs
    await runs.decide(run_id, application.settings.user, step_id, approved=not reject, note=note)
    if await runs.journal.is_held(run_id):
        _print(await _view(application, run_id), as_json=as_json)
    else:
        await _carry_on(application, run_id, as_json=as_json)


async def _carry_on(application: Application, run_id: str, *, as_json: bool) -> None:
    run = await application.plans.runs.get(run_id, application.settings.user)
    if as_json:
        await application.plans.runs.carry_on(run_id)
    else:
        tree = Tree(run)
        with tree.live or nullcontext(), application.plans.runs.watching(run_id, tree.watch):
            await application.plans.runs.carry_on(run_id)
    view = await _view(application, run_id)
    _print(view, as_json=as_json, with_steps=False)
    if view["state"] in ("failed", "cancelled"):
        raise typer.Exit(TOOL_ERROR)


async def _view(application: Application, run_id: str, *, mermaid: bool = False) -> RunView:
    run = await application.plans.runs.get(run_id, application.settings.user)
    return await describe_run(application.plans.runs, run, ["mermaid"] if mermaid else [], room_bytes=inf)


def _print(view: RunView, *, as_json: bool, with_steps: bool = True) -> None:
    if as_json:
        print_json(dict(view))
    else:
        print_run(view, with_steps=with_steps)


def _read_memory(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        say("--memory is not JSON.")
        raise typer.Exit(USAGE) from error
    if not isinstance(values, dict):
        say("--memory must be an object of values by key.")
        raise typer.Exit(USAGE)
    return values
