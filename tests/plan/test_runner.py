"""The runner: order, limits, timeouts, retries, events."""

import asyncio
import json
from functools import reduce

import pytest

from fingerpost.errors import PlanInvalid, SourceLimited, SourceUnreachable
from fingerpost.plan.limits import Limits
from fingerpost.runtime import retry
from tests.plan.drawing import ended, failure, plan, ref, step


@pytest.mark.parametrize(
    ("limits", "count", "most"), [(Limits(steps_at_once=3), 1, 3), (Limits(calls_per_tool=2), 2, 2)]
)
async def test_simultaneous_steps_do_not_exceed_the_limits_of_a_run_and_a_tool(opened, recorder, limits, count, most):
    runs, nine = opened(recorder.tool(), limits=limits), plan(*[step(n) for n in range(1, 10)])
    ends = await asyncio.gather(*[ended(runs, nine) for _ in range(count)])

    assert ([state for state, _run in ends], recorder.most_at_once) == (["completed"] * count, most)


X = step(1, parameters={"label": "x"})
HANGS = "echo did not answer within 0.01 s"
GIGABYTE = reduce(lambda value, _: [value, value], range(20), ["x" * 1000])
KEPT = "The output of echo cannot be used: a value in it "


async def hang(_parameters):
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("script", "calls", "note"),
    [
        ([failure("busy", retryable=True), None], 2, None),
        ([SourceUnreachable("no line"), None], 2, None),
        ([SourceLimited("soon", retry_after_s=0.0), None], 2, None),
        ([failure("wrong"), None], 1, "wrong"),
        ([PlanInvalid("no"), None], 1, "no"),
        ([failure("busy", retryable=True)], 3, "busy"),
        ([SourceLimited("later", retry_after_s=99), None], 1, "later"),
        (hang, 3, HANGS),
        ({"success": False}, 1, "it failed without a message"),
        ({"data": 1}, 1, "echo did not return a standard response"),
        ({"success": True, "data": "x" * 2_000_000}, 1, f"{KEPT}is larger than 1,000,000 bytes of JSON"),
        ({"success": True, "data": GIGABYTE}, 1, f"{KEPT}is larger than 1,000,000 bytes of JSON"),
        ({"success": True, "data": {1, 2}}, 1, f"{KEPT}contains a set, which is not JSON"),
        ({"success": True, "data": float("nan")}, 1, f"{KEPT}contains a number that is not finite"),
    ],
)
async def test_only_retryable_failures_are_retried(opened, recorder, script, calls, note):
    recorder.script = {"x": script}
    limits = Limits(attempt_s=0.01 if script is hang else 5.0, backoff_s=0)
    state, run = await ended(opened(recorder.tool(), limits=limits), plan(X))

    assert (state, len(recorder.calls)) == ("failed" if note else "completed", calls)
    assert run.steps[1].note == note
    assert recorder.keys == [f"{run.run_id}:1"] * calls


async def test_a_tool_that_must_not_be_retried_is_not_retried(opened, recorder):
    recorder.script = {"x": hang}
    _state, run = await ended(opened(recorder.tool(is_idempotent=False), limits=Limits(attempt_s=0.01)), plan(X))

    assert (len(recorder.calls), run.steps[1].note) == (1, HANGS)


async def waits_of(runs, a_plan):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(retry, "sleep", lambda _seconds: asyncio.sleep(0))
        _state, run = await ended(runs, a_plan)
    events = await runs.journal.list_events(run.run_id)
    return [json.loads(event.data)["retried_after_s"] for event in events if event.kind == "attempt_failed"]


async def test_the_source_states_how_long_to_wait(runs, recorder):
    recorder.script = {"x": [failure("busy", retryable=True, retry_after=7), None]}

    assert await waits_of(runs, plan(X)) == [7.0]


