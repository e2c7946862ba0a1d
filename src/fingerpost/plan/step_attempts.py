"""Call a step's tool or agent, with concurrency limits, timeouts and retries.

The policy is the same for every engine.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from fingerpost.contract.envelope import Contract, build_step_fields
from fingerpost.contract.plan import set_idempotency_key
from fingerpost.contract.tool import failure_response, success_response
from fingerpost.errors import BrokenContract, SourceTimeout, ToolError
from fingerpost.plan.catalogue import Catalogue, Task
from fingerpost.plan.limits import Limits, find_excess
from fingerpost.plan.validation import ReadyStep
from fingerpost.runtime.retry import RetryPolicy

# Error details that help the caller fix the cause.
_DETAILS = ("missing", "notes", "did_you_mean", "candidates")


class StepExecutor:
    def __init__(self, catalogue: Catalogue, limits: Limits) -> None:
        self._catalogue = catalogue
        self._limits = limits
        self._retries = RetryPolicy(
            attempts=limits.attempts, initial_s=limits.backoff_s, max_wait_s=limits.max_backoff_s
        )
        self._semaphores = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(limits.calls_per_tool))

    async def attempt(self, ready: ReadyStep, task: Task) -> dict[str, Any]:
        """Call the tool or agent once, and return its standard response; a ToolError becomes a failure response."""
        set_idempotency_key(task.idempotency_key)
        name = ready.performer
        query_type = name if ready.query is None else ready.query.query_type
        try:
            async with self._semaphores[name]:
                return await self._answer(ready, task)
        except ToolError as error:
            return build_failure(name, query_type, task.parameters, error)

    async def _answer(self, ready: ReadyStep, task: Task) -> dict[str, Any]:
        name, agent, timeout_s = ready.performer, ready.step.agent, self._limits.attempt_s
        response: Any
        try:
            async with asyncio.timeout(timeout_s):
                if agent is not None:
                    response = await self._catalogue.agents[agent](task)
                    if not (isinstance(response, Mapping) and {"success", "results", "output_key"} <= response.keys()):
                        response = success_response(agent, agent, task.parameters, [response], {"data": response})
                else:
                    assert task.perform is not None
                    response = await task.perform(task.parameters)
        except TimeoutError as error:
            # The outcome of the call is unknown, so only an idempotent tool is called again.
            is_retryable = ready.tool is not None and ready.tool.is_idempotent
            raise SourceTimeout(f"{name} did not answer within {timeout_s:g} s", retryable=is_retryable) from error
        return check_response(name, response, self._limits)

    def find_wait_s(self, task: Task, number: int, response: Mapping[str, Any]) -> float | None:
        """Return the wait before the next attempt, or None if the step must not be retried."""
        if response.get("retryable") is not True:
            return None
        retry_after = response.get("retry_after")
        requested_s = float(retry_after) if isinstance(retry_after, int | float) else 0.0
        # Spread retries of steps that failed together; the seed makes a step's wait reproducible.
        spread = random.Random(f"{task.idempotency_key}/{number}").random()  # noqa: S311  (no secret depends on it)
        return self._retries.find_wait_s(number, spread=spread, requested_s=requested_s)


def check_response(name: str, response: object, limits: Limits) -> dict[str, Any]:
    """Return a tool's response; raise BrokenContract if it is not a standard response or cannot be stored as JSON."""
    if not isinstance(response, Mapping) or not isinstance(response.get("success"), bool):
        raise BrokenContract(f"{name} did not return a standard response")
    standard = dict(response)
    excess = find_excess(standard, max_bytes=limits.output_bytes, max_depth=limits.depth)
    if excess is not None:
        raise BrokenContract(f"The output of {name} cannot be used: a value in it {excess}")
    return standard


def find_failure(response: Mapping[str, Any]) -> str | None:
    """Return the reason for a failure, or None for a success."""
    if response["success"]:
        return None
    return str(response.get("error") or response.get("warning") or "it failed without a message")


def build_failure(name: str, query_type: str, parameters: Mapping[str, Any], error: ToolError) -> dict[str, Any]:
    details = {detail: error.details[detail] for detail in _DETAILS if error.details.get(detail)}
    extra = build_step_fields(error, Contract.STEP) | details
    return failure_response(name, query_type, parameters, error.message, "error", extra)
