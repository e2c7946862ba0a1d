"""A long plan is never read in the event loop, where it would keep every other call waiting."""

import asyncio
import threading

import pytest

from fingerpost.contract.plan import Plan
from fingerpost.plan.get_plan_run import GetPlanRun
from fingerpost.plan.planners.capability import PlanningCapability
from fingerpost.plan.run_plan import RunPlan
from tests.plan.drawing import human, plan, step


def drawn(count):
    """A plan that begins with a question to a person, and goes on in steps of 200 characters."""
    steps = [step(number, dependencies=[1], parameters={"extra": "x" * 200}) for number in range(2, count + 1)]
    return plan(human(1), *steps).model_dump()


@pytest.fixture
def read_in(monkeypatch):
    """The names of the threads in which plans are read from what was sent or kept."""
    threads = set()
    original = Plan.model_validate.__func__

    def read(cls, *args, **kwargs):
        threads.add("loop" if threading.current_thread() is threading.main_thread() else "aside")
        return original(cls, *args, **kwargs)

    monkeypatch.setattr(Plan, "model_validate", classmethod(read))
    return threads


@pytest.mark.parametrize(("count", "observed"), [(3, {"loop"}), (150, {"aside"})])
async def test_a_long_plan_is_read_in_threads_whatever_is_asked(runs, read_in, count, observed):
    """Two that come together, a look at one, another end of it, the person's word, a start from its memory."""
    tool = RunPlan(runs, PlanningCapability(runs.catalogue, []))

    async def ask(asked_tool, **arguments):
        answer = await asked_tool.answer(arguments, user="ann")
        assert not answer.is_error, answer.text
        return answer.body["data"]

    run, _other = await asyncio.gather(*(ask(tool, plan=drawn(count)) for _ in range(2)))
    assert run["state"] == "waiting"
    run_id = run["run_id"]
    await ask(GetPlanRun(runs), run_id=run_id)
    await ask(tool, run_id=run_id, action="replace", plan=drawn(count))
    await ask(tool, run_id=run_id, action="resume")
    assert (await ask(tool, run_id=run_id, action="approve", step_id=1))["state"] == "completed"
    await ask(tool, plan=drawn(count), memory_of=run_id)

    assert read_in == observed
