"""Facts about drawn histories: runs are executed, decided, cancelled, interrupted and opened again in any order."""

import asyncio
import os
import random

from fingerpost.errors import PlanInvalid
from fingerpost.plan.records import read_plan
from tests.plan.suite.engine import expect
from tests.plan.suite.fixtures import USER, CallLog, adding, approval_step, new_runs, plan_of_steps

_PLAN = plan_of_steps(adding(1, 0), {**approval_step(2), "dependencies": [1]}, adding(3, 1, 1), adding(4, 0, 3))
_ACTIONS = ("execute", "approve", "reject", "cancel", "interrupt", "open again")
_ACTIONS_PER_HISTORY = 8
_FINAL = ("completed", "skipped")


def no_history_repeats_or_changes_a_recorded_step(engine, folder):
    for seed in range(6_250 if os.environ.get("FINGERPOST_SOAK") else 5):
        asyncio.run(_live(engine, folder / str(seed), random.Random(seed)))


async def _live(engine, folder, luck):
    journal = engine.open(folder)
    runs = new_runs(journal, folder)
    history, recorded, begun, state = [], {}, {}, "running"
    try:
        run_id = await runs.create(read_plan(_PLAN), user=USER)
        for _ in range(_ACTIONS_PER_HISTORY):
            # A cancelled run stays cancelled, so most histories cancel late or never.
            history.append(luck.choices(_ACTIONS, weights=(4, 2, 1, 0.3, 4, 2))[0])
            if history[-1] in ("interrupt", "open again"):
                await _interrupt(runs, run_id, luck.randint(0, 30) if history[-1] == "interrupt" else 0)
                journal.close()
                journal = engine.open(folder)
                runs = new_runs(journal, folder)
            else:
                await _act(runs, run_id, history[-1])
            run, calls = await runs.get(run_id, USER), CallLog(folder).count()
            for number, step in recorded.items():
                key = ("begin", f"{run_id}:{number}")
                expect(run.steps.get(number) == step, f"Step {number} was recorded, and changed after {history}")
                expect(calls[key] == begun[number], f"Step {number} was recorded, and began again after {history}")
            is_same = state not in ("completed", "cancelled") or run.state == state
            expect(is_same, f"The run was {state}, and is {run.state} after {history}")
            recorded = {number: step for number, step in run.steps.items() if step.state in _FINAL}
            begun = {number: calls["begin", f"{run_id}:{number}"] for number in recorded}
            state = run.state
    finally:
        journal.close()


async def _act(runs, run_id, action):
    try:
        if action == "execute":
            await runs.execute(run_id)
        elif action == "cancel":
            await runs.cancel(run_id, USER)
        else:
            await runs.decide(run_id, USER, 2, approved=action == "approve")
    except PlanInvalid:
        # The run has ended, or the step does not wait.
        pass


async def _interrupt(runs, run_id, turns):
    executing = asyncio.create_task(runs.execute(run_id))
    for _ in range(turns):
        await asyncio.sleep(0)
    executing.cancel()
    await asyncio.gather(executing, return_exceptions=True)
