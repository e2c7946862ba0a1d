"""``tool_details``, and base classes for filings tools, which dispatch by query type (plan-step contract).

Each tool's schemas, validation, description and details are built from its ``QueryType`` records.
Calls through every interface send ``{query_type, parameters}`` and get the standard response.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from fingerpost.contract.check import explain
from fingerpost.contract.envelope import Contract
from fingerpost.contract.published_tool import Call, Output, Path, PublishedTool, ToolDefinition, ToolReply
from fingerpost.contract.tool import ToolInput, ToolSpec
from fingerpost.contract.wire import SnakeCaseModel, TruncationNotice, build_json_schema
from fingerpost.errors import DataNotFound, QueryTypeUnsupported, ToolError, ToolNotFound
from fingerpost.filings.query_params import StepParams, Word
from fingerpost.filings.reply import Missing, Reply
from fingerpost.filings.sync import CompanyFetcher
from fingerpost.filings.tools.sec_text import format_figures
from fingerpost.runtime.concurrency import compute


class StepModel(SnakeCaseModel):
    """Base model for plan-step responses, which include nulls (rule A2)."""

    model_config = ConfigDict(defer_build=True)
    writes_nulls = True


class StandardAnswer(StepModel):
    """The fields of every successful response; ``left_out`` lists the truncated parts and how to get the rest."""

    query_type: str
    parameters: dict[str, Any]
    results: list[Any]
    output_key: str
    success: Literal[True]
    left_out: list[TruncationNotice] | None = None
    notes: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class QueryType:
    """One query type of a tool.

    Attributes:
        params: the model for the parameters; explicit nulls are removed before validation.
        answer: answers a query, given the tool's source and validated parameters; may raise ToolError. It runs in a
        thread, unless it is a coroutine function; a coroutine function also receives the caller, for per-caller limits.
        shape: base model for a successful response; ``query_type``, ``results`` and ``data`` are added to it.
        text: formats a response as text that contains all the data in the JSON (rule A11).
        usage: the query type's part of the tool's description, such as ``metrics {ticker}``.
    """

    name: str
    params: type[BaseModel]
    answer: Callable[..., Any]
    shape: type[StandardAnswer] = StandardAnswer
    results: Any = list[Any]
    data: Any = None
    text: Callable[[Mapping[str, Any]], str] = format_figures
    usage: str = ""
    continuation_hint: str = "Narrow the request."
    truncatable_paths: tuple[Path, ...] = (("results",), ("data", "*"), ("missing",))

    @cached_property
    def output(self) -> Output:
        title = "".join(word.capitalize() for word in self.name.split("_"))
        fields: dict[str, Any] = {"query_type": (Literal[self.name], ...), "results": (self.results, ...)}
        if self.data is not None:
            fields["data"] = (self.data, ...)
        shape = create_model(f"{title}Answer", __base__=self.shape, **fields)
        return Output(shape, self.truncatable_paths, self.continuation_hint)


def define_query_tool(
    name: str,
    title: str,
    queries: Sequence[QueryType],
    *,
    intro: str,
    outro: str = ".",
    open_world: bool = False,
    groups: tuple[str, ...] = ("filings",),
) -> ToolDefinition:
    """Define a tool with several query types; its description lists the usage of each."""
    description = intro + ", ".join(query.usage for query in queries if query.usage) + outro
    return ToolDefinition(
        name=name,
        title=title,
        description=description,
        contract=Contract.STEP,
        groups=groups,
        open_world=open_world,
        input_model=ToolInput,
        input_json_schema={
            "type": "object",
            "properties": {
                "query_type": {"enum": [query.name for query in queries]},
                "parameters": {"type": "object", "description": "see tool_details"},
            },
            "required": ["query_type"],
            "additionalProperties": False,
        },
        outputs=tuple(query.output for query in queries),
        query_spec=ToolSpec(
            name=name,
            input_schema={query.name: query.params for query in queries},
            output_key=name,
            description=description,
        ),
    )


class QueryTool(PublishedTool):
    """Dispatches calls by query type; all query types use the same source."""

    queries: Sequence[QueryType]

    def __init__(self, source: Any, fetcher: CompanyFetcher | None = None) -> None:
        self._source = source
        self._fetcher = fetcher

    async def handle(self, arguments: ToolInput, call: Call) -> ToolReply:
        query_type = arguments.query_type
        query = next((query for query in self.queries if query_type == query.name), None)
        if query is None:
            raise QueryTypeUnsupported(query_type, self.name, [query.name for query in self.queries])
        params = read_params(query.params, arguments.parameters)
        # Anonymous callers cannot make this server send requests.
        if self._fetcher is None or call.user is None:
            reply = await self._answer(query, params, call)
        else:
            reply = await self._fetch_and_answer(self._fetcher, query, params, call)
        body = self.format_success_response(query_type, arguments.parameters, reply.results, reply.to_fields())
        return ToolReply(body, query.text(body), output=query.output)

    async def _answer(self, query: QueryType, params: BaseModel, call: Call) -> Reply:
        if inspect.iscoroutinefunction(query.answer):
            return cast("Reply", await query.answer(self._source, params, call.caller))
        return cast("Reply", await compute(query.answer, self._source, params))

    async def _fetch_and_answer(
        self, fetcher: CompanyFetcher, query: QueryType, params: BaseModel, call: Call
    ) -> Reply:
        """Answer a query; if a company in it is not loaded, fetch the company and answer again."""
        try:
            reply, error = await self._answer(query, params, call), None
        except DataNotFound as not_found:
            reply, error = Reply([], missing=not_found.details.get("missing", {})), not_found
        company = _find_unloaded_company(params, reply.missing)
        if company is not None:
            call.report(0, 1, f"Fetching {company} from EDGAR")
            try:
                await fetcher.fetch(company)
            except ToolError as failure:
                note = f"{company} was not fetched from EDGAR: {failure.message}"
                reply.notes.append(note)
                error = error and error.with_message(f"{error.message}; {note}")
            else:
                return await self._answer(query, params, call)
        if error is not None:
            raise error
        return reply


def read_params(model: type[BaseModel], raw: Mapping[str, Any]) -> BaseModel:
    try:
        return model.model_validate({key: value for key, value in raw.items() if value is not None})
    except ValidationError as error:
        required = [name for name, field in model.model_fields.items() if field.is_required()]
        # The original tool uses this wording.
        message = f"Missing required parameter{'s' if len(required) > 1 else ''}: {' and '.join(required)}"
        raise explain(error, model, dict.fromkeys(required, message)) from error


def _find_unloaded_company(params: BaseModel, missing: Missing) -> str | None:
    """Return a query's first company that has no loaded figures, or None; ``missing`` comes from the answer."""
    reasons = {name: entry["reason"] for name, entry in missing.items()}
    fields = [getattr(params, name, None) for name in ("tickers", "among")]
    ticker: str | None = getattr(params, "ticker", None)
    for company in [ticker, *(company for companies in fields for company in companies or ())]:
        if company is not None and reasons.get(company) in ("unknown_ticker", "not_loaded"):
            return str(company)
    return ticker if "outside_sample" in reasons.values() else None


