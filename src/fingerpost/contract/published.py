"""The base of every tool that is served: one seam for MCP, the command line and Python.

A call is checked on the way in, answered, and checked on the way out in the wire's own form.
"""

import logging
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import ValidationError

from fingerpost import clock
from fingerpost.contract.check import MOST_VALUES, check_count, explain
from fingerpost.contract.envelope import Contract, code_of, is_failure, render_error, step_fields, text_of_error
from fingerpost.contract.failure_shapes import failure_shapes
from fingerpost.contract.identity import new_correlation_id
from fingerpost.contract.problem import describe_problem
from fingerpost.contract.short_schema import inline_single_uses
from fingerpost.contract.size_bounds import STATED, Path
from fingerpost.contract.spec import ToolSpec
from fingerpost.contract.tool import Tool
from fingerpost.contract.wire import Shape, Wire, WireModel, check, schema_of
from fingerpost.errors import BrokenContract, DataNotFound, ParameterError, QueryTypeUnsupported, ToolError
from fingerpost.runtime.instruments import TOOL, TOOL_CALL_DURATION, Measuring, measured

_log = logging.getLogger(__name__)

_OK = "ok"
FAILED = "failed"
"""The outcome of a call whose answer reports a failure without a code."""

ReportProgress = Callable[[float, float, str], None]
"""Reports how much is done, of how much, and in words what; it never waits and never fails."""


def ignore_progress(_done: float, _total: float, _words: str) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call besides its arguments.

    ``user`` is None for an anonymous caller (rule A12); limits count by ``caller``, the user or an address.
    ``now`` is in UTC and resolved once (rule A4). ``wants`` names what the caller wants of the tool's ``offers``.
    """

    tool: str
    user: str | None
    now: datetime
    correlation_id: str
    caller: str = ""
    report: ReportProgress = ignore_progress
    wants: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ToolReply:
    """An answer, and its extras by name (rule A10); without a text, ``describe`` writes it."""

    body: Mapping[str, Any]
    beside: Mapping[str, Mapping[str, Any]]
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A JSON-ready body in its contract's shape, and a text that stands alone.

    ``error`` is the error that the body renders, or None. A failure has nothing in ``beside``.
    """

    body: dict[str, Any]
    text: str
    is_error: bool
    correlation_id: str
    error: ToolError | None = None
    beside: Mapping[str, Wire] = field(default_factory=lambda: MappingProxyType({}))


