"""Spans and metrics of plan runs and their steps."""

from collections.abc import Awaitable

from fingerpost.plan.journal import RunState
from fingerpost.runtime.instruments import PLAN_RUNS, PLAN_STEP_DURATION, TOOL
from fingerpost.runtime.spans import Attribute, Measured, measured


async def measure_run(carried_on: Awaitable[RunState], run_id: str) -> RunState:
    """Carry a run on in a span, and count it by its state afterwards: ended, or waiting for a person."""
    with measured("plan run", {}, also={"fingerpost.plan.run_id": run_id}):
        state = await carried_on
    PLAN_RUNS.add(1, {"fingerpost.plan.run.state": state})
    return state


def measuring_step(tool: str, run_id: str, step_id: int) -> Measured:
    """Return what measures one step with all its attempts; ``tool`` is the tool's or the agent's name."""
    of_run: dict[str, Attribute] = {"fingerpost.plan.run_id": run_id, "fingerpost.plan.step_id": step_id}
    return measured("plan step", {TOOL: tool}, PLAN_STEP_DURATION, also=of_run)
