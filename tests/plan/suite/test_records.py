"""An engine reads back what it wrote."""

import asyncio

import pytest

from fingerpost.errors import ToolError
from fingerpost.plan.records import Event, InitialMemory, JournalFailed, RunRecord, StepRecord, WrittenPlan

AT = "2026-03-10T06:00:00Z"
LATER = "2026-03-10T07:00:00Z"
GIVEN = InitialMemory(values={"start": {"n": 1, "text": "ä'); DROP TABLE run; --"}}, paths={"start": ["n"]})
PLAN = WrittenPlan('{"goal":"g","steps":[{"step_id":1},{"step_id":2}]}', '"g"', 2)
NOBODY = "00000000-0000-4000-8000-000000000000"


async def new_run(journal, user="ann", base=None, at=AT, plan=PLAN):
    return await journal.create(plan, base=base, user=user, initial_memory=GIVEN, at=at, protocol=1)


def step(number, state, output=None):
    return StepRecord(number, state, output, f"note {number}", number, LATER)


async def test_what_was_recorded_is_found_by_whoever_opens_the_place_anew(journal, reopen):
    done, failed = step(1, "completed", '{"a":"\\u00e4"}'), step(2, "failed")
    before = [Event(1, AT, "run_started", None, None), Event(2, LATER, "step_completed", 1, '{"attempts":1}')]
    last = Event(3, LATER, "run_failed", None, None)
    run_id = await new_run(journal)
    await journal.record(run_id, done, before, None, LATER)
    await journal.record(run_id, failed, [last], "failed", LATER)
    anew = reopen()

    assert await anew.find(run_id) == RunRecord(
        run_id=run_id,
        user="ann",
        plan_json=PLAN.text,
        initial_memory=GIVEN,
        state="failed",
        created_at=AT,
        ended_at=LATER,
        protocol=1,
        replans=0,
        steps={1: done, 2: failed},
        last_seq=3,
        signals=[],
    )
    assert await anew.list_events(run_id) == [*before, last]


async def test_a_goal_and_a_note_may_hold_a_nul(journal, reopen):
    """No text of PostgreSQL can hold one as it is."""
    goal = '"a\\u0000b"'
    run_id = await new_run(journal, plan=PLAN._replace(text=PLAN.text.replace('"g"', goal), goal=goal))
    await journal.record(run_id, step(1, "failed")._replace(note="c\0d"), [], None, AT)
    anew = reopen()
    (line,) = await anew.list_runs("ann", 9)

    assert (line["goal"], (await anew.find(run_id)).steps[1].note) == ("a\0b", "c\0d")


async def test_the_records_of_a_removed_run_harm_no_other(journal):
    """Both are written in one transaction; who records for the removed run gets an error."""
    removed, other = await new_run(journal), await new_run(journal)
    await journal.record(removed, None, [], "completed", AT)
    await journal._transact(lambda connection: connection.execute("DELETE FROM plan_run WHERE id = %s", (removed,)))
    outcomes = await asyncio.gather(
        *(journal.record(run_id, step(1, "completed"), [], None, LATER) for run_id in (removed, other)),
        return_exceptions=True,
    )

    assert [isinstance(outcome, JournalFailed) for outcome in outcomes] == [True, False]
    assert list((await journal.find(other)).steps) == [1]


async def test_the_last_record_of_a_step_stands(journal):
    run_id = await new_run(journal)
    await journal.record(run_id, step(1, "failed"), [], "failed", AT)
    await journal.record(run_id, step(1, "completed", "{}"), [], "running", LATER)
    found = await journal.find(run_id)

    assert (found.steps, found.state, found.ended_at) == ({1: step(1, "completed", "{}")}, "running", None)


async def test_events_are_listed_in_order(journal):
    run_id = await new_run(journal)
    journal.append_event(run_id, Event(1, AT, "run_started", None, None))
    journal.append_event(run_id, Event(2, AT, "step_started", 1, None))
    await journal.record(run_id, None, [Event(3, AT, "step_completed", 1, None)], None, AT)

    assert [event.seq for event in await journal.list_events(run_id)] == [1, 2, 3]


async def test_signals_are_kept_in_order_for_whoever_carries_on(journal, reopen):
    run_id = await new_run(journal)
    await journal.signal(run_id, "approve", 1, {"note": None, "value": [1, "ä"]})
    await journal.signal(await new_run(journal), "cancel", None, "of another run")
    await journal.signal(run_id, "cancel", None, None)
    anew = reopen()
    received = await anew.list_signals(run_id, 0)

    assert [(signal.verb, signal.step_id, signal.value) for signal in received] == [
        ("approve", 1, {"note": None, "value": [1, "ä"]}), ("cancel", None, None),
    ]  # fmt: skip
    assert await anew.list_signals(run_id, received[0].seq) == received[1:]


async def test_a_changed_plan_forgets_what_it_is_told_to_forget(journal):
    """The change is counted, the run goes on, and what is finished stays; decisions on the old plan are deleted."""
    run_id = await new_run(journal)
    await journal.record(run_id, step(1, "completed", "{}"), [], None, AT)
    await journal.record(run_id, step(2, "failed"), [Event(1, AT, "run_failed", None, None)], "failed", AT)
    await journal.signal(run_id, "approve", 2, None)
    await journal.signal(run_id, "cancel", None, None)
    changed = WrittenPlan('{"goal":"h","steps":[{"step_id":1}]}', '"h"', 1)
    await journal.change_plan(run_id, changed, [2], Event(2, AT, "plan_changed", None, None))
    found, (line,) = await journal.find(run_id), await journal.list_runs("ann", 9)

    assert [signal.verb for signal in await journal.list_signals(run_id, 0)] == ["cancel"]
    assert (list(found.steps), found.state, found.ended_at) == ([1], "running", None)
    assert (found.replans, found.last_seq) == (1, 2)
    assert (line["goal"], line["total"], line["completed"]) == ("h", 1, 1)


async def test_a_change_of_a_plan_that_has_gone_on_is_refused(journal):
    run_id = await new_run(journal)
    await journal.record(run_id, None, [Event(1, AT, "run_started", None, None)], None, AT)
    with pytest.raises(ToolError):
        await journal.change_plan(run_id, PLAN._replace(goal='"h"'), [], Event(1, AT, "plan_changed", None, None))

    assert [line["goal"] for line in await journal.list_runs("ann", 9)] == ["g"]


async def test_runs_are_listed_for_their_user_newest_first(journal):
    ids = [await new_run(journal, at=at) for at in (LATER, AT, LATER)]
    await new_run(journal, "eve")
    await new_run(journal, None)
    listed = [[line["run_id"] for line in await journal.list_runs("ann", limit)] for limit in (9, 2)]

    assert listed == [[ids[2], ids[0], ids[1]], [ids[2], ids[0]]]


async def test_ids_count_from_a_base_and_are_free_without_one(engine, tmp_path):
    places = []
    for name in ("here", "there"):
        journal = engine.open(tmp_path / name)
        places.append([await new_run(journal, base=base) for base in ("b", "b", None, None)])
        journal.close()
    here, there = places

    assert here[:2] == there[:2]
    assert len({*here, *there}) == 6
    assert {len(run_id) for run_id in here} == {36}


async def test_an_empty_place_is_no_error(journal):
    assert await journal.find(NOBODY) is None
    assert await journal.list_runs("ann", 9) == []
    assert await journal.list_events(NOBODY) == []
    assert await journal.list_signals(NOBODY, 0) == []
