"""Attempts of one step: concurrency limits, timeouts, retries and the circuit breaker.

The policy is the same for every engine.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fingerpost.contract.envelope import Family, step_fields
from fingerpost.contract.plan import Attempt, begin_attempt
from fingerpost.contract.tool import failure_response, success_response
from fingerpost.errors import BrokenContract, SourceLimited, SourceTimeout, StorageUnavailable, ToolError
from fingerpost.plan.catalogue import Catalogue, Task
from fingerpost.plan.limits import Limits, find_excess
from fingerpost.plan.validation import ReadyStep
from fingerpost.runtime.circuit_breaker import Breaker
from fingerpost.runtime.retry import RetryPolicy, call_with_retries

THINKING = "thinking"

# What an error's details say to whoever must mend its cause.
_TOLD = ("missing", "notes", "did_you_mean", "candidates")


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How a step ended: a standard response, and the number of attempts. ``note`` is why it failed, or None."""

    response: Mapping[str, Any]
    attempts: int
    note: str | None


@dataclass(frozen=True, slots=True)
class _Failure:
    response: Mapping[str, Any]
    note: str
    may_retry: bool
    asked_s: float
    blames_tool: bool


NoteFailedAttempt = Callable[[int, int, str, float | None], None]
"""Hears of a failed attempt: the step, the attempt's number, why, and the seconds until the next one or None."""


class _AttemptFailed(Exception):
    """One attempt failed; raised to the retry loop."""

    def __init__(self, failure: _Failure, number: int) -> None:
        self.failure = failure
        self.number = number
        super().__init__(failure.note)


