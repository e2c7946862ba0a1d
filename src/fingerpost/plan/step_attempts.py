"""Attempts of one step: concurrency limits, timeouts, retries and the circuit breaker.

The policy is the same for every engine.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fingerpost.contract.envelope import Contract, step_fields
from fingerpost.contract.plan import Attempt, begin_attempt
from fingerpost.contract.tool import failure_response, success_response
from fingerpost.errors import BrokenContract, SourceLimited, SourceTimeout, StorageUnavailable, ToolError
from fingerpost.plan.catalogue import Catalogue, Task
from fingerpost.plan.limits import Limits, find_excess
from fingerpost.plan.validation import ReadyStep
from fingerpost.runtime.circuit_breaker import CircuitBreaker
from fingerpost.runtime.retry import RetryPolicy

# The details of an error that help to remove its cause.
_DETAILS = ("missing", "notes", "did_you_mean", "candidates")


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The standard response of a step, and the number of attempts.

    ``note`` is why it failed, or None; ``retry_after_s`` is the wait before the next attempt, None if there is none.
    ``blames_tool`` says whether the failure counts against the tool.
    """

    response: Mapping[str, Any]
    attempts: int
    note: str | None
    retry_after_s: float | None = None
    blames_tool: bool = False


@dataclass(frozen=True, slots=True)
class StepCall:
    """The call of a step's tool or agent for a user; references in ``arguments`` are resolved."""

    ready: ReadyStep
    arguments: dict[str, Any]
    run_id: str
    user: str | None

    @property
    def key(self) -> str:
        """The idempotency key, the same for every attempt."""
        return f"{self.run_id}:{self.ready.step.step_id}"

    @property
    def name(self) -> str:
        return self.ready.performer

    @property
    def query_type(self) -> str:
        return self.name if self.ready.question is None else self.ready.question.query_type

    async def call_tool(self, arguments: dict[str, Any]) -> Mapping[str, Any]:
        assert self.ready.tool is not None
        assert self.ready.question is not None
        return await self.ready.tool.execute(self.ready.question.query_type, arguments, self.user)


class StepExecutor:
    def __init__(self, catalogue: Catalogue, limits: Limits) -> None:
        self._catalogue = catalogue
        self._limits = limits
        self._retries = RetryPolicy(
            attempts=limits.attempts, initial_s=limits.backoff_s, longest_s=limits.longest_backoff_s
        )
        self._breaker = CircuitBreaker(threshold=limits.breaker_failures, rest_s=limits.breaker_s, kind="tool")
        self._semaphores = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(limits.calls_per_tool))

    async def attempt(self, call: StepCall, number: int) -> StepOutcome:
        """Call the tool or agent once; its errors other than ToolError are raised."""
        begin_attempt(Attempt(call.key, number))
        name = call.name
        if (wait_s := self._breaker.acquire(name)) is not None:
            message = f"{name} failed {self._breaker.threshold} times in a row and is not called for a while"
            return self._fail(call, number, SourceLimited(message, retry_after_s=wait_s))
        note = self._breaker.release
        try:
            async with self._semaphores[name]:
                outcome = await self._answer(call, number)
            if outcome.note is None:
                note = self._breaker.record_success
            elif outcome.blames_tool:
                note = self._breaker.record_failure
            return outcome
        finally:
            note(name)

    async def _answer(self, call: StepCall, number: int) -> StepOutcome:
        tool, most_s = call.ready.tool, self._limits.attempt_s
        try:
            async with asyncio.timeout(most_s):
                response = await (
                    call.call_tool(call.arguments) if call.ready.step.agent is None else self._delegate(call)
                )
            return self._read(call, number, response)
        except TimeoutError:
            # The outcome of the call is unknown, so only an idempotent tool is called again.
            is_retryable = tool is not None and tool.is_idempotent
            late = SourceTimeout(f"{call.name} did not answer within {most_s:g} s", retryable=is_retryable)
            return self._fail(call, number, late)
        except ToolError as error:
            return self._fail(call, number, error)

    async def _delegate(self, call: StepCall) -> Mapping[str, Any]:
        step = call.ready.step
        assert step.agent is not None
        task = Task(
            run_id=call.run_id,
            step_id=step.step_id,
            description=step.description,
            parameters=call.arguments,
            user=call.user,
            idempotency_key=call.key,
            perform=None if call.ready.tool is None else call.call_tool,
        )
        answer = await self._catalogue.agents[step.agent](task)
        if isinstance(answer, Mapping) and {"success", "results", "output_key"} <= answer.keys():
            return answer
        return success_response(step.agent, step.agent, call.arguments, [answer], {"data": answer})

    def _read(self, call: StepCall, number: int, response: Any) -> StepOutcome:
        if not isinstance(response, Mapping) or not isinstance(response.get("success"), bool):
            raise BrokenContract(f"{call.name} did not return a standard response")
        if type(response) is not dict:
            response = dict(response)
        excess = find_excess(response, most_bytes=self._limits.output_bytes, most_depth=self._limits.depth)
        if excess is not None:
            raise BrokenContract(f"The output of {call.name} cannot be stored: a value in it {excess}")
        if response["success"]:
            return StepOutcome(response, number, None)
        note = str(response.get("error") or response.get("warning") or "it failed without a message")
        if response.get("retryable") is not True:
            return StepOutcome(response, number, note)
        after = response.get("retry_after")
        asked_s = float(after) if isinstance(after, int | float) and not isinstance(after, bool) else 0.0
        return StepOutcome(response, number, note, self._find_wait_s(call, number, asked_s), blames_tool=True)

    def _fail(self, call: StepCall, number: int, error: ToolError) -> StepOutcome:
        asked_s = error.retry_after_s if isinstance(error, SourceLimited) else 0.0
        return StepOutcome(
            failed(call.name, call.query_type, call.arguments, error),
            number,
            error.message,
            self._find_wait_s(call, number, asked_s) if error.retryable else None,
            blames_tool=isinstance(error, StorageUnavailable) and not isinstance(error, SourceLimited),
        )

    def _find_wait_s(self, call: StepCall, number: int, asked_s: float) -> float | None:
        # Steps that failed together must not come back together; the same step waits the same each time.
        spread = random.Random(f"{call.key}/{number}").random()  # noqa: S311  (no secret depends on it)
        return self._retries.find_wait_s(number, spread=spread, asked_s=asked_s)


def failed(name: str, query_type: str, parameters: Mapping[str, Any], error: ToolError) -> dict[str, Any]:
    details = {detail: error.details[detail] for detail in _DETAILS if error.details.get(detail)}
    extra = step_fields(error, Contract.STEP) | details
    return failure_response(name, query_type, parameters, error.message, "error", extra)
