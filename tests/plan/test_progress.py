"""The progress of a run that a waiting caller sees."""

import asyncio

from tests.plan.drawing import failure, human, plan, run_plan_over, step


async def watch_progress(runs, **arguments):
    heard = []
    answer = await run_plan_over(runs).answer(arguments, user="ann", report=lambda *told: heard.append(told))
    return answer.body["data"], heard


def begun_and_done(heard):
    return [(done, words) for done, _total, words in heard[1:]]


async def test_a_step_counts_half_at_its_start_and_fully_at_its_end(runs):
    run, heard = await watch_progress(runs, plan=plan(step(1), step(2, dependencies=[1])).model_dump())

    assert heard[0] == (0, 2, f"a goal (run {run['run_id']})")
    assert begun_and_done(heard) == [
        (0.5, "1. step 1: started"),
        (1.0, "1. step 1: done"),
        (1.5, "2. step 2: started"),
        (2.0, "2. step 2: done"),
    ]


async def test_a_resumed_run_begins_with_its_recorded_values(runs, recorder):
    recorder.script = {"x": [failure("wrong"), None]}
    skipped = step(3, dependencies=[2], expected_key=None, done_check="True")
    steps = [step(1), step(2, parameters={"label": "x"}, dependencies=[1]), skipped]
    run, before = await watch_progress(runs, plan=plan(*steps).model_dump())
    _run, heard = await watch_progress(runs, run_id=run["run_id"], action="resume")

    assert begun_and_done(before)[2:] == [(1.5, "2. step 2: started"), (2.0, "2. step 2: failed")]
    assert heard[0][:2] == (1.0, 3)
    assert begun_and_done(heard) == [
        (1.5, "2. step 2: started"),
        (2.0, "2. step 2: done"),
        (3.0, "3. step 3: skipped"),
    ]


async def test_a_later_caller_sees_a_running_run(runs, recorder):
    gate = asyncio.Event()
    recorder.script = {"x": gate}
    steps = [step(1, parameters={"label": "x"}), human(2), step(3, dependencies=[1, 2])]
    run, early = await watch_progress(runs, plan=plan(*steps).model_dump(), wait_seconds=0)
    await recorder.begun.wait()
    later = asyncio.create_task(watch_progress(runs, run_id=run["run_id"], action="approve", step_id=2))
    while not runs.build_memory(await runs.get(run["run_id"], "ann")).to_dict() and not later.done():
        gate.set()
        await asyncio.sleep(0)
    ended, heard = await later

    assert (run["state"], ended["state"]) == ("running", "completed")
    assert (early[-1][0] < 3, heard[-1]) == (True, (3.0, 3, "3. step 3: done"))


async def test_a_caller_that_stopped_waiting_gets_no_answer(runs, recorder):
    gate = asyncio.Event()
    recorder.script = {"x": gate}
    run, heard = await watch_progress(runs, plan=plan(step(1, parameters={"label": "x"})).model_dump(), wait_seconds=0)
    told = len(heard)
    gate.set()
    await runs.wait(run["run_id"], 5)

    assert ((await runs.get(run["run_id"], "ann")).state, len(heard), runs._watches) == ("completed", told, {})


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
    await runs.wait(line.run_id, 5)

    assert call.cancelled()
    assert ((await runs.get(line.run_id, "ann")).state, len(recorder.calls)) == ("completed", 1)
