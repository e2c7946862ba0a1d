"""Validate a plan before it runs: find all problems, order the steps, and choose the source of each reference."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from fingerpost.contract.check import clip, describe_problem, read_arguments
from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.wire import get_field_types
from fingerpost.errors import PlanInvalid, ToolError
from fingerpost.plan.catalogue import (
    HUMAN,
    Catalogue,
    PlanTool,
    ToolQuery,
    list_choices,
    parse_tool_query,
    suggest_or_list,
)
from fingerpost.plan.conditions import ConditionInvalid, check_condition
from fingerpost.plan.limits import Limits, find_excess
from fingerpost.plan.references import ParameterPath, Reference, list_references

THINKING: Final = "thinking"
"""The performer of a step that has neither a tool nor an agent."""

_MAX_REPORTED = 5
_MAX_REPORTED_CYCLE = 12
_MAX_LISTED = 100
_MAX_KEY_CHARS = 200
# The largest integer that every JSON parser reads exactly and every engine stores.
_MAX_STEP_ID = 2**53 - 1
# Replaces arguments that contain references. It is not a valid date, and is easy to find in an error message.
_PLACEHOLDER = "$ref"


class PlanProblem(NamedTuple):
    """A problem with a step or the plan. If given, ``predicate`` replaces ``reason`` in the message."""

    step_id: int | None
    field: str
    reason: str
    predicate: str = ""

    def __str__(self) -> str:
        place = "the plan" if self.step_id is None else f"step {self.step_id}"
        return f"{place}: {self.field}{self.predicate or f' {self.reason}'}"


@dataclass(slots=True)
class ReadyStep:
    """A valid step; ``tool`` and ``query`` are None if the step has no tool.

    Attributes:
        key: the memory key of the step's output.
        condition_keys: the memory keys that the step's ``done_check`` reads.
        dependencies: declared and inferred dependencies, in order.
    """

    step: PlanStep
    tool: PlanTool | None = None
    query: ToolQuery | None = None
    key: str | None = None
    condition_keys: frozenset[str] = frozenset()
    references: list[Reference] = field(default_factory=list)
    dependencies: list[int] = field(default_factory=list)

    @property
    def performer(self) -> str:
        return self.step.tool or self.step.agent or THINKING


@dataclass(frozen=True, slots=True)
class ValidPlan:
    """A plan that can run: its steps by id, in the plan's order, and the steps that each step depends on."""

    steps: Mapping[int, ReadyStep]
    ancestors: Mapping[int, frozenset[int]]

    def find_writer(self, reader: int, key: str) -> int | None:
        """Return the last step that writes a key before ``reader``, or None if only the initial memory can hold it."""
        writers = [number for number in self.ancestors[reader] if self.steps[number].key == key]
        return max(writers, key=lambda writer: len(self.ancestors[writer]), default=None)


def validate_plan(
    plan: Plan,
    catalogue: Catalogue,
    *,
    memory: Collection[str] = (),
    done: Collection[int] = (),
    limits: Limits | None = None,
    summary: str = "The plan cannot run",
    hint: str | None = None,
) -> ValidPlan:
    """Return a plan that can run, or raise PlanInvalid with every problem in ``details["errors"]``.

    ``memory`` contains the initial keys, and ``done`` the finished steps. The error message starts with ``summary``.
    """
    check = _PlanCheck(plan, catalogue, frozenset(memory), frozenset(done), limits or Limits())
    problems = check.find_problems()
    if not problems:
        return ValidPlan(check.ready, check.ancestors)
    first = problems[0]
    place = "plan" if first.step_id is None else f"plan.steps[step_id={first.step_id}].{first.field}"
    errors = [{"step_id": p.step_id, "field": p.field, "reason": p.reason} for p in problems[:_MAX_LISTED]]
    details: dict[str, Any] = {"field": place, "errors": errors}
    if len(problems) > _MAX_LISTED:
        details["errors_left_out"] = len(problems) - _MAX_LISTED
    more_count = len(problems) - _MAX_REPORTED
    more = f"; and {more_count} more" if more_count > 0 else ""
    raise PlanInvalid(f"{summary}: {'; '.join(map(str, problems[:_MAX_REPORTED]))}{more}", details, hint=hint)


