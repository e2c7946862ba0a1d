"""The complete messages of run_plan and its runs for refused calls: the sentence, the field, and what to do."""

import pytest

from fingerpost import clock
from fingerpost.contract.published_tool import Call
from fingerpost.errors import StorageUnavailable, ToolError
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.limits import Limits
from fingerpost.plan.plan_tools import PlanningCapability, RunPlanInput
from tests.plan.drawing import ended, failure, human, plan, ref, run_plan_over, step

ANOTHER_RUN = "Start a new run with memory_of set to this run's id"
DRAWN = plan(step(1)).model_dump()


async def refusal(attempt):
    with pytest.raises(ToolError) as caught:
        await attempt
    return caught.value.message, caught.value.details, caught.value.hint


@pytest.mark.parametrize(
    ("arguments", "message", "field"),
    [
        ({"action": "cancel"}, "action needs a run_id", "run_id"),
        ({}, "send plan, or user_input, or run_id with action", "plan"),
        ({"plan": DRAWN, "user_input": "x"}, "send plan, or user_input, or run_id with action", "plan"),
        ({"plan": DRAWN, "memory": []}, "memory must be an object that maps keys to values", "memory"),
        ({"run_id": "x"}, "run_id needs an action; to read a run, use get_plan_run", "action"),
        ({"run_id": "x", "action": "approve"}, "approve needs a step_id", "step_id"),
        ({"run_id": "x", "action": "reject"}, "reject needs a step_id", "step_id"),
        ({"run_id": "x", "action": "replace"}, "replace needs a plan", "plan"),
        ({"run_id": "x", "action": "resume"}, "There is no run 'x'", "run_id"),
        ({"run_id": "\ud800" * 36, "action": "resume"}, "There is no run '" + "\ud800" * 36 + "'", "run_id"),
    ],
)
async def test_invalid_arguments_are_refused(runs, arguments, message, field):
    tool = run_plan_over(runs)
    call = Call(user="ann", now=clock.now(), correlation_id="c")

    assert await refusal(tool.handle(RunPlanInput(**arguments), call)) == (message, {"field": field}, None)


async def test_a_step_is_decided_once(runs):
    _state, run = await ended(runs, plan(human(1), human(2)))
    told = ("Step 1 is no longer waiting for a person", {"field": "step_id"}, None)
    await runs.decide(run.run_id, "ann", 1, approved=True)
    await runs.execute(run.run_id)
    while_waiting = await refusal(runs.decide(run.run_id, "ann", 1, approved=False))
    await runs.decide(run.run_id, "ann", 2, approved=True)
    state = await runs.execute(run.run_id)

    assert (state, while_waiting) == ("completed", told)
    assert await refusal(runs.decide(run.run_id, "ann", 1, approved=False)) == told


@pytest.mark.parametrize(
    ("steps", "number", "message"),
    [
        ([step(1)], 1, "Step 1 needs no approval; steps that do: none"),
        ([step(1), human(2)], 9, "Step 9 needs no approval; steps that do: 2"),
    ],
)
async def test_only_a_step_that_waits_can_be_decided(runs, steps, number, message):
    _state, run = await ended(runs, plan(*steps))

    told = await refusal(runs.decide(run.run_id, "ann", number, approved=True))
    assert told == (message, {"field": "step_id"}, None)


async def test_an_ended_run_is_ended(runs):
    _state, done = await ended(runs, plan(step(1)))
    _state, broken_off = await ended(runs, plan(human(1)))
    await runs.cancel(broken_off.run_id, "ann")
    await runs.execute(broken_off.run_id)
    for run, state in ((done, "completed"), (broken_off, "cancelled")):
        resumed = await refusal(runs.check_resumable(run.run_id, "ann"))
        changed = await refusal(runs.replace_unfinished(run.run_id, "ann", plan(step(2))))
        cancelled = await refusal(runs.cancel(run.run_id, "ann"))

        assert resumed == (f"The run cannot be resumed: its state is {state}", {"field": "action"}, ANOTHER_RUN)
        assert changed == (f"The run has ended: its state is {state}", {"field": "action"}, None)
        assert cancelled == (f"The run has already ended: its state is {state}", {"field": "action"}, None)


async def test_finished_steps_cannot_be_changed(runs, recorder):
    recorder.script = {"x": failure("wrong")}
    bad = step(3, parameters={"label": "x"}, dependencies=[1, 2])
    _state, run = await ended(runs, plan(step(1), step(2), bad))
    without_the_first = plan(step(2, parameters={"n": 1}), step(4))

    told = await refusal(runs.replace_unfinished(run.run_id, "ann", without_the_first))
    assert told == ("Finished steps must not change: 1, 2", {"field": "plan"}, None)


