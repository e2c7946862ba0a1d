"""Backward chaining: from the wanted keys back to the tools that provide them, until all inputs are known.

No model, no network, no guess: the same goal has the same plan.
"""

from collections.abc import Collection
from typing import Any

from pydantic import BaseModel

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.wire import fields_of
from fingerpost.errors import PlanInvalid
from fingerpost.plan.catalogue import Catalogue, PlanTool, listed, nearest
from fingerpost.plan.plan_json import now
from fingerpost.plan.planners import Goal
from fingerpost.plan.references import MARK


class BackwardChaining:
    """Plans for goals that name the keys they want."""

    async def plan(self, goal: Goal, catalogue: Catalogue, memory: Collection[str]) -> Plan | None:
        """Return a plan for the wanted keys; None where none is named.

        Raises:
            PlanInvalid: ``details["missing"]`` lists what nobody gives, what needs it, and what is nearest.
        """
        if not goal.wanted:
            return None
        return _Chain(goal, catalogue, frozenset(memory)).plan()


class _Chain:
    def __init__(self, goal: Goal, catalogue: Catalogue, memory: frozenset[str]) -> None:
        self._goal = goal
        self._memory = memory
        self._steps: list[PlanStep] = []
        self._missing: dict[tuple[str, str], dict[str, str]] = {}
        self._producers: dict[str, list[PlanTool]] = {}
        for tool in sorted(catalogue.tools.values(), key=lambda tool: (tool.cost, tool.spec.name)):
            self._producers.setdefault(tool.spec.output_key, []).append(tool)

    def plan(self) -> Plan:
        found = [key for key in self._goal.wanted if key in self._memory or self._provide(key, "the goal", ())]
        if len(found) < len(self._goal.wanted):
            raise self._impossible()
        if not self._steps:
            given = {key: {MARK: key} for key in self._goal.wanted}
            self._steps.append(PlanStep(step_id=1, description="Gather what is there", parameters=given))
        return Plan(goal=self._goal.text, steps=self._steps, created_at=now())

    def _provide(self, key: str, asker: str, above: tuple[str, ...]) -> bool:
        """Add the steps that give a key, the cheapest tool that can be asked first."""
        if any(step.expected_key == key for step in self._steps):
            return True
        producers = self._producers.get(key, [])
        if not producers or key in above:
            self._miss(key, asker)
            return False
        for tool in producers:
            for query_type, model in tool.spec.input_schema.items():
                kept = len(self._steps)
                arguments = self._arguments(model, f"{tool.spec.name} ({query_type})", (*above, key))
                if arguments is not None:
                    self._add(tool, query_type, arguments)
                    return True
                del self._steps[kept:]
        return False

    def _arguments(self, model: type[BaseModel], asker: str, above: tuple[str, ...]) -> dict[str, Any] | None:
        arguments: dict[str, Any] = {}
        is_whole = True
        for name, field in model.model_fields.items():
            wire = field.alias or name
            if wire in self._goal.known:
                arguments[wire] = self._goal.known[wire]
            elif not field.is_required():
                continue
            elif wire in self._memory or self._provide(wire, asker, above):
                arguments[wire] = {MARK: wire}
            else:
                is_whole = False
        return arguments if is_whole else None

    @staticmethod
    def _path_of(tool: PlanTool) -> list[str]:
        """Return where a tool's answer holds the value of its key's name; else all of its data is meant."""
        key = tool.spec.output_key
        fields = {name for shape in tool.spec.output_schema.values() for name in fields_of(shape)}
        return ["data", key] if key in fields else ["data"]

    def _add(self, tool: PlanTool, query_type: str, arguments: dict[str, Any]) -> None:
        key = tool.spec.output_key
        step = PlanStep(
            step_id=len(self._steps) + 1,
            description=f"Get {key} from {tool.spec.name}",
            tool=tool.spec.name,
            parameters={"query_type": query_type, "parameters": arguments},
            expected_key=key,
            output_path=self._path_of(tool),
        )
        self._steps.append(step)

    def _miss(self, name: str, asker: str) -> None:
        known = {*self._producers, *self._goal.known, *self._memory}
        guess = nearest(name, known - {name})
        self._missing.setdefault((name, asker), {"name": name, "needed_by": asker, "nearest": guess})

    def _impossible(self) -> PlanInvalid:
        missing = list(self._missing.values())
        lacking = "; ".join(
            f"'{each['name']}', which {each['needed_by']} needs {each['nearest']}".strip() for each in missing
        )
        hint = f"Give the missing values, or want one of these keys: {listed(self._producers)}"
        return PlanInvalid(f"No plan gives this: nothing provides {lacking}", {"missing": missing}, hint=hint)
