"""Serve tools that users add: functions, and ``Tool`` objects of the plan-step contract.

Users pass them to ``Fingerpost(tools=[...])``, or install packages with entry points in the ``fingerpost.tools`` group.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from functools import partial
from importlib.metadata import entry_points
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model, with_config
from typing_extensions import TypedDict

from fingerpost.contract.check import check_arguments
from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, PublishedTool, ToolDefinition, ToolReply
from fingerpost.contract.tool import Tool, ToolSpec, success_response
from fingerpost.contract.wire import Flag, Wire, build_json_schema
from fingerpost.errors import ParameterError, SettingsInvalid, ToolError
from fingerpost.plan.catalogue import parse_tool_query
from fingerpost.plan.limits import Limits, encode
from fingerpost.plan.responses import build_failure, check_response, find_failure, list_remark_sentences, list_remarks
from fingerpost.runtime.concurrency import ThreadPool

_log = logging.getLogger(__name__)

ENTRY_POINTS = "fingerpost.tools"
GROUP = "own"

# A separate pool, because a user's function may block its thread forever.
_THREADS = ThreadPool("user-tools", 16)

UserTool = Tool | Callable[..., Any]
"""A tool of the plan-step contract with a ``spec``, or a function with annotated parameters and a docstring."""

Execute = Callable[[str, dict[str, Any]], Awaitable[Mapping[str, Any]]]


@with_config(ConfigDict(extra="allow"))
class StandardResponse(TypedDict):
    """The plan-step contract's response; additional fields are allowed."""

    query_type: str
    parameters: Wire
    results: list[Any]
    output_key: str
    success: Flag


class ServedTool(PublishedTool):
    """Publishes a user's tool through every interface, and validates its input and output."""

    def __init__(self, tool: UserTool, spec: ToolSpec, execute: Execute) -> None:
        self._execute = execute
        self.definition = ToolDefinition(
            name=spec.name,
            title=str(getattr(tool, "title", spec.name)),
            description=spec.description,
            contract=Contract.STEP,
            groups=(GROUP,),
            input_model=None,
            input_json_schema=_build_call_schema(spec),
            outputs=(Output(StandardResponse, (("results",), ("data",))),),
            # A tool's effects are unknown, so it is destructive and not retried unless it declares otherwise.
            read_only=bool(getattr(tool, "read_only", False)),
            destructive=bool(getattr(tool, "destructive", True)),
            idempotent=bool(getattr(tool, "idempotent", False)),
            open_world=bool(getattr(tool, "open_world", True)),
            accepts_large_values=True,
            query_spec=spec,
        )

    async def handle(self, arguments: dict[str, Any], call: Call) -> ToolReply:  # noqa: ARG002  (user tools do not receive the user)
        query = parse_tool_query(self.spec, arguments)
        if isinstance(query, str):
            raise ParameterError(query, {"field": "parameters"})
        try:
            check_arguments(query.model, dict(query.arguments))
            response = await self._execute(query.query_type, dict(query.arguments))
        except ToolError as error:
            response = build_failure(self.name, query.query_type, query.arguments, error)
        else:
            response = check_response(self.name, response, Limits())
        lines = [find_failure(response) or encode(response.get("data", response.get("results")))]
        lines += [sentence for remark in list_remarks(response) for sentence in list_remark_sentences(remark)]
        return ToolReply(response, "\n".join(lines))


def _build_call_schema(spec: ToolSpec) -> dict[str, Any]:
    """Return the schema of the parameters, or of ``{query_type, parameters}`` if the tool has several query types."""
    models = spec.input_schema
    if len(models) == 1:
        return build_json_schema(next(iter(models.values())))
    return {
        "type": "object",
        "properties": {"query_type": {"enum": list(models)}, "parameters": {"type": "object"}},
        "required": ["query_type"],
        "additionalProperties": False,
    }


def serve_user_tools(
    tools: Iterable[UserTool], reserved_names: Collection[str]
) -> tuple[list[ServedTool], dict[str, str]]:
    """Return the tools of the caller and of installed packages, and why package tools were skipped, by name.

    A package's tool is skipped if it cannot be loaded, or if its name is in use.
    """
    served: dict[str, ServedTool] = {}

    def add(tool: ServedTool) -> None:
        if tool.name in reserved_names or tool.name in served:
            raise SettingsInvalid(f"There is already a tool called '{tool.name}'; give yours another name")
        served[tool.name] = tool

    for tool in tools:
        add(_serve(tool))
    skipped: dict[str, str] = {}
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        label = f"{entry.name} from {entry.dist.name}" if entry.dist else entry.name
        try:
            add(_serve(entry.load()))
        except Exception as error:  # noqa: BLE001  (an error boundary: a package may raise anything while it loads)
            skipped[label] = str(error) or type(error).__name__
            _log.error("the tool %s cannot be served: %s", label, error)
    return list(served.values()), skipped


def _serve(candidate: UserTool) -> ServedTool:
    tool = candidate() if isinstance(candidate, type) and issubclass(candidate, Tool) else candidate
    if isinstance(tool, Tool):
        spec = getattr(tool, "spec", None)
        if not isinstance(spec, ToolSpec) or not spec.input_schema:
            raise SettingsInvalid(f"The tool {type(tool).__name__} has no spec (a ToolSpec)")
        return ServedTool(tool, spec, tool.execute)
    if not inspect.isfunction(tool):
        raise SettingsInvalid(f"{tool!r} is not a tool; pass a function, or a Tool with a spec")
    spec = _build_spec(tool)
    return ServedTool(tool, spec, partial(_call_function, tool, spec))


async def _call_function(
    function: Callable[..., Any], spec: ToolSpec, query_type: str, parameters: dict[str, Any]
) -> dict[str, Any]:
    """Call a function, in a thread unless it is a coroutine function, and return its result as ``data``."""
    validated = spec.input_schema[query_type].model_validate(parameters)
    arguments = {name: getattr(validated, name) for name in type(validated).model_fields}
    if inspect.iscoroutinefunction(function):
        data = await function(**arguments)
    else:
        data = await _THREADS.run(function, **arguments)
    if isinstance(data, BaseModel):
        data = data.model_dump(mode="json")
    return success_response(spec.name, query_type, parameters, [data], {"data": data})


def _build_spec(function: Callable[..., Awaitable[Any] | Any]) -> ToolSpec:
    name = function.__name__
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise SettingsInvalid(f"The function {name} takes {parameter}, which cannot be passed by name")
        if parameter.name not in hints:
            raise SettingsInvalid(f"The parameter {parameter.name} of the function {name} has no type")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    model = create_model(f"{name}_parameters", __config__=ConfigDict(extra="forbid"), **fields)
    description = inspect.getdoc(function) or ""
    return ToolSpec(name=name, input_schema={name: model}, output_key=name, description=description)
