"""``fingerpost demo``: plan a trip on the demo network, with ``--disrupt`` during a simulated disruption."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from fingerpost.apps.cli.application import TOOL_ERROR, Json, answering, open_application, usage
from fingerpost.apps.cli.output import complain, new_console, print_json
from fingerpost.apps.cli.trip_view import print_trip
from fingerpost.apps.demo_disruption import LASTS, begin_disruption, disrupt_demo

if TYPE_CHECKING:
    from fingerpost.apps.wiring import Application
    from fingerpost.contract.published import Answer

NETWORK = "DEMO-HELSINKI"
# Two lines go all the way; the simulator closes one of them.
ORIGIN, DESTINATION = f"{NETWORK}:KAMPPI", f"{NETWORK}:TAPIOLA"


def demo(
    ctx: typer.Context,
    disrupt: Annotated[
        bool, typer.Option("--disrupt", help="Let the simulator close a line, cancel trips and delay others.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Plan a trip on the demo network, which is not for real trips."""
    application = open_application(ctx.obj)
    if disrupt:
        with usage():
            application.settings.prepare_home()
            begin_disruption(application.settings.home)
    with answering(application):
        answer = asyncio.run(_plan(application, disrupt=disrupt))
    if as_json:
        print_json(answer.body)
    elif answer.error is not None:
        complain(answer.error)
    else:
        if disrupt:
            new_console().print(
                "The simulator has closed a line; this is what a rider is told. A page of `fingerpost web` and a board "
                f"that is followed show it too, for {LASTS.seconds // 60} minutes.\n"
            )
        print_trip(answer.body)
    if answer.is_error:
        raise typer.Exit(TOOL_ERROR)


async def _plan(application: "Application", *, disrupt: bool) -> "Answer":
    # What stands behind takes longer to import than --help and --version may last.
    from fingerpost.apps import error_boundary

    if disrupt:
        await disrupt_demo(application)
    ends = {"origin": {"type": "label", "value": ORIGIN}, "destination": {"type": "label", "value": DESTINATION}}
    return await error_boundary.answer(
        application.tools, "plan_trip", {**ends, "limit": 3}, user=application.settings.user
    )
