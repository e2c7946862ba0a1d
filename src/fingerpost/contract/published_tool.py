"""Published tools: definitions, calls, replies and answers; the base class validates arguments and answers."""

import json
import uuid
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from fingerpost import clock
from fingerpost.contract.check import MAX_VALUES, check_count, describe_kind, describe_problem, explain
from fingerpost.contract.envelope import Contract, build_step_fields, format_error_text, render_error
from fingerpost.contract.failure_shapes import FAILURE_SHAPES
from fingerpost.contract.tool import Tool, ToolInput, ToolSpec
from fingerpost.contract.wire import Shape, Wire, WireModel, build_json_schema, get_adapter
from fingerpost.errors import BrokenContract, ParameterError, QueryTypeUnsupported, SettingsInvalid, ToolError

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "fingerpost")
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)

Path = tuple[str, ...]
"""The keys that lead to a part of an answer; ``*`` matches every key of an object."""

ReportProgress = Callable[[float, float, str], None]
"""Reports the amount done, the total, and a sentence; it never blocks and never raises."""


def new_correlation_id(user: str | None, tool: str, arguments: Any) -> str:
    """Return the UUID of a call: derived from its arguments if ``FINGERPOST_NOW`` fixes the clock, else random."""
    try:
        fixed_time = clock.find_fixed_time()
    except SettingsInvalid:
        # The envelope that reports a malformed FINGERPOST_NOW needs an id too.
        fixed_time = None
    if fixed_time is None:
        return str(uuid.uuid4())
    try:
        text = _ENCODER.encode(arguments)
    except (TypeError, ValueError, RecursionError):
        text = "not JSON"
    return str(uuid.uuid5(_NAMESPACE, _ENCODER.encode([fixed_time.isoformat(), user, tool, text])))


def ignore_progress(_done: float, _total: float, _message: str) -> None:
    """Discard a progress report."""


@dataclass(frozen=True, slots=True)
class Output:
    """One shape of a tool's answers.

    Long answers are truncated at ``truncatable_paths``; ``continuation_hint`` explains how to get the rest (rule A11).
    """

    shape: Shape
    truncatable_paths: tuple[Path, ...] = ()
    continuation_hint: str = "Narrow the request."


@dataclass(frozen=True, kw_only=True)
class ToolDefinition:
    """The static description of a tool: its schemas, contract and annotations.

    Attributes:
        name: the name in the contract.
        description: explains to agents when to use this tool rather than a similar one.
        contract: the contract whose envelope renders the tool's errors.
        groups: the tool groups that contain the tool; operators and clients select groups (rule A11).
        input_model: the model of the arguments; None if the handler parses them itself.
        input_json_schema: the published schema of the arguments, if it differs from that of ``input_model``.
        outputs: the shapes of the answers; replies with any shape but the first must set ``output``.
        missing_messages: the contract's sentences for missing or blank values, by path.
        read_only, destructive, idempotent, open_world: the protocol's annotations.
        optional_parts: the shapes of parts that a caller can request in addition to the body.
        accepts_large_values: whether the tool itself limits the size of its arguments.
        warnings_path: the path of the warnings in an answer, if the contract has warnings.
        query_spec: the specification of a tool with several query types.
    """

    name: str
    title: str
    description: str
    contract: Contract
    groups: tuple[str, ...] = ("trips",)
    input_model: type[WireModel] | None
    input_json_schema: Mapping[str, Any] | None = None
    outputs: tuple[Output, ...]
    missing_messages: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    optional_parts: Mapping[str, Shape] = field(default_factory=dict)
    accepts_large_values: bool = False
    warnings_path: Path = ("warnings",)
    query_spec: ToolSpec | None = None

    @cached_property
    def spec(self) -> ToolSpec:
        """The plan-step specification; most tools have one query type, named after the tool (rule F2)."""
        if self.query_spec is not None:
            return self.query_spec
        assert self.input_model is not None
        return ToolSpec(
            name=self.name,
            input_schema={self.name: self.input_model},
            output_key=self.name,
            description=self.description,
        )

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        if self.input_json_schema is not None:
            return dict(self.input_json_schema)
        assert self.input_model is not None
        return build_json_schema(self.input_model)

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of all answers, including failures, because clients validate failures too."""
        return build_json_schema((*(output.shape for output in self.outputs), *FAILURE_SHAPES[self.contract]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The context of one call.

    ``user`` is None for an anonymous caller (rule A12); rate limits apply to ``caller``, the user or an address.
    ``now`` is in UTC and is read once per call (rule A4). ``include`` names the requested optional parts.
    """

    user: str | None
    now: datetime
    correlation_id: str
    caller: str = ""
    report: ReportProgress = ignore_progress
    include: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A handler's result: the body in one output's shape, a self-contained text, and the requested optional parts.

    If ``output`` is None, the definition's first output applies.
    """

    body: Mapping[str, Any]
    text: str
    extras: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    output: Output | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A JSON-ready body in its contract's shape, and a self-contained text.

    ``error`` is the ToolError that the body reports, if any; an answer with an ``error`` has no extras or output.
    """

    body: dict[str, Any]
    text: str
    is_error: bool
    correlation_id: str
    error: ToolError | None = None
    extras: Mapping[str, Wire] = field(default_factory=dict)
    output: Output | None = None


