"""Validate a plan before it runs: find all problems at once, the order of its steps, and a source of each reference."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ValidationError

from fingerpost.contract.plan import Plan, PlanStep
from fingerpost.contract.problem import describe_problem
from fingerpost.contract.wire import WireModel
from fingerpost.errors import PlanInvalid, ToolError
from fingerpost.plan.catalogue import HUMAN, Catalogue, PlanTool, StepQuery, listed, nearest, read_step_query
from fingerpost.plan.conditions import Condition, ConditionInvalid, compile_condition
from fingerpost.plan.limits import Limits, find_excess
from fingerpost.plan.references import Reference, Way, fill, list_references

THINKING: Final = "thinking"
"""The performer of a step without tool and agent."""

_MAX_REPORTED = 5
_MAX_REPORTED_CIRCLE = 12
_MAX_LISTED = 100
_MAX_KEY_CHARS = 200
_MAX_QUOTED_CHARS = 80
# JSON parsers read integers up to here exactly, and every engine can store them.
_MAX_STEP_ID = 2**53 - 1
# The value of unresolved references: no date to any model, and recognisable if a model's message repeats it.
_HOLE = "$ref"


class PlanProblem(NamedTuple):
    """A problem of a step, or of the plan; ``predicate`` follows the field's name if the reason begins with a name."""

    step_id: int | None
    field: str
    reason: str
    predicate: str = ""

    def __str__(self) -> str:
        place = "the plan" if self.step_id is None else f"step {self.step_id}"
        return f"{place}: {self.field}{self.predicate or f' {self.reason}'}"


@dataclass(slots=True)
class ReadyStep:
    """A valid step; ``tool`` and ``question`` are None if it names no tool.

    Attributes:
        key: the memory key of its output.
        dependencies: declared and inferred, in order.
        sources: the step that provides each reference, by its place; None for the initial memory.
        earlier: the last step before it that writes the same key.
    """

    step: PlanStep
    tool: PlanTool | None = None
    question: StepQuery | None = None
    key: str | None = None
    condition: Condition | None = None
    references: list[Reference] = field(default_factory=list)
    dependencies: list[int] = field(default_factory=list)
    sources: dict[Way, int | None] = field(default_factory=dict)
    earlier: int | None = None

    @property
    def performer(self) -> str:
        return self.step.tool or self.step.agent or THINKING


@dataclass(frozen=True, slots=True)
class ValidPlan:
    """A plan that can run: its steps by id, in the plan's order; ``before`` has all steps that a step depends on."""

    plan: Plan
    steps: Mapping[int, ReadyStep]
    before: Mapping[int, frozenset[int]]


def validate_plan(
    plan: Plan,
    catalogue: Catalogue,
    *,
    memory: Collection[str] = (),
    done: Collection[int] = (),
    limits: Limits | None = None,
    complaint: str = "The plan cannot run",
    hint: str | None = None,
) -> ValidPlan:
    """Return a plan that can run, or raise PlanInvalid, whose ``details["errors"]`` has every problem.

    ``memory`` has the initial keys, ``done`` the steps that need no tool; ``complaint`` begins the error's sentence.
    """
    check = _Check(plan, catalogue, frozenset(memory), frozenset(done), limits or Limits())
    problems = check.problems()
    if problems:
        raise _plan_invalid(problems, complaint, hint)
    return ValidPlan(plan, check.ready, check.before)


def _plan_invalid(problems: list[PlanProblem], complaint: str, hint: str | None) -> PlanInvalid:
    rest = len(problems) - _MAX_REPORTED
    more = f"; and {rest} more problems" if rest > 0 else ""
    first = problems[0]
    place = "plan" if first.step_id is None else f"plan.steps[step_id={first.step_id}].{first.field}"
    errors = [{"step_id": p.step_id, "field": p.field, "reason": p.reason} for p in problems[:_MAX_LISTED]]
    details: dict[str, Any] = {"field": place, "errors": errors}
    if len(problems) > _MAX_LISTED:
        details["errors_left_out"] = len(problems) - _MAX_LISTED
    sentence = "; ".join(str(problem) for problem in problems[:_MAX_REPORTED])
    return PlanInvalid(f"{complaint}: {sentence}{more}", details, hint=hint)


