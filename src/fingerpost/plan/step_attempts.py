"""Call a step's tool or agent, with concurrency limits, timeouts, retries and a circuit breaker.

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

# Error details that help to fix the cause.
_DETAILS = ("missing", "notes", "did_you_mean", "candidates")


@dataclass(frozen=True, slots=True)
class StepCall:
    """A call to a step's tool or agent for a user; references in ``arguments`` are resolved."""

    ready: ReadyStep
    arguments: dict[str, Any]
    run_id: str
    user: str | None

    @property
    def key(self) -> str:
        """The idempotency key, shared by all attempts."""
        return f"{self.run_id}:{self.ready.step.step_id}"

    @property
    def name(self) -> str:
        return self.ready.performer

    @property
    def query_type(self) -> str:
        return self.name if self.ready.query is None else self.ready.query.query_type

    async def call_tool(self, arguments: dict[str, Any]) -> Mapping[str, Any]:
        assert self.ready.tool is not None
        assert self.ready.query is not None
        return await self.ready.tool.execute(self.ready.query.query_type, arguments, self.user)

    def fail(self, error: ToolError) -> dict[str, Any]:
        return build_failure(self.name, self.query_type, self.arguments, error)


class StepExecutor:
    def __init__(self, catalogue: Catalogue, limits: Limits) -> None:
        self._catalogue = catalogue
        self._limits = limits
        self._retries = RetryPolicy(
            attempts=limits.attempts, initial_s=limits.backoff_s, longest_s=limits.max_backoff_s
        )
        self._breaker = CircuitBreaker(threshold=limits.breaker_failures, cooldown_s=limits.breaker_s, kind="tool")
        self._semaphores = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(limits.calls_per_tool))

    async def attempt(self, call: StepCall, number: int) -> dict[str, Any]:
        """Call the tool or agent once and return its standard response; errors other than ToolError are raised."""
        begin_attempt(Attempt(call.key, number))
        name = call.name
        if (wait_s := self._breaker.acquire(name)) is not None:
            message = f"{name} failed {self._breaker.threshold} times in a row and will not be called for a while"
            return call.fail(SourceLimited(message, retry_after_s=wait_s))
        end_call = self._breaker.release
        try:
            async with self._semaphores[name]:
                response = await self._answer(call)
            if response["success"]:
                end_call = self._breaker.record_success
            elif response.get("retryable") is True:
                end_call = self._breaker.record_failure
            return response
        except ToolError as error:
            if isinstance(error, StorageUnavailable) and not isinstance(error, SourceLimited):
                end_call = self._breaker.record_failure
            return call.fail(error)
        finally:
            end_call(name)

    async def _answer(self, call: StepCall) -> dict[str, Any]:
        tool, timeout_s = call.ready.tool, self._limits.attempt_s
        try:
            async with asyncio.timeout(timeout_s):
                operation = call.call_tool(call.arguments) if call.ready.step.agent is None else self._delegate(call)
                response = await operation
            return self._check(call, response)
        except TimeoutError as error:
            # The outcome of the call is unknown, so only an idempotent tool is called again.
            is_retryable = tool is not None and tool.is_idempotent
            raise SourceTimeout(f"{call.name} did not answer within {timeout_s:g} s", retryable=is_retryable) from error

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

    def _check(self, call: StepCall, response: Any) -> dict[str, Any]:
        if not isinstance(response, Mapping) or not isinstance(response.get("success"), bool):
            raise BrokenContract(f"{call.name} did not return a standard response")
        standard = dict(response)
        excess = find_excess(standard, max_bytes=self._limits.output_bytes, max_depth=self._limits.depth)
        if excess is not None:
            raise BrokenContract(f"The output of {call.name} cannot be stored: a value in it {excess}")
        return standard

    def find_wait_s(self, call: StepCall, number: int, response: Mapping[str, Any]) -> float | None:
        """Return the wait before the next attempt, or None if the step must not be retried."""
        if response.get("retryable") is not True:
            return None
        retry_after = response.get("retry_after")
        requested_s = float(retry_after) if isinstance(retry_after, int | float) else 0.0
        # Spread retries of steps that failed together; the seed makes a step's wait reproducible.
        spread = random.Random(f"{call.key}/{number}").random()  # noqa: S311  (no secret depends on it)
        return self._retries.find_wait_s(number, spread=spread, requested_s=requested_s)


def find_failure(response: Mapping[str, Any]) -> str | None:
    """Return the reason for a failure, or None for a success."""
    if response["success"]:
        return None
    return str(response.get("error") or response.get("warning") or "it failed without a message")


def build_failure(name: str, query_type: str, parameters: Mapping[str, Any], error: ToolError) -> dict[str, Any]:
    details = {detail: error.details[detail] for detail in _DETAILS if error.details.get(detail)}
    extra = step_fields(error, Contract.STEP) | details
    return failure_response(name, query_type, parameters, error.message, "error", extra)
