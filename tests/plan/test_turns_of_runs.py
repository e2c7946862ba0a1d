"""Runs in the background: so many at once, in turn, each held while it waits."""

import asyncio
from datetime import datetime

import pytest
import stamina

from fingerpost.contract.published import Call
from fingerpost.errors import SourceLimited, StorageUnavailable
from fingerpost.plan.limits import Limits
from fingerpost.plan.planners.capability import PlanningCapability
from fingerpost.plan.run_plan import RunPlan
from fingerpost.plan.run_shapes import RunPlanInput
from fingerpost.plan.view import describe_run
from tests.plan.drawing import NOW, failure, human, plan, step

ONE_EACH = Limits(backoff_s=0.0, attempt_s=5.0, runs_at_once=2, runs_at_once_of_caller=1)


class Gates:
    """Steps that stop until their label is let through; ``begun`` is the order in which they began."""

    def __init__(self, recorder, *labels):
        self.begun = []
        self._open = {label: asyncio.Event() for label in labels}
        self._seen = {label: asyncio.Event() for label in labels}
        recorder.script |= dict.fromkeys(labels, self._stop)

    async def _stop(self, parameters):
        label = parameters["label"]
        self.begun.append(label)
        self._seen[label].set()
        await self._open[label].wait()

    async def reached(self, *labels):
        for label in labels:
            await asyncio.wait_for(self._seen[label].wait(), 5)

    def let(self, *labels):
        for label in labels:
            self._open[label].set()


async def began(runs, label, user="ann", *more):
    """Begin a run of one step, and return its id."""
    run_id = await runs.create(plan(step(1, parameters={"label": label}), *more), user=user)
    runs.begin(run_id, user)
    return run_id


def called_by(user):
    return Call(tool="run_plan", user=user, now=datetime.fromisoformat(NOW), correlation_id="none")


async def state(runs, run_id, user="ann"):
    return await runs.state_of(await runs.get(run_id, user))


@pytest.fixture
def gates(recorder):
    return Gates(recorder, "a", "b", "c", "d", "other")


@pytest.fixture
def turns(opened, recorder):
    """Runs of which a caller has one at a time, and all callers two."""
    return opened(recorder.tool(), limits=ONE_EACH)


async def test_a_callers_runs_begin_one_after_the_other_and_say_behind_how_many(turns, gates):
    """The second and the third are queued, in the order in which they were begun, and all end."""
    first, second, third = [await began(turns, label) for label in "abc"]
    await gates.reached("a")
    seen = [await state(turns, each) for each in (first, second, third)]
    shown = await describe_run(turns, await turns.get(third, "ann"))
    gates.let("a", "b", "c")
    for each in (first, second, third):
        await turns.wait(each, 5)

    assert seen == ["running", "queued", "queued"]
    assert (shown["state"], shown["status"], shown["queued_behind"]) == ("queued", "pending", 1)
    assert shown["next"].startswith("It waits for its turn, behind 1 of your runs: ask get_plan_run again")
    assert gates.begun == ["a", "b", "c"]
    assert [await state(turns, each) for each in (first, second, third)] == ["completed"] * 3


async def test_another_callers_run_does_not_wait_for_the_queue_of_the_first(turns, gates):
    """It begins at once, where there is a place, however many runs of another caller wait."""
    for label in "abc":
        await began(turns, label)
    await began(turns, "other", "bob")
    await gates.reached("a", "other")

    assert gates.begun == ["a", "other"]
    await turns.stop()


async def test_callers_take_turns_where_all_places_are_taken(opened, recorder, gates):
    """With one place for all, the other's run begins before the second of the first."""
    runs = opened(recorder.tool(), limits=Limits(runs_at_once=1, runs_at_once_of_caller=1))
    ids = [await began(runs, label) for label in "abc"]
    ids.append(await began(runs, "other", "bob"))
    gates.let("a", "b", "c", "other")
    for each in ids:
        await runs.wait(each, 5)

    assert gates.begun == ["a", "b", "other", "c"]


async def test_a_queued_run_is_nobody_elses(opened, recorder, turns, gates):
    """Another process sees that it is queued and may not carry it on; once this one is gone, it may."""
    await began(turns, "a")
    queued = await began(turns, "b")
    await gates.reached("a")
    elsewhere = opened(recorder.tool())
    before = await state(elsewhere, queued)
    with pytest.raises(StorageUnavailable, match="being carried on elsewhere"):
        await elsewhere.carry_on(queued)
    await turns.stop()
    after = await state(elsewhere, queued)
    gates.let("b")

    assert (before, after) == ("queued", "interrupted")
    assert await elsewhere.carry_on(queued) == "completed"


@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_a_queued_run_is_cancelled_without_its_turn(opened, recorder, turns, gates, is_elsewhere):
    """At once, or when this process next looks for what another one has said; no step of it begins."""
    await began(turns, "a")
    queued = await began(turns, "b")
    await gates.reached("a")
    await (opened(recorder.tool()) if is_elsewhere else turns).cancel(queued, "ann")
    await turns.wait(queued, 5)

    assert (await state(turns, queued), gates.begun) == ("cancelled", ["a"])
    await turns.stop()


