"""The ``fingerpost run`` and ``fingerpost runs`` commands: execute plans, and show, resume, cancel or approve runs."""

import asyncio
import json
from collections.abc import Callable, Collection, Coroutine
from contextlib import aclosing
from functools import wraps
from math import inf
from typing import Annotated, Any

import typer

from fingerpost.apps.cli import TOOL_ERROR
from fingerpost.apps.cli.application import Json, call_and_print, open_application
from fingerpost.apps.cli.output import print_answer, print_json, print_message, show_status, strip_control_characters
from fingerpost.apps.wiring import Application
from fingerpost.plan.records import parse_plan
from fingerpost.plan.view import RunView, describe_run, list_run_lines

app = typer.Typer(no_args_is_help=True)

_MAX_VALUE_CHARS = 200

_Id = Annotated[str, typer.Argument(metavar="RUN", help="A run's id.")]


def _run_async(work: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Turn a coroutine function into a command."""

    @wraps(work)
    def run(**arguments: Any) -> None:
        try:
            asyncio.run(work(**arguments))
        except KeyboardInterrupt as error:
            print_message("Stopped. Results are saved. To continue: fingerpost runs list, then fingerpost runs resume")
            raise typer.Exit(TOOL_ERROR) from error

    return run


@_run_async
async def run(
    ctx: typer.Context,
    plan: Annotated[
        typer.FileBinaryRead, typer.Argument(metavar="PLAN.json", help="A plan file, or - to read from stdin.")
    ],
    memory_of: Annotated[
        str | None, typer.Option(metavar="RUN", help="Start from the memory of this earlier run.")
    ] = None,
    as_json: Json = False,
) -> None:
    async with aclosing(open_application(ctx)) as application:
        runs = application.runs
        # Limit the read, because a device file may be endless.
        parsed = parse_plan(plan.read(runs.limits.plan_bytes + 1), runs.limits)
        run_id = await runs.create(parsed, user=application.settings.user, memory={}, memory_of=memory_of)
        await _execute(application, run_id, as_json=as_json)


@app.command("list", epilog="Example: fingerpost runs list")
def list_runs(ctx: typer.Context, as_json: Json = False) -> None:
    """Show your runs, newest first."""
    call_and_print(open_application(ctx), "get_plan_run", {}, as_json=as_json)


@app.command("show", epilog="Example: fingerpost runs show RUN")
@_run_async
async def show_run(ctx: typer.Context, run_id: _Id, as_json: Json = False) -> None:
    """Show the state of a run."""
    async with aclosing(open_application(ctx)) as application:
        _print_run(await _get_view(application, run_id), as_json=as_json)


@app.command("resume", epilog="Example: fingerpost runs resume RUN")
@_run_async
async def resume(ctx: typer.Context, run_id: _Id, as_json: Json = False) -> None:
    """Resume a run where it stopped."""
    async with aclosing(open_application(ctx)) as application:
        await application.runs.check_resumable(run_id, application.settings.user)
        await _execute(application, run_id, as_json=as_json)


@app.command("cancel", epilog="Example: fingerpost runs cancel RUN")
@_run_async
async def cancel(ctx: typer.Context, run_id: _Id, as_json: Json = False) -> None:
    """Cancel a run; its recorded results are preserved."""
    async with aclosing(open_application(ctx)) as application:
        await application.runs.cancel(run_id, application.settings.user)
        await _execute(application, run_id, as_json=as_json, failure_states=("failed",))


@app.command("approve", epilog="Example: fingerpost runs approve RUN 1 --note 'Fare checked'")
@_run_async
async def approve(
    ctx: typer.Context,
    run_id: _Id,
    step_id: Annotated[int, typer.Argument(help="The id of the waiting step.")],
    reject: Annotated[bool, typer.Option("--reject", help="Reject the step.")] = False,
    note: Annotated[str | None, typer.Option(help="The reason.")] = None,
    as_json: Json = False,
) -> None:
    """Approve or reject a step that is waiting for a person, and continue the run."""
    async with aclosing(open_application(ctx)) as application:
        await application.runs.decide(run_id, application.settings.user, step_id, approved=not reject, note=note)
        await _execute(application, run_id, as_json=as_json)


async def _execute(
    application: Application, run_id: str, *, as_json: bool, failure_states: Collection[str] = ("failed", "cancelled")
) -> None:
    """Execute a run (unless it is already running) and print it; exit with 1 if it ends in ``failure_states``."""
    if not await application.runs.journal.is_leased(run_id):
        with show_status("Running the plan ..."):
            await application.runs.execute(run_id)
    view = await _get_view(application, run_id)
    _print_run(view, as_json=as_json)
    if view["state"] in failure_states:
        raise typer.Exit(TOOL_ERROR)


async def _get_view(application: Application, run_id: str) -> RunView:
    run = await application.runs.get(run_id, application.settings.user)
    return await describe_run(application.runs, run, max_values_bytes=inf)


def _print_run(view: RunView, *, as_json: bool) -> None:
    if as_json:
        print_json(dict(view))
        return
    run_id = view["run_id"]
    lines = list_run_lines(view, f"""fingerpost call get_plan_run '{{"run_id": "{run_id}", "include": ["memory"]}}'""")
    for entry in view["values"]:
        text = json.dumps(entry.get("value"), ensure_ascii=False)
        lines.append(f"{entry['key']} = {text[:_MAX_VALUE_CHARS]}{'…' if len(text) > _MAX_VALUE_CHARS else ''}")
    if view["state"] == "waiting":
        lines.append(f"Decide with: fingerpost runs approve {run_id} {view['waiting_for'][0]}")
    elif view["resumable"]:
        lines.append(f"Resume with: fingerpost runs resume {run_id}")
    elif view["state"] == "failed":
        lines.append(
            "Resuming would fail again. Change the plan, and start from this run's results: "
            f"fingerpost run PLAN.json --memory-of {run_id}"
        )
    print_answer("\n".join(map(strip_control_characters, lines)))
