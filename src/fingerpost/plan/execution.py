"""Execute one run, with steps in parallel: a step starts as soon as its dependencies are recorded.

Calls to tools and agents have concurrency limits, timeouts and retries, which are the same for every engine.
"""

import asyncio
import logging
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from fingerpost.contract.check import check_arguments
from fingerpost.contract.envelope import new_internal_error
from fingerpost.contract.plan import IDEMPOTENCY_KEY
from fingerpost.contract.published_tool import new_correlation_id
from fingerpost.contract.tool import failure_response, success_response
from fingerpost.errors import BrokenContract, ParameterError, SourceTimeout, StorageUnavailable, ToolError
from fingerpost.plan.catalogue import HUMAN, Agent, Task
from fingerpost.plan.conditions import ConditionFailed, is_true
from fingerpost.plan.journal import Journal
from fingerpost.plan.limits import Limits, encode, find_excess
from fingerpost.plan.memory import Memory
from fingerpost.plan.records import Event, RunRecord, RunState, Signal, StepRecord, StepState, now
from fingerpost.plan.references import fill
from fingerpost.plan.responses import build_failure, check_response, explain_unresolved_path, find_failure
from fingerpost.plan.validation import THINKING, ReadyStep, ValidPlan
from fingerpost.runtime import retry
from fingerpost.runtime.concurrency import compute
from fingerpost.runtime.instruments import PLAN_STEP_DURATION, TOOL, Attribute, Measurement