@dataclass(slots=True)
class _PlanCheck:
    plan: Plan
    _catalogue: Catalogue
    _memory: frozenset[str]
    _done: frozenset[int]
    _limits: Limits
    ready: dict[int, ReadyStep] = field(default_factory=dict)
    ancestors: dict[int, frozenset[int]] = field(default_factory=dict)
    _writers: dict[str, list[int]] = field(default_factory=dict)

    def find_problems(self) -> list[PlanProblem]:
        if size_problems := list(self._check_size()):
            return size_problems
        found = [problem for step in self.plan.steps for problem in self._check_step(step)]
        if cycle := self._find_ancestors("dependencies", "form a cycle"):
            return [*found, cycle]
        dependent = [r for r in self.ready.values() if r.dependencies or r.references or r.condition_keys]
        found += [problem for ready in dependent for problem in self._add_dependencies(ready)]
        has_inferred = any(ready.references or ready.condition_keys for ready in dependent)
        if has_inferred and (cycle := self._find_ancestors("parameters", "refer to one another in a cycle")):
            return [*found, cycle]
        return [*found, *self._check_writers()]

    def _find_ancestors(self, field: str, predicate: str) -> PlanProblem | None:
        """Find the direct and indirect dependencies of each step; return a problem if they form a cycle."""
        edges = {number: [d for d in ready.dependencies if d in self.ready] for number, ready in self.ready.items()}
        self.ancestors = {}
        try:
            for node in TopologicalSorter(edges).static_order():
                self.ancestors[node] = frozenset(edges[node]).union(*[self.ancestors[d] for d in edges[node]])
        except CycleError as error:
            # graphlib lists each step before its dependents, and repeats the first step at the end.
            cycle: list[int] = error.args[1][:0:-1]
            start = cycle.index(min(cycle))
            cycle = cycle[start:] + cycle[:start]
            numbers = cycle if len(cycle) <= _MAX_REPORTED_CYCLE else [*cycle[:_MAX_REPORTED_CYCLE], "…"]
            return PlanProblem(cycle[0], field, f"{predicate}: {' → '.join(map(str, [*numbers, cycle[0]]))}")
        return None

    def _check_size(self) -> Iterator[PlanProblem]:
        limits, steps = self._limits, self.plan.steps
        if len(steps) > limits.steps:
            yield PlanProblem(None, "steps", f"exceed the limit of {limits.steps:,}: the plan has {len(steps):,}")
            return
        if not steps:
            yield PlanProblem(None, "steps", "are empty; a plan needs at least one")
        if any(abs(step.step_id) > _MAX_STEP_ID for step in steps):
            yield PlanProblem(None, "steps", f"contain a step_id above {_MAX_STEP_ID:,}")
        parameters = [step.parameters for step in steps]
        if excess := find_excess(parameters, max_bytes=limits.plan_bytes, max_depth=limits.depth + 1):
            yield PlanProblem(None, "steps", f"contain parameters that cannot be stored: a value in them {excess}")

    def _check_step(self, step: PlanStep) -> Iterator[PlanProblem]:
        number = step.step_id
        if number in self.ready:
            yield PlanProblem(number, "step_id", "is already used by another step")
            return
        ready = self.ready[number] = ReadyStep(step, dependencies=list(dict.fromkeys(step.dependencies)))
        is_done = number in self._done
        yield from self._check_performer(ready, is_done)
        ready.key = step.expected_key or (ready.tool.spec.output_key if ready.tool else None)
        if ready.key is not None:
            self._writers.setdefault(ready.key, []).append(number)
        if step.expected_key is not None and not 0 < len(step.expected_key) <= _MAX_KEY_CHARS:
            yield PlanProblem(number, "expected_key", f"must be 1 to {_MAX_KEY_CHARS} characters")
        for found in list_references(step.parameters):
            if isinstance(found, Reference):
                ready.references.append(found)
            else:
                yield PlanProblem(number, _format_path(("parameters", *found[0])), f"is not a reference: {found[1]}")
        if ready.tool is not None and not is_done:
            yield from self._check_parameters(ready)
        if step.done_check is not None and not is_done:
            try:
                ready.condition_keys = check_condition(step.done_check, ready.key)
            except ConditionInvalid as error:
                yield PlanProblem(number, "done_check", f"{clip(step.done_check)!r} does not compile: {error}")

    def _check_performer(self, ready: ReadyStep, is_done: bool) -> Iterator[PlanProblem]:
        step, tools, agents = ready.step, self._catalogue.tools, self._catalogue.agents
        if step.tool is not None:
            ready.tool = tools.get(step.tool)
            if ready.tool is None and not is_done:
                choices = suggest_or_list(step.tool, tools)
                yield PlanProblem(step.step_id, "tool", f"'{clip(step.tool)}' is not found in registry; {choices}")
        if step.agent == HUMAN and step.tool is not None:
            reason = "is human, so the step cannot have a tool; put the tool in a step that depends on this one"
            yield PlanProblem(step.step_id, "agent", reason)
        elif step.agent is not None and step.agent not in (HUMAN, *agents) and not is_done:
            choices = suggest_or_list(step.agent, [*agents, HUMAN])
            yield PlanProblem(step.step_id, "agent", f"'{clip(step.agent)}' is unknown; {choices}")

    def _check_parameters(self, ready: ReadyStep) -> Iterator[PlanProblem]:
        """Validate a step's arguments; arguments with references are validated at run time."""
        assert ready.tool is not None
        number = ready.step.step_id
        query = parse_tool_query(ready.tool.spec, ready.step.parameters)
        if isinstance(query, str):
            yield PlanProblem(number, "parameters", query)
            return
        ready.query = query
        paths = [reference.location[len(query.prefix) :] for reference in ready.references]
        if () in paths:
            return
        unknown = {path[0] for path in paths} & get_field_types(query.model).keys() if paths else set()
        try:
            read_arguments(query.model, query.arguments | dict.fromkeys(unknown, _PLACEHOLDER))
        except ValidationError as error:
            place = ".".join(("parameters", *query.prefix))
            for issue in error.errors(include_url=False):
                # An error about the whole model may be caused by a placeholder.
                if not unknown or {*issue["loc"][:1]} - unknown:
                    found = describe_problem(issue, query.model)
                    field = ".".join(filter(None, (place, found.field)))
                    yield PlanProblem(number, field, found.sentence, found.predicate)
        except ToolError as error:
            # A validator of the tool's model raised a ToolError.
            if not unknown:
                yield PlanProblem(number, ".".join(("parameters", *query.prefix)), error.message)

    def _add_dependencies(self, ready: ReadyStep) -> Iterator[PlanProblem]:
        """Add the dependencies that references and conditions imply; report keys that no step provides."""
        number = ready.step.step_id
        for dependency in ready.step.dependencies:
            if dependency not in self.ready:
                choices = list_choices(map(str, self.ready))
                yield PlanProblem(number, "dependencies", f"name step {dependency}, which does not exist; {choices}")
        ready.dependencies = [dependency for dependency in ready.dependencies if dependency in self.ready]
        for reference in ready.references:
            writers = self._list_writers(number, reference.key)
            if not writers and reference.key not in self._memory and not reference.has_default:
                choices = suggest_or_list(reference.key, {*self._writers, *self._memory} - {ready.key})
                reason = f"refers to '{clip(reference.key)}', which no step provides; {choices}"
                yield PlanProblem(number, _format_path(("parameters", *reference.location)), reason)
            ready.dependencies += writers
        for key in sorted(ready.condition_keys - {ready.key}):
            ready.dependencies += self._list_writers(number, key)
        ready.dependencies = list(dict.fromkeys(ready.dependencies))

    def _list_writers(self, reader: int, key: str) -> list[int]:
        """Return the steps that write a key and do not depend on the reader."""
        writers = self._writers.get(key, ())
        return [writer for writer in writers if writer != reader and reader not in self.ancestors[writer]]

    def _check_writers(self) -> Iterator[PlanProblem]:
        for key, writers in self._writers.items():
            for first, second in pairwise(sorted(writers, key=lambda number: len(self.ancestors[number]))):
                if first not in self.ancestors[second]:
                    reason = (
                        f"'{clip(key)}' is also written by step {first}; make one depend on the other, or rename one"
                    )
                    yield PlanProblem(second, "expected_key", reason)
                    break


def _format_path(path: ParameterPath) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{clip(part)}" for part in path).removeprefix(".")
