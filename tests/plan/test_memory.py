"""Memory: the keys under which values are stored, skipped steps, and thinking steps."""

import json

import pytest

from fingerpost.contract.plan import PlanStep
from fingerpost.plan.limits import Limits
from fingerpost.plan.view import describe_run
from tests.plan.drawing import EXAMPLE, FINANCIAL, NOW, ended, events_of, failure, items_of, plan, ref, step

TOO_LARGE = "The values that the step refers to, up to both.1, exceed 400 bytes of JSON"


async def test_the_plan_step_contracts_example_runs_as_written(opened):
    """S51, S52: the result is stored under ``revenue_data``, its value at the output path."""
    runs = opened(FINANCIAL)
    state, run = await ended(runs, plan(EXAMPLE))
    memory = runs.build_memory(run)

    assert state == "completed"
    assert memory.to_dict()["revenue_data"]["data"] == {"Revenue": 394_328_000_000}
    assert memory.list_paths() == {"revenue_data": ["data", "Revenue"]}


async def test_run_again_from_that_memory_the_example_is_skipped(opened):
    runs = opened(FINANCIAL)
    _state, first = await ended(runs, plan(EXAMPLE))
    _state, again = await ended(runs, plan(EXAMPLE), memory_of=first.run_id)

    assert again.steps[1].state == "skipped"
    assert runs.build_memory(again).to_dict() == runs.build_memory(first).to_dict()
    assert (await items_of(runs, again))[1:] == [
        {
            "type": "step_skipped",
            "step_id": 1,
            "description": "Get Apple's revenue for 2022",
            "tool": "sec_financial_data",
            "expected_key": "revenue_data",
            "output_path": ["data", "Revenue"],
            "done_check": "True",
            "reason": "its value is present and done_check is true",
            "timestamp": "2026-03-10T06:00:00Z",
        }
    ]


@pytest.mark.parametrize(
    ("memory", "done_check", "expected"),
    [
        ({}, "True", "completed"),
        ({"k1": {"data": {"n": 1}}}, "True", "skipped"),
        ({"k1": {"data": {"n": 1}}}, "value == 1", "skipped"),
        ({"k1": {"data": {"n": 1}}}, "value == 2", "completed"),
        ({"k1": {"data": {"n": 1}}}, "k1['data']['n'] == 1 and memory['k1'] == k1", "skipped"),
        ({"k1": {"data": {"n": 1}, "results": [5]}}, "results == [5]", "skipped"),
        ({"k1": {"data": {"n": 1}}}, "len(value) > 0", "completed"),
        ({"k1": {"data": {}}}, "True", "completed"),
        ({"k1": {"success": False, "data": {"n": 1}}}, "True", "completed"),
        ({"k1": {"data": {"n": 1}}}, None, "completed"),
    ],
)
async def test_a_step_is_skipped_if_its_value_exists_and_its_check_passes(runs, memory, done_check, expected):
    """F4, F5: present means the key is there, no failure, and the path resolves."""
    first = step(1, output_path=["data", "n"], done_check=done_check)
    _state, run = await ended(runs, plan(first), memory=memory)

    assert run.steps[1].state == expected


@pytest.mark.parametrize(
    ("fields", "memory"),
    [
        ({"expected_key": None, "done_check": "True"}, {}),
        ({"output_path": ["data", "n"], "done_check": "value == 1"}, {"k1": {"data": {"n": 1}}}),
    ],
)
async def test_a_plan_continues_after_a_skipped_step(runs, recorder, fields, memory):
    steps = [
        step(1, **fields),
        step(2, parameters={"label": "second"}, dependencies=[1]),
        step(3, parameters={"label": "third"}, dependencies=[1, 2]),
    ]
    state, run = await ended(runs, plan(*steps), memory=memory)

    assert (state, {number: each.state for number, each in run.steps.items()}) == (
        "completed",
        {1: "skipped", 2: "completed", 3: "completed"},
    )
    assert [call["label"] for call in recorder.calls] == ["second", "third"]


async def test_a_check_that_cannot_be_evaluated_is_reported_and_the_step_runs(runs):
    _state, run = await ended(runs, plan(step(1, done_check="value > 'x'")), memory={"k1": 3})

    assert ("condition_failed", 1) in await events_of(runs, run)


async def test_memory_items_are_typed(runs, recorder, monkeypatch):
    """F4: plan, tool_result, tool_error, step_failed, each of its own time, whenever they are read."""
    recorder.script = {"bad": failure("wrong")}
    _state, run = await ended(runs, plan(step(1), step(2, parameters={"label": "bad"}, dependencies=[1])))
    monkeypatch.setenv("FINGERPOST_NOW", "2026-03-11T06:00:00Z")
    items = (await describe_run(runs, run, ["items"]))["items"]

    assert [(item["type"], item.get("step_id")) for item in items] == [
        ("plan", None), ("tool_result", 1), ("tool_error", 2), ("step_failed", 2),
    ]  # fmt: skip
    assert items[0].keys() == {"type", "goal", "plan", "timestamp"}
    assert (items[0]["goal"], items[0]["plan"]["goal"]) == ("a goal", "a goal")
    assert {item["timestamp"] for item in items} == {NOW}
    assert (items[1]["key"], items[1]["result"]["success"], items[1]["tool"]) == ("k1", True, "echo")


@pytest.mark.parametrize(("most", "note"), [(2_000, None), (400, TOO_LARGE)])
async def test_references_of_a_step_are_bounded_together(opened, recorder, most, note):
    """Each response has some 260 bytes: both are too many, and the reference that goes over is named."""
    runs = opened(recorder.tool(), limits=Limits(output_bytes=most, attempts=1))
    both = PlanStep(step_id=3, description="think", parameters={"both": [ref("k1"), ref("k2")]}, expected_key="out")
    _state, run = await ended(runs, plan(*[step(n, parameters={"label": "y" * 40}) for n in (1, 2)], both))
    items = await items_of(runs, run)

    assert run.steps[3].note == note
    assert note is None or json.loads(run.steps[3].output)["error"] == note
    assert [item["type"] for item in items].count("step_failed") == (note is not None)


async def test_a_reference_into_an_earlier_run_is_the_value_at_its_path(runs, recorder):
    _state, first = await ended(runs, plan(step(1, parameters={"n": 7}, output_path=["data", "n"])))
    state, _run = await ended(runs, plan(step(2, parameters={"n": ref("k1")})), memory_of=first.run_id)

    assert (state, recorder.calls[-1]) == ("completed", {"n": 7})


async def test_a_thinking_step_composes_its_input(runs):
    parameters = {"answer": ref("k1", "data.n"), "unit": "USD"}
    think = PlanStep(step_id=2, description="think", expected_key="out", parameters=parameters)
    _state, run = await ended(runs, plan(step(1, parameters={"n": 2}), think))

    assert runs.build_memory(run).to_dict()["out"]["data"] == {"answer": 2, "unit": "USD"}
