"""The base class of served tools: validate a call, handle it, validate the answer, and render errors."""

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ValidationError

from fingerpost import clock
from fingerpost.contract.check import MAX_VALUES, check_count, describe_kind, describe_problem, explain
from fingerpost.contract.envelope import Contract, format_error_text, is_failure, render_error, step_fields
from fingerpost.contract.identity import new_correlation_id
from fingerpost.contract.tool import Tool, ToolInput, ToolSpec
from fingerpost.contract.tool_definition import Answer, Call, ReportProgress, ToolDefinition, ToolReply, ignore_progress
from fingerpost.contract.wire import Shape, Wire, get_adapter
from fingerpost.errors import BrokenContract, ParameterError, QueryTypeUnsupported, ToolError


class PublishedTool(Tool):
    """A tool that answers in its contract's shape; subclasses provide a definition and a handler."""

    definition: ToolDefinition

    @property
    def name(self) -> str:  # type: ignore[override]  # the base class lets authors assign it
        """The name in the definition."""
        return self.definition.name

    @property
    def spec(self) -> ToolSpec:
        """The plan-step contract's specification."""
        return self.definition.spec

    @abstractmethod
    async def handle(self, arguments: Any, call: Call) -> ToolReply:
        """Return the reply to validated arguments; raise ToolError for errors that the caller should see."""

    async def is_available(self) -> bool:
        """Whether the tool has a source; if not, it is not listed, and calls report the reason (rule E3)."""
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
        ``include`` names the requested optional parts; unknown names are an error.
        """
        correlation_id = ""
        try:
            fixed = clock.find_fixed()
            correlation_id = new_correlation_id(fixed, user, self.name, raw)
            for name in sorted(set(include) - set(self.definition.optional_parts)):
                offered = ", ".join(sorted(self.definition.optional_parts)) or "nothing"
                raise ParameterError(f"{self.name} has no optional part {name}; it offers {offered}")
            call = Call(
                tool=self.name,
                user=user,
                now=fixed or clock.now(),
                correlation_id=correlation_id,
                caller=user or caller,
                report=report,
                include=frozenset(include),
            )
            return self._to_answer(await self.handle(self._validate_arguments(raw), call), correlation_id)
        except ToolError as error:
            return self.fail(error, correlation_id or new_correlation_id(None, user, self.name, raw), raw)

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
            query_type, echoed_parameters, error.message, "error", step_fields(error, contract)
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
            first = describe_problem(error.errors(include_url=False)[0], shape)
            raise BrokenContract(f"{self.name} would break its contract: {first.sentence}") from error
        return dict(answer)


def _validate(fields: Mapping[str, Any], shape: Shape) -> Any:
    return get_adapter(shape).validate_python(dict(fields), by_alias=True, by_name=False)


def new_failure(
    error: ToolError,
    contract: Contract,
    correlation_id: str,
    *,
    tool: str = "",
    query_type: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Answer:
    """Return the answer that reports an error in a contract's envelope; see ``render_error``."""
    return Answer(
        body=render_error(error, contract, correlation_id, tool=tool, query_type=query_type, parameters=parameters),
        text=format_error_text(error, contract),
        is_error=is_failure(error, contract),
        correlation_id=correlation_id,
        error=error,
    )
