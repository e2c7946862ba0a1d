"""The catalogue of tools and agents that a plan may use."""

import difflib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from fingerpost.contract.tool import ToolSpec
from fingerpost.errors import PlanInvalid, list_first

_MAX_NAMES = 20

HUMAN: Final = "human"
"""The built-in agent: a person who approves (rule F6)."""

Execute = Callable[[str, dict[str, Any], str | None], Awaitable[Mapping[str, Any]]]
"""Calls a tool with a query type, parameters and a user; returns the standard response, even on failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTool:
    """A tool that plans can call; a call with an unknown outcome is repeated only if the tool is idempotent."""

    spec: ToolSpec
    execute: Execute
    is_idempotent: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A step that a run delegates to an agent. ``perform`` calls the step's tool, and is None if there is no tool."""

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
        """Build a catalogue; raise PlanInvalid if two tools share a name, or if an agent is named ``human``."""
        all_tools = list(tools)
        by_name = {tool.spec.name: tool for tool in all_tools}
        if len(by_name) < len(all_tools):
            raise PlanInvalid("Two tools in the catalogue have the same name")
        if HUMAN in (agents or {}):
            raise PlanInvalid(f"'{HUMAN}' is the built-in agent; give yours another name")
        return cls(by_name, dict(agents or {}))


class ToolQuery(NamedTuple):
    """A tool call parsed from a step's parameters; ``prefix`` is the path to the arguments within the parameters."""

    query_type: str
    arguments: dict[str, Any]
    model: type[BaseModel]
    prefix: tuple[str, ...]


def parse_tool_query(spec: ToolSpec, parameters: dict[str, Any]) -> ToolQuery | str:
    """Parse a step's parameters, or return an error; a tool with one query type takes flat arguments (rule F2)."""
    types = list(spec.input_schema)
    has_query_type = "query_type" in parameters and parameters.keys() <= {"query_type", "parameters"}
    if not has_query_type and len(types) == 1:
        return ToolQuery(types[0], parameters, spec.input_schema[types[0]], ())
    if not has_query_type:
        return f"must be {{query_type, parameters}}; query types are {', '.join(types)}"
    query_type, arguments = parameters["query_type"], parameters.get("parameters", {})
    if query_type not in types:
        choices = suggest_or_list(str(query_type), types)
        return f"query type '{query_type}' is not supported by the {spec.name} tool; {choices}"
    if not isinstance(arguments, dict):
        return "parameters must be an object"
    return ToolQuery(query_type, arguments, spec.input_schema[query_type], ("parameters",))


def suggest_or_list(word: str, words: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` with the most similar word, or list the words if none is similar."""
    choices = list(words)
    matches = difflib.get_close_matches(word[:100], choices, n=1)
    return f"did you mean '{matches[0]}'?" if matches else list_choices(choices)


def list_choices(words: Iterable[str], place: str = "") -> str:
    """Return a clause like ``available: a, b and 3 more``."""
    return f"available{place}: {list_first(sorted(words), _MAX_NAMES) or 'none'}"