class PublishedTool(Tool):
    """A tool that answers one question, in the shape of its own contract.

    Attributes:
        name: as the contract prints it.
        title: for people.
        description: tells an agent when to take this tool and not its neighbour.
        contract: whose envelope a failure wears.
        group: which part of the catalogue it is served with.
        input_model: what it accepts.
        output_shape: what it answers; several if the contract has several, and ``shape_of`` selects one.
        when_missing: the contract's own sentences for a missing or blank path.
        read_only, destructive, idempotent, open_world: what a host should know before it calls.
        offers: what can be had beside the body by those who ask for it, such as ``geometry``, and its shape.
        takes_large: whether a question may hold a large value, whose size the tool checks itself.
        long_parts: the parts of an answer that may be shortened to hold rule A11's bound, by their paths.
        rest: one sentence on how to get what was left out then.
        warnings_at: where an answer has its warnings, in the contracts that have warnings.
        spec: the tool's contract: one query type, its own name (rule F2).
    """

    title: ClassVar[str]
    description: ClassVar[str]
    contract: ClassVar[Contract]
    group: ClassVar[str]
    input_model: ClassVar[type[WireModel]]
    output_shape: ClassVar[Shape | tuple[Shape, ...]]
    when_missing: ClassVar[Mapping[str, str]] = {}
    read_only: ClassVar[bool] = True
    destructive: ClassVar[bool] = False
    idempotent: ClassVar[bool] = True
    open_world: ClassVar[bool] = False
    offers: ClassVar[Mapping[str, Shape]] = MappingProxyType({})
    takes_large: ClassVar[bool] = False
    long_parts: ClassVar[Collection[Path]] = ()
    rest: ClassVar[str] = "Ask for less."
    warnings_at: ClassVar[Path] = ("warnings",)
    spec: ToolSpec

    def __init_subclass__(cls) -> None:
        """Derive the specification; raise TypeError for several output shapes without a ``shape_of``."""
        super().__init_subclass__()
        if hasattr(cls, "name"):
            shapes = _as_tuple(cls.output_shape)
            if len(shapes) > 1 and cls.shape_of is PublishedTool.shape_of:
                raise TypeError(f"{cls.name} has several output shapes, so it must override shape_of")
            outputs = {cls.name: shapes[0]} if len(shapes) == 1 else {shape.__name__: shape for shape in shapes}
            cls.spec = ToolSpec(
                name=cls.name,
                input_schema={cls.name: cls.input_model},
                output_key=cls.name,
                description=cls.description,
                output_schema=outputs,
            )

    @abstractmethod
    async def handle(self, arguments: Any, call: Call) -> Mapping[str, Any] | ToolReply:
        """Return the answer, in an output shape, to an instance of ``input_model``; raise ToolError for the caller."""

    def describe(self, answer: Any) -> str:
        """Return a short text for a reader who sees nothing else of the answer, which has been checked."""
        raise NotImplementedError(f"{self.name} must describe its answers, or reply with their text")

    async def can_answer(self) -> bool:
        """Whether the tool has a source; without one it is not listed, and a call says why."""
        return True

    @property
    def full_description(self) -> str:
        """The description, and the bounds of an answer (rule A11)."""
        return f"{self.description} {STATED}"

    def shortening_of(self, answer: Mapping[str, Any]) -> tuple[Sequence[Path], str]:  # noqa: ARG002  (for overrides)
        """Return the parts of an answer that may be shortened, and how to get the rest."""
        return tuple(self.long_parts), self.rest

    def shape_of(self, answer: Mapping[str, Any]) -> Shape:  # noqa: ARG002  (for overrides)
        """Return the shape that an answer must have; a tool with several shapes overrides this."""
        return _as_tuple(self.output_shape)[0]

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return inline_single_uses(schema_of(self.input_model))

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of every answer, failures included: clients check both."""
        return schema_of((*_as_tuple(self.output_shape), *failure_shapes(self.contract)))

    async def answer(
        self,
        raw: object,
        *,
        user: str | None,
        caller: str = "",
        report: ReportProgress = ignore_progress,
        wants: Collection[str] = (),
    ) -> Answer:
        """Answer one call; a ToolError becomes the contract's envelope, anything else rises to the error boundary.

        ``raw`` is the decoded JSON of the arguments; None is an empty object.
        ``wants`` names what the caller wants beside the body; what the tool does not offer is refused.
        """
        correlation_id, code = "", _OK
        with measuring_call(self.name) as operation:
            try:
                fixed = clock.find_fixed()
                correlation_id = new_correlation_id(fixed, user, self.name, raw)
                self._check_wants(wants)
                call = Call(
                    tool=self.name,
                    user=user,
                    now=fixed or clock.now(),
                    correlation_id=correlation_id,
                    caller=user or caller,
                    report=report,
                    wants=frozenset(wants),
                )
                answer = self._answered(await self.handle(self._read(raw), call), correlation_id)
                if answer.is_error:
                    code = FAILED
                    operation.fail(code)
            except ToolError as error:
                correlation_id = correlation_id or new_correlation_id(None, user, self.name, raw)
                answer, code = self._failed(error, correlation_id, raw), code_of(error, self.contract)
                operation.fail(code)
            _log.info("call tool=%s correlationId=%s outcome=%s", self.name, correlation_id, code)
        return answer

    async def execute(
        self, query_type: str, parameters: Mapping[str, Any], *, user: str | None = None
    ) -> dict[str, Any]:
        """Return the plan-step contract's standard response: the contract's body in ``data`` (rule F2).

        A failure carries the sentence in ``error``; a tool of the plan-step contract that found nothing, in
        ``warning``.
        """
        echo = parameters if isinstance(parameters, Mapping) else {}
        error: ToolError | None = QueryTypeUnsupported(query_type, self.name, [self.name])
        if query_type == self.name:
            answer = await self.answer(parameters, user=user)
            error = answer.error
        if error is None:
            return self.format_success_response(query_type, echo, [answer.body], {"data": answer.body})
        is_warning = self.contract is Contract.STEP and isinstance(error, DataNotFound)
        error_type = "warning" if is_warning else "error"
        return self.format_error_response(
            query_type, echo, error.message, error_type, step_fields(error, self.contract)
        )

    def _check_wants(self, wants: Collection[str]) -> None:
        for name in sorted(set(wants) - set(self.offers)):
            offered = ", ".join(sorted(self.offers)) or "nothing"
            raise ParameterError(f"{self.name} has no {name} to give beside its answer; it offers {offered}")

    def _read(self, raw: object) -> Any:
        arguments = {} if raw is None else raw
        if not isinstance(arguments, Mapping):
            raise ParameterError(f"the arguments must be a JSON object, not {_json_kind(raw)}")
        check_count(arguments, None if self.takes_large else MOST_VALUES)
        return self.read_arguments(dict(arguments))

    def read_arguments(self, arguments: dict[str, Any]) -> Any:
        """Return checked arguments, as ``handle`` takes them; raise ParameterError if they break the schema."""
        try:
            return self.input_model.read(arguments)
        except ValidationError as error:
            raise explain(error, self.input_model, self.when_missing) from error

    def _checked(self, answer: Mapping[str, Any], shape: Shape) -> Wire:
        try:
            check(answer, shape)
        except ValidationError as error:
            first = describe_problem(error.errors(include_url=False)[0], shape)
            raise BrokenContract(f"{self.name} was about to break its contract: {first.sentence}") from error
        return dict(answer)

    def _answered(self, reply: Mapping[str, Any] | ToolReply, correlation_id: str) -> Answer:
        if not isinstance(reply, ToolReply):
            reply = ToolReply(reply, {})
        body = self._checked(reply.body, self.shape_of(reply.body))
        return Answer(
            body=body,
            text=self.describe(body) if reply.text is None else reply.text,
            # The plan-step and planJourney contracts can say in a well-formed answer that they failed.
            is_error=body.get("success") is False,
            correlation_id=correlation_id,
            beside={name: self._checked(part, self.offers[name]) for name, part in reply.beside.items()},
        )

    def _failed(self, error: ToolError, correlation_id: str, raw: object) -> Answer:
        return failure_answer(error, self.contract, correlation_id, tool=self.name, raw=raw)


def failure_answer(error: ToolError, contract: Contract, correlation_id: str, *, tool: str, raw: object) -> Answer:
    """Return a failure in a contract's envelope; ``raw`` are the arguments as they were sent."""
    parameters = raw if isinstance(raw, Mapping) else None
    return Answer(
        body=render_error(error, contract, correlation_id, tool=tool, parameters=parameters),
        text=text_of_error(error, contract),
        is_error=is_failure(error, contract),
        correlation_id=correlation_id,
        error=error,
    )


def measuring_call(name: str) -> Measuring:
    """Measure one call of a tool for a block."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function"}
    return measured(f"execute_tool {name}", {TOOL: name}, TOOL_CALL_DURATION, also=attributes)


def _as_tuple(shape: Shape | tuple[Shape, ...]) -> tuple[Shape, ...]:
    return shape if isinstance(shape, tuple) else (shape,)


def _json_kind(raw: object) -> str:
    return {list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}.get(
        type(raw), type(raw).__name__
    )
