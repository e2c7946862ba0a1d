"""Record facts: the data that an engine writes and reads back."""

import asyncio

from fingerpost.errors import ToolError
from fingerpost.plan.records import Event, InitialMemory, JournalFailed, RunRecord, StepRecord
from tests.plan.suite.engine import expect
from tests.plan.suite.fixtures import with_journal

_AT = "2026-03-10T06:00:00Z"
_LATER = "2026-03-10T07:00:00Z"
_GIVEN = InitialMemory(values={"start": {"n": 1, "text": "ä'); DROP TABLE run; --"}}, paths={"start": ["n"]})
_PLAN = '{"goal":"g","steps":[{"step_id":1},{"step_id":2}]}'


async def _new(journal, user="ann", base=None, at=_AT, plan=_PLAN):
    return await journal.create(plan, base=base, user=user, initial_memory=_GIVEN, at=at, protocol=1)


def _step(number, state, output=None):
    return StepRecord(number, state, output, f"note {number}", number, _LATER)  # type: ignore[arg-type]


def what_was_recorded_is_found_by_whoever_opens_the_place_anew(engine, folder):
    done, failed = _step(1, "completed", '{"a":"\\u00e4"}'), _step(2, "failed")
    events_before = [Event(1, _AT, "run_started", None, None), Event(2, _LATER, "step_completed", 1, '{"attempts":1}')]
    last = Event(3, _LATER, "run_failed", None, None)

    async def write(journal):
        run_id = await _new(journal)
        await journal.record(run_id, done, events_before, None, _LATER)
        await journal.record(run_id, failed, [last], "failed", _LATER)
        return run_id

    run_id = with_journal(engine, folder, write)
    found = with_journal(engine, folder, lambda journal: journal.find(run_id))
    events = with_journal(engine, folder, lambda journal: journal.list_events(run_id, 0))
    expected = RunRecord(
        run_id=run_id,
        user="ann",
        plan_json=_PLAN,
        initial_memory=_GIVEN,
        state="failed",
        created_at=_AT,
        ended_at=_LATER,
        protocol=1,
        replans=0,
        steps={1: done, 2: failed},
        last_seq=3,
    )
    expect(found == expected, f"Kept was {expected}, found was {found}")
    expect(events == [*events_before, last], f"The events should be {[*events_before, last]}, and are {events}")


def a_goal_and_a_note_may_hold_a_nul(engine, folder):
    """No text of PostgreSQL can hold one as it is."""

    async def write(journal):
        run_id = await _new(journal, plan=_PLAN.replace('"g"', '"a\\u0000b"'))
        await journal.record(run_id, _step(1, "failed")._replace(note="c\0d"), [], None, _AT)
        return await journal.find(run_id)

    found = with_journal(engine, folder, write)
    line = with_journal(engine, folder, lambda journal: journal.list_runs("ann", 9))[0]
    kept = line.goal, None if found is None else found.steps[1].note
    expect(kept == ("a\0b", "c\0d"), f"Goal and note are {kept}")


def the_records_of_a_removed_run_harm_no_other(engine, folder):
    """Both are written in one transaction; who records for the removed run gets an error."""

    async def write(journal):
        removed, other = await _new(journal), await _new(journal)
        await journal.record(removed, None, [], "completed", _AT)
        await journal.delete_ended_before(_LATER)
        outcomes = await asyncio.gather(
            journal.record(removed, _step(1, "completed"), [], None, _LATER),
            journal.record(other, _step(1, "completed"), [], None, _LATER),
            return_exceptions=True,
        )
        found = await journal.find(other)
        return [isinstance(outcome, JournalFailed) for outcome in outcomes], found is not None and 1 in found.steps

    found = with_journal(engine, folder, write)
    expect(found == ([True, False], True), f"Refused (removed, other) and recorded (other): {found}")


def the_last_record_of_a_step_stands(engine, folder):
    async def write(journal):
        run_id = await _new(journal)
        await journal.record(run_id, _step(1, "failed"), [], "failed", _AT)
        await journal.record(run_id, _step(1, "completed", "{}"), [], "running", _LATER)
        return await journal.find(run_id)

    found = with_journal(engine, folder, write)
    kept = None if found is None else (found.steps, found.state, found.ended_at)
    expect(kept == ({1: _step(1, "completed", "{}")}, "running", None), f"Found was {kept}")


def events_are_listed_in_order_and_after_any_of_them(engine, folder):
    async def write(journal):
        run_id = await _new(journal)
        journal.append_event(run_id, Event(1, _AT, "run_started", None, None))
        journal.append_event(run_id, Event(2, _AT, "step_started", 1, None))
        await journal.record(run_id, None, [Event(3, _AT, "step_completed", 1, None)], None, _AT)
        listed = [await journal.list_events(run_id, after) for after in (0, 1, 3)]
        return [[event.seq for event in each] for each in listed]

    found = with_journal(engine, folder, write)
    expect(found == [[1, 2, 3], [2, 3], []], f"All, after 1, after the last: {found}")


