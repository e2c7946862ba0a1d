"""A run as its owner sees it."""

from tests.plan.drawing import NOW, failure, human, plan, step, viewed


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
