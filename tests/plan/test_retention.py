"""How long runs are kept: counted from their end, looked at when a new one comes."""

from datetime import UTC, datetime, timedelta

from tests.plan.drawing import plan, step

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
KEPT = timedelta(days=30)


async def test_runs_that_ended_too_long_ago_are_removed_when_a_new_one_comes(opened, recorder, monkeypatch):
    """Thirty days are kept, to the second; a run that has not ended stays; it is looked once an hour."""
    runs = opened(recorder.tool(), retention_days=30)

    async def new(instant, *, ends=False):
        monkeypatch.setenv("FINGERPOST_NOW", instant.isoformat())
        run_id = await runs.create(plan(step(1)), user="ann")
        if ends:
            await runs.carry_on(run_id)
        return run_id

    async def listed():
        return {line.run_id for line in await runs.list_runs("ann")}

    old, kept = await new(NOON, ends=True), await new(NOON + timedelta(seconds=1), ends=True)
    unfinished = await new(NOON)
    fresh = await new(NOON + KEPT + timedelta(seconds=1))
    first = await listed()
    within_the_hour = await new(NOON + KEPT + timedelta(minutes=59))
    second = await listed()
    after_it = await new(NOON + KEPT + timedelta(hours=1, seconds=1))
    third = await listed()

    assert old not in first
    assert first == {kept, unfinished, fresh}
    assert second == {kept, unfinished, fresh, within_the_hour}
    assert third == {unfinished, fresh, within_the_hour, after_it}


async def test_without_retention_runs_are_kept_for_ever(runs, recorder, monkeypatch):
    """A run of 1970 is there in 9999."""
    for year in (1970, 9999):
        monkeypatch.setenv("FINGERPOST_NOW", f"{year}-01-01T00:00:00Z")
        await runs.carry_on(await runs.create(plan(step(1)), user="ann"))

    assert len(await runs.list_runs("ann")) == 2
