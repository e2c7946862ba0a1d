"""A run as its owner sees it."""

import pytest

from fingerpost.plan.records import Event
from fingerpost.plan.view import describe_run
from tests.plan.drawing import NOW, failure, human, plan, step, viewed


@pytest.mark.parametrize(("many", "told"), [(5_000, 5_000), (5_001, 5_000)])
async def test_events_beyond_one_answer_are_counted_and_can_be_requested(runs, many, told):
    run_id = await runs.create(plan(step(1)), user="ann")
    events = [Event(seq, NOW, "run_resumed", None, None) for seq in range(1, many + 1)]
    await runs.journal.record(run_id, None, events, None, NOW)
    run = await runs.get(run_id, "ann")
    first = await describe_run(runs, run, ["events"])
    rest = await describe_run(runs, run, ["events"], first["events"][-1]["seq"])

    assert (first["last_event"], len(first["events"])) == (many, told)
    assert [event["seq"] for event in rest["events"]] == list(range(told + 1, many + 1))


async def test_every_step_has_its_state(runs, recorder):
    recorder.script = {"x": failure("wrong")}
    steps = [
        step(1),
        step(2, parameters={"label": "x"}),
        step(3, dependencies=[2]),
        human(4),
        step(5, expected_key=None, done_check="True"),
    ]
    view = await viewed(runs, plan(*steps))
    shown = [(each["status"], each["waiting"], each["skipped"], each.get("completed_at")) for each in view["steps"]]

    assert shown == [
        ("completed", False, False, NOW),
        ("failed", False, False, None),
        ("pending", False, False, None),
        ("in_progress", True, False, None),
        ("completed", False, True, NOW),
    ]


async def test_only_a_run_that_needs_a_person_names_the_next_step(runs):
    decide = "A person must decide on step 2: call run_plan with action approve or reject, its run_id and step_id"

    assert (await viewed(runs, plan(step(1), human(2))))["next"] == decide
    assert "next" not in await viewed(runs, plan(step(1)))
