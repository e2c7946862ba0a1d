"""Drawn histories: a run is executed, decided, cancelled, interrupted and opened again in any order."""

import asyncio
import os
import random
from contextlib import suppress

from fingerpost.errors import PlanInvalid
from tests.plan.suite.fixtures import USER, CallLog, adding, approval_step, create, new_runs

STEPS = (adding(1, 0), {**approval_step(2), "dependencies": [1]}, adding(3, 1, 1), adding(4, 0, 3))
ACTIONS = ("execute", "approve", "reject", "cancel", "interrupt", "open again")
# A cancelled run stays cancelled, so most histories cancel late or never.
WEIGHTS = (4, 2, 1, 0.3, 4, 2)
ACTIONS_PER_HISTORY = 8
HISTORIES = 6_250 if os.environ.get("FINGERPOST_SOAK") else 5


def test_no_history_repeats_or_changes_a_recorded_step(engine, tmp_path):
    for seed in range(HISTORIES):
        asyncio.run(live(engine, tmp_path / str(seed), random.Random(seed)))


async def live(engine, folder, luck):
    journal = engine.open(folder)
    runs = new_runs(journal, folder)
    history, recorded, begun, state = [], {}, {}, "running"
    try:
        run_id = await create(runs, *STEPS)
        for action in luck.choices(ACTIONS, WEIGHTS, k=ACTIONS_PER_HISTORY):
            history.append(action)
            if action in ("interrupt", "open again"):
                await interrupt(runs, run_id, luck.randint(0, 30) if action == "interrupt" else 0)
                journal.close()
                journal = engine.open(folder)
                runs = new_runs(journal, folder)
            else:
                await act(runs, run_id, action)
            run, calls = await runs.get(run_id, USER), CallLog(folder).count()
            now_begun = {number: calls["begin", f"{run_id}:{number}"] for number in run.steps}
            assert recorded.items() <= run.steps.items(), history
            assert begun.items() <= now_begun.items(), history
            assert state not in ("completed", "cancelled") or run.state == state, history
            recorded = {number: step for number, step in run.steps.items() if step.state in ("completed", "skipped")}
            begun = {number: now_begun[number] for number in recorded}
            state = run.state
    finally:
        journal.close()


async def act(runs, run_id, action):
    # The run may have ended, or the step may not wait.
    with suppress(PlanInvalid):
        if action == "execute":
            await runs.execute(run_id)
        elif action == "cancel":
            await runs.cancel(run_id, USER)
        else:
            await runs.decide(run_id, USER, 2, approved=action == "approve")


async def interrupt(runs, run_id, turns):
    executing = asyncio.create_task(runs.execute(run_id))
    for _ in range(turns):
        await asyncio.sleep(0)
    executing.cancel()
    await asyncio.gather(executing, return_exceptions=True)
