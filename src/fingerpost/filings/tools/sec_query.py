"""Tools of the plan-step contract that answer several query types.

A tool lists ``QueryType`` records; its schemas, checks, description and ``tool_details`` follow from them.
Every interface sends ``{query_type, parameters}`` and gets the standard response.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from fingerpost.contract.check import explain
from fingerpost.contract.envelope import Contract
from fingerpost.contract.published import Answer, Call, PublishedTool
from fingerpost.contract.size_bounds import Path
from fingerpost.contract.spec import ToolSpec
from fingerpost.contract.wire import Shape, Wire, WireModel
from fingerpost.errors import QueryTypeUnsupported, ToolError
from fingerpost.filings.reply import Reply
from fingerpost.filings.tools.sec_text import format_figures, format_source
from fingerpost.runtime.concurrency import ChildProcess, compute, compute_by_process

_S = TypeVar("_S")
_P = TypeVar("_P", bound=BaseModel)

_EXTRA_FIELDS = ("missing", "source", "available_tools", "warning")


class StepModel(WireModel):
    """A shape of the plan-step contract: snake_case, with nulls (rules A1, A2)."""

    model_config = ConfigDict(alias_generator=None, extra="forbid", defer_build=True)
    keeps_nulls = True


class PartLeftOut(StepModel):
    """A part of which only the first rows are here, because the answer has a bound (rule A11)."""

    part: str
    shown: int
    total: int
    rest: str


class StandardAnswer(StepModel):
    """The fields that every successful answer has; ``parameters`` are echoed as they were sent.

    In an answer that would be too large, ``left_out`` says what of it is missing and how to get it, and a long
    parameter is not echoed.
    """

    query_type: str
    parameters: dict[str, Any]
    results: list[Any]
    output_key: str
    success: Literal[True]
    left_out: list[PartLeftOut] | None = None
    notes: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryType(Generic[_S, _P]):
    """One query type of a tool.

    Attributes:
        params: the model of the parameters, without explicit nulls.
        answer: returns the reply, from the tool's source and checked parameters; it runs in a thread and may raise
            ToolError.
        runs_process: whether ``answer`` is also given the ChildProcess in which it executes the query.
        output: the shape of a successful answer, without ``query_type``; ``results`` and ``data`` complete it.
        text: formats an answer as a text that stands alone (rule A11).
        usage: its part of the tool's description, such as ``metrics {ticker}``; empty if the intro has it.
        rest: one sentence on how to get the rest of an answer that is too long.
        long_parts: paths of the parts that may be shortened in such an answer.
    """

    name: str
    params: type[_P]
    answer: Callable[[_S, _P], Reply] | Callable[[_S, _P, ChildProcess], Reply]
    output: type[StandardAnswer] = StandardAnswer
    results: Any = list[Any]
    data: Any = None
    text: Callable[[Mapping[str, Any]], str] = format_figures
    usage: str = ""
    runs_process: bool = False
    aliases: tuple[str, ...] = ()
    rest: str = "Ask for less."
    long_parts: tuple[Path, ...] = (("results",), ("data", "*"), ("missing",))

    def name_output(self) -> type[StandardAnswer]:
        """Return the shape of an answer whose ``query_type`` is the name or an alias."""
        title = "".join(word.capitalize() for word in self.name.split("_"))
        names: Any = Literal[(self.name, *self.aliases)]
        fields: dict[str, Any] = {"query_type": (names, ...), "results": (self.results, ...)}
        if self.data is not None:
            fields["data"] = (self.data, ...)
        return create_model(f"{title}Answer", __base__=self.output, **fields)


class QueryCall(StepModel):
    query_type: Annotated[str, Field(description="which question")]
    parameters: Annotated[dict[str, Any], Field(default_factory=dict, description="its arguments")]


class QueryTool(PublishedTool):
    """A tool of the plan-step contract with several query types, which answer from one source.

    The description is ``intro``, the usages of ``queries``, and ``outro``.
    """

    contract: ClassVar[Contract] = Contract.STEP
    group: ClassVar[str] = "filings"
    input_model = QueryCall
    queries: ClassVar[tuple[QueryType[Any, Any], ...]]
    intro: ClassVar[str]
    outro: ClassVar[str] = ""
    _by_name: ClassVar[Mapping[str, QueryType[Any, Any]]]
    _outputs: ClassVar[Mapping[str, type[StandardAnswer]]]

    def __init_subclass__(cls) -> None:
        cls._by_name = {name: query for query in cls.queries for name in (query.name, *query.aliases)}
        cls.description = cls.intro + ", ".join(query.usage for query in cls.queries if query.usage) + cls.outro
        cls._outputs = {query.name: query.name_output() for query in cls.queries}
        cls.output_shape = tuple(cls._outputs.values())
        super().__init_subclass__()
        cls.spec = ToolSpec(
            name=cls.name,
            input_schema={query.name: query.params for query in cls.queries},
            output_key=cls.name,
            description=cls.description,
            output_schema=dict(cls._outputs),
        )

    def __init__(self, source: Any) -> None:
        self._source = source

    @property
    def input_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {
                "query_type": {"enum": [query.name for query in self.queries]},
                "parameters": {"type": "object", "description": "see tool_details"},
            },
            "required": ["query_type"],
            "additionalProperties": False,
        }

    async def handle(self, arguments: QueryCall, call: Call) -> Wire:  # noqa: ARG002  (figures are nobody's own)
        query = self._by_name.get(arguments.query_type)
        if query is None:
            raise QueryTypeUnsupported(arguments.query_type, self.name, [query.name for query in self.queries])
        params = read_params(query.params, arguments.parameters)
        answer: Callable[..., Reply] = partial(query.answer, self._source, params)
        reply = await (compute_by_process(answer) if query.runs_process else compute(answer))
        return self.format_success_response(
            arguments.query_type, arguments.parameters, reply.results, reply.to_fields()
        )

    def shape_of(self, answer: Mapping[str, Any]) -> Shape:
        return self._outputs[self._by_name[answer["query_type"]].name]

    def shortening_of(self, answer: Mapping[str, Any]) -> tuple[Sequence[Path], str]:
        query = self._by_name[answer["query_type"]]
        return query.long_parts, query.rest

    def describe(self, answer: Wire) -> str:
        return self._by_name[answer["query_type"]].text(answer)

    async def execute(
        self, query_type: str, parameters: Mapping[str, Any], *, user: str | None = None
    ) -> dict[str, Any]:
        return (await self.answer({"query_type": query_type, "parameters": parameters}, user=user)).body

    def _failed(self, error: ToolError, correlation_id: str, raw: object) -> Answer:
        call = raw if isinstance(raw, Mapping) else {}
        query_type, source = call.get("query_type"), error.details.get("source")
        answer = super()._failed(error, correlation_id, call.get("parameters"))
        body = answer.body | {"query_type": query_type if isinstance(query_type, str) else ""}
        body |= {name: error.details[name] for name in _EXTRA_FIELDS if name in error.details}
        text = answer.text if source is None else f"{answer.text}\n{format_source(source)}"
        return replace(answer, body=body, text=text)


def read_params(model: type[BaseModel], raw: Mapping[str, Any]) -> BaseModel:
    try:
        return model.model_validate({key: value for key, value in raw.items() if value is not None})
    except ValidationError as error:
        required = [name for name, field in model.model_fields.items() if field.is_required()]
        # The original's own sentences.
        message = f"Missing required parameter{'s' if len(required) > 1 else ''}: {' and '.join(required)}"
        raise explain(error, model, dict.fromkeys(required, message)) from error