def signals_are_kept_in_order_for_whoever_carries_on(engine, folder):
    async def send(journal):
        run_id = await _new(journal)
        await journal.signal(run_id, "approve", 1, {"note": None, "value": [1, "ä"]})
        await journal.signal(await _new(journal), "cancel", None, "of another run")
        await journal.signal(run_id, "cancel", None, None)
        return run_id

    run_id = with_journal(engine, folder, send)
    received = with_journal(engine, folder, lambda journal: journal.list_signals(run_id, 0))
    signals = [(signal.verb, signal.step_id, signal.value) for signal in received]
    later = with_journal(
        engine, folder, lambda journal: journal.list_signals(run_id, received[0].seq if received else 0)
    )
    expected = [("approve", 1, {"note": None, "value": [1, "ä"]}), ("cancel", None, None)]
    expect(signals == expected, f"The signals should be {expected}, and are {signals}")
    expect(later == received[1:], f"After the first signal comes {later}")


def a_changed_plan_forgets_what_it_is_told_to_forget(engine, folder):
    """The change is counted, the run goes on, and what is finished stays; decisions on the old plan are deleted."""

    async def change(journal):
        run_id = await _new(journal)
        await journal.record(run_id, _step(1, "completed", "{}"), [], None, _AT)
        await journal.record(run_id, _step(2, "failed"), [Event(1, _AT, "run_failed", None, None)], "failed", _AT)
        changed = '{"goal":"h","steps":[{"step_id":1}]}'
        await journal.signal(run_id, "approve", 2, None)
        await journal.signal(run_id, "cancel", None, None)
        await journal.change_plan(run_id, changed, [2], Event(2, _AT, "plan_changed", None, None))
        return await journal.find(run_id), [signal.verb for signal in await journal.list_signals(run_id, 0)]

    found, verbs = with_journal(engine, folder, change)
    expect(verbs == ["cancel"], f"Only the cancel should be left of the signals, and there are {verbs}")
    line = with_journal(engine, folder, lambda journal: journal.list_runs("ann", 9))[0]
    kept = None if found is None else (sorted(found.steps), found.state, found.ended_at, found.replans, found.last_seq)
    expect(kept == ([1], "running", None, 1, 2), f"Steps, state, end, changes and last event are {kept}")
    expect((line.goal, line.total, line.completed) == ("h", 1, 1), f"It is listed as {line}")


def a_change_of_a_plan_that_has_gone_on_is_refused(engine, folder):
    async def change(journal):
        run_id = await _new(journal)
        await journal.record(run_id, None, [Event(1, _AT, "run_started", None, None)], None, _AT)
        outcome = "changed"
        try:
            await journal.change_plan(
                run_id, _PLAN.replace('"g"', '"h"'), [], Event(1, _AT, "plan_changed", None, None)
            )
        except ToolError:
            outcome = "refused"
        return outcome, (await journal.list_runs("ann", 9))[0].goal

    found = with_journal(engine, folder, change)
    expect(found == ("refused", "g"), f"The change and the goal after it: {found}")


def runs_are_listed_for_their_user_newest_first(engine, folder):
    async def make(journal):
        ids = [await _new(journal, "ann", at=at) for at in (_LATER, _AT, _LATER)]
        await _new(journal, "eve")
        await _new(journal, None)
        listed = [[line.run_id for line in await journal.list_runs("ann", limit)] for limit in (9, 2)]
        return ids, listed[0], listed[1]

    ids, listed, two = with_journal(engine, folder, make)
    expected = [ids[2], ids[0], ids[1]]
    expect(listed == expected, f"Runs should be listed as {expected}, and are as {listed}")
    expect(two == expected[:2], f"The newest two should be {expected[:2]}, and are {two}")


def ids_count_from_a_base_and_are_free_without_one(engine, folder):
    async def make(journal):
        return [await _new(journal, base=base) for base in ("b", "b", None, None)]

    here, there = (with_journal(engine, folder / place, make) for place in ("here", "there"))
    expect(here[:2] == there[:2], f"The same base gave {here[:2]} here and {there[:2]} there")
    expect(len({*here, *there}) == 6, "Ids that should differ are alike")
    expect({len(run_id) for run_id in here} == {36}, f"Ids should be of 36 characters: {here}")


def old_runs_are_forgotten_and_unfinished_ones_never(engine, folder):
    async def forget(journal):
        ended, waiting = await _new(journal), await _new(journal)
        await journal.record(ended, _step(1, "completed"), [], "completed", _LATER)
        await journal.record(waiting, _step(1, "waiting"), [], "waiting", _AT)
        counts = [len(await journal.delete_ended_before(at)) for at in (_LATER, _LATER.replace("00Z", "01Z"))]
        return counts, [await journal.find(run_id) is not None for run_id in (ended, waiting)]

    found = with_journal(engine, folder, forget)
    expect(found == ([0, 1], [False, True]), f"Forgotten at the end and just after, ended and waiting kept: {found}")


def an_empty_place_is_no_error(engine, folder):
    unknown = "00000000-0000-4000-8000-000000000000"

    async def ask(journal):
        return [
            await journal.find(unknown),
            await journal.list_runs("ann", 9),
            await journal.list_events(unknown, 0),
            await journal.list_signals(unknown, 0),
            await journal.delete_ended_before(_AT),
        ]

    found = with_journal(engine, folder, ask)
    expect(found == [None, [], [], [], []], f"A run, runs, events, signals and old runs of an empty place: {found}")