async def test_a_run_that_waits_for_a_person_gives_its_place_back(turns, gates):
    """The next one begins; approved, the first waits for its turn like any other, and says so."""
    waiting = await turns.create(plan(human(1), step(2, dependencies=[1])), user="ann")
    turns.begin(waiting, "ann")
    await began(turns, "a")
    await gates.reached("a")
    before = await state(turns, waiting)
    await turns.decide(waiting, "ann", 1, approved=True)
    turns.begin(waiting, "ann")
    between = await state(turns, waiting)
    gates.let("a")
    await turns.wait(waiting, 5)

    assert (before, between, await state(turns, waiting)) == ("waiting", "queued", "completed")


async def test_a_failed_run_that_is_queued_again_is_no_longer_said_to_have_failed(opened, recorder, turns, gates):
    """Another process sees that it goes on; if this one ends before its turn, that it was left."""
    recorder.script["wrong"] = failure("wrong")
    failed = await began(turns, "wrong")
    await turns.wait(failed, 5)
    await began(turns, "a")
    await gates.reached("a")
    turns.begin(failed, "ann")
    elsewhere = opened(recorder.tool())
    while await state(elsewhere, failed) == "failed":
        pass
    seen = [await state(turns, failed), await state(elsewhere, failed)]
    await turns.stop()

    assert [*seen, await state(elsewhere, failed)] == ["queued", "running", "interrupted"]


async def test_a_run_gives_its_place_back_for_a_long_pause(turns, recorder, gates):
    """While its only step waits for a second attempt, the next run begins; the first then waits for that one."""
    recorder.script["late"] = [failure("busy", retryable=True, retry_after=2), None]
    with stamina.set_testing(True, attempts=3):
        late = await began(turns, "late")
        following = await began(turns, "a")
        await gates.reached("a")
        seen = [await state(turns, each) for each in (late, following)]
        tries = recorder.counts["late"]
        gates.let("a")
        await turns.wait(late, 5)

    assert (seen, tries) == (["running", "running"], 1)
    assert (await state(turns, late), recorder.counts["late"]) == ("completed", 2)


async def test_no_more_runs_rest_than_may_be_carried_on(turns, recorder, gates):
    """Each of them is in memory: while one rests, the next keeps its place, so the third comes last."""
    busy = failure("busy", retryable=True, retry_after=2)
    recorder.script |= {"one": [busy, None], "two": [busy, None]}
    gates.let("a")
    with stamina.set_testing(True, attempts=3):
        for each in [await began(turns, label) for label in ("one", "two", "a")]:
            await turns.wait(each, 5)

    assert [call["label"] for call in recorder.calls] == ["one", "two", "two", "one", "a"]


async def test_a_caller_is_refused_more_runs_than_may_wait(opened, recorder, gates):
    """At once, with a time; another caller is not, and neither is the first once one of its runs has ended."""
    runs = opened(recorder.tool(), limits=Limits(runs_at_once_of_caller=1, runs_begun_of_caller=2))
    tool = RunPlan(runs, PlanningCapability(runs.catalogue, []))

    async def start(label, user="ann", **more):
        asked = {"plan": plan(step(1, parameters={"label": label})).model_dump(), "wait_seconds": 0, **more}
        answer = await tool.handle(RunPlanInput(**asked), called_by(user))
        return answer["data"]["run_id"]

    first, second = await start("a"), await start("b")
    with pytest.raises(SourceLimited, match="2 of your plan runs are under way or wait for their turn") as refused:
        await start("c")
    await start("other", "bob")
    await tool.handle(RunPlanInput(run_id=second, action="cancel"), called_by("ann"))
    third = await start("c")
    gates.let("a", "c", "other")
    for each in (first, third):
        await runs.wait(each, 5)

    assert refused.value.retry_after_s >= 1
    assert [await state(runs, each) for each in (first, second, third)] == ["completed", "cancelled", "completed"]
    await runs.stop()


async def test_a_callers_plans_may_have_so_many_steps_together(opened, recorder, gates):
    """One plan may have all of them; a second one waits until it is told to come again."""
    limits = Limits(runs_at_once_of_caller=1, steps_begun_of_caller=3)
    runs = opened(recorder.tool(), limits=limits)
    tool = RunPlan(runs, PlanningCapability(runs.catalogue, []))

    async def start(count):
        steps = [step(at, parameters={"label": "a"}) for at in range(1, count + 1)]
        asked = RunPlanInput(plan=plan(*steps).model_dump(), wait_seconds=0)
        return (await tool.handle(asked, called_by("ann")))["data"]["run_id"]

    ids = [await start(4)]
    with pytest.raises(SourceLimited, match="have 4 steps"):
        await start(1)
    gates.let("a")
    await runs.wait(ids[0], 5)
    ids += [await start(1), await start(2)]
    for each in ids:
        await runs.wait(each, 5)

    assert [await state(runs, each) for each in ids] == ["completed"] * 3