@dataclass(slots=True)
class _Check:
    plan: Plan
    _catalogue: Catalogue
    _memory: frozenset[str]
    _done: frozenset[int]
    _limits: Limits
    ready: dict[int, ReadyStep] = field(default_factory=dict)
    before: dict[int, frozenset[int]] = field(default_factory=dict)
    _writers: dict[str, list[int]] = field(default_factory=dict)

    def problems(self) -> list[PlanProblem]:
        if size := list(self._size()):
            return size
        found = [problem for step in self.plan.steps for problem in self._step(step)]
        declared = {
            number: [d for d in ready.step.dependencies if d in self.ready] for number, ready in self.ready.items()
        }
        in_order, circle = sort_steps(declared)
        if circle:
            return [*found, PlanProblem(circle[0], "dependencies", f"go in a circle: {_arrow(circle)}")]
        below = reach_of(declared, in_order)
        found += [problem for ready in self.ready.values() for problem in self._sources(ready, below)]
        edges = {number: ready.dependencies for number, ready in self.ready.items()}
        in_order, circle = sort_steps(edges)
        if circle:
            reason = f"refer to one another in a circle: {_arrow(circle)}"
            return [*found, PlanProblem(circle[0], "parameters", reason)]
        self.before = reach_of(edges, in_order)
        found += self._rival_writers()
        if not found:
            self._choose_sources()
        return found

    def _size(self) -> Iterator[PlanProblem]:
        limits, steps = self._limits, self.plan.steps
        if len(steps) > limits.steps:
            yield PlanProblem(None, "steps", f"are {len(steps):,}, and may be {limits.steps:,}")
            return
        if not steps:
            yield PlanProblem(None, "steps", "are empty; a plan needs at least one")
        if any(abs(step.step_id) > _MAX_STEP_ID for step in steps):
            yield PlanProblem(None, "steps", f"contain a step_id above {_MAX_STEP_ID:,}")
        parameters = [step.parameters for step in steps]
        if excess := find_excess(parameters, max_bytes=limits.plan_bytes, max_depth=limits.depth + 1):
            yield PlanProblem(None, "steps", f"contain parameters that cannot be stored: a value in them {excess}")

    def _step(self, step: PlanStep) -> Iterator[PlanProblem]:
        number = step.step_id
        if number in self.ready:
            yield PlanProblem(number, "step_id", "is taken by another step")
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
                yield PlanProblem(number, _place(("parameters", *found[0])), f"is not a reference: {found[1]}")
        if ready.tool is not None and not is_done:
            yield from self._parameters(ready)
        if step.done_check is not None and not is_done:
            try:
                ready.condition = compile_condition(step.done_check, ready.key)
            except ConditionInvalid as error:
                yield PlanProblem(number, "done_check", f"{_clip(step.done_check)!r} does not compile: {error}")

    def _check_performer(self, ready: ReadyStep, is_done: bool) -> Iterator[PlanProblem]:
        step, tools, agents = ready.step, self._catalogue.tools, self._catalogue.agents
        if step.tool is not None:
            ready.tool = tools.get(step.tool)
            if ready.tool is None and not is_done:
                guess = nearest(step.tool, tools) or listed(tools)
                yield PlanProblem(step.step_id, "tool", f"'{_clip(step.tool)}' is not found in registry; {guess}")
        if step.agent == HUMAN and step.tool is not None:
            yield PlanProblem(step.step_id, "agent", "is a human, who approves but runs no tool; depend on that step")
        elif step.agent not in (None, HUMAN, *agents) and not is_done:
            guess = nearest(step.agent or "", [*agents, HUMAN]) or listed([*agents, HUMAN])
            yield PlanProblem(step.step_id, "agent", f"'{_clip(step.agent or '')}' is not known; {guess}")

    def _parameters(self, ready: ReadyStep) -> Iterator[PlanProblem]:
        assert ready.tool is not None
        number = ready.step.step_id
        question = read_step_query(ready.tool.spec, ready.step.parameters)
        if isinstance(question, str):
            yield PlanProblem(number, "parameters", question)
            return
        ready.question = question
        skip = len(question.prefix)
        holes = [reference.at[skip:] for reference in ready.references]
        place = _place(("parameters", *question.prefix))
        try:
            complaints = _list_complaints(question, holes)
        except ToolError as error:
            # A validator of the tool raised its own error.
            yield PlanProblem(number, place, error.message)
            return
        for complaint in complaints:
            if not _is_of_a_hole(complaint, holes):
                found = describe_problem(complaint, question.model)
                field = ".".join(filter(None, (place, found.field)))
                yield PlanProblem(number, field, found.sentence, found.predicate)

    def _sources(self, ready: ReadyStep, below: Mapping[int, frozenset[int]]) -> Iterator[PlanProblem]:
        """Add the dependencies that references and conditions imply, and refuse keys that no step provides."""
        number = ready.step.step_id
        for dependency in ready.step.dependencies:
            if dependency not in self.ready:
                known = listed(map(str, self.ready))
                yield PlanProblem(number, "dependencies", f"name step {dependency}, which does not exist; {known}")
        ready.dependencies = [dependency for dependency in ready.dependencies if dependency in self.ready]
        for reference in ready.references:
            writers = self._writers_for(number, reference.key, below)
            if not writers and reference.key not in self._memory and not reference.has_default:
                keys = {*self._writers, *self._memory}
                guess = nearest(reference.key, keys - {ready.key}) or listed(keys - {ready.key})
                place = _place(("parameters", *reference.at))
                yield PlanProblem(number, place, f"refers to '{_clip(reference.key)}', which no step provides; {guess}")
            ready.dependencies += writers
        if ready.condition is not None:
            for key in sorted(ready.condition.keys - {ready.key}):
                ready.dependencies += self._writers_for(number, key, below)
        ready.dependencies = list(dict.fromkeys(ready.dependencies))

    def _writers_for(self, reader: int, key: str, below: Mapping[int, frozenset[int]]) -> list[int]:
        """Return the steps whose output a reader may read: all that write the key and do not wait for the reader."""
        return [writer for writer in self._writers.get(key, ()) if writer != reader and reader not in below[writer]]

    def _rival_writers(self) -> Iterator[PlanProblem]:
        for key, writers in self._writers.items():
            ordered = sorted(writers, key=lambda number: len(self.before[number]))
            for first, second in pairwise(ordered):
                if first not in self.before[second]:
                    reason = (
                        f"'{_clip(key)}' is also written by step {first}; make one depend on the other, or rename one"
                    )
                    yield PlanProblem(second, "expected_key", reason)
                    break

    def _choose_sources(self) -> None:
        for number, ready in self.ready.items():
            for reference in ready.references:
                ready.sources[reference.at] = self._last_before(number, reference.key)
            if ready.key is not None and len(self._writers[ready.key]) > 1:
                ready.earlier = self._last_before(number, ready.key)

    def _last_before(self, number: int, key: str) -> int | None:
        before = self.before[number]
        writers = [writer for writer in self._writers.get(key, ()) if writer in before]
        return max(writers, key=lambda writer: len(self.before[writer]), default=None)


