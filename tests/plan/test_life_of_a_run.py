"""The life cycle of a run: leased by one process, cancelled, approved, resumed, changed."""

import asyncio
import json
import threading
from unittest.mock import AsyncMock, Mock

import pytest

from fingerpost.errors import PlanInvalid, StorageUnavailable
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.journal import GroupCommit
from fingerpost.plan.limits import Limits
from fingerpost.plan.records import JournalFailed, read_plan
from fingerpost.plan.view import describe_run
from tests.plan.drawing import ended, failure, human, plan, ref, run_plan_over, step


@pytest.mark.parametrize(
    ("approved", "state", "steps", "kind"),
    [(True, "completed", {1, 2, 3}, "step_approved"), (False, "failed", {1, 2}, "step_rejected")],
)
async def test_a_person_approves_or_does_not(runs, recorder, approved, state, steps, kind):
    a_plan = plan(step(1), human(2, dependencies=[1]), step(3, dependencies=[2]))
    waiting, run = await ended(runs, a_plan)
    assert (waiting, await runs.journal.is_leased(run.run_id), len(recorder.calls)) == ("waiting", False, 1)

    await runs.decide(run.run_id, "ann", 2, approved=approved, note="as agreed")
    assert await runs.execute(run.run_id) == state
    assert set((await runs.get(run.run_id, "ann")).steps) == steps
    events = await runs.journal.list_events(run.run_id)
    assert [(event.step_id, event.data) for event in events if event.kind == kind] == [(2, '{"note":"as agreed"}')]


async def test_a_decision_is_a_value_that_later_steps_may_read(runs, recorder):
    a_plan = plan(human(1, expected_key="ok"), step(2, parameters={"n": ref("ok", "data.value.n")}))
    _state, run = await ended(runs, a_plan)
    await runs.decide(run.run_id, "ann", 1, approved=True, value={"n": 4})
    await runs.decide(run.run_id, "ann", 1, approved=False)

    assert await runs.execute(run.run_id) == "completed"
    assert recorder.calls == [{"n": 4}]


@pytest.mark.parametrize(
    ("steps", "stops", "signal", "state"),
    [
        ([human(1), step(2, dependencies=[1])], "waiting", ("approve", 1, {}), "completed"),
        ([step(1, parameters={"label": "x"})], "failed", ("cancel", None, None), "cancelled"),
    ],
)
async def test_a_signal_in_the_moment_in_which_the_run_stops_is_not_lost(
    runs, recorder, monkeypatch, steps, stops, signal, state
):
    recorder.script = {"x": failure("wrong")}
    record = runs.journal.record

    async def signal_and_record(run_id, step, events, new_state, at):
        if new_state == stops:
            await runs.journal.signal(run_id, *signal)
        await record(run_id, step, events, new_state, at)

    monkeypatch.setattr(runs.journal, "record", lambda *args: asyncio.ensure_future(signal_and_record(*args)))

    assert (await ended(runs, plan(*steps)))[0] == state
    assert len(recorder.calls) == 1


async def test_a_cancelled_run_is_not_completed_if_its_last_record_cannot_be_written(runs, recorder, monkeypatch):
    written, is_recorded = asyncio.get_running_loop().create_future(), asyncio.Event()

    def record(*_args):
        is_recorded.set()
        return written

    run_id = await runs.create(plan(step(1)), user="ann")
    monkeypatch.setattr(runs.journal, "record", record)
    runs.start(run_id)
    await is_recorded.wait()
    await runs.cancel(run_id, "ann")
    await asyncio.wait([runs._executions[run_id]._end])
    written.set_exception(JournalFailed("the disk is full"))

    with pytest.raises(JournalFailed):
        await runs.wait(run_id, 20)
    assert (await runs.get(run_id, "ann")).state == "running"


async def test_a_failed_run_is_resumed_where_it_failed(runs, recorder):
    recorder.script = {"x": [failure("wrong"), None]}
    steps = [step(1), step(2, parameters={"label": "x"}, dependencies=[1]), step(3, dependencies=[2])]
    state, run = await ended(runs, plan(*steps))
    again = await runs.execute(run.run_id)

    assert (state, again) == ("failed", "completed")
    assert recorder.counts == {"": 2, "x": 2}
    assert recorder.keys[1:3] == [f"{run.run_id}:2"] * 2


async def test_run_ids_count_under_a_fixed_clock(opened, recorder, tmp_path):
    """F4: the same plan twice has two ids, the same two in any other place."""
    runs = opened(recorder.tool())
    ids = [await runs.create(plan(step(1)), user="ann") for _ in range(2)]
    (tmp_path / "runs.sqlite").rename(tmp_path / "old.sqlite")
    other = opened(recorder.tool())

    assert ids[0] != ids[1]
    assert [await other.create(plan(step(1)), user="ann") for _ in range(2)] == ids


async def test_the_unfinished_part_may_be_replaced(runs, recorder):
    recorder.script = {"x": failure("wrong")}
    first, second = step(1), step(2, parameters={"label": "x"}, dependencies=[1])
    _state, run = await ended(runs, plan(first, second))
    await runs.replace_unfinished(run.run_id, "ann", plan(first, step(5, dependencies=[1])))
    events = await runs.journal.list_events(run.run_id)
    state = await runs.execute(run.run_id)
    changed = await runs.get(run.run_id, "ann")

    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (events[-1].kind, events[-1].data) == ("plan_changed", '{"goal":"a goal","steps":[1,5]}')
    assert (state, list(changed.steps), changed.replans) == ("completed", [1, 5], 1)
    assert recorder.counts == {"": 2, "x": 1}