async def test_a_failure_stops_its_own_branch_and_no_other(runs, recorder):
    recorder.script = {"bad": failure("wrong")}
    steps = [step(1, parameters={"label": "bad"}), step(2, dependencies=[1]), step(3), step(4, dependencies=[3])]
    state, run = await ended(runs, plan(*steps))

    assert state == "failed"
    assert {number: each.state for number, each in run.steps.items()} == {1: "failed", 3: "completed", 4: "completed"}
    assert set(runs.build_memory(run).to_dict()) == {"k1", "k3", "k4"}


@pytest.mark.parametrize("error", [ZeroDivisionError("secret"), asyncio.CancelledError("secret")])
async def test_an_exception_of_a_tool_is_its_steps_failure(runs, recorder, caplog, error):
    recorder.script = {"bad": error}
    state, run = await ended(runs, plan(step(1, parameters={"label": "bad"}), step(2)))

    assert (state, run.steps[2].state) == ("failed", "completed")
    assert run.steps[1].note.startswith("Internal error in echo; your call did not cause it")
    assert ("secret" in run.steps[1].note, "secret" in caplog.text) == (False, True)


async def test_events_report_progress_in_order(runs):
    _state, run = await ended(runs, plan(step(1), step(2, dependencies=[1])))
    kept = await runs.journal.list_events(run.run_id)

    assert [event.seq for event in kept] == list(range(1, len(kept) + 1))
    assert [(event.kind, event.step_id) for event in kept] == [
        ("run_started", None), ("step_started", 1), ("step_completed", 1), ("step_started", 2), ("step_completed", 2),
        ("run_completed", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            [failure("busy", retryable=True), None],
            [{"attempt": 1, "error": "busy", "retried_after_s": 0.0}, {"attempts": 2}],
        ),
        (
            failure("e" * 1001),
            [{"attempt": 1, "error": "e" * 1000, "retried_after_s": None}, {"attempts": 1, "error": "e" * 1000}],
        ),
    ],
)
async def test_every_failed_call_is_in_the_ledger(runs, recorder, script, told):
    recorder.script = {"x": script}
    _state, run = await ended(runs, plan(X))
    events = await runs.journal.list_events(run.run_id)

    assert [json.loads(event.data) for event in events if event.step_id == 1 and event.data] == told


async def test_an_agent_performs_a_step_with_or_without_a_tool(opened, recorder):
    """F6: it gets the parameters, and a way to call the step's tool."""

    async def clerk(task):
        return await task.perform({**task.parameters, "label": "by clerk"}) if task.perform else {"seen": task.step_id}

    runs = opened(recorder.tool(), agents={"clerk": clerk})
    steps = [step(1, agent="clerk", parameters={"n": 3}), step(2, None, agent="clerk")]
    state, run = await ended(runs, plan(*steps))

    assert (state, recorder.calls) == ("completed", [{"n": 3, "label": "by clerk"}])
    assert runs.build_memory(run).to_dict()["k2"]["data"] == {"seen": 2}


@pytest.mark.parametrize(("failing", "started"), [(None, 3), ("a", 2), ("b", 2)])
async def test_a_step_waits_for_its_dependencies_and_references(runs, recorder, failing, started):
    recorder.script = {failing: failure("wrong")}
    third = step(3, parameters={"extra": ref("k2", "data.label")}, dependencies=[1])
    drawn = plan(step(1, parameters={"label": "a"}), step(2, parameters={"label": "b"}), third)
    _state, _run = await ended(runs, drawn)

    assert len(recorder.calls) == started


async def test_a_memory_that_is_full_fails_the_step_that_filled_it(opened, recorder):
    runs = opened(recorder.tool(), limits=Limits(memory_bytes=500))
    big = step(2, parameters={"label": "x" * 300}, dependencies=[1])
    state, run = await ended(runs, plan(step(1), big))
    told = json.loads(run.steps[2].output)

    assert (state, run.steps[1].state, run.steps[2].state) == ("failed", "completed", "failed")
    assert told == {
        "query_type": "echo", "parameters": {}, "results": [], "output_key": "echo", "success": False,
        "error": "The run's memory is full: its limit is 500 bytes", "retryable": False,
    }  # fmt: skip