_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Execution:
    """Executes one run from its recorded state until the run ends or waits for a person."""

    run: RunRecord
    valid: ValidPlan
    journal: Journal
    agents: Mapping[str, Agent]
    semaphores: defaultdict[str, asyncio.Semaphore]
    """For concurrent calls in this process, by the name of the tool or agent."""
    limits: Limits
    poll_s: float
    last_signal: int = 0
    _at: str = ""
    _at_ms: int = -1
    _is_cancelled: bool = False
    _waiting: set[int] = field(default_factory=set)
    _decisions: dict[int, Signal] = field(default_factory=dict)
    _wake_event: asyncio.Event = field(default_factory=asyncio.Event)
    # The steps that have started and are not recorded yet.
    _running: dict[int, "asyncio.Task[None]"] = field(default_factory=dict)
    # The steps of each of the journal's commits that this run waits for.
    _recording: dict["asyncio.Future[None]", list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._seq = self.run.last_seq
        done = self.run.finished
        outputs = {n: step.output for n, step in self.run.steps.items() if n in done and step.output is not None}
        self._memory = Memory(self.valid, self.run.initial_memory, outputs)
        planned = {number: ready for number, ready in self.valid.steps.items() if number not in done}
        self._unfinished = set(planned)
        # The unfinished dependencies of each step that has not started, in the plan's order.
        self._blockers = {n: self._unfinished.intersection(ready.dependencies) for n, ready in planned.items()}
        self._end = asyncio.get_running_loop().create_future()

    def wake(self) -> None:
        self._wake_event.set()

    def _apply_signals(self, signals: Iterable[Signal]) -> None:
        """Apply new signals; if a step has two decisions, the first counts."""
        for signal in signals:
            self.last_signal = max(self.last_signal, signal.seq)
            if signal.verb == "cancel":
                self._is_cancelled = True
            elif signal.step_id is not None:
                self._decisions.setdefault(signal.step_id, signal)

    async def execute(self) -> RunState:
        """Execute until the run ends or waits, and return its state; raise JournalFailed if a write fails."""
        self._apply_signals(self.run.signals)
        self._append_event("run_resumed" if self.run.last_seq else "run_started")
        if self.run.state != "running":
            await self.journal.record(self.run.run_id, None, [], "running", now())
        has_unfinished = bool(self._unfinished)
        listener = asyncio.create_task(self._guard(self._listen))
        try:
            self._start_steps()
            await self._end
        finally:
            for unfinished in (*self._running.values(), listener):
                unfinished.cancel()
            await asyncio.wait([*self._running.values(), listener])
        # If the run was cancelled, records of its steps may still wait for the disk, or may have failed.
        await asyncio.gather(*map(asyncio.shield, self._recording))
        if has_unfinished and not self._unfinished:
            return "completed"
        state: RunState = "cancelled" if self._is_cancelled else "waiting" if self._waiting else "failed"
        if not has_unfinished:
            # All steps were finished, because the plan was replaced.
            state = "completed"
        end = self._new_event(f"run_{state}")
        await self.journal.record(self.run.run_id, None, [end], state, end.at)
        return state

    def _start_steps(self) -> None:
        """Start the steps that can start now; if the run is cancelled or no step is running, end the execution."""
        if self._end.done():
            return
        for number in sorted(self._waiting & (self._decisions.keys() - self._running.keys())):
            self._waiting.remove(number)
            self._blockers[number] = set()
        startable = [number for number, blockers in self._blockers.items() if not blockers]
        slots = 0 if self._is_cancelled else self.limits.steps_at_once - len(self._running)
        for number in startable[:slots]:
            del self._blockers[number]
            self._running[number] = asyncio.create_task(self._guard(self._execute_step, self.valid.steps[number]))
        if self._is_cancelled or not self._running:
            self._end.set_result(None)

    async def _guard(self, work: Callable[..., Awaitable[None]], *arguments: ReadyStep) -> None:
        """Do a part of the execution, and end the execution if that part fails."""
        try:
            await work(*arguments)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  (the execution raises it)
            self._end_with(error)

    def _end_with(self, error: BaseException) -> None:
        if not self._end.done():
            self._end.set_exception(error)

    async def _listen(self) -> None:
        """Read signals when woken and after each poll interval, because other processes send signals too."""
        while True:
            # Do not use wait_for: in Python 3.11, it can swallow a cancellation, and signals read then would be lost.
            with suppress(TimeoutError):
                async with asyncio.timeout(self.poll_s):
                    await self._wake_event.wait()
            self._wake_event.clear()
            try:
                self._apply_signals(await self.journal.list_signals(self.run.run_id, self.last_signal))
            except StorageUnavailable as error:
                # The next read may succeed; only a failed write of a record ends the run.
                _log.warning("run=%s: its signals cannot be read: %s", self.run.run_id, error.message)
            self._start_steps()

    def _new_event(self, kind: str, number: int | None = None, **data: Any) -> Event:
        self._seq += 1
        # Reading and formatting the time is slow, so events within a millisecond share it.
        if (now_ms := time.monotonic_ns() // 1_000_000) != self._at_ms:
            self._at, self._at_ms = now(), now_ms
        return Event(self._seq, self._at, kind, number, encode(data) if data else None)

    def _append_event(self, kind: str, number: int | None = None, **data: Any) -> None:
        self.journal.append_event(self.run.run_id, self._new_event(kind, number, **data))

    async def _execute_step(self, ready: ReadyStep) -> None:
        try:
            if ready.step.agent == HUMAN:
                self._decide(ready)
            elif ready.step.done_check is None or not await self._skip(ready):
                self._record(ready, *await self._call(ready))
        except (Exception, asyncio.CancelledError) as error:
            # An exception in a tool fails only its step. A cancellation of this task means that the run ended.
            if self._running[ready.step.step_id].cancelling():
                raise
            self._fail(ready, error)

    def _finish_steps(self, recorded: "asyncio.Future[None]") -> None:
        """Start the steps that can start after the steps of a commit."""
        if (error := recorded.exception()) is not None:
            # The failed commit remains in the list, because the execution may have ended for another reason.
            self._end_with(error)
            return
        numbers = self._recording.pop(recorded)
        done = set(numbers) - self._unfinished
        for blockers in self._blockers.values():
            blockers -= done
        for number in numbers:
            del self._running[number]
        self._start_steps()

    async def _call(self, ready: ReadyStep) -> tuple[dict[str, Any], int]:
        """Return the step's response, and the number of attempts."""
        number, name = ready.step.step_id, ready.performer
        self._append_event("step_started", number)
        ids: dict[str, Attribute] = {"fingerpost.plan.run_id": self.run.run_id, "fingerpost.plan.step_id": number}
        with Measurement("plan step", {TOOL: name}, PLAN_STEP_DURATION, span_attributes=ids) as measurement:
            try:
                response, attempts = await self._execute_attempts(ready)
            except ToolError as error:
                response, attempts = build_failure(name, name, {}, error), 0
            if not response["success"]:
                measurement.fail(str(response.get("error_code", "failed")))
        return response, attempts

    async def _execute_attempts(self, ready: ReadyStep) -> tuple[dict[str, Any], int]:
        """Execute a step with retries; return its response and the number of attempts."""
        arguments = self._resolve_arguments(ready)
        if ready.step.tool is None and ready.step.agent is None:
            return self._run_thinking_step(arguments), 1
        idempotency_key = f"{self.run.run_id}:{ready.step.step_id}"
        for number in count(1):
            response = await self._attempt(ready, arguments, idempotency_key)
            if (reason := find_failure(response)) is None:
                return response, number
            wait_s = self._find_wait_s(idempotency_key, number, response)
            self._append_event(
                "attempt_failed", ready.step.step_id, attempt=number, error=reason[:1000], retried_after_s=wait_s
            )
            if wait_s is None:
                return response, number
            await retry.sleep(wait_s)
        raise AssertionError("unreachable")

    async def _attempt(self, ready: ReadyStep, arguments: dict[str, Any], idempotency_key: str) -> dict[str, Any]:
        """Call the tool or agent once, and return its standard response; a ToolError becomes a failure response."""
        IDEMPOTENCY_KEY.set(idempotency_key)
        name, tool, query, timeout_s = ready.performer, ready.tool, ready.query, self.limits.attempt_s
        query_type = name if query is None else query.query_type
        try:
            async with self.semaphores[name], asyncio.timeout(timeout_s):
                if tool is not None and query is not None and ready.step.agent is None:
                    response = await tool.execute(query.query_type, arguments, self.run.user)
                else:
                    response = await self._ask_agent(ready, arguments, idempotency_key)
            return check_response(name, response, self.limits)
        except TimeoutError:
            # The outcome of the call is unknown, so only an idempotent tool is called again.
            message = f"{name} did not answer within {timeout_s:g} s"
            error = SourceTimeout(message, retryable=tool is not None and tool.is_idempotent)
            return build_failure(name, query_type, arguments, error)
        except ToolError as error:
            return build_failure(name, query_type, arguments, error)

    async def _ask_agent(self, ready: ReadyStep, arguments: dict[str, Any], idempotency_key: str) -> Any:
        step, tool, query, user = ready.step, ready.tool, ready.query, self.run.user
        assert step.agent is not None
        task = Task(
            run_id=self.run.run_id,
            step_id=step.step_id,
            description=step.description,
            parameters=arguments,
            user=user,
            idempotency_key=idempotency_key,
            perform=None if tool is None or query is None else lambda sent: tool.execute(query.query_type, sent, user),
        )
        response = await self.agents[step.agent](task)
        if isinstance(response, Mapping) and {"success", "results", "output_key"} <= response.keys():
            return response
        return success_response(step.agent, step.agent, arguments, [response], {"data": response})

    def _find_wait_s(self, idempotency_key: str, number: int, response: Mapping[str, Any]) -> float | None:
        """Return the wait before the next attempt, or None if the step must not be retried."""
        if response.get("retryable") is not True:
            return None
        retry_after = response.get("retry_after")
        requested_s = float(retry_after) if isinstance(retry_after, int | float) else 0.0
        # Spread retries of steps that failed together; the seed makes a step's wait reproducible.
        spread = random.Random(f"{idempotency_key}/{number}").random()  # noqa: S311  (no secret depends on it)
        limits = self.limits
        waits = {"initial_s": limits.backoff_s, "max_wait_s": limits.max_backoff_s, "requested_s": requested_s}
        return retry.find_wait_s(number, limits.attempts, spread=spread, **waits)

    def _resolve_arguments(self, ready: ReadyStep) -> dict[str, Any]:
        query = ready.query
        arguments = ready.step.parameters if query is None else query.arguments
        if not ready.references:
            return arguments
        values = self._memory.resolve(ready, self.limits.output_bytes)
        filled: dict[str, Any] = fill(arguments, values.__getitem__, () if query is None else query.prefix)
        if query is not None:
            check_arguments(query.model, filled)
        return filled

    def _run_thinking_step(self, arguments: dict[str, Any]) -> dict[str, Any]:
        response = success_response(THINKING, THINKING, arguments, [arguments], {"data": arguments})
        limits = self.limits
        if excess := find_excess(response, max_bytes=limits.output_bytes, max_depth=limits.depth):
            raise ParameterError(f"The output of the step cannot be stored: a value in it {excess}")
        return response

    async def _skip(self, ready: ReadyStep) -> bool:
        assert ready.step.done_check is not None
        is_present, value, response = self._memory.find_value(ready)
        names = self._memory.build_names(ready, value, response)
        has_expected_value = ready.step.expected_key is None or is_present
        try:
            is_done = has_expected_value and await compute(is_true, ready.step.done_check, names)
        except ConditionFailed as error:
            self._append_event("condition_failed", ready.step.step_id, reason=f"done_check: {error}")
            return False
        if not is_done:
            return False
        reason = "its value is present and done_check is true" if is_present else "done_check is true"
        self._write(ready, "skipped", encode(response) if is_present else None, reason, reason=reason)
        return True

    def _record(self, ready: ReadyStep, response: dict[str, Any], attempts: int = 1) -> None:
        output, note = encode(response), find_failure(response)
        if note is None and self._memory.bytes + len(output) > self.limits.memory_bytes:
            note = f"The run's memory is full: its limit is {self.limits.memory_bytes:,} bytes"
            name, query_type = str(response["output_key"]), str(response["query_type"])
            output = encode(failure_response(name, query_type, {}, note, additional_data={"retryable": False}))
        if note is not None:
            self._write(ready, "failed", output, note, attempts=attempts, error=note[:1000])
            return
        if (reason := explain_unresolved_path(response, ready.step.output_path)) is not None:
            self._append_event("value_missing", ready.step.step_id, reason=reason)
        self._write(ready, "completed", output, None, attempts=attempts)

    def _write(
        self, ready: ReadyStep, state: StepState, output: str | None, note: str | None, attempts: int = 0, **data: Any
    ) -> None:
        """Record a step's state and an event with ``data``; after the last step, also record the run's completion."""
        number = ready.step.step_id
        if state in ("completed", "failed"):
            data = {"attempts": attempts, **data}
        events = [self._new_event(f"step_{state}", number, **data)]
        run_state: RunState | None = None
        if state in ("completed", "skipped"):
            if output is not None:
                self._memory.store(number, output)
            self._unfinished.remove(number)
            if not self._unfinished:
                run_state = "completed"
                events.append(self._new_event("run_completed"))
        step = StepRecord(number, state, output, note, attempts, events[0].at)
        recorded = self.journal.record(self.run.run_id, step, events, run_state, step.at)
        if recorded not in self._recording:
            self._recording[recorded] = []
            recorded.add_done_callback(self._finish_steps)
        self._recording[recorded].append(number)

    def _decide(self, ready: ReadyStep) -> None:
        number = ready.step.step_id
        decision = self._decisions.get(number)
        if decision is None:
            record = self.run.steps.get(number)
            self._waiting.add(number)
            if record is None or record.state != "waiting":
                self._write(ready, "waiting", None, "waiting for a person")
            else:
                del self._running[number]
                self._start_steps()
            return
        detail = decision.value or {}
        is_approved, note = decision.verb == "approve", detail.get("note")
        data = {"approved": is_approved, "note": note, "value": detail.get("value")}
        self._append_event("step_approved" if is_approved else "step_rejected", number, note=note)
        try:
            arguments = self._resolve_arguments(ready)
        except ToolError as error:
            response = build_failure(HUMAN, "approval", {}, error)
        else:
            if is_approved:
                response = success_response(HUMAN, "approval", arguments, [data], {"data": data})
            else:
                reason = f"A person rejected the step{f': {note}' if note else ''}"
                response = failure_response(HUMAN, "approval", arguments, reason, "error", {"data": data})
        self._record(ready, response)

    def _fail(self, ready: ReadyStep, error: BaseException) -> None:
        name = ready.performer
        correlation_id = new_correlation_id(self.run.user, name, ready.step.parameters)
        names = (self.run.run_id, ready.step.step_id, name, correlation_id)
        _log.error("run=%s step=%s tool=%s correlationId=%s failed", *names, exc_info=error)
        source = "fingerpost" if name == THINKING else name
        detail = error if isinstance(error, BrokenContract) else new_internal_error(correlation_id, source)
        self._record(ready, build_failure(name, name, {}, detail))
