"""Compose plan runs: the served tools become the catalogue of plans."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fingerpost.apps.error_boundary import answer_unbounded
from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import open_journal
from fingerpost.contract.published_tool import PublishedTool
from fingerpost.plan.catalogue import Catalogue, PlanTool
from fingerpost.plan.plan_tools import GetPlanRun, RunPlan
from fingerpost.plan.planners import Planner, PlanningCapability, plan_backward, plan_from_template
from fingerpost.plan.runs import PlanRuns
from fingerpost.runtime.extras import require_extra


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    runs: PlanRuns
    planning: PlanningCapability
    tools: Sequence[PublishedTool]


def build_plans(settings: Settings, tools: Sequence[PublishedTool]) -> Plans:
    """Return plans over some tools; a plan cannot start other plans."""
    catalogue = Catalogue.of([_plan_tool(tool) for tool in tools])
    runs = PlanRuns(catalogue, open_journal(settings), retention_days=settings.runs_retention_days)
    planners: list[Planner] = [plan_backward, plan_from_template]
    if settings.llm_url and settings.llm_model:
        require_extra("llm", "A language model as planner needs", "pydantic_ai.models.openai")
        # Only installations with a language model have its client.
        from fingerpost.plan.language_model import LanguageModelPlanner

        key = settings.llm_key.get_secret_value() or None
        planners.append(LanguageModelPlanner(settings.llm_url, settings.llm_model, key).plan)
    planning = PlanningCapability(catalogue, planners)
    return Plans(runs=runs, planning=planning, tools=(RunPlan(runs, planning), GetPlanRun(runs)))


@asynccontextmanager
async def recovering(runs: PlanRuns) -> AsyncIterator[None]:
    """Recover runs of dead processes where machines share a database; stop this process's runs at the end."""
    async with runs.journal.recovering():
        try:
            yield
        finally:
            await runs.stop()


def _plan_tool(tool: PublishedTool) -> PlanTool:
    async def execute(query_type: str, parameters: dict[str, Any], user: str | None) -> Mapping[str, Any]:
        answer = await answer_unbounded(tool, tool.to_raw(query_type, parameters), user=user)
        return tool.to_standard(query_type, parameters, answer)

    return PlanTool(spec=tool.spec, execute=execute, is_idempotent=tool.definition.idempotent)
