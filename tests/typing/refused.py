"""Code that must not type-check: each such line names the error codes of mypy, and no other line has errors."""

import fingerpost
from fingerpost import Fingerpost, Plan, PlanStep, SyncFingerpost, Tool


class Half(Tool):
    """Does not say how it answers."""

    name = "half"


async def ask_wrongly(fp: Fingerpost) -> None:
    await fp.plan_trip(origin="Kamppi")  # refused: call-arg
    await fp.plan_trip(origin=60, destination="Espoo")  # refused: arg-type
    await fp.plan_trip(origin="Kamppi", destination=(60.2, 24.6, 0.0))  # refused: arg-type
    await fp.plan_trip(origin="Kamppi", destination="Espoo", limit="2")  # refused: arg-type
    await fp.get_departures("Kamppi")  # refused: call-arg
    await fp.find_route("Kamppi")  # refused: attr-defined
    fp.plan_trip(origin="Kamppi", destination="Espoo")["itineraries"]  # refused: index


async def mix_the_two(fp: SyncFingerpost) -> None:
    await fp.get_user_variables()  # refused: misc
    fp.find_stops(lat="60.1", lon=24.9)  # refused: arg-type
    async with fp:  # refused: attr-defined
        pass


def write_a_wrong_plan() -> None:
    print(fingerpost.PlanStepp)  # refused: attr-defined
    Plan(goal="greet")  # refused: call-arg
    Plan(goal="greet", created_at="2026-03-10", status="done")  # refused: arg-type
    PlanStep(step_id="one", description="ask")  # refused: arg-type
    PlanStep(step_id=1, description="ask", done_chek="x")  # refused: call-arg
    Half()  # refused: abstract
