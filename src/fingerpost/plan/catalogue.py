"""The catalogue of tools and agents that a plan may use."""

import difflib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel

from fingerpost.contract.spec import ToolSpec
from fingerpost.errors import PlanInvalid

_MAX_NAMES = 20

HUMAN: Final = "human"
"""The built-in agent: a person who approves (rule F6)."""

Execute = Callable[[str, dict[str, Any], str | None], Awaitable[Mapping[str, Any]]]
"""Query type, parameters and user to the standard response, also for a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTool:
    """A tool as plans call it; an idempotent one may be called again if the outcome of a call is unknown."""

    spec: ToolSpec
    execute: Execute
    is_idempotent: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One step of a run, for an agent; ``perform`` calls the step's tool, and is None if the step names none."""

    run_id: str
    step_id: int
    description: str
    parameters: dict[str, Any]
    user: str | None
    idempotency_key: str
    perform: Callable[[dict[str, Any]], Awaitable[Mapping[str, Any]]] | None


Agent = Callable[[Task], Awaitable[Any]]
"""Returns a standard response, or any JSON value, which becomes ``data``."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    tools: Mapping[str, PlanTool]
    agents: Mapping[str, Agent] = field(default_factory=dict)

    @classmethod
    def of(cls, tools: Iterable[PlanTool], agents: Mapping[str, Agent] | None = None) -> "Catalogue":
        """Return a catalogue, or raise PlanInvalid if two tools share a name, or an agent is named human."""
        listed = list(tools)
        by_name = {tool.spec.name: tool for tool in listed}
        if len(by_name) < len(listed):
            raise PlanInvalid("Two tools of a catalogue have the same name")
        if HUMAN in (agents or {}):
            raise PlanInvalid(f"'{HUMAN}' is the built-in agent; give yours another name")
        return cls(by_name, dict(agents or {}))


@dataclass(frozen=True, slots=True)
class StepQuery:
    """A step's parsed parameters: the tool's query type, and its arguments, and the path to them."""

    query_type: str
    arguments: dict[str, Any]
    model: type[BaseModel]
    prefix: tuple[str, ...]


def read_step_query(spec: ToolSpec, parameters: dict[str, Any]) -> StepQuery | str:
    """Parse a step's parameters, or return the fault; a tool with one query type takes them flat (rule F2)."""
    types = list(spec.input_schema)
    is_wrapped = "query_type" in parameters and parameters.keys() <= {"query_type", "parameters"}
    if not is_wrapped and len(types) == 1:
        return StepQuery(types[0], parameters, spec.input_schema[types[0]], ())
    if not is_wrapped:
        return f"must be {{query_type, parameters}}; query types are {', '.join(types)}"
    query_type, arguments = parameters["query_type"], parameters.get("parameters", {})
    if query_type not in types:
        guess = nearest(str(query_type), types)
        return f"query type '{query_type}' is not supported by the {spec.name} tool; {guess or listed(types)}"
    if not isinstance(arguments, dict):
        return "parameters must be an object"
    return StepQuery(query_type, arguments, spec.input_schema[query_type], ("parameters",))


def nearest(word: str, words: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` with the most similar word, or an empty text if none is similar."""
    found = difflib.get_close_matches(word[:100], list(words), n=1, cutoff=0.6)
    return f"did you mean '{found[0]}'?" if found else ""


def listed(words: Iterable[str]) -> str:
    """Return ``there are a, b and 3 more`` for a sentence."""
    names = sorted(words)
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return f"there are {', '.join(names[:_MAX_NAMES])}{more}" if names else "there are none"