async def test_a_run_that_is_carried_on_is_not_changed(runs, recorder):
    recorder.script = {"x": failure("wrong")}
    _state, run = await ended(runs, plan(step(1, parameters={"label": "x"})))
    async with runs.journal.lease(run.run_id):
        with pytest.raises(StorageUnavailable, match=r"^The run is being executed; change it after"):
            await runs.replace_unfinished(run.run_id, "ann", plan(step(2)))


async def test_steps_that_no_longer_fit_the_tools_are_named(opened, recorder):
    recorder.script = {"x": failure("down")}
    old = opened(recorder.tool("older"))
    _state, run = await ended(old, plan(step(1, "older", parameters={"label": "x"})))
    message, details, hint = await refusal(opened(recorder.tool()).check_resumable(run.run_id, "ann"))

    assert message.startswith("The unfinished steps no longer match the tools: step 1: tool 'older' is not found")
    assert [(each["step_id"], each["field"]) for each in details["errors"]] == [(1, "tool")]
    assert hint == "Replace the unfinished steps, or cancel the run; recorded results are preserved"


async def test_a_memory_that_is_too_large(opened, recorder):
    runs = opened(recorder.tool(), limits=Limits(plan_bytes=600, initial_memory_bytes=700))
    _state, first = await ended(runs, plan(step(1, parameters={"label": "a" * 50})))
    given = await refusal(runs.create(plan(step(1)), user="ann", memory={"m": "x" * 600}))
    taken = await refusal(runs.create(plan(step(2)), user="ann", memory={"m": "x" * 590}, memory_of=first.run_id))

    assert given == (
        "The memory cannot be stored: a value in it is larger than 600 bytes of JSON", {"field": "memory"}, None,
    )  # fmt: skip
    assert taken == (
        "The memory cannot be stored: a value in it is larger than 700 bytes of JSON", {"field": "memory_of"}, None,
    )  # fmt: skip


async def test_a_plan_is_measured_in_bytes(opened, recorder):
    runs = opened(recorder.tool(), limits=Limits(plan_bytes=1000))
    told = await refusal(runs.create(plan(step(1, parameters={"label": "ä" * 400})), user="ann"))

    assert told == ("The plan is 1,156 bytes; the limit is 1,000", {}, None)


async def test_a_template_names_its_missing_values():
    told = await refusal(PlanningCapability(Catalogue.of([])).create_plan("Get Initech's revenue for 2022"))

    assert told == ("The ticker for 'Initech' is unknown", {"field": "ticker"}, "Use the ticker instead")


async def test_a_person_is_not_asked_about_missing_values(runs):
    a_plan = plan(step(1), human(2, parameters={"about": ref("k1", "data.nowhere")}))
    _state, run = await ended(runs, a_plan)
    await runs.decide(run.run_id, "ann", 2, approved=True)
    state = await runs.execute(run.run_id)
    record = (await runs.get(run.run_id, "ann")).steps[2]

    assert (state, record.state, record.attempts) == ("failed", "failed", 1)
    assert record.note == (
        "The reference to 'k1' at path 'data.nowhere', in parameters.about, has no value: nothing exists at its path"
    )


async def test_a_plan_that_cannot_be_modified_is_reported(opened, recorder):
    recorder.script = {"x": failure("wrong")}
    runs = opened(recorder.tool(), limits=Limits(steps=1, replans=1))
    bad = step(1, parameters={"label": "x"})
    _state, fixed = await ended(runs, plan(bad, can_modify=False))
    _state, run = await ended(runs, plan(bad))
    by_its_word = await refusal(runs.replace_unfinished(fixed.run_id, "ann", plan(step(2))))
    by_its_size = await refusal(runs.replace_unfinished(run.run_id, "ann", plan(step(2), step(3))))
    await runs.replace_unfinished(run.run_id, "ann", plan(bad))
    once_more = await refusal(runs.replace_unfinished(run.run_id, "ann", plan(step(2))))

    assert by_its_word[0] == "The plan has can_modify: false, so its unfinished steps cannot be replaced"
    assert by_its_size[0] == "The plan cannot run: the plan: steps exceed the limit of 1: the plan has 2"
    assert once_more[0] == "The plan has been changed 1 time, which is the limit"
