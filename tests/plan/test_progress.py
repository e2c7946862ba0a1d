"""What a waiting caller hears of its run, and what happens if it stops waiting."""

import asyncio

from tests.plan.drawing import plan, run_plan_over, step


async def test_a_caller_hears_the_id_of_its_run(runs):
    heard = []
    answer = await run_plan_over(runs).answer(
        {"plan": plan(step(1)).model_dump()}, user="ann", report=lambda *told: heard.append(told)
    )

    assert heard == [(0, 1, f"Run {answer.body['data']['run_id']}")]


async def test_a_disconnected_caller_does_not_end_the_run(runs, recorder):
    done = asyncio.Event()

    async def tell(_parameters):
        done.set()

    recorder.script = {"": tell}
    tool = run_plan_over(runs)
    call = asyncio.create_task(tool.answer({"plan": plan(step(1)).model_dump()}, user="ann"))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    await done.wait()
    (line,) = await runs.list_runs("ann")
    await runs.wait(line["run_id"], 5)

    assert call.cancelled()
    assert ((await runs.get(line["run_id"], "ann")).state, len(recorder.calls)) == ("completed", 1)
