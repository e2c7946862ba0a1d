"""The plans of runs that are recorded, checked against the tools of today."""

from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue
from fingerpost.plan.journal import PROTOCOL, RunRecord
from fingerpost.plan.limits import Limits
from fingerpost.plan.plan_json import plan_of
from fingerpost.plan.validation import CANNOT_RUN, ValidPlan, validate_plan


class RecordedPlans:
    """Plans of recorded runs over one catalogue."""

    def __init__(self, catalogue: Catalogue, limits: Limits) -> None:
        self._catalogue = catalogue
        self._limits = limits

    def shape_of(self, run: RunRecord) -> ValidPlan:
        """Return a run's plan for reading alone: whether its tools are still there does not matter."""
        plan = plan_of(run)
        numbers = [step.step_id for step in plan.steps]
        return validate_plan(plan, self._catalogue, memory=run.given.values, done=numbers, limits=self._limits)

    def check_again(self, run: RunRecord) -> ValidPlan:
        """Return a run's plan, which can be carried on: an upgrade may have come since it was checked.

        Raises:
            PlanInvalid: what is left of it no longer fits the tools.
        """
        try:
            return validate_plan(
                plan_of(run), self._catalogue, memory=run.given.values, done=finished(run), limits=self._limits
            )
        except PlanInvalid as error:
            problems = error.message.removeprefix(CANNOT_RUN)
            hint = "Replace the unfinished steps, or cancel the run; what is recorded stays"
            raise PlanInvalid(
                f"What is left of the run no longer fits the tools: {problems}", error.details, hint=hint
            ) from error


def refuse_newer(run: RunRecord) -> None:
    """Refuse a run that a newer version of fingerpost began.

    Raises:
        PlanInvalid: it did.
    """
    if run.protocol > PROTOCOL:
        raise PlanInvalid("The run was begun by a newer fingerpost; update this one to read it or to carry it on")


def finished(run: RunRecord) -> frozenset[int]:
    """Return the steps that never run again."""
    return frozenset(number for number, step in run.steps.items() if step.state in ("completed", "skipped"))