class StepExecutor:
    """Calls tools and agents for the steps of all runs in a process."""

    def __init__(self, catalogue: Catalogue, limits: Limits, breaker: Breaker | None = None) -> None:
        self._catalogue = catalogue
        self._limits = limits
        self._retries = RetryPolicy(
            attempts=limits.attempts, initial_s=limits.backoff_s, longest_s=limits.longest_backoff_s
        )
        self._breaker = breaker or Breaker(threshold=limits.breaker_failures, rest_s=limits.breaker_s, kind="tool")
        self._semaphores: dict[str, asyncio.Semaphore] = {}

    async def perform(
        self,
        ready: ReadyStep,
        parameters: dict[str, Any],
        run_id: str,
        user: str | None,
        note_failed_attempt: NoteFailedAttempt,
    ) -> StepOutcome:
        """Return how a step ended; ``parameters`` are the question's arguments, references resolved.

        Whatever a tool or an agent raises besides ToolError rises.
        """
        key = f"{run_id}:{ready.step.step_id}"

        begin_attempt(Attempt(key, 1))
        first = await self._attempt(ready, parameters, run_id, user, key)
        if not isinstance(first, _Failure):
            return StepOutcome(first, 1, None)
        failure = first

        async def attempt(number: int) -> StepOutcome:
            if number == 1:
                raise _AttemptFailed(failure, 1)
            begin_attempt(Attempt(key, number))
            result = await self._attempt(ready, parameters, run_id, user, key)
            if isinstance(result, _Failure):
                raise _AttemptFailed(result, number)
            return StepOutcome(result, number, None)

        def find_wait_s(error: _AttemptFailed, number: int) -> float | None:
            wait_s = self._find_wait_s(error.failure, number, key)
            note_failed_attempt(ready.step.step_id, number, error.failure.note, wait_s)
            return wait_s

        try:
            return await call_with_retries(attempt, _AttemptFailed, find_wait_s)
        except _AttemptFailed as error:
            return StepOutcome(error.failure.response, error.number, error.failure.note)

    def _find_wait_s(self, failure: _Failure, number: int, key: str) -> float | None:
        if not failure.may_retry:
            return None
        # Steps that failed together must not come back together; the same step waits the same each time.
        spread = random.Random(f"{key}/{number}").random()  # noqa: S311  (no secret depends on it)
        return self._retries.find_wait_s(number, spread=spread, asked_s=failure.asked_s)

    async def _attempt(
        self, ready: ReadyStep, parameters: dict[str, Any], run_id: str, user: str | None, key: str
    ) -> Mapping[str, Any] | _Failure:
        name, query_type = _names_of(ready)
        if (wait_s := self._breaker.enter(name)) is not None:
            message = f"{name} failed {self._breaker.threshold} times in a row and is left alone for a while"
            return _failure_of(SourceLimited(message, retry_after_s=wait_s), name, query_type, parameters)
        semaphore = self._semaphores.get(name)
        if semaphore is None:
            semaphore = self._semaphores[name] = asyncio.Semaphore(self._limits.calls_per_tool)
        note = self._breaker.left
        try:
            async with semaphore:
                result = await self._answer(ready, parameters, run_id, user, key)
            if not isinstance(result, _Failure):
                note = self._breaker.succeeded
            elif result.blames_tool:
                note = self._breaker.failed
            return result
        finally:
            note(name)

    async def _answer(
        self, ready: ReadyStep, parameters: dict[str, Any], run_id: str, user: str | None, key: str
    ) -> Mapping[str, Any] | _Failure:
        name, query_type = _names_of(ready)
        try:
            response = await self._ask(ready, parameters, run_id, user, key)
            return self._find_failure(response, name) or response
        except ToolError as error:
            return _failure_of(error, name, query_type, parameters)

    async def _ask(
        self, ready: ReadyStep, parameters: dict[str, Any], run_id: str, user: str | None, key: str
    ) -> Mapping[str, Any]:
        tool, step = ready.tool, ready.step
        most_s = self._limits.attempt_s
        try:
            async with asyncio.timeout(most_s):
                if step.agent is None:
                    assert tool is not None
                    assert ready.question is not None
                    return await tool.execute(ready.question.query_type, parameters, user)
                return await self._ask_agent(ready, parameters, run_id, user, key)
        except TimeoutError as error:
            late = SourceTimeout(f"{step.tool or step.agent} did not answer within {most_s:g} s")
            # Nobody knows what became of the call: only what may be done twice is asked again.
            late.retryable = tool is not None and tool.is_idempotent
            raise late from error

    async def _ask_agent(
        self, ready: ReadyStep, parameters: dict[str, Any], run_id: str, user: str | None, key: str
    ) -> Mapping[str, Any]:
        step, tool, question = ready.step, ready.tool, ready.question
        assert step.agent is not None

        async def perform(arguments: dict[str, Any]) -> Mapping[str, Any]:
            assert tool is not None
            assert question is not None
            return await tool.execute(question.query_type, arguments, user)

        task = Task(
            run_id=run_id,
            step_id=step.step_id,
            description=step.description,
            parameters=parameters,
            user=user,
            idempotency_key=key,
            perform=None if tool is None else perform,
        )
        answer = await self._catalogue.agents[step.agent](task)
        if isinstance(answer, Mapping) and {"success", "results", "output_key"} <= answer.keys():
            return answer
        return success_response(step.agent, step.agent, parameters, [answer], {"data": answer})

    def _find_failure(self, response: Any, name: str) -> _Failure | None:
        if not isinstance(response, Mapping) or not isinstance(response.get("success"), bool):
            raise BrokenContract(f"{name} did not answer in the standard response")
        if type(response) is not dict:
            response = dict(response)
        excess = find_excess(response, most_bytes=self._limits.output_bytes, most_depth=self._limits.depth)
        if excess is not None:
            raise BrokenContract(f"The output of {name} cannot be kept: a value in it {excess}")
        if response["success"]:
            return None
        note = response.get("error") or response.get("warning") or "it failed without a word"
        may_retry = response.get("retryable") is True
        after = response.get("retry_after")
        asked_s = float(after) if isinstance(after, int | float) and not isinstance(after, bool) else 0.0
        return _Failure(response, str(note), may_retry, asked_s, blames_tool=may_retry)


def think(parameters: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a step without tool and agent answers: its parameters with every reference resolved.

    Without parameters it gathers the values of the steps that it depends on, by key. It adds nothing of its own.
    """
    data = parameters or dict(known)
    return success_response(THINKING, THINKING, parameters, [data], {"data": data})


def failed(name: str, query_type: str, parameters: Mapping[str, Any], error: ToolError) -> dict[str, Any]:
    extra = step_fields(error, Family.STEP) | {kind: error.details[kind] for kind in _TOLD if error.details.get(kind)}
    return failure_response(name, query_type, parameters, error.message, "error", extra)


def _names_of(ready: ReadyStep) -> tuple[str, str]:
    name = ready.step.tool or ready.step.agent or THINKING
    return name, ready.question.query_type if ready.question is not None else name


def _failure_of(error: ToolError, name: str, query_type: str, parameters: dict[str, Any]) -> _Failure:
    return _Failure(
        failed(name, query_type, parameters, error),
        error.message,
        error.retryable,
        error.retry_after_s if isinstance(error, SourceLimited) else 0.0,
        blames_tool=isinstance(error, StorageUnavailable) and not isinstance(error, SourceLimited),
    )