def read_arguments(model: type[BaseModel], arguments: dict[str, Any]) -> BaseModel:
    return model.read(arguments) if issubclass(model, WireModel) else model.model_validate(arguments)


def _list_complaints(question: StepQuery, holes: list[Way]) -> list[Any]:
    """Return the validation errors of a step's arguments, with a placeholder for each reference."""
    try:
        read_arguments(question.model, fill(question.arguments, lambda _at: _HOLE))
    except ValidationError as error:
        return list(error.errors(include_url=False))
    except ToolError:
        if not holes:
            raise
        # The cause may be a placeholder, so arguments with references are left out.
        unknown = {hole[0] for hole in holes if hole}
        try:
            read_arguments(question.model, {k: v for k, v in question.arguments.items() if k not in unknown})
        except ValidationError as error:
            # Errors of the model may come from the missing arguments.
            found = error.errors(include_url=False)
            return [
                complaint
                for complaint in found
                if complaint["type"] == "missing" or {*complaint["loc"][:1]} & question.arguments.keys()
            ]
    return []


def _is_of_a_hole(complaint: Any, holes: list[Way]) -> bool:
    location: Way = tuple(complaint["loc"])
    if complaint["type"] == "extra_forbidden" and location in holes:
        # There is no field of that name, whatever its value will be.
        return False
    is_exact = complaint["type"] in ("missing", "extra_forbidden")
    return any(_within(hole, location) or (not is_exact and _within(location, hole)) for hole in holes)


def _within(part: Way, way: Way) -> bool:
    """Whether a way contains all parts of another in order; a model's way also has the branches of unions."""
    rest = iter(way)
    return all(any(part_of == other for other in rest) for part_of in part)


def _place(way: Way) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{_clip(part)}" for part in way).removeprefix(".")


def _arrow(cycle: list[int]) -> str:
    shown = cycle if len(cycle) <= _MAX_REPORTED_CIRCLE else [*cycle[:_MAX_REPORTED_CIRCLE], "…"]
    return " → ".join(map(str, [*shown, cycle[0]]))


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED_CHARS else f"{text[:_MAX_QUOTED_CHARS]}…"


def sort_steps(edges: Mapping[int, Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return the steps in an order that respects their dependencies, or a circle of dependent steps."""
    try:
        return list(TopologicalSorter(edges).static_order()), []
    except CycleError as error:
        # graphlib lists each step before those that depend on it, and the first one again at the end.
        circle: list[int] = error.args[1][:0:-1]
        start = circle.index(min(circle))
        return [], circle[start:] + circle[:start]


def reach_of(edges: Mapping[int, Sequence[int]], in_order: Iterable[int]) -> dict[int, frozenset[int]]:
    """Return all steps that each step depends on, directly or not; ``in_order`` is what ``sort_steps`` found."""
    reach: dict[int, frozenset[int]] = {}
    for node in in_order:
        before = edges[node]
        reach[node] = frozenset(before).union(*(reach[earlier] for earlier in before))
    return reach
