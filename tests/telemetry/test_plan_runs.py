"""A run of a plan is a span, and so is each of its steps."""

import pytest

from tests.plan.drawing import NOW, Recorder, failure, plan, runs_in, step


@pytest.fixture
def recorder(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
    return Recorder()


async def test_steps_lie_in_their_run(tmp_path, recorder, seen):
    """Two steps, one of which fails: both are measured under the tool's name, and the run is counted as it ended."""
    recorder.script = {"x": failure("no")}
    runs = runs_in(tmp_path, recorder.tool())
    run_id = await runs.create(plan(step(1), step(2, parameters={"label": "x"})), user="ann")
    state = await runs.carry_on(run_id)
    runs.journal.close()
    (run,) = seen.find_spans("plan run")
    steps = seen.find_spans("plan step")

    assert [span.parent.span_id for span in steps] == [run.context.span_id] * 2
    assert {span.attributes["fingerpost.plan.step_id"]: span.attributes.get("error.type") for span in steps} == {
        1: None,
        2: "failed",
    }
    assert sum(seen.counted("fingerpost.plan.step.duration").values()) == 2
    assert seen.counted("fingerpost.plan.runs") == {(("fingerpost.plan.run.state", state),): 1}
