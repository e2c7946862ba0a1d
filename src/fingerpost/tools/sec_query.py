"""The base of the tools of contract 002 that answer several kinds of question.

Over MCP, the command line and Python such a tool takes ``{query_type, parameters}`` and answers
the standard response; through the registry or a plan it is ``execute(query_type, parameters)``.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fingerpost.contract.check import explain
from fingerpost.contract.envelope import Family, step_fields, text_of_error
from fingerpost.contract.problem import describe_problem
from fingerpost.contract.published import Answer, Call, PublishedTool
from fingerpost.contract.spec import ToolSpec
from fingerpost.contract.wire import WireModel, schema_of
from fingerpost.errors import BrokenContract, DataNotFound, QueryTypeUnsupported, ToolError
from fingerpost.filings.reply import Reply

_EXTRA_FIELDS = ("missing", "source", "available_tools", "warning")


class StepModel(WireModel):
    """A shape of contract 002: snake_case outside too, and null where there is nothing (rulings A1, A2)."""

    model_config = ConfigDict(alias_generator=None, extra="forbid", defer_build=True)
    keeps_nulls = True


class StepParams(BaseModel):
    """The parameters of one kind of question; an explicit null is absence (ruling A2)."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class StandardAnswer(StepModel):
    """The fields that every successful answer has; ``parameters`` are echoed as they were sent."""

    query_type: str
    parameters: dict[str, Any]
    results: list[Any]
    output_key: str
    success: Literal[True]


class QueryKind(NamedTuple):
    """One kind of question: what it takes, what it answers, and a line for whoever asks what there is."""

    params: type[BaseModel]
    answer: type[StandardAnswer]
    summary: str


class Asked(StepModel):
    """A call: which question, and its parameters."""

    query_type: Annotated[str, Field(description="which question")]
    parameters: Annotated[dict[str, Any], Field(default_factory=dict, description="its arguments")]


class Drafted(StepModel):
    """An answer before it is checked against its question's model."""

    body: dict[str, Any]


class QueryTool(PublishedTool):
    """A tool of contract 002 with several query types.

    Attributes:
        kinds: query type to what it takes and answers.
    """

    family: ClassVar[Family] = Family.STEP
    group: ClassVar[str] = "filings"
    input_model = Asked
    kinds: ClassVar[Mapping[str, QueryKind]]
    aliases: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def reply(self, query_type: str, params: Any) -> Reply:
        """Return the reply to checked parameters; runs in a thread.

        Raises:
            ToolError: whatever the caller should know.
        """

    @abstractmethod
    def say(self, query_type: str, body: Mapping[str, Any]) -> str:
        """Return a short text for a reader who sees nothing else of the answer."""

    @property
    def output_models(self) -> tuple[type[WireModel], ...]:
        """The shapes that an answer may have, one a question."""
        return tuple(dict.fromkeys(kind.answer for kind in self.kinds.values()))

    @property
    def spec(self) -> ToolSpec:
        """The tool's contract."""
        return ToolSpec(
            name=self.name,
            input_schema={name: kind.params for name, kind in self.kinds.items()},
            output_key=self.name,
            description=self.description,
            output_schema={name: kind.answer for name, kind in self.kinds.items()},
        )

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of a call; each question's own parameters are in ``tool_details``."""
        return {
            "type": "object",
            "properties": {
                "query_type": {"enum": list(self.kinds), "description": "which question"},
                "parameters": {"type": "object", "description": f"its arguments; tool_details {self.name} lists them"},
            },
            "required": ["query_type"],
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of a successful answer, whichever the question."""
        return schema_of(self.output_models)

    async def handle(self, arguments: Asked, call: Call) -> Drafted:  # noqa: ARG002  (figures are nobody's own)
        """Answer one question.

        Raises:
            ToolError: the parameters are no good, or there is no answer.
        """
        query_type = self.aliases.get(arguments.query_type, arguments.query_type)
        params = self._params(query_type, arguments.parameters)
        reply = await asyncio.to_thread(self.reply, query_type, params)
        body = self.format_success_response(
            arguments.query_type, arguments.parameters, reply.results, reply.to_fields()
        )
        return Drafted(body=body)

    def describe(self, answer: Drafted) -> str:
        """Return the text twin of an answer."""
        query_type: str = answer.body["query_type"]
        return self.say(self.aliases.get(query_type, query_type), answer.body)

    async def execute(
        self, query_type: str, parameters: Mapping[str, Any], *, user: str | None = None
    ) -> dict[str, Any]:
        """Return the standard response; a failure is a response too."""
        return (await self.answer({"query_type": query_type, "parameters": parameters}, user=user)).body

    def _params(self, query_type: str, raw: Mapping[str, Any]) -> BaseModel:
        kind = self.kinds.get(query_type)
        if kind is None:
            raise QueryTypeUnsupported(query_type, self.name, list(self.kinds))
        try:
            return kind.params.model_validate({key: value for key, value in raw.items() if value is not None})
        except ValidationError as error:
            raise explain(error, kind.params, _when_missing(kind.params)) from error

    def _checked(self, answer: WireModel | dict[str, Any]) -> tuple[dict[str, Any], WireModel]:
        assert isinstance(answer, Drafted)
        body = answer.body
        query_type = self.aliases.get(body["query_type"], body["query_type"])
        try:
            self.kinds[query_type].answer.read(body)
        except ValidationError as error:
            first = describe_problem(error.errors(include_url=False)[0], self.kinds[query_type].answer)
            raise BrokenContract(f"{self.name} was about to break its contract: {first.sentence}") from error
        return body, answer

    def _failed(self, error: ToolError, correlation_id: str, raw: object) -> Answer:
        asked = raw if isinstance(raw, Mapping) else {}
        parameters = asked.get("parameters")
        query_type = asked.get("query_type")
        extra = step_fields(error, self.family)
        extra |= {name: error.details[name] for name in _EXTRA_FIELDS if name in error.details}
        body = self.format_error_response(
            query_type if isinstance(query_type, str) else "",
            parameters if isinstance(parameters, Mapping) else {},
            error.message,
            "warning" if isinstance(error, DataNotFound) else "error",
            extra,
        )
        return Answer(
            body=body,
            text=text_of_error(error, self.family),
            is_error=True,
            correlation_id=correlation_id,
            error=error,
        )


def _when_missing(params: type[BaseModel]) -> dict[str, str]:
    """Return the original's own sentences for what a question cannot do without."""
    required = [name for name, field in params.model_fields.items() if field.is_required()]
    told = f"Missing required parameter{'s' if len(required) > 1 else ''}: {' and '.join(required)}"
    return dict.fromkeys(required, told)