class DetailsAnswer(StandardAnswer):
    tool_name: str
    description: str
    parameters_by_query_type: dict[str, dict[str, Any]]
    documentation: str


class ToolDetailsParams(StepParams):
    tool_name: Word


ListSpecs = Callable[[], list[ToolSpec]]


def _answer_tool_details(list_specs: ListSpecs, params: ToolDetailsParams) -> Reply:
    specs = {spec.name: spec for spec in list_specs()}
    spec = specs.get(params.tool_name)
    if spec is None:
        error = ToolNotFound(params.tool_name)
        # The original tool sends this message in both fields.
        message = f"Tool '{params.tool_name}' not found"
        details = {**error.details, "available_tools": sorted(specs), "warning": message}
        raise error.with_message(message, details=details, hint=f"The tools are: {', '.join(sorted(specs))}")
    schemas = {query_type: build_json_schema(model) for query_type, model in spec.input_schema.items()}
    extra = {
        "tool_name": spec.name,
        "description": spec.description,
        "parameters_by_query_type": schemas,
        "documentation": _format_documentation(spec, schemas),
    }
    return Reply([extra], extra=extra)


def _format_documentation(spec: ToolSpec, schemas: Mapping[str, Mapping[str, Any]]) -> str:
    """Format the query types and parameters as text; optional parameters are marked with a question mark."""
    lines = [spec.name, spec.description]
    for query_type, schema in schemas.items():
        required = schema.get("required", ())
        fields = schema.get("properties", {})
        lines.append(f"{query_type}:" if fields else f"{query_type}: no parameters")
        lines += [f"  {name}{'' if name in required else '?'}: {json.dumps(field)}" for name, field in fields.items()]
        lines += [f"  {name}: {json.dumps(definition)}" for name, definition in schema.get("$defs", {}).items()]
    return "\n".join(lines)


_QUERIES = (
    QueryType(
        name="tool_details",
        params=ToolDetailsParams,
        answer=_answer_tool_details,
        shape=DetailsAnswer,
        text=lambda body: str(body["documentation"]),
        usage='tool_details {tool_name: "sec_financial_data"}',
        continuation_hint="The resource fingerpost://schemas/TOOL contains a tool's complete schemas.",
        truncatable_paths=(("results",), ("parameters_by_query_type",), ("documentation",)),
    ),
)


class ToolDetails(QueryTool):
    queries = _QUERIES
    definition = define_query_tool(
        "tool_details",
        "Tool parameters",
        _QUERIES,
        intro="The parameters of each query type of a tool, as JSON Schema, and what it returns. query_type ",
        groups=("filings", "plans"),
    )
