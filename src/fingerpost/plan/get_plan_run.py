"""get_plan_run: how a run stands (plan-step contract); it changes nothing."""

from collections.abc import Mapping
from typing import Any

from fingerpost.contract.envelope import Family
from fingerpost.contract.published import Call, PublishedTool
from fingerpost.contract.wire import Shape
from fingerpost.plan.journal import RunLine
from fingerpost.plan.run_shapes import LONG_PARTS, REST, GetPlanRunInput, RunAnswer, RunLineView, RunsAnswer, show_run
from fingerpost.plan.runs import PlanRuns
from fingerpost.plan.view import describe_run, say_run


class GetPlanRun(PublishedTool):
    """The ``get_plan_run`` tool."""

    name = "get_plan_run"
    title = "A plan's run"
    description = (
        "How a run of run_plan stands: state, progress, steps, partial results, what it waits for. "
        "include adds plan, memory, items, events or a mermaid picture. Without run_id: your runs."
    )
    family = Family.STEP
    group = "plans"
    long_parts = LONG_PARTS
    rest = REST
    input_model = GetPlanRunInput
    output_shape = (RunAnswer, RunsAnswer)

    def __init__(self, runs: PlanRuns) -> None:
        self._runs = runs

    async def handle(self, arguments: GetPlanRunInput, call: Call) -> RunAnswer | RunsAnswer:
        """Return one run, or the list."""
        parameters = arguments.model_dump(mode="json", exclude_unset=True)
        if arguments.run_id is None:
            return {
                "query_type": self.name,
                "parameters": parameters,
                "results": [await self._show_line(line) for line in await self._runs.list_runs(call.user)],
                "output_key": self.name,
                "success": True,
            }
        run = await self._runs.get(arguments.run_id, call.user)
        view = await describe_run(self._runs, run, arguments.include or (), arguments.after_event)
        data = show_run(view)
        return {
            "query_type": self.name,
            "parameters": parameters,
            "results": data["values"],
            "output_key": self.name,
            "success": True,
            "data": data,
        }

    def shape_of(self, answer: Mapping[str, Any]) -> Shape:
        """Return the shape of one run, or of the list, which has no ``data``."""
        return RunAnswer if "data" in answer else RunsAnswer

    def describe(self, answer: RunAnswer | RunsAnswer) -> str:
        """Return the run, or the list, as a text."""
        if "data" in answer:
            return say_run(answer["data"])
        return "\n".join(map(_say_line, answer["results"])) or "No runs."

    async def _show_line(self, line: RunLine) -> RunLineView:
        shown: RunLineView = {
            "run_id": line.run_id,
            "state": await self._runs.state_of(line),
            "goal": line.goal[:200],
            "created_at": line.created_at,
            "completed": line.settled,
            "total": line.steps,
        }
        if line.ended_at is not None:
            shown["ended_at"] = line.ended_at
        return shown


def _say_line(line: RunLineView) -> str:
    ended = f", ended {line['ended_at']}" if "ended_at" in line else ""
    steps = f"{line['completed']}/{line['total']}"
    return f"{line['run_id']} {line['state']} {steps}, begun {line['created_at']}{ended}: {line['goal']}"