class PublishedTool(Tool):
    """A tool that answers in its contract's shape; subclasses provide a definition and a handler."""

    definition: ToolDefinition

    @property
    def name(self) -> str:  # type: ignore[override]  # the base class lets authors assign it
        """The tool's name, from its definition."""
        return self.definition.name

    @property
    def spec(self) -> ToolSpec:
        """The tool's specification for the plan-step contract."""
        return self.definition.spec

    @abstractmethod
    async def handle(self, arguments: Any, call: Call) -> ToolReply:
        """Return the reply to validated arguments; raise ToolError for errors that the caller should see."""

    async def is_available(self) -> bool:
        """Whether the tool has a data source; if not, it is not listed, and calls report the reason (rule E3)."""
        return True

    async def answer(
        self,
        raw: object,
        *,
        user: str | None,
        caller: str = "",
        report: ReportProgress = ignore_progress,
        include: Collection[str] = (),
    ) -> Answer:
        """Answer one call; a ToolError becomes the contract's envelope, and other exceptions propagate.

        ``raw`` is the decoded JSON of the arguments; None means an empty object.
        ``include`` names the requested optional parts; unknown names are errors.
        """
        correlation_id = new_correlation_id(user, self.name, raw)
        try:
            for name in sorted(set(include) - set(self.definition.optional_parts)):
                offered = ", ".join(sorted(self.definition.optional_parts)) or "nothing"
                raise ParameterError(f"{self.name} has no optional part {name}; it offers {offered}")
            call = Call(
                user=user,
                now=clock.now(),
                correlation_id=correlation_id,
                caller=user or caller,
                report=report,
                include=frozenset(include),
            )
            with clock.new_call():
                return self._to_answer(await self.handle(self._validate_arguments(raw), call), correlation_id)
        except ToolError as error:
            return self.fail(error, correlation_id, raw)

    def fail(self, error: ToolError, correlation_id: str, raw: object) -> Answer:
        """Return the answer that reports an error; ``raw`` holds the unvalidated arguments."""
        query_type: object = self.name
        parameters = raw
        if self.definition.input_model is ToolInput:
            call_fields = raw if isinstance(raw, Mapping) else {}
            query_type, parameters = call_fields.get("query_type"), call_fields.get("parameters")
        return new_failure(
            error,
            self.definition.contract,
            correlation_id,
            tool=self.name,
            query_type=query_type if isinstance(query_type, str) else "",
            parameters=parameters if isinstance(parameters, Mapping) else None,
        )

    async def execute(
        self, query_type: str, parameters: Mapping[str, Any], *, user: str | None = None
    ) -> dict[str, Any]:
        """Return the plan-step contract's standard response, with the tool's body in ``data`` (rule F2)."""
        if self.definition.query_spec is None and query_type != self.name:
            answer = self.fail(QueryTypeUnsupported(query_type, self.name, [self.name]), "", parameters)
        else:
            answer = await self.answer(self.to_raw(query_type, parameters), user=user)
        return self.to_standard(query_type, parameters, answer)

    def to_raw(self, query_type: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments to pass to ``answer`` for a query type in the tool's specification."""
        if self.definition.query_spec is None:
            return parameters
        return {"query_type": query_type, "parameters": parameters}

    def to_standard(self, query_type: str, parameters: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
        """Convert an answer to the standard response; tools of the plan-step contract already return it."""
        contract, error = self.definition.contract, answer.error
        if contract is Contract.STEP:
            return answer.body
        echoed_parameters = parameters if isinstance(parameters, Mapping) else {}
        if error is None:
            return self.format_success_response(query_type, echoed_parameters, [answer.body], {"data": answer.body})
        return self.format_error_response(
            query_type, echoed_parameters, error.message, "error", build_step_fields(error, contract)
        )

    def _validate_arguments(self, raw: object) -> Any:
        definition = self.definition
        arguments = {} if raw is None else raw
        if not isinstance(arguments, Mapping):
            raise ParameterError(f"the arguments must be a JSON object, not {describe_kind(raw)}")
        check_count(arguments, None if definition.accepts_large_values else MAX_VALUES)
        if definition.input_model is None:
            return dict(arguments)
        try:
            return _validate(arguments, definition.input_model)
        except ValidationError as error:
            raise explain(error, definition.input_model, definition.missing_messages) from error

    def _to_answer(self, reply: ToolReply, correlation_id: str) -> Answer:
        output = reply.output or self.definition.outputs[0]
        body = self._check_shape(reply.body, output.shape)
        parts = self.definition.optional_parts
        return Answer(
            body=body,
            text=reply.text,
            # The plan-step and planJourney contracts can report a failure in a well-formed answer.
            is_error=body.get("success") is False,
            correlation_id=correlation_id,
            extras={name: self._check_shape(part, parts[name]) for name, part in reply.extras.items()},
            output=output,
        )

    def _check_shape(self, answer: Mapping[str, Any], shape: Shape) -> Wire:
        try:
            _validate(answer, shape)
        except ValidationError as error:
            problem = describe_problem(error.errors(include_url=False)[0], shape)
            raise BrokenContract(f"{self.name} would break its contract: {problem.sentence}") from error
        return dict(answer)


def _validate(fields: Mapping[str, Any], shape: Shape) -> Any:
    return get_adapter(shape).validator.validate_python(dict(fields), by_alias=True, by_name=False)


def new_failure(error: ToolError, contract: Contract, correlation_id: str, **call_fields: Any) -> Answer:
    """Return the answer that reports an error in a contract's envelope; ``render_error`` gets ``call_fields``."""
    body = render_error(error, contract, correlation_id, **call_fields)
    return Answer(
        body=body,
        text=format_error_text(error, contract),
        # The planJourney contract reports "nothing found" as success (rule A5).
        is_error=body.get("success") is not True,
        correlation_id=correlation_id,
        error=error,
    )