async def test_a_plan_read_from_its_run_is_accepted_with_one_changed_step(runs, recorder):
    recorder.script = {"x": failure("wrong")}
    skipped = step(2, expected_key=None, done_check="True")
    _state, run = await ended(runs, plan(step(1), skipped, step(3, parameters={"label": "x"}, dependencies=[1, 2])))
    shown = (await describe_run(runs, run, ["plan"]))["plan"]
    shown["steps"][2]["parameters"] = {"n": 7}
    await runs.replace_unfinished(run.run_id, "ann", read_plan(shown))
    state = await runs.execute(run.run_id)

    assert [(each["status"], each["skipped"]) for each in shown["steps"]] == [
        ("completed", False),
        ("completed", True),
        ("failed", False),
    ]
    assert (state, recorder.calls) == ("completed", [{}, {"label": "x"}, {"n": 7}])


@pytest.mark.parametrize("is_approved", [True, False])
async def test_a_decision_on_a_replaced_step_does_not_count(runs, recorder, is_approved):
    recorder.script = {"x": failure("wrong")}
    first = step(1, parameters={"label": "x"} if is_approved else {})
    run_id = await runs.create(plan(first, human(2, dependencies=[1])), user="ann")
    await runs.decide(run_id, "ann", 2, approved=is_approved)
    state = await runs.execute(run_id)
    await runs.replace_unfinished(run_id, "ann", plan(step(1), human(2, dependencies=[1])))
    again = await runs.execute(run_id)
    await runs.decide(run_id, "ann", 2, approved=True)

    assert (state, again, await runs.execute(run_id)) == ("failed", "waiting", "completed")


async def test_the_inputs_of_a_skipped_step_are_stored_with_it(runs, recorder):
    given = {"k1": {"data": {"n": 4}}}
    a_plan = plan(step(1, done_check="k1 is not None"), step(2, parameters={"n": ref("k1", "data.n")}))
    state, run = await ended(runs, a_plan, memory=given)
    record = run.steps[1]

    assert (state, record.state, json.loads(record.output)) == ("completed", "skipped", given["k1"])
    assert (record.note, recorder.calls) == ("its value is present and done_check is true", [{"n": 4}])


async def test_a_run_without_a_listener_continues(runs, recorder, monkeypatch, caplog):
    heard = asyncio.Event()
    recorder.script = {"x": heard}

    async def fail(_run_id, _after):
        if not recorder.calls:
            return []
        heard.set()
        raise StorageUnavailable("the disk is full")

    monkeypatch.setattr(runs.journal, "list_signals", fail)
    state, run = await ended(runs, plan(step(1, parameters={"label": "x"})))

    assert state == "completed"
    assert f"run={run.run_id}: its signals cannot be read: the disk is full" in caplog.text


async def test_a_cancelled_run_waits_for_nothing_after_its_journal_is_closed():
    """The program would not end."""
    writer = GroupCommit(Mock(transact=Mock(return_value=())))
    writer.put("run", [("statement", {"run_id": "run"})])
    await asyncio.sleep(0)
    writer.close()

    assert await asyncio.wait_for(writer.drain(), 20) is None


async def test_rows_that_are_queued_when_the_journal_closes_are_written():
    writer = GroupCommit(Mock(transact=Mock(return_value=())))
    stored = writer.put("run", [("statement", ("run",))])
    writer.close()

    assert await asyncio.wait_for(stored, 20) is None


async def test_the_timer_of_an_event_starts_no_transaction_if_a_commit_has_the_event():
    is_released = threading.Event()
    session = Mock(transact=Mock(side_effect=lambda *_args, **_options: is_released.wait(20) and ()))
    writer = GroupCommit(session)
    writer.append("statement", ("run",))
    stored = writer.put("run", [("statement", ("run",))])
    await asyncio.sleep(0)
    writer._flush_events()
    is_released.set()
    await asyncio.wait_for(stored, 20)
    writer.close()

    assert session.transact.call_count == 1


async def test_the_journal_is_closed_even_if_the_runs_cannot_be_stopped(runs, monkeypatch):
    await runs.create(plan(step(1)), user="ann")
    monkeypatch.setattr(runs, "stop", AsyncMock(side_effect=RuntimeError))
    with pytest.raises(RuntimeError):
        await runs.aclose()

    assert runs.journal._writer is None


def test_two_tools_of_one_name_are_refused(recorder):
    with pytest.raises(PlanInvalid):
        Catalogue.of([recorder.tool(), recorder.tool()])
    with pytest.raises(PlanInvalid):
        Catalogue.of([], {"human": None})


async def test_a_user_may_have_so_many_runs_under_way(opened, recorder):
    released = asyncio.Event()
    recorder.script = {"x": released}
    runs = opened(recorder.tool(), limits=Limits(runs_per_caller=1))
    tool = run_plan_over(runs)
    asked = {"plan": plan(step(1, parameters={"label": "x"})).model_dump(), "wait_seconds": 0}
    # Either may be first, because threads validate the plans.
    answers = await asyncio.gather(*(tool.answer(asked, user="ann") for _ in range(2)))
    first, refused = sorted(answers, key=lambda answer: answer.is_error)
    other = await tool.answer(asked, user="bob")
    released.set()
    await runs.wait(first.body["data"]["run_id"], 5)
    again = await tool.answer({**asked, "wait_seconds": 5}, user="ann")

    assert [answer.is_error for answer in (first, refused, other, again)] == [False, True, False, False]
    assert refused.body["error"] == "1 of your plan runs are in progress, which is the limit"
    assert refused.body["retry_after"] == 5
