"""``fingerpost demo``: plan a trip on the demo network, with ``--disrupt`` during a simulated disruption."""

from typing import Annotated

import typer

from fingerpost.apps.cli.application import Json, ask, open_application, print_or_end, usage
from fingerpost.apps.cli.output import print_line
from fingerpost.apps.demo_disruption import LASTS, begin_disruption, disrupt_demo

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
    ends = {"origin": {"type": "label", "value": ORIGIN}, "destination": {"type": "label", "value": DESTINATION}}
    answer = ask(application, "plan_trip", {**ends, "limit": 3}, disrupt_demo if disrupt else None)
    if disrupt and not as_json and not answer.is_error:
        print_line(
            "The simulator has closed a line, and a rider gets this answer. A page of `fingerpost web` and a followed "
            f"board show the disruption too, for {LASTS.seconds // 60} minutes.\n"
        )
    print_or_end(answer, as_json=as_json)
